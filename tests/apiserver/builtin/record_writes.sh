#!/usr/bin/env bash
# Records about 2,000 answers of kube-apiserver to random writes of built-in kinds in tests/conformance/collection/builtin (agreement.py).
# usage: tests/apiserver/builtin/record_writes.sh KUBECTL 1.37=FOLDER…; FOLDER has kube-apiserver and etcd of the version
set -euo pipefail
top=$(cd "$(dirname "$0")/../../.." && pwd)
kubectl=$1
shift
for one in "$@"; do
  version=${one%%=*}
  "$top/tests/apiserver/builtin/agreement.py" --binary "${BINARY:-$top/target/release/kubectl-crdx}" --kubectl "$kubectl" --real "${one#*=}" --version "$version" --count 2350 --copies 2 --batch 60 \
    --seed "${version/./}" --record "$top/tests/conformance/collection/builtin/writes-$version.jsonl.gz"
done

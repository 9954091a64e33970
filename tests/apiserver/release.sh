#!/usr/bin/env bash
# Records a release once its modules are served (docs/ADD-A-RELEASE.md, "Steps for its release"), and shows what differs from the recordings in the repository. Set BETA to None first.
# usage: tests/apiserver/release.sh 1.38.0 KUBECTL [STEP…]; without steps, all of them in this order:
#   served     every module of the release is served; ends with exit code 2 and their names if one is not
#   modules    tests/apiserver/go.mod requires the release
#   exchanges  the answers of the CRD API server in tests/conformance (CRDX_RECORD)
#   assets     kube-apiserver and etcd, in $ASSETS
#   writes     the answers of kube-apiserver to random writes of built-in kinds (record_writes.sh)
#   scores     the scores of the recordings in ../shared/conformance, if they are there
set -euo pipefail
version=$1 kubectl=$2 top=$(cd "$(dirname "$0")/../.." && pwd)
shift 2
minor=${version#*.} short=${version%.*}
export GOTOOLCHAIN=auto
modules="api apiextensions-apiserver apimachinery apiserver client-go kube-aggregator kubectl"
assets=${ASSETS:-/tmp/assets-$short}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$top"

served() {
    local missing=()
    for module in "k8s.io/kubernetes@v$version" $(printf "k8s.io/%s@v0.$minor " $modules); do
        (cd "$work" && go mod download "$module" > /dev/null 2>&1) || missing+=("$module")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        echo "not served yet: ${missing[*]}" >&2
        exit 2
    fi
}

modules() {
    (cd tests/apiserver && go get $(sed -n "s/^\s*\(k8s\.io\/[a-z-]*\) v0\..* \?$/\1@v0.$minor/p" go.mod | sed '/indirect/d' | grep -E "k8s.io/($(echo $modules | tr ' ' '|'))@"))
    # `go mod tidy` would also look for the modules of the programs in builtin, which have a go.mod of their own when they are built.
    (cd tests/apiserver && GOFLAGS=-mod=mod go build -o "$work/server" .)
}

exchanges() {
    local program=$work/apiserver-$short url
    (cd tests/apiserver && go build -o "$program" .)
    exec 3< <("$program" -port 0)
    server=$! # not local: the trap may run after this function
    trap 'kill $server; rm -rf "$work"' EXIT
    read -r url <&3
    # One at a time: lists of CRDs and discovery documents contain what other recordings create.
    CRDX_RECORD=$url cargo test --test tests conformance::replay -- --test-threads 1
    kill $server
    trap 'rm -rf "$work"' EXIT
}

assets() { tests/apiserver/kube-apiserver.sh "$version" "$assets"; }

writes() { tests/apiserver/builtin/record_writes.sh "$kubectl" "$short=$assets"; }

scores() {
    [ -d ../shared/conformance ] || return 0
    local binary=${BINARY:-$top/target/release/kubectl-crdx}
    # The recordings of the newest release are those without a version; of others there are the answers that differ.
    local of=() score=tests/conformance/score.json
    if [ -e "../shared/conformance/versions/$short.gz" ]; then
        of=(--version "$short") score=tests/conformance/score-$short.json
    fi
    python3 ../shared/conformance/replay.py --binary "$binary" "${of[@]}" --json "$score"
    # The checklist asks for the release of the score.
    sed -i "1s/.*/{\\n \"release\": \"$short\",/" "$score"
    python3 ../shared/conformance/builtin.py --binary "$binary" --version "$short" | tail -n 1
}

for step in "${@:-served}" $([ $# -gt 0 ] || echo modules exchanges assets writes scores); do
    echo "== $step" >&2
    "$step"
done
git status --short tests
git diff --stat tests

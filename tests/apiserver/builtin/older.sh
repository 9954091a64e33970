#!/usr/bin/env bash
# Compares the decoder of built-in kinds with the decoders of older releases: records the results for 2,000 bodies of each release
# with ../shared/builtin, and runs the test that reads them. Needs Go. usage: tests/apiserver/builtin/older.sh [31.14 34.13]
set -euo pipefail
top=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
recorded=
for release in "${@:-31.14 34.13}"; do
  for one in $release; do
    dir=$work/$one
    mkdir "$dir"
    cp "$top"/../shared/builtin/*.go "$dir"
    cat > "$dir/go.mod" <<MOD
module crdx.dev/builtin

go 1.24.0

require (
	k8s.io/api v0.$one
	k8s.io/apimachinery v0.$one
	k8s.io/client-go v0.$one
)
MOD
    (cd "$dir" && go mod tidy 2> tidy.log && go build -o builtin . && ./builtin record -seed 7 -count 2000 > facts.jsonl)
    recorded=$recorded,${one%%.*}:$dir/facts.jsonl
  done
done
cd "$top"
BUILTIN_FACTS=${recorded#,} cargo test --test tests facts::builtin -- --include-ignored --nocapture

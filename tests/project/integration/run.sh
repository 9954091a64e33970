#!/usr/bin/env bash
# Runs Kubernetes' own integration tests for CRDs against `kubectl crdx serve`, a fresh one for each.
#
# usage: run.sh [BINARY [WORKDIR [TEST…]]]     (Go and python3 are needed; the first run fetches and compiles for minutes)
#
# The tests come from the Go module k8s.io/apiextensions-apiserver. They are copied from the module cache into WORKDIR, and only
# the fixture that starts a server is replaced, by server.go next to this script. Tests that access etcd or the process of the
# server are skipped; the file `known` lists the other tests that cannot pass, with the reasons.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
export CRDX=$(realpath "${1:-$root/target/debug/kubectl-crdx}")
work=${2:-${TMPDIR:-/tmp}/crdx-integration}
shift $(($# < 2 ? $# : 2))
version=v0.37.2
mkdir -p "$work"
cd "$work"
if [ ! -x integration.test ] || [ "$here/server.go" -nt integration.test ]; then
    cp "$root/tests/apiserver/go.mod" "$root/tests/apiserver/go.sum" .
    sed -i 's/^module .*/module integration/' go.mod
    source=$(go mod download -json "k8s.io/apiextensions-apiserver@$version" | python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')
    rm -rf suite && mkdir suite
    cp -r "$source/test/integration/." suite/ && chmod -R u+w suite
    cp "$here/server.go" suite/fixtures/server.go
    grep -rl 'apiextensions-apiserver/test/integration' suite --include='*.go' |
        xargs sed -i 's#k8s.io/apiextensions-apiserver/test/integration#integration/suite#'
    go mod tidy
    go test -c -o integration.test ./suite
fi
tests=("$@")
[ ${#tests[@]} -gt 0 ] || mapfile -t tests < <(./integration.test -test.list '.*' | grep '^Test')
passed=0 failed=() skipped=() known=()
cd suite
mkdir -p ../log
for test in "${tests[@]}"; do
    log=../log/$test.txt
    if timeout 120 ../integration.test -test.run "^$test\$" -test.v >"$log" 2>&1; then
        if grep -q "^--- SKIP: $test " "$log"; then skipped+=("$test"); else passed=$((passed + 1)); fi
    elif grep -q "^$test " "$here/known"; then
        known+=("$test")
    else
        failed+=("$test")
    fi
done
printf 'passed %d, failed %d, failed as known %d, skipped %d\n' "$passed" "${#failed[@]}" "${#known[@]}" "${#skipped[@]}"
for test in "${skipped[@]}"; do
    printf 'skipped  %s: %s\n' "$test" "$(sed -n 's/^ *server.go:[0-9]*: //p' "../log/$test.txt" | tail -1)"
done
for test in "${known[@]}"; do printf 'known    %s: %s\n' "$test" "$(sed -n "s/^$test //p" "$here/known")"; done
for test in "${failed[@]}"; do printf 'failed   %s: see %s\n' "$test" "$work/log/$test.txt"; done
exit $((${#failed[@]} > 0))

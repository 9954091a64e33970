#!/usr/bin/env bash
# Builds the program for another platform and runs its commands there in an emulator: version, validate, diff, lint, get,
# test, serve and lsp. Not part of `cargo test`, because it needs a cross compiler and an emulator:
#
#   scripts/platforms.sh windows      x86_64-pc-windows-gnu under wine: gcc-mingw-w64-x86-64 and wine64
#   scripts/platforms.sh arm64        aarch64-unknown-linux-gnu under qemu-user: gcc-aarch64-linux-gnu and qemu-user
#
# Prints a line per check; the exit code is 1 if one failed. PROGRAM names a program that is built already.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "platforms.sh: $*" >&2; exit 1; }
needs() { command -v "$1" >/dev/null || [ -x "$1" ] || fail "$1 is missing: install the package $2"; }
case ${1:-} in
    windows) target=x86_64-pc-windows-gnu end=.exe ;;
    arm64) target=aarch64-unknown-linux-gnu end= ;;
    *) fail "name the platform: windows or arm64" ;;
esac
platform=$1

program=${PROGRAM:-}
if [ -z "$program" ]; then
    case $platform in
        windows) needs x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64 ;;
        arm64) needs aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu ;;
    esac
    rustup target add "$target"
    export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target/cross}
    export CARGO_TARGET_DIR
    cargo build --locked --target "$target" --bin kubectl-crdx
    program=$CARGO_TARGET_DIR/$target/debug/kubectl-crdx$end
fi
program=$(realpath "$program")

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || stop; rm -rf "$work"' EXIT
cp -r examples tests/cli/input "$work/"
cd "$work"
if [ "$platform" = windows ]; then
    wine=$(command -v wine64 || command -v wine || echo /usr/lib/wine/wine64)
    needs "$wine" wine64
    export WINEPREFIX=$work/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" HOME=$work
    mkdir bin
    cp "$program" bin/kubectl-crdx.exe
    # wine 8 lacks this library, from which Rust's standard library takes random numbers. This one is for the test alone.
    cat >bin/prng.c <<'C'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count) { return RtlGenRandom(bytes, (ULONG)count); }
C
    x86_64-w64-mingw32-gcc -shared -o bin/bcryptprimitives.dll bin/prng.c -ladvapi32
    run=("$wine" "$work/bin/kubectl-crdx.exe")
    "$wine" wineboot -i >/dev/null 2>&1 || true
    stop() { "${wine%/*}/wineserver64" -k 2>/dev/null || wineserver -k 2>/dev/null || true; }
else
    needs qemu-aarch64 qemu-user
    run=(qemu-aarch64 -L /usr/aarch64-linux-gnu "$program")
    stop() { kill "$server" 2>/dev/null || true; }
fi
crdx() { timeout 120 "${run[@]}" "$@"; }

failed=0
# Runs the command; its exit code and output must be as expected.
check() {
    local name=$1 code=$2 expected=$3 output actual=0
    shift 3
    output=$(crdx "$@" 2>&1 </dev/null) || actual=$?
    if [ "$actual" = "$code" ] && grep -qF -- "$expected" <<<"$output"; then
        echo "ok: $name"
    else
        failed=1
        printf 'FAILED: %s: exit code %s instead of %s, or no "%s" in:\n%s\n' "$name" "$actual" "$code" "$expected" "$output" | head -40
    fi
}

check version 0 'Client Version' version
check validate 1 '6 objects: 3 accepted, 3 rejected' validate examples/objects --crds examples/crds --offline
check 'validate -R' 1 'rejected' validate -R examples/objects --crds examples/crds --offline
check diff 2 '+++ MERGED/stable.example.com.v1.CronTab.default.nightly' diff examples/updates/new.yaml --old examples/updates/old.yaml --crds examples/crds --offline
check lint 0 'accepted by Kubernetes 1.31..1.37' lint examples/versions/crd.yaml --kubernetes-version 1.31..1.37
check get 0 'nightly' get crontabs -f examples/objects/accepted.yaml --crds examples/crds --offline -A -o wide
check test 0 '8 passed, 0 failed' test examples/suites
check 'help' 0 'Usage' validate --help
check 'a missing file' 2 'missing.yaml' validate missing.yaml --offline
check 'a pattern' 0 'accepted' validate 'examples/**/accepted.yaml' --crds examples/crds --offline
check 'colours on request' 1 $'\e[' validate examples/objects --crds examples/crds --offline --color always
sed 's/$/\r/' examples/objects/accepted.yaml >crlf.yaml
check 'line ends CR LF' 0 '2 accepted' validate crlf.yaml --crds examples/crds --offline
if crdx validate examples/objects --crds examples/crds --offline 2>&1 | grep -qF $'\e['; then
    failed=1
    echo 'FAILED: colours in a pipe'
else
    echo 'ok: no colours in a pipe'
fi
if [ "$platform" = windows ]; then
    check 'backslashes' 1 'rejected' validate 'examples\objects' --crds 'examples\crds' --offline
    drive="Z:${work//\//\\}"
    check 'a drive letter' 0 'accepted' validate "$drive\\examples\\objects\\accepted.yaml" --crds "$drive\\examples\\crds" --offline
    check 'a pattern with a drive letter' 0 'accepted' validate "$drive\\examples\\**\\accepted.yaml" --crds "$drive\\examples\\crds" --offline
    check 'a pattern with backslashes' 0 'accepted' validate 'examples\**\accepted.yaml' --crds 'examples\crds' --offline
    check '--ignore with a slash' 0 'accepted' validate 'examples\objects' --crds 'examples\crds' --offline --ignore 'rejected.yaml'
fi
check 'schema --output-dir' 0 '' schema examples/crds --output-dir schemas
[ -n "$(ls schemas 2>/dev/null)" ] || { failed=1; echo 'FAILED: schema wrote nothing'; }

# serve: an object is created over HTTP, and the state file is locked and kept.
serve() {
    "${run[@]}" serve --port 0 --load examples/crds --state state.jsonl >serve.out 2>serve.err &
    server=$!
    for _ in $(seq 300); do
        url=$(sed -n 's/.*\(http:\/\/[0-9.:]*\).*/\1/p' serve.out | head -1)
        [ -z "$url" ] || return 0
        sleep 0.2
    done
    failed=1
    echo "FAILED: serve printed no URL: $(cat serve.out serve.err)"
    return 1
}
objects=/apis/stable.example.com/v1/namespaces/default/crontabs
if serve; then
    body='{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"a"},"spec":{"image":"b:1"}}'
    status=$(curl -s -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' -d "$body" "$url$objects")
    if [ "$status" = 201 ]; then echo 'ok: serve'; else failed=1; echo "FAILED: serve answers a create with $status"; fi
    check 'serve refuses a state file in use' 2 'state.jsonl' serve --port 0 --state state.jsonl
    stop
    wait "$server" 2>/dev/null || true
    server=
    if serve; then
        object=$(curl -s "$url$objects/a" || true)
        case $object in
            *'"name": "a"'*) echo 'ok: serve --state keeps objects' ;;
            *) failed=1; echo "FAILED: serve --state lost the object: $object $(cat serve.err)" ;;
        esac
        stop
        wait "$server" 2>/dev/null || true
        server=
    fi
fi

# lsp: the diagnostics of an open document.
if [ "$platform" = windows ]; then folder="file:///z:$work"; else folder="file://$work"; fi
message() { printf 'Content-Length: %s\r\n\r\n%s' "${#1}" "$1"; }
text=$(awk '{ gsub(/"/, "\\\""); printf "%s\\n", $0 }' examples/objects/rejected.yaml)
{
    message '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":"'"$folder"'","capabilities":{},"workspaceFolders":[{"uri":"'"$folder"'","name":"x"}]}}'
    message '{"jsonrpc":"2.0","method":"initialized","params":{}}'
    message '{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"'"$folder"'/examples/objects/rejected.yaml","languageId":"yaml","version":1,"text":"'"$text"'"}}}'
    sleep 15
    message '{"jsonrpc":"2.0","id":2,"method":"shutdown"}'
    message '{"jsonrpc":"2.0","method":"exit"}'
} | crdx lsp >lsp.out 2>lsp.err || true
if grep -qF 'spec.replcas' lsp.out; then echo 'ok: lsp'; else failed=1; echo "FAILED: lsp: $(head -c 2000 lsp.out) $(cat lsp.err)"; fi
exit "$failed"

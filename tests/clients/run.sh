#!/usr/bin/env bash
# Runs third-party clients against `kubectl-crdx serve`. Clients whose toolchain is not installed are skipped with a message.
# usage: tests/clients/run.sh BINARY|URL
# With a URL, the clients run against that server instead, such as the real one.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${CRDX_CLIENTS_DIR:-${TMPDIR:-/tmp}/crdx-clients}
mkdir -p "$work"
failed=0

# client NAME COMMAND... : runs it against a server of its own, with the flags in $flags
flags=()
client() {
    local name=$1 url
    shift
    echo "== $name"
    if [[ $target == http* ]]; then
        "$@" "$target" || { echo "FAILED: $name"; failed=1; }
        return
    fi
    coproc SERVE { exec "$target" serve --port 0 "${flags[@]}"; }
    local pid=$SERVE_PID
    read -r url <&"${SERVE[0]}"
    "$@" "$url" || { echo "FAILED: $name"; failed=1; }
    kill "$pid"
    wait "$pid" 2>/dev/null
}

target=${1:?usage: tests/clients/run.sh BINARY|URL}
[[ $target == http* ]] || target=$(realpath "$target")

if command -v go >/dev/null; then
    if (cd "$here/go" && go build -o "$work/go-client" .); then client "client-go, controller-runtime" "$work/go-client"; else failed=1; fi
    if [[ $target != http* ]]; then
        flags=(--admission)
        if (cd "$here/go" && go build -o "$work/webhooks" ./webhooks); then client "webhooks of controller-runtime" "$work/webhooks"; else failed=1; fi
        flags=()
    fi
    if (cd "$here/../../examples/clients/go" && go vet ./... && PATH="$(dirname "$target"):$PATH" go test -count=1 ./...); then :; else failed=1; fi
    if [[ $target != http* ]]; then
        (cd "$here/../../examples/conversion" && go vet ./... && PATH="$(dirname "$target"):$PATH" go test -count=1 ./...) || failed=1
    fi
else
    echo "skipped: go is not installed"
fi
if command -v python3 >/dev/null; then
    [ -x "$work/venv/bin/python" ] || { python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q 'kubernetes>=37'; } || failed=1
    client "the official Python client" "$work/venv/bin/python" "$here/python/test_client.py"
    [[ $target == http* ]] || "$work/venv/bin/python" "$here/../../examples/clients/python/test_kites.py" "$target" || failed=1
else
    echo "skipped: python3 is not installed"
fi
if command -v npm >/dev/null && [[ $target != http* ]]; then
    mkdir -p "$work/lsp" && cp "$here"/lsp/* "$work/lsp" && (cd "$work/lsp" && npm install --silent && node session.mjs "$target") || failed=1
else
    echo "skipped: npm is not installed"
fi
if command -v nvim >/dev/null && [[ $target != http* ]]; then
    echo "== Neovim"
    CRDX=$target KUBECONFIG=/nonexistent nvim --headless -u NONE -i NONE -c "luafile $here/lsp/session.lua" || { echo "FAILED: Neovim"; failed=1; }
    echo
else
    echo "skipped: nvim is not installed"
fi
if command -v npm >/dev/null && [[ $target != http* ]]; then
    mkdir -p "$work/vscode/editors" && cp -r "$here/../../editors/vscode" "$work/vscode/editors/" && cp "$here/../../LICENSE" "$work/vscode/" \
        && (cd "$work/vscode/editors/vscode" && npm ci --silent && CRDX=$target npm test --silent && npm run package --silent) || { echo "FAILED: the extension of Visual Studio Code"; failed=1; }
fi
if command -v cargo >/dev/null; then
    if CARGO_TARGET_DIR=$work/rust cargo build -q --manifest-path "$here/rust/Cargo.toml"; then client "kube-rs" "$work/rust/debug/crdx-client-kube"; else failed=1; fi
else
    echo "skipped: there is no cargo"
fi
exit $failed

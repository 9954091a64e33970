#!/usr/bin/env bash
# Installs the program with mise from an archive with the name of a release, which a server on this machine has: mise chooses the archive
# of the platform by this name.
#
#   tests/shelves/mise.sh PROGRAM
#
# Needs Node.js with npm, whose registry has mise, and Python.
set -euo pipefail

[ $# = 1 ] || { echo "usage: tests/shelves/mise.sh PROGRAM" >&2; exit 2; }
program=$(realpath "$1")
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
case $(uname -m) in x86_64) arch=amd64 ;; *) arch=arm64 ;; esac
system=$(uname -s | tr '[:upper:]' '[:lower:]')

mkdir -p "$work/files/v0.1.0" "$work/project"
tar -C "$(dirname "$program")" -czf "$work/files/v0.1.0/kubectl-crdx-$system-$arch.tar.gz" "$(basename "$program")"
python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work/files" >"$work/log" 2>&1 &
server=$!
until port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/log") && [ -n "$port" ]; do sleep 0.1; done

(cd "$work" && npm install --silent --no-audit --no-fund @jdxcode/mise)
cd "$work/project"
cat >mise.toml <<TOML
[tools]
"http:kubectl-crdx" = { version = "0.1.0", url = "http://127.0.0.1:$port/v{{ version }}/kubectl-crdx-{{ os() }}-{{ arch(x64=\"amd64\") }}.tar.gz" }
TOML
export HOME=$work MISE_YES=1 MISE_TRUSTED_CONFIG_PATHS=$work
mise=$work/node_modules/.bin/mise
"$mise" install
"$mise" exec -- kubectl-crdx version
echo "ok: mise"

#!/usr/bin/env bash
# Installs the simulated server with the real setup-envtest, from an index and archives that scripts/envtest-index.sh writes and a local HTTP
# server serves. Needs Go, which builds setup-envtest from its module, and Python.
#
#   tests/clients/setup-envtest.sh PROGRAM
set -euo pipefail

[ $# = 1 ] || { echo "usage: tests/clients/setup-envtest.sh PROGRAM" >&2; exit 2; }
program=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
platform=$(go env GOOS)-$(go env GOARCH)
mkdir -p "$work/dist/bin/$platform"
cp "$program" "$work/dist/bin/$platform/kubectl-crdx"

python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work/dist" >"$work/server.log" 2>&1 &
server=$!
trap 'kill $server; chmod -R u+w "$work"; rm -rf "$work"' EXIT
until url=$(sed -n 's/.*(\(http:[^)]*\)).*/\1/p' "$work/server.log") && [ -n "$url" ]; do sleep 0.1; done
"$root/scripts/envtest-index.sh" "$work/dist" "$url" "$program"

GOBIN=$work go install sigs.k8s.io/controller-runtime/tools/setup-envtest@release-0.22
"$work/setup-envtest" list --index "$url/envtest-releases.yaml" --bin-dir "$work/assets"
for version in 1.34.x 1.37.x; do
    assets=$("$work/setup-envtest" use "$version" --index "$url/envtest-releases.yaml" --bin-dir "$work/assets" -p path)
    found=$("$assets/kube-apiserver" --version)
    echo "$version: $assets: $found"
    case $found in "Kubernetes v${version%x}"*) ;; *) echo "setup-envtest installed another version" >&2; exit 1 ;; esac
done

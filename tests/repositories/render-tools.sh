#!/bin/sh
# Builds helm and kustomize from their Go modules in a folder, for `validate --render` on whole repositories:
#   tests/repositories/render-tools.sh /tmp/tools && PATH=/tmp/tools:$PATH kubectl-crdx validate --render
set -eu

[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
GOBIN=$(cd "$1" && pwd)
export GOBIN
go install helm.sh/helm/v3/cmd/helm@v3.22.0
go install sigs.k8s.io/kustomize/kustomize/v5@v5.7.1

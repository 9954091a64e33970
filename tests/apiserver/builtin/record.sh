#!/usr/bin/env bash
# Records what Kubernetes does with random writes of built-in kinds (judge/main.go). Needs Go, and builds some of the sources of
# Kubernetes. usage: tests/apiserver/builtin/record.sh SEED COUNT > lines
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
release=${RELEASE:-37.2}
work=${WORK:-$(mktemp -d)}
mkdir -p "$work"
cd "$work"
cp "$here"/*.go "$here/${JUDGE:-judge}"/*.go .
if [ ! -f go.mod ]; then
  sources=$(cd / && go mod download -json "k8s.io/kubernetes@v1.$release" | sed -n 's/.*"Dir": "\(.*\)",*/\1/p')
  # The requirements of Kubernetes, with the published modules instead of those in its own tree.
  sed -e 's/^module .*/module judge/' -e "s#=> ./staging/src/\(.*\)#=> \1 v0.$release#" "$sources/go.mod" > go.mod
  echo "require k8s.io/kubernetes v1.$release" >> go.mod
  cp "$sources/go.sum" . && chmod u+w go.sum
fi
GOFLAGS=-mod=mod go build -o judge . >&2
./judge "$@"

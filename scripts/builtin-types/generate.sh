#!/usr/bin/env bash
# Makes crates/crdx-types/src/types.txt, crates/crdx-types/src/resources.txt and crates/crdx-builtin/src/validation/internal/types.txt anew, from the Go modules of every release in the lists below. Takes a
# few minutes and needs Go.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
releases=${*:-30.14 31.14 32.13 33.13 34.13 35.10 36.6 37.2 38.0-beta.0}
export GOTOOLCHAIN=auto # a release may need a newer Go than the installed one
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dumps=()
for release in $releases; do
  dir=$work/$release
  mkdir "$dir"
  cp "$here"/*.go "$dir"
  cat > "$dir/go.mod" <<MOD
module builtin-types

go 1.24.0

require (
	k8s.io/api v0.$release
	k8s.io/apiextensions-apiserver v0.$release
	k8s.io/apimachinery v0.$release
	k8s.io/client-go v0.$release
	k8s.io/kube-aggregator v0.$release
)
MOD
  tidy=()
  case $release in
    *-*) # A beta: modules that only its tests need may not be published. `go mod tidy -e` does not switch to the Go that the modules need.
      needs=$(sed -n 's/^go //p' "$(cd "$dir" && go mod download -json "k8s.io/api@v0.$release" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')")
      sed -i "s/^go 1.24.0$/go $needs/" "$dir/go.mod"
      "$here/../../tests/apiserver/stand-ins.sh" "1.$release" "$dir/stand-ins" >> "$dir/go.mod"
      tidy=(-e) ;;
  esac
  (cd "$dir" && go mod tidy "${tidy[@]}" 2> tidy.log || { tail -5 tidy.log >&2; exit 1; })
  (cd "$dir" && go build -o dump . && ./dump dump > dump.json)
  echo "1.$release: $(wc -c < "$dir/dump.json") bytes" >&2
  dumps+=("$dir/dump.json")
  last=$dir
done
(cd "$last" && ./dump merge "${dumps[@]}") > "$here/../../crates/crdx-types/src/types.txt"

# The sources of Kubernetes have the discovery documents of a release. The module proxy does not have every patch release.
sources=()
for release in ${KUBERNETES:-30.14 31.14 32.13 33.13 34.1 35.1 36.1 37.2 38.0-beta.0}; do
  sources+=("$(cd "$last" && go mod download -json "k8s.io/kubernetes@v1.$release" | sed -n 's/.*"Dir": "\(.*\)",*/\1/p')")
done
(cd "$last" && ./dump resources "${sources[@]}") > "$here/../../crates/crdx-types/src/resources.txt"
(cd "$last" && ./dump internal "${sources[@]}") > "$here/../../crates/crdx-builtin/src/validation/internal/types.txt"

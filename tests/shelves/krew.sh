#!/usr/bin/env bash
# Validates the manifest for krew with krew's own validator, built from its Go module: the manifest of a release (dist/crdx.yaml), or the
# template in plugin-manifest, in which only the checksums are missing.
#
#   tests/shelves/krew.sh [MANIFEST]
#
# Needs Go and its module proxy.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
manifest=${1:-plugin-manifest/crdx.yaml}
GOBIN=$work/bin go install sigs.k8s.io/krew/cmd/validate-krew-manifest@v0.4.3
# The name of the file must be that of the plugin. Without a release, the archives cannot be downloaded and installed.
cp "$manifest" "$work/crdx.yaml"
"$work/bin/validate-krew-manifest" -manifest "$work/crdx.yaml" -skip-install
echo "ok: validate-krew-manifest $manifest"

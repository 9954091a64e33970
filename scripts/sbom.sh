#!/usr/bin/env bash
# Writes the software bill of materials of a release: every crate in Cargo.lock that is built for any platform, with its
# version, licence and checksum, in CycloneDX 1.5. Crates that only run during the build have the scope "excluded".
#
#   scripts/sbom.sh [FILE]                     dist/kubectl-crdx.cdx.json unless another file is named
#
# Needs cargo-cyclonedx: cargo install --locked cargo-cyclonedx. The same commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

file=${1:-dist/kubectl-crdx.cdx.json}
if ! command -v cargo-cyclonedx >/dev/null; then
    echo "sbom.sh: cargo-cyclonedx is missing: cargo install --locked cargo-cyclonedx" >&2
    exit 1
fi
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then SOURCE_DATE_EPOCH=$(git log -1 --format=%ct); fi
export SOURCE_DATE_EPOCH
# The tool writes beside Cargo.toml only.
written=kubectl-crdx.cdx
trap 'rm -f "$written.json"' EXIT
cargo cyclonedx --quiet --format json --spec-version 1.5 --target all --override-filename "$written"
mkdir -p "$(dirname "$file")"
# The reference of this package has the folder of the source in it.
sed "s|path+file://$PWD|path+file:///kubectl-crdx|g" "$written.json" >"$file"
echo "$file: $(grep -c '"purl": "pkg:cargo/' "$file") entries"

#!/usr/bin/env bash
# Writes the Debian and RPM packages of the programs for Linux in dist/bin to dist/, from plugin-manifest/nfpm.yaml.
#
#   scripts/linux-packages.sh VERSION REPOSITORY
#
# NFPM names the program nfpm (go install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.48.0). Needs the manual pages in dist/man, and a
# program that this machine can run, which prints the completions: that in dist/bin/linux-amd64, or CRDX_PROGRAM, which a machine with
# another processor needs.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# = 2 ] || { echo "usage: scripts/linux-packages.sh VERSION REPOSITORY" >&2; exit 2; }
version=$1 repository=$2
owner=$(basename "$(dirname "$repository")")
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
program=${CRDX_PROGRAM:-dist/bin/linux-amd64/kubectl-crdx}
mkdir -p "$stage/completions" "$stage/man"
"$program" version >/dev/null || { echo "linux-packages.sh: cannot run $program: CRDX_PROGRAM must be a program for this machine" >&2; exit 1; }
for shell in bash zsh fish; do "$program" completion "$shell" >"$stage/completions/$shell"; done
cp dist/man/*.1 "$stage/man/"
install -m 755 plugin-manifest/kubectl_complete-crdx "$stage/"
# The same inputs give the same packages.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
find "$stage" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
for arch in amd64 arm64; do
    [ -f "dist/bin/linux-$arch/kubectl-crdx" ] || continue
    install -m 755 -p "dist/bin/linux-$arch/kubectl-crdx" "$stage/"
    touch -d "@$SOURCE_DATE_EPOCH" "$stage/kubectl-crdx"
    sed -e "s#@VERSION@#$version#; s#@REPOSITORY@#$repository#; s#@OWNER@#$owner#g; s#@ARCH@#$arch#; s#@STAGE@#$stage#" \
        plugin-manifest/nfpm.yaml >"$stage/nfpm.yaml"
    for packager in deb rpm; do
        "${NFPM:-nfpm}" package --config "$stage/nfpm.yaml" --packager "$packager" --target "dist/kubectl-crdx-linux-$arch.$packager" >/dev/null
    done
done

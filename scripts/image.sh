#!/usr/bin/env bash
# Writes the files of the container image (Dockerfile) to dist/image/ARCH, from the programs in dist/bin/linux-ARCH.
#
#   scripts/image.sh              both architectures that are in dist/bin
#
# CA certificates are those of this machine (Debian's and Ubuntu's package ca-certificates); CRDX_CERTIFICATES is another file.
set -euo pipefail
cd "$(dirname "$0")/.."

certificates=${CRDX_CERTIFICATES:-/etc/ssl/certs/ca-certificates.crt}
fail() { echo "image.sh: $*" >&2; exit 1; }
[ -s "$certificates" ] || fail "$certificates is missing: install ca-certificates, or set CRDX_CERTIFICATES"

rm -rf dist/image
for arch in amd64 arm64; do
    program=dist/bin/linux-$arch/kubectl-crdx
    [ -f "$program" ] || continue
    root=dist/image/$arch
    install -D -m 755 "$program" "$root/usr/local/bin/kubectl-crdx"
    install -D -m 644 "$certificates" "$root/etc/ssl/certs/ca-certificates.crt"
    install -D -m 644 LICENSE "$root/usr/share/licenses/kubectl-crdx/LICENSE"
    # Large inputs are kept in temporary files.
    install -d -m 1777 "$root/tmp"
    echo "$root"
done
[ -d dist/image ] || fail "no program for Linux in dist/bin: scripts/release.sh builds it"

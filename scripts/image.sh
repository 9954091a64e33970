#!/usr/bin/env bash
# Writes the files of the container images (Dockerfile) to dist/image/ARCH, from the programs in dist/bin/linux-ARCH, and with --ci those
# that only the image for pipelines has to dist/image/ARCH-ci: helm and kustomize, built from their Go modules, and git's configuration.
#
#   scripts/image.sh [--ci]              both architectures that are in dist/bin
#
# CA certificates are those of this machine (Debian's and Ubuntu's package ca-certificates); CRDX_CERTIFICATES is another file.
# --ci needs Go and its module proxy.
set -euo pipefail
cd "$(dirname "$0")/.."

HELM=helm.sh/helm/v3/cmd/helm@v3.19.0
KUSTOMIZE=sigs.k8s.io/kustomize/kustomize/v5@v5.7.1

certificates=${CRDX_CERTIFICATES:-/etc/ssl/certs/ca-certificates.crt}
fail() { echo "image.sh: $*" >&2; exit 1; }
[ -s "$certificates" ] || fail "$certificates is missing: install ca-certificates, or set CRDX_CERTIFICATES"

# Builds a static program of a Go module. A module of its own, because `go install` of a version does not build for another machine.
build_tool() {
    local arch=$1 package=${2%@*} version=${2#*@} out=$3 module
    module=$(mktemp -d)
    (
        cd "$module"
        export CGO_ENABLED=0 GOOS=linux GOARCH=$arch GOFLAGS=-mod=mod
        go mod init tools
        go get "$package@$version"
        go build -trimpath -ldflags "-s -w" -o "$out" "$package"
    ) >"$module/log" 2>&1 || fail "$package: $(cat "$module/log")"
    rm -rf "$module"
}

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
    [ "${1:-}" = --ci ] || continue
    root=$PWD/$root-ci
    mkdir -p "$root/usr/local/bin" "$root/etc"
    build_tool "$arch" "$HELM" "$root/usr/local/bin/helm"
    build_tool "$arch" "$KUSTOMIZE" "$root/usr/local/bin/kustomize"
    # A checkout of the pipeline belongs to another user.
    printf '[safe]\n\tdirectory = *\n' >"$root/etc/gitconfig"
    echo "dist/image/$arch-ci"
done
[ -d dist/image ] || fail "no program for Linux in dist/bin: scripts/release.sh builds it"

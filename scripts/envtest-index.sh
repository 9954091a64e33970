#!/usr/bin/env bash
# Writes what setup-envtest downloads: in DIST an archive with etcd, kube-apiserver and kubectl for each program in DIST/bin/PLATFORM, and
# envtest-releases.yaml, the index, which has every Kubernetes version of this program. The folder into which setup-envtest unpacks an
# archive has the version in its name, and the programs serve that version, so all versions have the same archive.
#
#   scripts/envtest-index.sh DIST URL [PROGRAM]      URL: where the files of DIST can be downloaded; PROGRAM: one of this machine
set -euo pipefail

fail() { echo "envtest-index.sh: $*" >&2; exit 1; }
[ $# -ge 2 ] || fail "usage: scripts/envtest-index.sh DIST URL [PROGRAM]"
dist=$1 url=${2%/} program=${3:-$1/bin/linux-amd64/kubectl-crdx}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The versions, oldest first: the names of the folders that the program itself would write.
versions() {
    local minor=30 folder
    while folder=$("$program" envtest --kubernetes-version "1.$minor" --dir "$work/versions" 2>/dev/null); do
        basename "$folder" | sed -n 's/^\([0-9]*\.[0-9]*\.[0-9]*\)-[a-z]*-[a-z0-9]*$/\1/p'
        minor=$((minor + 1))
    done
}

pack() {
    local platform=$1 folder=$work/$1/controller-tools/envtest suffix=
    case $platform in windows-*) suffix=.exe ;; esac
    mkdir -p "$folder"
    for name in etcd kube-apiserver; do
        install -m 755 "$dist/bin/$platform/kubectl-crdx$suffix" "$folder/$name$suffix"
    done
    if [ -z "$suffix" ]; then
        # Tests that need kubectl use the one on PATH.
        cat >"$folder/kubectl" <<'KUBECTL'
#!/bin/sh
own=$(cd "$(dirname "$0")" && pwd)
IFS=:
for folder in $PATH; do
    if [ "$folder" != "$own" ] && [ -x "$folder/kubectl" ]; then exec "$folder/kubectl" "$@"; fi
done
echo "kubectl is not on PATH: install it for tests that need it" >&2
exit 127
KUBECTL
        chmod 755 "$folder/kubectl"
    fi
    (cd "$work/$platform" && find . -mindepth 1 -printf '%P\n' | LC_ALL=C sort) |
        tar -C "$work/$platform" --no-recursion --owner=0 --group=0 --numeric-owner --mtime=@0 --format=ustar -cf - -T - |
        gzip -n >"$dist/envtest-$platform.tar.gz"
}

versions=$(versions)
[ -n "$versions" ] || fail "$program lists no versions: give a program for this machine"
for directory in "$dist"/bin/*/; do pack "$(basename "$directory")"; done
{
    echo "releases:"
    for version in $versions; do
        echo "  v$version:"
        for directory in "$dist"/bin/*/; do
            platform=$(basename "$directory")
            echo "    envtest-v$version-$platform.tar.gz:"
            echo "      hash: $(sha512sum "$dist/envtest-$platform.tar.gz" | cut -d' ' -f1)"
            echo "      selfLink: $url/envtest-$platform.tar.gz"
        done
    done
} >"$dist/envtest-releases.yaml"

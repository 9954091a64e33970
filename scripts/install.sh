#!/bin/sh
# Installs kubectl-crdx for Linux or macOS: downloads the archive of a release, compares its checksum, and copies the
# program and its completion script for kubectl into a directory.
#
#   install.sh [VERSION]          VERSION is like v0.1.0; the newest release unless another is named
#
# CRDX_BIN is the directory to install into (~/.local/bin unless another is named). CRDX_RELEASE is a URL or a directory
# with the files of the release, instead of the repository.
set -eu

repository=https://github.com/OWNER/kubectl-crdx
version=${1:-latest}
bin=${CRDX_BIN:-$HOME/.local/bin}

fail() { echo "install.sh: $*" >&2; exit 1; }

if [ -n "${CRDX_RELEASE:-}" ]; then
    release=$CRDX_RELEASE
else
    case $repository in */OWNER/*) fail "this copy names no repository: take install.sh from a release, or set CRDX_RELEASE" ;; esac
    case $version in
        latest) release=$repository/releases/latest/download ;;
        v*) release=$repository/releases/download/$version ;;
        *) fail "\"$version\" is not a version: name it as its tag, such as v0.1.0" ;;
    esac
fi
case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) fail "no archive for $(uname -s): on Windows, install with krew or unpack the archive of the release" ;;
esac
case $(uname -m) in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "no archive for $(uname -m): build it with cargo install --locked kubectl-crdx" ;;
esac
archive=kubectl-crdx-$os-$arch.tar.gz

get() {
    case $release in
        http://*) fail "$release is not encrypted: use an https URL or a directory" ;;
        https://*) curl -fsSL --proto '=https' --retry 3 -o "$1" "$release/$1" || fail "cannot get $release/$1: check the version" ;;
        *) cp "$release/$1" "$1" || fail "$release has no $1" ;;
    esac
}
case $release in https://*) command -v curl >/dev/null || fail "curl is missing: install it" ;; /* | http://*) ;; *) release=$PWD/$release ;; esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
get checksums.txt
get "$archive"
expected=$(awk -v file="$archive" '$2 == file { print $1 }' checksums.txt)
[ -n "$expected" ] || fail "checksums.txt does not list $archive"
if command -v sha256sum >/dev/null; then actual=$(sha256sum "$archive"); else actual=$(shasum -a 256 "$archive"); fi
[ "${actual%% *}" = "$expected" ] || fail "the checksum of $archive is not that of checksums.txt: nothing was installed"
tar -xzf "$archive"
mkdir -p "$bin"
for file in kubectl-crdx kubectl_complete-crdx; do
    # A running program is replaced, not overwritten.
    cp "$file" "$bin/.$file.new"
    chmod 755 "$bin/.$file.new"
    mv -f "$bin/.$file.new" "$bin/$file"
done
echo "installed $bin/kubectl-crdx and $bin/kubectl_complete-crdx"
case :$PATH: in *":$bin:"*) ;; *) echo "add $bin to PATH, so that kubectl finds the plugin" ;; esac

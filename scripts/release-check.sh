#!/usr/bin/env bash
# Installs the release in dist/ in every way that this machine allows, without a network: install.sh, krew, the files of the
# container image, Homebrew's formula, and the URLs of cargo-binstall. Run it after scripts/release.sh.
#
#   scripts/release-check.sh
#
# Prints a line per check: ok, or "not run" with the reason. A failed check ends the script with exit code 1.
# krew is `kubectl-krew`, `krew`, or the program that KREW names (go install sigs.k8s.io/krew/cmd/krew@latest).
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "release-check.sh: $*" >&2; exit 1; }
not_run() { echo "not run: $*"; }
case $(uname -m) in x86_64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) fail "no archive for $(uname -m)" ;; esac
os=$(uname -s | tr '[:upper:]' '[:lower:]')
archive=dist/kubectl-crdx-$os-$arch.tar.gz
[ -f "$archive" ] || fail "$archive is missing: run scripts/release.sh first"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)

# The main job, with the program $1.
try() {
    local output
    "$1" version | grep -qF "$version" || fail "$1 version does not print $version"
    output=$("$1" validate examples/objects/accepted.yaml --crds examples/crds --offline 2>&1) || fail "$1 validate: $output"
    case $output in *accepted*) ;; *) fail "$1 validate printed $output" ;; esac
}

# Every archive has the program, its completion for kubectl, manual pages and the licence.
for file in dist/kubectl-crdx-*.tar.gz; do
    names=$(tar -tzf "$file")
    case $file in
        *-windows-*) parts=(kubectl-crdx.exe kubectl_complete-crdx.cmd) ;;
        *) parts=(kubectl-crdx kubectl_complete-crdx) ;;
    esac
    for part in "${parts[@]}" LICENSE man/kubectl-crdx.1; do
        grep -qxF "$part" <<<"$names" || fail "$file has no $part"
    done
done
(cd dist && sha256sum --quiet -c checksums.txt) || fail "checksums.txt does not match the files"
echo "ok: archives and checksums"

CRDX_RELEASE=dist CRDX_BIN=$work/bin dist/install.sh >/dev/null
try "$work/bin/kubectl-crdx"
completed=$(PATH="$work/bin:$PATH" "$work/bin/kubectl_complete-crdx" valid)
case $completed in *validate*) ;; *) fail "kubectl_complete-crdx printed $completed" ;; esac
cp -r dist "$work/changed"
printf x >>"$work/changed/$(basename "$archive")"
if CRDX_RELEASE=$work/changed CRDX_BIN=$work/refused dist/install.sh >/dev/null 2>&1 || [ -e "$work/refused" ]; then
    fail "install.sh installs an archive with another checksum"
fi
echo "ok: install.sh"

krew=${KREW:-$(command -v kubectl-krew || command -v krew || true)}
if [ -z "$krew" ]; then
    not_run "krew is missing: go install sigs.k8s.io/krew/cmd/krew@latest"
else
    # The manifest needs every platform; only that of this machine is installed.
    manifest=dist/crdx.yaml
    if [ ! -f "$manifest" ]; then
        manifest=$work/crdx.yaml
        sum=$(sha256sum "$archive" | cut -d' ' -f1)
        sed "/^#/d; s/^    sha256: .*/    sha256: $sum/" plugin-manifest/crdx.yaml >"$manifest"
    fi
    KREW_ROOT=$work/krew "$krew" install --manifest="$manifest" --archive="$archive" >"$work/krew.log" 2>&1 || fail "krew: $(cat "$work/krew.log")"
    try "$work/krew/bin/kubectl-crdx"
    if command -v kubectl >/dev/null; then
        PATH="$work/krew/bin:$PATH" kubectl crdx version | grep -qF "$version" || fail "kubectl does not find the plugin"
    else
        not_run "kubectl is missing: kubectl crdx version"
    fi
    echo "ok: krew"
fi

# The files of the image as the user of the image, without anything else of this machine.
if [ "$os" != linux ] || [ ! -f "dist/bin/linux-$arch/kubectl-crdx" ]; then
    not_run "the image: dist/bin/linux-$arch is missing"
elif [ "$(id -u)" != 0 ]; then
    not_run "the image: chroot needs root"
else
    scripts/image.sh >/dev/null
    cp -r "dist/image/$arch" "$work/image"
    chmod 1777 "$work/image/tmp"
    mkdir "$work/image/work"
    cp -r examples/crds examples/objects "$work/image/work/"
    in_image() { chroot --userspec=65532:65532 "$work/image" /usr/local/bin/kubectl-crdx "$@"; }
    in_image version | grep -qF "$version" || fail "the image does not print $version"
    in_image validate /work/objects/accepted.yaml --crds /work/crds --offline >/dev/null || fail "the image does not validate"
    echo "ok: the files of the image"
    if docker info >/dev/null 2>&1; then
        docker build -q --build-arg "TARGETARCH=$arch" -t kubectl-crdx:check . >/dev/null
        docker run --rm kubectl-crdx:check version | grep -qF "$version" || fail "docker run does not print $version"
        echo "ok: docker build and docker run"
    else
        not_run "docker build: no Docker daemon"
    fi
fi

if [ ! -f dist/kubectl-crdx.rb ]; then
    not_run "the formula: scripts/release.sh --pack writes it"
elif command -v brew >/dev/null; then
    brew style dist/kubectl-crdx.rb && echo "ok: brew style"
elif command -v ruby >/dev/null; then
    ruby -c dist/kubectl-crdx.rb >/dev/null && echo "ok: ruby reads the formula (Homebrew is missing: brew install not run)"
else
    not_run "the formula: Homebrew and Ruby are missing"
fi

# cargo-binstall builds these URLs from the metadata of the package; their last part must be an archive.
sed -n 's/^pkg-url = ".*\/\(.*\)"$/\1/p' Cargo.toml | sort -u | while read -r name; do
    [ -f "dist/$name" ] || not_run "cargo-binstall: dist/$name is missing"
done
if command -v cargo-binstall >/dev/null; then
    not_run "cargo-binstall: it downloads from the release, which must exist"
else
    not_run "cargo-binstall is missing"
fi

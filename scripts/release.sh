#!/usr/bin/env bash
# Makes a release of the tag TAG in dist/: archives, kubectl-crdx.cdx.json (the SBOM), checksums.txt and crdx.yaml, the
# manifest for krew.
#
#   scripts/release.sh TAG [PLATFORM…]         builds static Linux binaries (linux-amd64, unless others are named), then packs
#   scripts/release.sh --pack TAG              packs what other machines built: dist/bin/PLATFORM/kubectl-crdx[.exe]
#
# The owner and the URL are defined by `repository` in Cargo.toml; the tag must be the version in Cargo.toml.
# Needs musl-tools for linux-amd64, cargo-zigbuild (or a cross linker in cargo's configuration) for linux-arm64, and
# cargo-cyclonedx for the SBOM.
set -euo pipefail
cd "$(dirname "$0")/.."

MOST_BYTES=15000000

fail() { echo "release.sh: $*" >&2; exit 1; }
field() { sed -n "s/^$1 = \"\(.*\)\"$/\1/p" Cargo.toml | head -1; }

target() {
    case $1 in
        linux-amd64) echo x86_64-unknown-linux-musl ;;
        linux-arm64) echo aarch64-unknown-linux-musl ;;
        *) fail "$1 is not built here: the release workflow builds it" ;;
    esac
}

build() {
    local platform=$1 target binary
    target=$(target "$platform")
    rustup target add "$target" >/dev/null 2>&1 || fail "cannot get the target $target"
    binary=$(scripts/build.sh "$target")
    mkdir -p "dist/bin/$platform"
    cp "$binary" "dist/bin/$platform/"
    check "dist/bin/$platform/kubectl-crdx"
}

# A binary must run on any Linux, and be small.
check() {
    local size
    size=$(stat -c %s "$1")
    echo "$1: $size bytes"
    [ "$size" -le "$MOST_BYTES" ] || fail "$1 is larger than $MOST_BYTES bytes"
    if readelf -l "$1" | grep -q INTERP; then fail "$1 is not static: it asks for a loader"; fi
    if readelf -d "$1" 2>/dev/null | grep -q NEEDED; then fail "$1 is not static: it needs libraries"; fi
}

# Archives of the same files are the same bytes.
pack() {
    local platform=$1 directory=dist/bin/$1 date
    cp LICENSE "$directory/"
    mkdir -p "$directory/man"
    cp dist/man/*.1 "$directory/man/"
    date=$(git log -1 --format=%ct)
    find "$directory" -type f -exec touch -d "@$date" {} +
    case $platform in
        windows-*)
            rm -f "dist/kubectl-crdx-$platform.zip"
            (cd "$directory" && TZ=UTC zip -qrX "../../kubectl-crdx-$platform.zip" LICENSE kubectl-crdx.exe man) ;;
        *)
            chmod 755 "$directory/kubectl-crdx"
            tar -C "$directory" --owner=0 --group=0 --numeric-owner --sort=name --format=ustar -cf - LICENSE kubectl-crdx man |
                gzip -n >"dist/kubectl-crdx-$platform.tar.gz" ;;
    esac
}

# The manifest of the repository with the owner, the tag, and the checksum behind each uri.
manifest() {
    local tag=$1
    awk -v tag="$tag" -v repository="$(field repository)" '
        FNR == NR { sums[$2] = $1; next }
        { sub(/https:\/\/github.com\/OWNER\/kubectl-crdx/, repository) }
        /^#/ { next }
        /^  version:/ { print "  version: " tag; next }
        /^    uri:/ { sub(/download\/[^\/]*\//, "download/" tag "/"); n = split($0, parts, "/"); file = parts[n] }
        /^    sha256:/ && file in sums { print "    sha256: " sums[file]; next }
        /^    sha256:/ { print file ": not packed, its checksum is a placeholder" > "/dev/stderr" }
        { print }
    ' dist/checksums.txt plugin-manifest/crdx.yaml >dist/crdx.yaml
}

only_pack=
if [ "${1:-}" = --pack ]; then only_pack=1; shift; fi
tag=${1:-}
[ -n "$tag" ] || fail "say which tag: scripts/release.sh v$(field version)"
shift
[ "$tag" = "v$(field version)" ] || fail "the tag is $tag, but Cargo.toml says $(field version)"
case $(field repository) in */OWNER/*) echo "release.sh: the owner in Cargo.toml is still a placeholder" >&2 ;; esac

if [ -z "$only_pack" ]; then
    for platform in "${@:-linux-amd64}"; do build "$platform"; done
fi
[ -n "$(ls dist/man/*.1 2>/dev/null)" ] || scripts/man.sh dist/man
[ -s dist/kubectl-crdx.cdx.json ] || scripts/sbom.sh dist/kubectl-crdx.cdx.json
for directory in dist/bin/*/; do pack "$(basename "$directory")"; done
(cd dist && sha256sum kubectl-crdx-*.tar.gz $(ls kubectl-crdx-*.zip 2>/dev/null) kubectl-crdx.cdx.json >checksums.txt)
manifest "$tag"
cat dist/checksums.txt

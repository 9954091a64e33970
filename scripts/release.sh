#!/usr/bin/env bash
# Makes a release of the tag TAG in dist/: archives, kubectl-crdx.cdx.json (the SBOM), checksums.txt, install.sh, and with
# every platform crdx.yaml (the manifest for krew), kubectl-crdx.rb (the formula for Homebrew), kubectl-crdx.json (the manifest for scoop)
# and winget/ (the manifests for winget). If NFPM names the program nfpm, also Debian and RPM packages (scripts/linux-packages.sh).
# scripts/release-check.sh installs the result in every way that the machine allows.
#
#   scripts/release.sh TAG [PLATFORM…]         builds static Linux binaries (linux-amd64, unless others are named), then packs
#   scripts/release.sh --pack TAG              packs what other machines built: dist/bin/PLATFORM/kubectl-crdx[.exe],
#                                              and writes the manifest; every platform must be there
#
# The owner and the URL are defined by `repository` in Cargo.toml; the tag must be the version in Cargo.toml.
# Needs musl-tools for linux-amd64, cargo-zigbuild (or a cross linker in cargo's configuration) for linux-arm64, and
# cargo-cyclonedx for the SBOM.
set -euo pipefail
cd "$(dirname "$0")/.."

# The limit for the binary of any platform.
MOST_BYTES=26500000

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
}

# A binary must be small, and on Linux run everywhere.
check() {
    local platform=$1 binary=$2 size
    [ -f "$binary" ] || fail "$binary is missing"
    size=$(stat -c %s "$binary")
    echo "$binary: $size bytes"
    [ "$size" -le "$MOST_BYTES" ] || fail "$binary is larger than $MOST_BYTES bytes"
    case $platform in linux-*) ;; *) return 0 ;; esac
    readelf -h "$binary" >/dev/null 2>&1 || fail "$binary is not a program for Linux"
    if readelf -l "$binary" | grep -q INTERP; then fail "$binary is not static: it asks for a loader"; fi
    if readelf -d "$binary" 2>/dev/null | grep -q NEEDED; then fail "$binary is not static: it needs libraries"; fi
}

# Archives of the same files are the same bytes: sorted names, and fixed times, owners and modes.
pack() {
    local platform=$1 binary=kubectl-crdx completion=kubectl_complete-crdx stage date
    case $platform in windows-*) binary=kubectl-crdx.exe completion=kubectl_complete-crdx.cmd ;; esac
    check "$platform" "dist/bin/$platform/$binary"
    stage=$(mktemp -d)
    install -m 755 "dist/bin/$platform/$binary" "$stage/"
    install -m 644 LICENSE "$stage/"
    install -d -m 755 "$stage/man"
    install -m 644 dist/man/*.1 "$stage/man/"
    date=$(git log -1 --format=%ct)
    # kubectl runs this script to complete `kubectl crdx …`.
    install -m 755 "plugin-manifest/$completion" "$stage/"
    (cd "$stage" && find . -mindepth 1 -printf '%P\n' | LC_ALL=C sort) |
        tar -C "$stage" --no-recursion --owner=0 --group=0 --numeric-owner --mtime="@$date" --format=ustar -cf - -T - |
        gzip -n >"dist/kubectl-crdx-$platform.tar.gz"
    # winget installs from ZIP archives only.
    case $platform in windows-*)
        find "$stage" -exec touch -d "@$date" {} +
        (cd "$stage" && find . -mindepth 1 -type f -printf '%P\n' | LC_ALL=C sort | TZ=UTC zip -qX9 - -@) >"dist/kubectl-crdx-$platform.zip" ;;
    esac
    rm -rf "$stage"
}

# The platforms of the manifest.
platforms() { sed -n 's#^    uri: .*/kubectl-crdx-\([a-z0-9-]*\)\..*#\1#p' plugin-manifest/crdx.yaml; }

# The manifest of the repository with the owner, the tag, and the checksum behind each uri.
manifest() {
    local tag=$1
    awk -v tag="$tag" -v repository="$(field repository)" '
        FNR == NR { sums[$2] = $1; next }
        { sub(/https:\/\/github.com\/OWNER\/kubectl-crdx/, repository) }
        /^#/ { next }
        /^  version:/ { print "  version: " tag; next }
        /^    uri:/ { sub(/download\/[^\/]*\//, "download/" tag "/"); n = split($0, parts, "/"); file = parts[n] }
        /^    sha256:/ { print "    sha256: " sums[file]; next }
        { print }
    ' dist/checksums.txt plugin-manifest/crdx.yaml >dist/crdx.yaml
}

# The formula with the version, the repository, and the checksum behind each url.
formula() {
    local tag=$1
    awk -v version="${tag#v}" -v repository="$(field repository)" '
        FNR == NR { sums[$2] = $1; next }
        /^#/ { next }
        { sub(/https:\/\/github.com\/OWNER\/kubectl-crdx/, repository) }
        /^  version / { print "  version \"" version "\""; next }
        /^ *url / { sub(/download\/[^\/]*\//, "download/v" version "/"); n = split($0, parts, "/"); file = parts[n]; sub(/".*/, "", file) }
        /^ *sha256 / { sub(/"[0-9a-f]*"/, "\"" sums[file] "\"") }
        { print }
    ' dist/checksums.txt plugin-manifest/kubectl-crdx.rb >dist/kubectl-crdx.rb
}

# Fills in a template: @VERSION@, @REPOSITORY@, @OWNER@ and @SHA256 FILE@.
fill() {
    local template=$1 repository
    repository=$(field repository)
    awk -v version="${2#v}" -v repository="$repository" -v owner="$(basename "$(dirname "$repository")")" '
        FNR == NR { sums[$2] = $1; next }
        {
            gsub(/@VERSION@/, version); gsub(/@REPOSITORY@/, repository); gsub(/@OWNER@/, owner)
            if (match($0, /@SHA256 [^@]*@/)) {
                file = substr($0, RSTART + 8, RLENGTH - 9)
                if (!(file in sums)) { print "release.sh: no checksum of " file >"/dev/stderr"; exit 1 }
                $0 = substr($0, 1, RSTART - 1) sums[file] substr($0, RSTART + RLENGTH)
            }
            print
        }
    ' dist/checksums.txt "$template"
}

# The manifests for scoop and winget.
windows_manifests() {
    local tag=$1 owner template
    owner=$(basename "$(dirname "$(field repository)")")
    fill plugin-manifest/kubectl-crdx.json "$tag" >dist/kubectl-crdx.json
    mkdir -p dist/winget
    for template in plugin-manifest/winget/*.yaml; do
        fill "$template" "$tag" >"dist/winget/$(basename "$template" | sed "s/^OWNER/$owner/")"
    done
}

# The script that installs a release, for this repository.
installer() {
    sed "s#https://github.com/OWNER/kubectl-crdx#$(field repository)#" scripts/install.sh >dist/install.sh
    chmod 755 dist/install.sh
}

only_pack=
if [ "${1:-}" = --pack ]; then only_pack=1; shift; fi
tag=${1:-}
[ -n "$tag" ] || fail "say which tag: scripts/release.sh v$(field version)"
shift
[ "$tag" = "v$(field version)" ] || fail "the tag is $tag, but Cargo.toml says $(field version)"
case $(field repository) in "" | */OWNER/*) fail "set the owner in Cargo.toml with scripts/owner.sh: repository is \"$(field repository)\"" ;; esac

if [ -n "$only_pack" ]; then
    # A release has every platform of the manifest.
    for platform in $(platforms); do
        ls "dist/bin/$platform/kubectl-crdx"* >/dev/null 2>&1 || fail "$platform is missing: put its binary into dist/bin/$platform/"
    done
else
    for platform in "${@:-linux-amd64}"; do build "$platform"; done
fi
[ -n "$(ls dist/man/*.1 2>/dev/null)" ] || scripts/man.sh dist/man
[ -s dist/kubectl-crdx.cdx.json ] || scripts/sbom.sh dist/kubectl-crdx.cdx.json
rm -f dist/kubectl-crdx-*.{tar.gz,zip,deb,rpm}
for directory in dist/bin/*/; do pack "$(basename "$directory")"; done
if [ -n "${NFPM:-}" ]; then
    scripts/linux-packages.sh "$(field version)" "$(field repository)"
else
    echo "release.sh: no Debian and RPM packages: NFPM names no program" >&2
fi
(cd dist && find . -maxdepth 1 -name 'kubectl-crdx-*' -type f -printf '%P\n' | LC_ALL=C sort | xargs sha256sum kubectl-crdx.cdx.json >checksums.txt)
installer
if [ -n "$only_pack" ]; then
    manifest "$tag"
    formula "$tag"
    windows_manifests "$tag"
else
    echo "release.sh: no manifests and no formula without every platform: --pack writes them" >&2
fi
cat dist/checksums.txt

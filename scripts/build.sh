#!/usr/bin/env bash
# Builds the program for a release, so that the same source, compiler and target can give the same bytes in any folder
# (scripts/reproducible.sh): no path of the machine gets into the binary. Prints the path of the binary.
#
#   scripts/build.sh TARGET [PROFILE]          PROFILE is dist unless another is named
#
# Uses cargo-zigbuild, if installed, for a target with another processor. CARGO_FLAGS are further flags of cargo.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:?name the target: scripts/build.sh x86_64-unknown-linux-musl}
profile=${2:-dist}

# The path as the compiler sees it: on Windows with a drive.
native() { if command -v cygpath >/dev/null; then cygpath -w "$1"; else echo "$1"; fi; }

cargo_home=${CARGO_HOME:-$HOME/.cargo}
output=${CARGO_TARGET_DIR:-target}
case $output in /* | ?:*) ;; *) output=$PWD/$output ;; esac
export CARGO_TARGET_DIR=$output
# Build scripts and tools that write a time into their output use this time.
if [ -z "${SOURCE_DATE_EPOCH:-}" ] && git rev-parse --git-dir >/dev/null 2>&1; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
fi
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0}

# Fetch the sources first, because the folders of their registries are listed below.
# shellcheck disable=SC2086
cargo fetch --locked --quiet --target "$target" ${CARGO_FLAGS:-}
# Later prefixes take precedence.
prefixes=("$cargo_home=/cargo" "$PWD=/kubectl-crdx" "$output=/target")
for registry in "$cargo_home"/registry/src/*/; do
    prefixes+=("${registry%/}=/cargo/registry")
done

# Cargo's stable form of the profile option trim-paths is not in cargo 1.95. Flags of RUSTFLAGS are kept.
read -ra flags <<<"${RUSTFLAGS:-}"
c_flags=
for prefix in "${prefixes[@]}"; do
    from=$(native "${prefix%%=*}")
    flags+=("--remap-path-prefix=$from=${prefix#*=}")
    case $from in *[[:space:]]*) echo "build.sh: the path $from has a space: C compilers cannot be told to leave it out" >&2; exit 1 ;; esac
    c_flags+=" -ffile-prefix-map=$from=${prefix#*=}"
done
case $target in
    # The linker writes a hash instead of the time.
    *-msvc) flags+=("-Clink-arg=/Brepro") ;;
    *) export CFLAGS="${CFLAGS:-}$c_flags" ;;
esac
unset RUSTFLAGS
CARGO_ENCODED_RUSTFLAGS=$(printf '%s\x1f' "${flags[@]}")
export CARGO_ENCODED_RUSTFLAGS=${CARGO_ENCODED_RUSTFLAGS%$'\x1f'}

command=build
case $target in
    "$(uname -m)"-*) ;;
    *-linux-*) if command -v cargo-zigbuild >/dev/null; then command=zigbuild; fi ;;
esac
# shellcheck disable=SC2086
cargo "$command" --profile "$profile" --locked --target "$target" --bin kubectl-crdx ${CARGO_FLAGS:-} >&2

folder=$profile
if [ "$profile" = dev ]; then folder=debug; fi
binary=$output/$target/$folder/kubectl-crdx
case $target in *-windows-*) binary+=.exe ;; esac
for path in "$(native "$PWD")" "$(native "$cargo_home")" "$(native "$output")" "${RUSTUP_HOME:-$HOME/.rustup}"; do
    if grep -qaF "$path" "$binary"; then
        echo "build.sh: $binary names $path" >&2
        exit 1
    fi
done
echo "$binary"

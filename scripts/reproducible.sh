#!/usr/bin/env bash
# Builds the last commit twice, in different folders and with different cargo homes, and compares the binaries.
#
#   scripts/reproducible.sh [TARGET [PROFILE]]      the target of this machine and dist, unless others are named
#
# Prints both checksums; the exit code is 1 if they differ.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
target=${1:-$host}
profile=${2:-dist}
commit=$(git rev-parse HEAD)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH
unset CARGO_TARGET_DIR RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
home=${CARGO_HOME:-$HOME/.cargo}
export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}

build() {
    local folder=$1 name=$2
    mkdir -p "$folder"
    git archive "$commit" | tar -x -C "$folder"
    binary=$("$folder/scripts/build.sh" "$target" "$profile")
    cp "$binary" "$root/$name"
    rm -rf "$folder"
}

build "$root/first" 1
# Cargo's folder of downloaded crates under another name.
mkdir -p "$root/another/home"
cp -al "$home/registry" "$root/another/home/" 2>/dev/null || cp -a "$home/registry" "$root/another/home/"
CARGO_HOME=$root/another/home CARGO_FLAGS=--offline build "$root/second/in/another/folder" 2

rustc -V
(cd "$root" && sha256sum 1 2)
cmp "$root/1" "$root/2"
echo "$target, profile $profile: the same $(stat -c %s "$root/1") bytes"

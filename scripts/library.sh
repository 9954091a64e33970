#!/usr/bin/env bash
# Uses the library as another project does: a package outside the workspace depends on `crdx` by path, and runs the examples of the
# library as its tests, without features and with them. Prints the number of crates and the time of a debug build with an empty
# target folder, after all crates were downloaded. Needs the network for new crates.
#
# usage: scripts/library.sh [default | serde | policies | builtin | kube]...   (all of them without arguments)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
TIMEFORMAT='%R s, with %U s of user CPU time'

# package NAME FEATURES EXAMPLE: a package whose test is the example.
package() {
    local package="$folder/$1" example="$root/crates/crdx/examples/$3.rs"
    [ -f "$example" ] || example="$root/examples/rust/$3.rs"
    mkdir -p "$package/src" "$package/tests"
    touch "$package/src/lib.rs"
    {
        printf '[package]\nname = "external"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n[dependencies]\n'
        printf 'crdx = { path = "%s/crates/crdx", features = [%s] }\n' "$root" "$2"
        case $3 in
        derived_crd | controller)
            # The versions that the library itself is tested with.
            printf '\n[dev-dependencies]\n'
            grep -E '^(futures-util|k8s-openapi|kube|schemars|serde|serde_json|tokio) = ' "$root/examples/rust/Cargo.toml"
            ;;
        esac
    } >"$package/Cargo.toml"
    sed "s|\.\./tests/|$root/crates/crdx/tests/|" "$example" >"$package/tests/$3.rs"
}

# measure NAME: its crates, the time of its build, and its test.
measure() {
    cd "$folder/$1"
    cargo fetch --quiet
    local crates
    crates=$(cargo tree --edges normal --prefix none --no-dedupe | sed 's/ (.*//' | sort -u | grep -vc '^external ')
    printf '%s: %s crates; the library and its test built in ' "$1" "$crates"
    time CARGO_TARGET_DIR="$folder/$1/target" cargo test --no-run --quiet --offline
    CARGO_TARGET_DIR="$folder/$1/target" cargo test --quiet --offline | grep -E '^test result: ok. [1-9]' | head -n 1
    rm -rf "$folder/$1/target"
}

[ $# -gt 0 ] || set -- default serde policies builtin kube
for name in "$@"; do
    case $name in
    default) package default '' crd ;;
    serde) package serde '"serde"' derived_crd ;;
    policies) package policies '"policies"' policy ;;
    builtin) package builtin '"builtin"' crd ;;
    kube) package kube '"kube", "serde"' controller ;;
    *) sed -n 's/^# \(usage.*\)/\1/p' "$0" >&2 && exit 2 ;;
    esac
    measure "$name"
done

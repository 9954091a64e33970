#!/usr/bin/env bash
# Builds the packages for Python, npm and Java in OUT. All have the version of Cargo.toml.
#
#   packages/build.sh OUT PLATFORM=PROGRAM…      platforms as in plugin-manifest/crdx.yaml
#
# For publication, the programs come from `scripts/build.sh TARGET packages`, whose profile makes them small.
#
# Writes a wheel per platform, the packages of npm, and a jar with the programs of all platforms, and prints their sizes. Needs Python
# with hatchling and build, Node.js with npm, Maven, AdvanceCOMP, and the WebAssembly of bindings/build.sh; CRDX_PYTHON names the Python
# to use, CRDX_GROUP the group of the jar.
set -euo pipefail

[ $# -ge 2 ] || { echo "usage: packages/build.sh OUT PLATFORM=PROGRAM…" >&2; exit 2; }
command -v advzip >/dev/null || { echo "build.sh: advzip is missing: install advancecomp" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/../Cargo.toml" | head -1)

# bin/PLATFORM/PROGRAM, and a copy of the project for Maven.
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
for entry in "$@"; do
    platform=${entry%%=*} program=${entry#*=}
    case $platform in windows-*) name=kubectl-crdx.exe ;; *) name=kubectl-crdx ;; esac
    mkdir -p "$programs/bin/$platform"
    install -m 755 "$program" "$programs/bin/$platform/$name"
    CRDX_BINARY=$programs/bin/$platform/$name CRDX_PLATFORM=$platform \
        "${CRDX_PYTHON:-python3}" -m build --quiet --wheel --no-isolation --outdir "$out" "$here/python"
done

rm -rf "$out/npm"
(
    mkdir "$programs/types" && cd "$programs/types"
    npm install --silent --no-audit --no-fund json-schema-to-typescript@15
    node "$here/npm/types.mjs" >reports.d.ts
)
mkdir -p "$out/npm"
cp -r "$here/npm/engine" "$out/npm/engine"
gunzip -c "$here/../bindings/go/crdxtest/engine.wasm.gz" >"$out/npm/engine/engine.wasm"
cp "$programs/types/reports.d.ts" "$out/npm/engine/"
node "$here/npm/build.mjs" "$version" "$out/npm" "$@"
for package in "$out"/npm/*/; do
    (cd "$package" && npm pack --silent --pack-destination "$out")
done

cp -r "$here/java" "$programs/java"
sed -i.bak -e "s|<version>0.0.0</version>|<version>$version</version>|" \
    -e "s|<groupId>io.github.OWNER</groupId>|<groupId>${CRDX_GROUP:-io.github.OWNER}</groupId>|" "$programs/java/pom.xml"
mvn --quiet --batch-mode --file "$programs/java/pom.xml" "-Dcrdx.programs=$programs/bin" package
cp "$programs/java/target/kubectl-crdx-junit-$version.jar" "$out/"

# Compresses the same content again, still with deflate: 3 to 5 % smaller. Higher levels take 10 times as long and save nothing more.
advzip --recompress --shrink-normal --quiet "$out"/*.whl "$out"/*.jar
advdef --recompress --shrink-extra --quiet "$out"/*.tgz

stat -c '%s bytes: %n' "$out"/*.whl "$out"/*.tgz "$out"/*.jar "$out/npm/engine/engine.wasm"

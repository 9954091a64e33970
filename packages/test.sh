#!/usr/bin/env bash
# Builds the packages of this machine from PROGRAM, and runs the example projects of examples/operators with them, each in a folder and an
# environment that have nothing of this repository.
#
#   packages/test.sh PROGRAM
#
# Needs Python, Node.js with npm, Java with Maven, and their registries, AdvanceCOMP, and the WebAssembly of bindings/build.sh.
set -euo pipefail

[ $# = 1 ] || { echo "usage: packages/test.sh PROGRAM" >&2; exit 2; }
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $(uname -sm) in
    "Linux x86_64") platform=linux-amd64 npm=linux-x64 ;;
    "Linux aarch64") platform=linux-arm64 npm=linux-arm64 ;;
    "Darwin x86_64") platform=darwin-amd64 npm=darwin-x64 ;;
    "Darwin arm64") platform=darwin-arm64 npm=darwin-arm64 ;;
    *) echo "there are no packages for $(uname -sm)" >&2; exit 2 ;;
esac

python3 -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet build hatchling
CRDX_PYTHON=$work/tools/bin/python "$here/build.sh" "$work/packages" "$platform=$program"
cp -r "$here/../examples/operators" "$work/operators"

echo "== Python"
python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet "$(echo "$work"/packages/*.whl)[client]" pytest
(cd "$work/operators/python" && env -i HOME="$work" PATH=/usr/bin:/bin "$work/python/bin/python" -m pytest -q)
env -i HOME="$work" PATH=/usr/bin:/bin "$work/python/bin/kubectl-crdx" version

echo "== npm"
node --test "$here/npm/engine/webhooks.test.mjs"
(
    cd "$work/operators/javascript"
    npm install --silent --no-audit --no-fund "$work"/packages/kubectl-crdx-"$npm"-*.tgz "$work"/packages/kubectl-crdx-[0-9]*.tgz \
        "$work"/packages/kubectl-crdx-engine-*.tgz
    npm test
    npx kubectl-crdx version
)

echo "== Java"
(
    cd "$work/operators/java"
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/../Cargo.toml" | head -1)
    install() { mvn --quiet --batch-mode org.apache.maven.plugins:maven-install-plugin:3.1.2:install-file "$@"; }
    install "-Dfile=$work/packages/kubectl-crdx-junit-$version.jar"
    mvn --quiet --batch-mode "-Dcrdx.version=$version" test
    cat target/surefire-reports/*.txt
)

#!/usr/bin/env bash
# Builds the playground into playground/dist: static files for any web server.
#
# Needs Rust with the target wasm32-unknown-unknown (`rustup target add wasm32-unknown-unknown`), Node.js 20 or newer, and
# wasm-bindgen of the version in Cargo.lock (`cargo install wasm-bindgen-cli --version VERSION`), on PATH or in $WASM_BINDGEN;
# `build.sh --wasm-bindgen-version` prints this version.
set -euo pipefail
cd "$(dirname "$0")"

wasm_bindgen=${WASM_BINDGEN:-wasm-bindgen}
wanted=$(sed -n '/^name = "wasm-bindgen"$/{n;s/version = "\(.*\)"/\1/p}' ../Cargo.lock)
if [ "${1:-}" = --wasm-bindgen-version ]; then
  echo "$wanted"
  exit
fi
found=$("$wasm_bindgen" --version 2>/dev/null | cut -d' ' -f2 || true)
if [ "$found" != "$wanted" ]; then
  echo "error: wasm-bindgen $wanted is needed, not '$found': cargo install wasm-bindgen-cli --version $wanted" >&2
  exit 2
fi
[ -d node_modules ] || npm ci --no-audit --no-fund

# Values are processed recursively, and no thread with a larger stack can be started: the usual stack of 1 MiB is not enough.
RUSTFLAGS="-C link-arg=-zstack-size=33554432" cargo rustc --locked -p crdx-playground --lib --crate-type cdylib \
  --profile playground --target wasm32-unknown-unknown --target-dir target
rm -rf dist && mkdir dist
"$wasm_bindgen" --target web --no-typescript --out-dir target/bindgen target/wasm32-unknown-unknown/playground/crdx_playground.wasm
# Names of functions are not needed; panics abort.
node_modules/.bin/wasm-opt -Oz --strip-debug --strip-producers --enable-bulk-memory --enable-nontrapping-float-to-int \
  --enable-sign-ext --enable-mutable-globals --enable-reference-types --enable-multivalue \
  -o dist/engine.wasm target/bindgen/crdx_playground_bg.wasm
cp target/bindgen/crdx_playground.js target/bindgen/engine.js

node examples.js > dist/examples.json
cp src/index.html src/style.css src/icon.svg dist/
node_modules/.bin/esbuild src/main.js src/worker.js --bundle --format=esm --target=es2022 --minify --legal-comments=linked \
  --alias:#engine=./target/bindgen/engine.js --outdir=dist --log-level=warning
node sizes.js

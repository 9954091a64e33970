#!/usr/bin/env bash
# Builds the API server as WebAssembly (WASI) into bindings/go/crdxtest/engine.wasm.gz, which the Go module embeds and packages/build.sh
# packs for npm.
# Needs the target wasm32-wasip1 (`rustup target add wasm32-wasip1`).
set -euo pipefail
cd "$(dirname "$0")/.."

# Values are processed recursively, and no thread with a larger stack can be started: the usual stack of 1 MiB is not enough.
# JavaScript calls the function in the table of functions.
RUSTFLAGS="-C link-arg=-zstack-size=33554432" \
    cargo rustc --locked -p crdx-wasi --profile bindings --target wasm32-wasip1 --target-dir target/bindings -- -C link-arg=--export-table
wasm=target/bindings/wasm32-wasip1/bindings/crdx-wasi.wasm
gzip -9nc "$wasm" >bindings/go/crdxtest/engine.wasm.gz
stat -c '%n: %s bytes' "$wasm" bindings/go/crdxtest/engine.wasm.gz

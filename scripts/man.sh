#!/usr/bin/env bash
# Writes the manual pages of all commands, made from the definition of the command line: scripts/man.sh [DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
cargo run --quiet --locked -p crdx-examples --example man -- "${1:-dist/man}"

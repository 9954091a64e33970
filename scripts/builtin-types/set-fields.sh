#!/bin/bash
# Lists the fields of built-in kinds that the API server may set or drop by itself, by their lowercase names.
#
# usage: set-fields.sh KUBERNETES… > crates/crdx-types/src/set_fields.txt
#
# KUBERNETES are unpacked modules k8s.io/kubernetes of several releases. "set" are all fields that defaulting, conversion, a registry strategy, a
# helper of a strategy or an admission plugin assigns; "drop" are those that a strategy or its helper resets, mostly fields of disabled feature
# gates. Names are not told apart by type, so that the lists are too long rather than too short.
set -euo pipefail
export LC_ALL=C
names() { sed -E 's/^\.([A-Za-z0-9]*).*/\1/' | tr '[:upper:]' '[:lower:]' | sort -u; }
files() {
    for module in "$@"; do
        find "$module"/pkg/apis -name defaults.go -o -name zz_generated.defaults.go -o -name conversion.go
        find "$module"/pkg/{api,registry} "$module"/plugin/pkg/admission -name '*.go' -not -name '*_test.go' -not -path '*/testing/*'
    done
}
helpers() {
    for module in "$@"; do
        find "$module"/pkg/{api,registry} -name '*.go' -not -name '*_test.go' -not -path '*/testing/*'
    done
}
echo "# Made by scripts/builtin-types/set-fields.sh; crates/crdx-types/src/set_fields.rs describes the format."
echo "set"
files "$@" | xargs grep -hoE '\.[A-Z][A-Za-z0-9]*(\[[^]]*\])* *(=|\+=)[^=]' | names | sed 's/^/ /'
echo "drop"
helpers "$@" | xargs grep -hoE '\.[A-Z][A-Za-z0-9]*(\[[^]]*\])* *= *(nil|""|false|0)$' | names | sed 's/^/ /'

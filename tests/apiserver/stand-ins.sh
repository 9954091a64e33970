#!/bin/bash
# Print the `replace` lines for modules of a beta that the module proxy does not serve, and write their stand-ins into a folder. A module that is served needs none.
# k8s.io/apiextensions-api (since 1.38) has the types and clients of CRDs; those of k8s.io/apiextensions-apiserver v0.37.2 are the same (compare zz_generated.conversion.go).
# usage: stand-ins.sh 1.38.0-beta.0 FOLDER >> go.mod
set -euo pipefail
version=v0.${1#*.}
mkdir -p "$2"
out=$(realpath "$2")
export GOTOOLCHAIN=auto GOFLAGS=-mod=mod
cd "$out"

served() { go mod download "$1" > /dev/null 2>&1; }

if ! served "k8s.io/apiextensions-api@$version"; then
    old=$(go mod download -json k8s.io/apiextensions-apiserver@v0.37.2 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
    api=$out/apiextensions-api
    for group in v1 v1beta1; do
        mkdir -p "$api/pkg/apis/apiextensions/$group"
        cp "$old/pkg/apis/apiextensions/$group"/*.go "$api/pkg/apis/apiextensions/$group/"
        rm -f "$api/pkg/apis/apiextensions/$group"/{conversion.go,zz_generated.conversion.go,*_test.go}
        # conversion.go defined it.
        printf 'package %s\n\nvar nullLiteral = []byte(`null`)\n' $group > "$api/pkg/apis/apiextensions/$group/null.go"
    done
    cp -r "$old/pkg/client" "$api/pkg/client"
    chmod -R u+w "$api"
    rm -rf "$api/pkg/client/clientset_test"
    find "$api" -name '*.go' -exec sed -i -e 's#k8s.io/apiextensions-apiserver/pkg/\(apis/apiextensions/v1\|client\)#k8s.io/apiextensions-api/pkg/\1#g' \
        -e 's#sigs.k8s.io/structured-merge-diff/v6#sigs.k8s.io/structured-merge-diff/v7#g' {} +
    printf 'module k8s.io/apiextensions-api\n\ngo 1.27.0\n\nrequire (\n\tk8s.io/api %s\n\tk8s.io/apimachinery %s\n\tk8s.io/client-go %s\n)\n' "$version" "$version" "$version" > "$api/go.mod"
    echo "replace k8s.io/apiextensions-api => $api"
fi

merge=$(sed -n 's/^\tsigs\.k8s\.io\/structured-merge-diff\/v7 \(v[0-9.]*\).*/\1/p' "$(go mod download -json "k8s.io/apimachinery@$version" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')")
if [ -n "$merge" ] && ! served "sigs.k8s.io/structured-merge-diff/v7@$merge"; then
    echo "replace sigs.k8s.io/structured-merge-diff/v7 => sigs.k8s.io/structured-merge-diff/v7 v7.0.0"
fi

#!/usr/bin/env bash
# Runs suites of controller-runtime on the server in the process: in a copy of its module, envtest.Environment.Start takes the
# configuration of crdxtest where it would start etcd and kube-apiserver. The suites themselves are not changed.
#
#   bindings/controller-runtime.sh VERSION PACKAGE…        bindings/controller-runtime.sh v0.25.2 ./pkg/client ./pkg/cache
#
# Needs Go and its module proxy, and the WebAssembly of bindings/build.sh. Flags of `go test` are taken from GOTESTFLAGS.
set -euo pipefail

[ $# -ge 2 ] || { echo "usage: bindings/controller-runtime.sh VERSION PACKAGE…" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
version=$1
shift
module=$(sed -n 's/^module //p' "$here/go/go.mod")
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
folder=$(cd "$here/go" && GOFLAGS=-mod=mod go mod download -json "sigs.k8s.io/controller-runtime@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
cp -r "$folder" "$work/controller-runtime"
chmod -R u+w "$work"
cd "$work/controller-runtime"
go mod edit -require="$module@v0.0.0" -replace="$module=$here/go"
cat >pkg/envtest/in_process.go <<GO
package envtest

import "$module/crdxtest"

// useInProcess makes a server in the process the existing cluster, unless there is one already.
func (te *Environment) useInProcess() error {
	if te.Config != nil || te.useExistingCluster() {
		return nil
	}
	config, _, err := crdxtest.Start()
	existing := true
	te.Config, te.UseExistingCluster = config, &existing
	return err
}
GO
sed -i 's/^func (te \*Environment) Start() (\*rest.Config, error) {$/&\n\tif err := te.useInProcess(); err != nil {\n\t\treturn nil, err\n\t}/' pkg/envtest/server.go
grep -q useInProcess pkg/envtest/server.go
go mod tidy >/dev/null 2>&1 || go mod tidy
failed=0
for package in "$@"; do
    # shellcheck disable=SC2086
    go test -count=1 -timeout 20m ${GOTESTFLAGS:-} "$package" || failed=1
done
exit $failed

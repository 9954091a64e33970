#!/bin/bash
# Build the real kube-apiserver and etcd from their Go modules, into a folder for KUBEBUILDER_ASSETS.
# usage: kube-apiserver.sh 1.37.2|1.38.0-beta.0 FOLDER
set -euo pipefail
version=$1 minor=${1#*.}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
out=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOTOOLCHAIN=auto # a release may need a newer Go than the installed one
mkdir "$work/kubernetes" "$work/etcd"

# Writes a main module that needs the package $1 of the module $2.
main_module() {
    printf 'package main\n\nimport _ "%s"\n' "$1" > main.go
    echo "require $2" >> go.mod
    go mod tidy "${tidy[@]}"
}
tidy=()

cd "$work/kubernetes"
go mod init crdx.dev/kubernetes
go mod download -json "k8s.io/kubernetes@v$version" > module.json
modules=$(sed -n 's/.*"GoMod": "\(.*\)".*/\1/p' module.json)
# The modules in the repository of Kubernetes have the version v0.0.0 there, and are published as v0.37.2.
sed -e 's/^module .*/module crdx.dev\/kubernetes/' -e '/^replace (/,/^)/d' -e "s/\(k8s\.io\/[a-z-]*\) v0\.0\.0\( \|$\)/\1 v0.$minor\2/" "$modules" > go.mod
git_minor=${minor%%.*}
case $version in
    *-*) # A beta: its tests need modules that are not published, and its minor version has a plus (hack/lib/version.sh).
        export GOFLAGS=-mod=mod
        sed -i '/k8s\.io\/ktesting /d' go.mod
        "$here/stand-ins.sh" "$version" "$work/stand-ins" >> go.mod
        tidy=(-e)
        git_minor+=+ ;;
esac
main_module k8s.io/kubernetes/cmd/kube-apiserver/app "k8s.io/kubernetes v$version"
variables=k8s.io/component-base/version
go build -o "$out/kube-apiserver" -ldflags "-X $variables.gitVersion=v$version -X $variables.gitMajor=1 -X $variables.gitMinor=$git_minor" k8s.io/kubernetes/cmd/kube-apiserver

etcd=$(sed -n 's/^\sgo\.etcd\.io\/etcd\/client\/v3 \(v[0-9.]*\).*/\1/p' "$modules")
cd "$work/etcd"
go mod init crdx.dev/etcd
tidy=()
main_module go.etcd.io/etcd/server/v3/etcdmain "go.etcd.io/etcd/server/v3 $etcd"
go build -o "$out/etcd" go.etcd.io/etcd/server/v3

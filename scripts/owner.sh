#!/usr/bin/env bash
# Sets the owner of the repository in Cargo.toml and in the documents that name it: scripts/owner.sh NAME
#
# The templates in plugin-manifest and scripts/install.sh keep the placeholder; scripts/release.sh fills them in.
set -euo pipefail
cd "$(dirname "$0")/.."

owner=${1:-}
[[ $owner =~ ^[A-Za-z0-9-]+$ ]] || { echo "owner.sh: name the user or organization: scripts/owner.sh NAME" >&2; exit 1; }
git grep -lI -e 'OWNER/kubectl-crdx' -e '@OWNER' -- ':!scripts' ':!tests' ':!plugin-manifest' |
    while read -r file; do
        sed -i "s#OWNER/kubectl-crdx#$owner/kubectl-crdx#g; s#@OWNER#@$owner#g; s#repo_owner: OWNER#repo_owner: $owner#" "$file"
        echo "$file"
    done

//! Every built-in kind is in the folder of its group, in a file with its name.

use super::architecture::modules;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folder of an API group, as in `pkg/apis` of Kubernetes: the first label of its name.
fn folder(group: &str) -> &str {
    match group.split('.').next() {
        None | Some("") => "core",
        Some(label) => label,
    }
}

/// The name of the file of a kind, such as `csi_node` for `CSINode`.
fn file_name(kind: &str) -> String {
    let letters: Vec<char> = kind.chars().collect();
    let mut name = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let before_is_lower = at > 0 && letters[at - 1].is_lowercase();
        let ends_acronym = at > 0 && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && (before_is_lower || ends_acronym) {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

/// The kinds of the table of types that are validated, with their groups.
fn validated_kinds() -> BTreeSet<(&'static str, &'static str)> {
    let releases = crdx_types::table::table().releases();
    let resources = releases.flat_map(crdx_types::resources::resources);
    let kinds = resources.map(|resource| (resource.group, resource.kind));
    kinds.filter(|(group, kind)| crdx_builtin::validation::covers(group, kind)).collect()
}

/// The files that kinds should have below a folder of the repository, but do not have.
fn missing(root: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
    let kinds = validated_kinds();
    assert!(kinds.len() > 50, "only {} kinds were found", kinds.len());
    let files = kinds.iter().map(|(group, kind)| format!("{}/{}.rs", folder(group), file_name(kind)));
    files.filter(|path| !root.join(path).is_file()).collect()
}

#[test]
fn a_kind_is_validated_in_the_folder_of_its_group() {
    assert_eq!(missing("crates/crdx-builtin/src/validation"), [""; 0]);
}

#[test]
fn a_kind_has_its_strategy_in_the_folder_of_its_group() {
    assert_eq!(missing("crates/crdx-kinds/src"), [""; 0]);
    let given: BTreeSet<_> = crdx_kinds::KINDS.strategies.iter().map(|(group, kind, _)| (*group, *kind)).collect();
    assert_eq!(validated_kinds().difference(&given).count(), 0, "every kind is in the list of strategies");
}

#[test]
fn files_have_the_names_of_kinds() {
    let names = ["CSIStorageCapacity", "IPAddress", "ServiceCIDR", "Pod", "ConfigMap"].map(file_name);
    assert_eq!(names, ["csi_storage_capacity", "ip_address", "service_cidr", "pod", "config_map"]);
    assert_eq!(["", "rbac.authorization.k8s.io", "apps"].map(folder), ["core", "rbac", "apps"]);
}

/// Returns true if a file creates servers with built-in kinds, but without their strategies.
fn lacks_strategies(text: &str) -> bool {
    let plain = text.match_indices("Server::builder(").any(|(at, _)| !text[..at].ends_with("Api"));
    plain && text.contains("with_built_in_kinds") && !text.contains("crdx_kinds::with_kinds(")
}

#[test]
fn servers_with_built_in_kinds_have_their_strategies() {
    let own = ["crdx-server", "crdx-kinds"].map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("crates").join(name));
    let others = modules().into_iter().filter(|source| !own.iter().any(|folder| source.file.starts_with(folder)));
    let wrong: Vec<PathBuf> =
        others.filter(|source| lacks_strategies(&source.text)).map(|source| source.file).collect();
    assert!(wrong.is_empty(), "write crdx_kinds::builder: {wrong:?}");
}

#[test]
fn a_server_without_strategies_is_found() {
    assert!(lacks_strategies("let server = Server::builder(release, 0);\nserver.with_built_in_kinds().build();"));
    for text in [
        "crdx_kinds::builder(release, 0).with_built_in_kinds()",
        "crdx_kinds::with_kinds(Server::builder(release, 0)).with_built_in_kinds()",
        "ApiServer::builder().built_in_kinds(); crdx_kinds::builder(release, 0).with_built_in_kinds()",
        "Server::builder(release, 0).build()",
    ] {
        assert!(!lacks_strategies(text), "{text}");
    }
}

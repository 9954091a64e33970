//! The names in the paths of errors are those of fields.

use crdx_types::go_type::{GoType, Shape};
use crdx_types::types::Types;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Names that the paths of Kubernetes' errors have and that are no fields: it misspells fields, uses names of Go or of arguments, and
/// looks into the content of annotations.
const NOT_FIELDS: [&str; 20] = [
    "AvoidPods",
    "Controller",
    "LoadBalancerSourceRanges",
    "Phase",
    "PodController",
    "PodSignature",
    "Spec",
    "Type",
    "annotation",
    "attachedRequired",
    // A field of `TokenRequest`, which is not in the table.
    "attestations",
    // The key `tls.crt`.
    "crt",
    "deprecatedServiceAccount",
    "deviceID",
    "initiatorname",
    "nodeSwapStatus",
    "persistentDisk",
    "persistentvolumesource",
    "targetportal",
    "{topologyKey, whenUnsatisfiable}",
];

/// The fields of all types that a kind of any release has, CRDs included.
fn fields() -> BTreeSet<&'static str> {
    let mut names = BTreeSet::new();
    for release in crdx_types::table::table().releases() {
        let types = Types::for_release(release);
        let mut seen = BTreeSet::new();
        for resource in crdx_types::resources::discovered(release) {
            let group = if resource.group.is_empty() { "core" } else { resource.group };
            let package = group.split('.').next().unwrap_or(group);
            let name = format!("{package}/{}.{}", resource.version, resource.kind);
            if let Some(type_) = GoType::named(types, &name) {
                add_fields(type_, &mut names, &mut seen);
            }
        }
        for name in ["apiextensions/v1.CustomResourceDefinition", "apiextensions/v1beta1.CustomResourceDefinition"] {
            if let Some(type_) = GoType::named(types, name) {
                add_fields(type_, &mut names, &mut seen);
            }
        }
    }
    names
}

/// Adds the fields below a type that is not in `seen`. Its name has no group (core has a `v1.ResourceClaim`, too), so its fields tell it apart.
fn add_fields(type_: GoType, names: &mut BTreeSet<&'static str>, seen: &mut BTreeSet<String>) {
    match type_.shape() {
        Shape::List(of) | Shape::Map(of) => add_fields(of, names, seen),
        Shape::Struct(of) => {
            let fields = of.fields();
            let known: Vec<&str> = fields.iter().map(|field| field.name()).collect();
            if !seen.insert(format!("{} {known:?}", type_.name())) {
                return;
            }
            for field in fields {
                names.insert(field.name());
                add_fields(field.type_(), names, seen);
            }
        }
        _ => {}
    }
}

/// The sources of the validation of objects.
fn sources() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let mut directories = vec![crates.join("crdx-builtin/src"), crates.join("crdx-server/src")];
    let mut files = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { directories.push(path) } else { files.push(path) }
        }
    }
    files
}

#[test]
fn the_names_in_paths_are_fields() {
    let fields = fields();
    assert!(fields.len() > 800, "{}", fields.len());
    let mut unknown: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    let mut found = 0;
    for file in sources() {
        let text = fs::read_to_string(&file).unwrap();
        for part in text.split("child(\"").skip(1) {
            let (path, _) = part.split_once('"').unwrap();
            found += 1;
            for name in path.split('.').map(|name| name.split('[').next().unwrap_or(name)) {
                if !fields.contains(name) && !NOT_FIELDS.contains(&name) {
                    unknown.entry(name.to_owned()).or_default().insert(file.clone());
                }
            }
        }
    }
    assert!(found > 500, "only {found} paths were found");
    assert!(unknown.is_empty(), "{unknown:#?}");
}

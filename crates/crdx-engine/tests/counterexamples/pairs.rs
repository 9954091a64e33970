//! Pairs of an old and a new CRD.

use super::change;
use super::rng::Rng;
use crdx_text::yaml;
use crdx_value::Value;
use std::path::{Path, PathBuf};

/// An old and a new CRD.
pub struct Pair {
    pub name: String,
    pub old: Value,
    pub new: Value,
}

/// Returns the CRDs of the corpus, in the order of their files.
pub fn corpus() -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let mut files = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.parent().is_some_and(|parent| parent.ends_with("crds")) {
                files.push(path);
            }
        }
    }
    files.sort();
    files.iter().flat_map(|file| crds(file)).collect()
}

/// Returns the CRDs in a file.
fn crds(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    let read = text.split("\n---").filter_map(|part| yaml::read(part.as_bytes()).ok());
    read.filter(|value| {
        value.str_at(&["kind"]) == Some("CustomResourceDefinition")
            && value.str_at(&["apiVersion"]) == Some("apiextensions.k8s.io/v1")
    })
    .collect()
}

/// Returns the pairs that `histories.py` wrote.
pub fn of_histories(folder: &str) -> Vec<Pair> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.to_string_lossy().ends_with(".old.yaml")).collect();
    files.sort();
    let pair = |old: &PathBuf| {
        let stem = old.to_string_lossy().strip_suffix(".old.yaml")?.to_owned();
        let name = Path::new(&stem).file_name()?.to_string_lossy().into_owned();
        let new = crds(Path::new(&format!("{stem}.new.yaml"))).pop()?;
        Some(Pair { name, old: crds(old).pop()?, new })
    };
    files.iter().filter_map(pair).collect()
}

/// Returns a CRD of the corpus, reduced to its storage version, and the same CRD with one change.
pub fn changed(crds: &[Value], name: &str, rng: &mut Rng) -> Option<Pair> {
    let mut old = rng.pick(crds).clone();
    change::keep_one_version(&mut old);
    let (new, what) = change::single(&old, rng)?;
    let name = format!("{name} {}: {what}", old.str_at(&["metadata", "name"])?);
    Some(Pair { name, old, new })
}

/// Returns the name of the version in which objects are stored.
pub fn storage_version(crd: &Value) -> Option<&str> {
    let versions = crd.at(&["spec", "versions"])?.as_array()?;
    versions.iter().find(|version| version.get("storage") == Some(&Value::Bool(true)))?.str_at(&["name"])
}

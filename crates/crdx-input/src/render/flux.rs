//! The `Kustomization` objects of Flux among the files of an input. They say how the directories that they name are built, and which
//! variables (`postBuild`) are replaced in the result.

use super::lexical::normal;
use super::repository_path::in_repository;
use super::substitution::Variables;
use crate::kustomize;
use crdx_engine::documents::encrypted::is_encrypted;
use crdx_files::open::read_small;
use crdx_text::documents::Chunks;
use crdx_text::yaml;
use crdx_value::sort::sort_by_key;
use crdx_value::{Map, Value, group_version, object};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// The members of its `spec` that Flux adds to the kustomization of the directory, and their names there
/// (`fluxcd/pkg/kustomize`).
const CHANGES: [(&str, &str); 8] = [
    ("targetNamespace", "namespace"),
    ("namePrefix", "namePrefix"),
    ("nameSuffix", "nameSuffix"),
    ("patches", "patches"),
    ("patchesStrategicMerge", "patchesStrategicMerge"),
    ("patchesJson6902", "patchesJson6902"),
    ("images", "images"),
    ("components", "components"),
];

/// The changes that a Flux Kustomization makes to a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FluxKustomization {
    /// The name of the object, with its namespace.
    pub name: String,
    pub variables: Variables,
    /// The namespace of all objects, if it is given.
    pub namespace: Option<Arc<str>>,
    /// The members that are added to the kustomization of the directory.
    pub changes: Map,
}

impl FluxKustomization {
    /// Returns true if it changes no objects but those without a namespace.
    pub fn only_sets_namespace(&self) -> bool {
        self.changes.keys().all(|name| name == "namespace")
    }
}

/// The Kustomizations of an input, by the directories that they name.
#[derive(Clone, Debug, Default)]
pub struct FluxKustomizations(BTreeMap<PathBuf, Vec<Arc<FluxKustomization>>>);

impl FluxKustomizations {
    /// Reads those of files. `given` are variables of the command line.
    pub fn read(files: &BTreeSet<PathBuf>, given: &BTreeMap<String, String>) -> Self {
        let mut found = FluxObjects::default();
        for file in files {
            found.read(file);
        }
        found.patch();
        let mut all = Self::default();
        for one in &found.kustomizations {
            let new = found.build(one, given);
            let known = all.0.entry(one.directory.clone()).or_default();
            // Several clusters may have the same one.
            if !known.iter().any(|other| FluxKustomization { name: new.name.clone(), ..(**other).clone() } == new) {
                known.push(Arc::new(new));
            }
        }
        all
    }

    /// Returns those that build a directory. Flux builds a directory without a kustomization with all files below it.
    pub fn of(&self, directory: &Path) -> &[Arc<FluxKustomization>] {
        let directory = normal(directory);
        let is_above = |above: &&Path| !above.as_os_str().is_empty() || !directory.starts_with("..");
        let mut above = directory.ancestors().filter(is_above);
        let Some((root, found)) = above.find_map(|above| Some((above, self.0.get(above)?))) else { return &[] };
        if root == directory || kustomize::file(root).is_none() { found } else { &[] }
    }

    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

/// The objects of files that decide how directories are built.
#[derive(Debug, Default)]
struct FluxObjects {
    kustomizations: Vec<KustomizationObject>,
    /// The data of each `ConfigMap`, by name; `None` if it is not known. Namespaces are often set by the Kustomization of the cluster.
    config_maps: BTreeMap<String, Option<BTreeMap<String, String>>>,
}

#[derive(Debug)]
struct KustomizationObject {
    namespace: String,
    name: String,
    file: PathBuf,
    directory: PathBuf,
    spec: Value,
    /// The Kustomizations whose patches change this one in a way that is not known.
    changed_by: BTreeSet<String>,
}

impl FluxObjects {
    fn read(&mut self, file: &Path) {
        let Ok(text) = read_small(file, LARGEST) else { return };
        let has = |part: &str| crdx_text::contains(&text, part);
        if !has("kustomize.toolkit.fluxcd.io") && !has("kind: ConfigMap") {
            return;
        }
        let values =
            Chunks::new(Cursor::new(text)).map_while(Result::ok).filter_map(|chunk| Some(chunk.read().ok()?.value));
        for object in values {
            let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
            match (group_version::group(text(&["apiVersion"])), text(&["kind"])) {
                ("kustomize.toolkit.fluxcd.io", "Kustomization") => {
                    let directory = in_repository(text(&["spec", "path"]));
                    let is_here = matches!(text(&["spec", "sourceRef", "kind"]), "" | "GitRepository");
                    let member = |name: &str| text(&["metadata", name]).to_owned();
                    self.kustomizations.extend(directory.filter(|_| is_here).map(|directory| KustomizationObject {
                        namespace: member("namespace"),
                        name: member("name"),
                        file: normal(file),
                        directory,
                        spec: object.get("spec").cloned().unwrap_or_default(),
                        changed_by: BTreeSet::new(),
                    }));
                }
                ("", "ConfigMap") => {
                    let data = (!is_encrypted(&object)).then(|| texts(object.get("data")));
                    // Two ConfigMaps of one name may be of two clusters.
                    let name = text(&["metadata", "name"]).to_owned();
                    let known = self.config_maps.entry(name).or_insert_with(|| data.clone());
                    if *known != data {
                        *known = None;
                    }
                }
                _ => {}
            }
        }
    }

    /// Applies the patches of Kustomizations to those in their directories, as repositories give all of them the same `postBuild`.
    fn patch(&mut self) {
        sort_by_key(&mut self.kustomizations, |one| one.file.components().count());
        for index in 0..self.kustomizations.len() {
            let Some(parent) = self.kustomizations.get(index) else { return };
            let (name, directory) = (parent.full_name(), parent.directory.clone());
            let patches = parent.spec.get("patches").and_then(Value::as_array).unwrap_or_default();
            let patches: Vec<Value> = patches.iter().filter(|patch| is_for_kustomizations(patch)).cloned().collect();
            let others = self.kustomizations.iter_mut().enumerate();
            let children = others.filter(|(other, child)| *other != index && child.file.starts_with(&directory));
            for (_, child) in children {
                for patch in &patches {
                    child.apply(patch, &name);
                }
            }
        }
    }

    fn build(&self, one: &KustomizationObject, given: &BTreeMap<String, String>) -> FluxKustomization {
        let spec = &one.spec;
        let mut variables = Variables { unknown: one.changed_by.clone(), ..Variables::default() };
        if let Some(post_build) = spec.get("postBuild") {
            self.add(&mut variables, post_build);
            variables.values.extend(given.clone());
        }
        let namespace = spec.str_at(&["targetNamespace"]).filter(|namespace| !namespace.is_empty()).map(Arc::from);
        FluxKustomization { name: one.full_name(), variables, namespace, changes: changes(spec) }
    }

    /// Adds the variables of a `postBuild`; those of `substitute` take precedence.
    fn add(&self, variables: &mut Variables, post_build: &Value) {
        let sources = post_build.get("substituteFrom").and_then(Value::as_array).unwrap_or_default();
        for source in sources {
            let text = |name: &str| source.str_at(&[name]).unwrap_or_default();
            match self.config_maps.get(text("name")).filter(|_| text("kind") == "ConfigMap") {
                Some(Some(data)) => variables.values.extend(data.clone()),
                _ => {
                    variables.unknown.insert(format!("{} {}", text("kind"), text("name")));
                }
            }
        }
        variables.values.extend(texts(post_build.get("substitute")));
    }
}

impl KustomizationObject {
    fn full_name(&self) -> String {
        if self.namespace.is_empty() { self.name.clone() } else { format!("{}/{}", self.namespace, self.name) }
    }

    /// Applies a patch of another Kustomization.
    fn apply(&mut self, patch: &Value, parent: &str) {
        let text = patch.str_at(&["patch"]).unwrap_or_default();
        let Ok(patched) = yaml::read(text.as_bytes()) else { return };
        let selects = |path: &[&str], own: &str| patch.str_at(path).is_none_or(|name| name == own);
        let has_target = patch.get("target").is_some();
        let is_named = has_target || patched.str_at(&["metadata", "name"]) == Some(&self.name);
        if !is_named || !selects(&["target", "name"], &self.name) {
            return;
        }
        match patched.get("spec") {
            Some(spec) if patch.at(&["target", "labelSelector"]).is_none() => merge(&mut self.spec, spec),
            Some(_) => {
                self.changed_by.insert(format!("patches of the Kustomization {parent}"));
            }
            // A JSON patch.
            None if text.contains("postBuild") => {
                self.changed_by.insert(format!("patches of the Kustomization {parent}"));
            }
            None => {}
        }
    }
}

/// Returns true if a patch may be one of Kustomizations of Flux.
fn is_for_kustomizations(patch: &Value) -> bool {
    patch.str_at(&["target", "kind"]).is_none_or(|kind| kind == "Kustomization")
}

/// Merges an object into another one as a JSON merge patch does.
fn merge(value: &mut Value, patch: &Value) {
    match (value, patch) {
        (Value::Object(members), Value::Object(changes)) => {
            for (name, change) in changes {
                if change.is_null() {
                    members.remove(name);
                } else {
                    merge(members.entry(name.clone()).or_default(), change);
                }
            }
        }
        (value, patch) => *value = patch.clone(),
    }
}

/// Returns the members that Flux adds to the kustomization of the directory.
fn changes(spec: &Value) -> Map {
    let is_empty = |value: &Value| match value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    let added = CHANGES.iter().filter_map(|(member, name)| Some(((*name).to_owned(), spec.get(member)?.clone())));
    let mut changes: Map = added.filter(|(_, value)| !is_empty(value)).collect();
    if let Some(labels) = spec.at(&["commonMetadata", "labels"]) {
        changes.insert("labels".to_owned(), vec![object([("pairs", labels.clone())])].into());
    }
    if let Some(annotations) = spec.at(&["commonMetadata", "annotations"]) {
        changes.insert("commonAnnotations".to_owned(), annotations.clone());
    }
    changes
}

/// Returns the members of an object as texts, without line breaks, which Flux removes.
fn texts(object: Option<&Value>) -> BTreeMap<String, String> {
    let members = object.and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.replace('\n', "")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str, file: &str, directory: &str, spec: &str) -> KustomizationObject {
        KustomizationObject {
            namespace: "flux-system".to_owned(),
            name: name.to_owned(),
            file: file.into(),
            directory: directory.into(),
            spec: yaml::read(spec.as_bytes()).unwrap(),
            changed_by: BTreeSet::new(),
        }
    }

    fn patched(patch: &str) -> KustomizationObject {
        let patches = format!("patches:\n- patch: '{patch}'\n  target: {{kind: Kustomization}}\n");
        let mut objects = FluxObjects::default();
        objects.kustomizations.push(object(
            "web",
            "apps/web/ks.yaml",
            "apps/web/app",
            "postBuild: {substitute: {a: b}}",
        ));
        objects.kustomizations.push(object("apps", "cluster/apps.yaml", "apps", &patches));
        objects.patch();
        objects.kustomizations.pop().unwrap()
    }

    #[test]
    fn values_have_no_line_breaks() {
        let data = yaml::read(b"a: |\n  one\n  two\nb: 1\n").unwrap();
        assert_eq!(texts(Some(&data)), BTreeMap::from([("a".to_owned(), "onetwo".to_owned())]));
    }

    #[test]
    fn patches_of_a_kustomization_change_those_in_its_directory() {
        let web = patched("{spec: {postBuild: {substitute: {c: d}}}}");
        let substitute = web.spec.at(&["postBuild", "substitute"]);
        assert_eq!(texts(substitute), [("a", "b"), ("c", "d")].map(|(a, b)| (a.to_owned(), b.to_owned())).into());
        let web = patched("[{op: add, path: /spec/postBuild/substitute/c, value: d}]");
        assert_eq!(web.changed_by.iter().collect::<Vec<_>>(), ["patches of the Kustomization flux-system/apps"]);
    }

    #[test]
    fn the_nearest_directory_that_flux_builds_counts() {
        let dir = tempfile::tempdir().unwrap();
        let one = |name: &str| vec![Arc::new(FluxKustomization { name: name.to_owned(), ..Default::default() })];
        std::fs::create_dir_all(dir.path().join("built")).unwrap();
        std::fs::write(dir.path().join("built/kustomization.yaml"), "resources: []\n").unwrap();
        let at = |name: &str| dir.path().join(name);
        let all = FluxKustomizations([(at("plain"), one("a")), (at("built"), one("b"))].into());
        let names = |name: &str| all.of(&at(name)).iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        assert_eq!(names("plain/web"), ["a"]);
        assert_eq!(names("built"), ["b"]);
        assert!(names("built/web").is_empty(), "the kustomization does not name it");
        assert!(names("other").is_empty());
    }

    #[test]
    fn flux_adds_members_to_a_kustomization() {
        let spec = yaml::read(b"{targetNamespace: a, images: [], commonMetadata: {labels: {a: b}}}").unwrap();
        let changes = Value::Object(changes(&spec));
        assert_eq!(crdx_value::json::to_string(&changes), r#"{"labels":[{"pairs":{"a":"b"}}],"namespace":"a"}"#);
    }
}

//! The rules for the policies that a server reads from files, a directory of `staticManifestsDir`
//! (`k8s.io/apiserver/pkg/admission/plugin/policy/manifest/loader` and `.../plugin/manifest`). A server does not start with others.

use crdx_files::open::read_regular;
use crdx_text::documents::Chunks;
use crdx_value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

const SUFFIX: &str = ".static.k8s.io";
const API_VERSION: &str = "admissionregistration.k8s.io/v1";
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Why a server does not start with a directory, in its words.
#[derive(Debug, thiserror::Error)]
pub enum StaticManifestsError {
    #[error("staticManifestsDir: Invalid value: {0:?}: unable to read: {1}")]
    Unreadable(PathBuf, io::Error),
    #[error("staticManifestsDir: Invalid value: {0:?}: must be a directory")]
    NoDirectory(PathBuf),
    #[error("failed to read file {0:?}: {1}")]
    File(PathBuf, io::Error),
    #[error("error loading {}: {cause}", file.display())]
    Text { file: PathBuf, cause: crdx_text::Error },
    #[error("error loading {}: {reason}", file.display())]
    Object { file: PathBuf, reason: ManifestError },
    #[error("binding {0:?} references policy {1:?} which does not exist in the manifest directory")]
    NoPolicy(String, String),
}

/// What an object in such a directory must not be.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    #[error("unsupported resource type {kind} of {api_version}")]
    Kind { kind: String, api_version: String },
    #[error("resource in file must have a name")]
    NoName,
    #[error("{0:?} must have a name ending with {SUFFIX:?}")]
    Name(String),
    #[error("duplicate name {0:?}")]
    Duplicate(String),
    #[error("{kind} {name:?}: spec.paramKind is not supported for static manifests")]
    ParamKind { kind: String, name: String },
    #[error("binding {0:?} must reference a policy (spec.policyName)")]
    NoPolicyName(String),
    #[error("binding {binding:?}: spec.policyName {policy:?} must end with {SUFFIX:?}")]
    PolicyName { binding: String, policy: String },
    #[error("binding {0:?}: spec.paramRef is not supported for static manifests")]
    ParamRef(String),
}

/// Reads the directory of a plugin, such as `ValidatingAdmissionPolicy`: its policies and bindings.
///
/// # Errors
/// Returns the reason why the server would not start.
pub fn read(plugin: &str, directory: &Path) -> Result<Vec<Value>, StaticManifestsError> {
    let mut manifests = Manifests { plugin, policies: BTreeSet::new(), bindings: BTreeMap::new(), objects: Vec::new() };
    for file in files(directory)? {
        let text = read_regular(&file).map_err(|error| StaticManifestsError::File(file.clone(), error))?;
        for chunk in Chunks::new(text.as_slice()) {
            let chunk = chunk.map_err(|error| StaticManifestsError::File(file.clone(), error))?;
            let contents = chunk.read().map_err(|cause| StaticManifestsError::Text { file: file.clone(), cause })?;
            let added = if contents.value.is_null() { Ok(()) } else { manifests.add(&contents.value) };
            added.map_err(|reason| StaticManifestsError::Object { file: file.clone(), reason })?;
        }
    }
    match manifests.bindings.into_iter().find(|(_, policy)| !manifests.policies.contains(policy)) {
        Some((binding, policy)) => Err(StaticManifestsError::NoPolicy(binding, policy)),
        None => Ok(manifests.objects),
    }
}

/// The files that the server reads, in its order.
fn files(directory: &Path) -> Result<Vec<PathBuf>, StaticManifestsError> {
    let unreadable = |error| StaticManifestsError::Unreadable(directory.to_owned(), error);
    if !std::fs::metadata(directory).map_err(unreadable)?.is_dir() {
        return Err(StaticManifestsError::NoDirectory(directory.to_owned()));
    }
    let entries = std::fs::read_dir(directory).map_err(unreadable)?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let mut paths = paths.map_err(unreadable)?;
    let is_read = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        EXTENSIONS.contains(&extension.as_str()) && !path.is_dir()
    };
    paths.retain(is_read);
    paths.sort();
    Ok(paths)
}

/// The objects of a directory so far.
struct Manifests<'a> {
    plugin: &'a str,
    policies: BTreeSet<String>,
    /// The bindings, and the names of their policies.
    bindings: BTreeMap<String, String>,
    /// The policies and bindings, with their kind and version.
    objects: Vec<Value>,
}

impl Manifests<'_> {
    fn add(&mut self, object: &Value) -> Result<(), ManifestError> {
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
        let (api_version, kind) = (text(&["apiVersion"]), text(&["kind"]));
        let is_list = (api_version, kind) == ("v1", "List") || api_version == API_VERSION && kind.ends_with("List");
        if is_list && self.is_kind(kind.strip_suffix("List").unwrap_or_default()) {
            let items = object.get("items").and_then(Value::as_array).unwrap_or_default();
            return items.iter().try_for_each(|item| self.add_item(item, kind.strip_suffix("List")));
        }
        self.add_item(object, None)
    }

    /// Returns true for the kinds of the plugin, and for the empty one of a `List`.
    fn is_kind(&self, kind: &str) -> bool {
        kind.is_empty() || kind == self.plugin || kind.strip_suffix("Binding") == Some(self.plugin)
    }

    /// Adds an object; `listed` is its kind in a list of one kind.
    fn add_item(&mut self, object: &Value, listed: Option<&str>) -> Result<(), ManifestError> {
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
        let kind = listed.filter(|kind| !kind.is_empty()).map_or_else(|| text(&["kind"]), str::to_owned);
        let api_version =
            if listed.is_some_and(|kind| !kind.is_empty()) { API_VERSION.to_owned() } else { text(&["apiVersion"]) };
        if api_version != API_VERSION || kind.is_empty() || !self.is_kind(&kind) {
            return Err(ManifestError::Kind { kind, api_version });
        }
        let name = text(&["metadata", "name"]);
        let is_binding = kind != self.plugin;
        let is_known = if is_binding { self.bindings.contains_key(&name) } else { self.policies.contains(&name) };
        match name.as_str() {
            "" => return Err(ManifestError::NoName),
            other if !other.ends_with(SUFFIX) => return Err(ManifestError::Name(name)),
            _ if is_known => return Err(ManifestError::Duplicate(name)),
            _ => {}
        }
        let has = |field: &str| object.at(&["spec", field]).is_some_and(|value| !value.is_null());
        let typed = |kind: &str| {
            let mut typed = object.clone();
            typed.insert_at(&["apiVersion"], API_VERSION.into());
            typed.insert_at(&["kind"], kind.into());
            typed
        };
        if !is_binding {
            if has("paramKind") {
                return Err(ManifestError::ParamKind { kind, name });
            }
            self.objects.push(typed(&kind));
            self.policies.insert(name);
            return Ok(());
        }
        let policy = text(&["spec", "policyName"]);
        match policy.as_str() {
            "" => return Err(ManifestError::NoPolicyName(name)),
            other if !other.ends_with(SUFFIX) => return Err(ManifestError::PolicyName { binding: name, policy }),
            _ if has("paramRef") => return Err(ManifestError::ParamRef(name)),
            _ => {}
        }
        self.objects.push(typed(&kind));
        self.bindings.insert(name, policy);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a.static.k8s.io}\nspec: {validations: []}\n";
    const BINDING: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: a.static.k8s.io}\nspec: {policyName: a.static.k8s.io}\n";

    /// The message about a directory with these documents.
    fn checked(documents: &[&str]) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.yaml"), documents.join("---\n")).unwrap();
        let error = read("ValidatingAdmissionPolicy", dir.path()).err()?.to_string();
        Some(error.replace(&format!("error loading {}/a.yaml: ", dir.path().display()), ""))
    }

    #[test]
    fn policies_and_their_bindings_are_accepted() {
        assert_eq!(checked(&[POLICY, BINDING]), None);
        let list = format!("apiVersion: v1\nkind: List\nitems:\n- {}\n", POLICY.trim_end().replace('\n', "\n  "));
        assert_eq!(checked(&[&list, BINDING]), None);
        let typed = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyList\nitems: [{metadata: {name: a.static.k8s.io}}]\n";
        assert_eq!(checked(&[typed, BINDING]), None);
    }

    #[test]
    fn names_and_references_are_static() {
        let error = |documents: &[&str]| checked(documents).unwrap();
        let other = POLICY.replace(".static.k8s.io", "");
        assert_eq!(error(&[&other]), "\"a\" must have a name ending with \".static.k8s.io\"");
        assert_eq!(error(&[POLICY, POLICY]), "duplicate name \"a.static.k8s.io\"");
        let missing = BINDING.replace("policyName: a", "policyName: b");
        assert!(error(&[POLICY, &missing]).ends_with("which does not exist in the manifest directory"));
        let plain = BINDING.replace("policyName: a.static.k8s.io", "policyName: a");
        assert!(error(&[POLICY, &plain]).contains("spec.policyName \"a\" must end with"));
        assert!(
            error(&[POLICY, &BINDING.replace("{policyName: a.static.k8s.io}", "{}")])
                .contains("must reference a policy")
        );
    }

    #[test]
    fn params_and_other_kinds_are_refused() {
        let error = |documents: &[&str]| checked(documents).unwrap();
        let with_kind = POLICY.replace("spec: {", "spec: {paramKind: {apiVersion: v1, kind: ConfigMap}, ");
        assert!(error(&[&with_kind]).ends_with("spec.paramKind is not supported for static manifests"));
        let with_ref = BINDING.replace("spec: {", "spec: {paramRef: {name: a}, ");
        assert!(error(&[POLICY, &with_ref]).ends_with("spec.paramRef is not supported for static manifests"));
        for (from, to) in [("Validating", "Mutating"), ("/v1\n", "/v1beta1\n")] {
            assert!(error(&[&POLICY.replace(from, to)]).starts_with("unsupported resource type"), "{to}");
        }
        assert!(
            error(&["apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a.static.k8s.io}\n"]).starts_with("unsupported")
        );
    }

    #[test]
    fn the_directory_must_exist() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.yaml");
        std::fs::write(&file, "").unwrap();
        assert!(matches!(read("ValidatingAdmissionPolicy", &file), Err(StaticManifestsError::NoDirectory(_))));
        let none = dir.path().join("none");
        assert!(matches!(read("ValidatingAdmissionPolicy", &none), Err(StaticManifestsError::Unreadable(..))));
        std::fs::write(dir.path().join("a.txt"), "a: [").unwrap();
        assert!(read("ValidatingAdmissionPolicy", dir.path()).is_ok());
    }
}

//! A `Kustomization` of Flux in a file, and the patches with which another one changes it.

use super::flux_changes;
use super::repository_path::in_repository;
use crdx_regexp::Regexp;
use crdx_server::apply::json_patch::{self, Patch, PatchOperation};
use crdx_server::server::LabelSelector;
use crdx_text::documents::Chunks;
use crdx_value::release::Release;
use crdx_value::{Value, group_version};
use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::PathBuf;

/// The group of Kustomizations.
pub const GROUP: &str = "kustomize.toolkit.fluxcd.io";

/// A Kustomization in a file.
#[derive(Debug)]
pub struct KustomizationObject {
    pub namespace: String,
    pub name: String,
    pub file: PathBuf,
    pub object: Value,
    /// The Kustomizations whose patches change `postBuild` of this one in a way that is not known.
    pub changed_by: BTreeSet<String>,
    /// The Kustomization whose patches change what this one builds in a way that is not known.
    pub rebuilt_by: Option<String>,
}

/// The answer to the question if a patch selects an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Selection {
    Selected,
    NotSelected,
    /// It depends on metadata that kustomize may change.
    Unknown,
}

impl KustomizationObject {
    pub fn spec(&self) -> Option<&Value> {
        self.object.get("spec")
    }

    /// Returns the directory that it builds; `None` if it is outside of the repository.
    pub fn directory(&self) -> Option<PathBuf> {
        in_repository(self.object.str_at(&["spec", "path"]).unwrap_or_default())
    }

    pub fn full_name(&self) -> String {
        if self.namespace.is_empty() { self.name.clone() } else { format!("{}/{}", self.namespace, self.name) }
    }

    /// Applies a patch of another Kustomization.
    pub fn apply(&mut self, patch: &Value, parent: &str) {
        let text = patch.str_at(&["patch"]).unwrap_or_default();
        let target = patch.get("target");
        for chunk in Chunks::new(Cursor::new(text.as_bytes().to_vec())) {
            match chunk.ok().and_then(|chunk| chunk.read().ok()) {
                Some(change) => self.apply_document(target, &change.value, parent),
                None if self.selection(target, &Value::Null) == Selection::NotSelected => {}
                None => self.rebuilt_by = Some(parent.to_owned()),
            }
        }
    }

    /// Remembers a patch of another Kustomization that may be one of another repository, if it would change this one.
    pub fn may_apply(&mut self, patch: &Value, parent: &str) {
        let before = (self.object.clone(), self.changed_by.clone());
        self.apply(patch, parent);
        if (&self.object, &self.changed_by) != (&before.0, &before.1) {
            (self.object, self.changed_by) = before;
            self.rebuilt_by = Some(parent.to_owned());
        }
    }

    /// Applies a document of a patch.
    fn apply_document(&mut self, target: Option<&Value>, change: &Value, parent: &str) {
        let patched = match self.selection(target, change) {
            Selection::NotSelected => return,
            Selection::Selected => patched(&self.object, change),
            Selection::Unknown => None,
        };
        let changed = changed_members(change);
        match (patched, changed) {
            (Some(object), _) => self.object = object,
            (None, Some(changed)) if !changed.iter().any(|name| is_built_from(name)) => {
                if changed.contains("postBuild") {
                    self.changed_by.insert(format!("patches of the Kustomization {parent}"));
                }
            }
            (None, _) => self.rebuilt_by = Some(parent.to_owned()),
        }
    }

    /// Returns whether a patch selects this object: by the patterns of its target, or by its own kind and name.
    fn selection(&self, target: Option<&Value>, change: &Value) -> Selection {
        let own = |path: &[&str]| self.object.str_at(path).unwrap_or_default();
        let Some(target) = target.filter(|target| target.as_object().is_some()) else {
            let is_own = change.str_at(&["kind"]) == Some("Kustomization")
                && group_version::group(change.str_at(&["apiVersion"]).unwrap_or_default()) == GROUP
                && change.str_at(&["metadata", "name"]) == Some(&self.name);
            return if is_own { Selection::Selected } else { Selection::NotSelected };
        };
        let given = |member: &str| target.str_at(&[member]).filter(|text| !text.is_empty());
        let (group, version) = own(&["apiVersion"]).split_once('/').unwrap_or_default();
        let fixed = [("group", group), ("version", version), ("kind", "Kustomization"), ("name", &self.name)];
        let fits = |member: &str, own: &str| given(member).map_or(Some(true), |pattern| matches(pattern, own));
        let all: Vec<Option<bool>> = fixed.into_iter().map(|(member, own)| fits(member, own)).collect();
        let by_labels = given("labelSelector").map(|text| LabelSelector::parse(text, Release::NEWEST));
        let is_unknown = all.contains(&None)
            || given("annotationSelector").is_some()
            || fits("namespace", &self.namespace) != Some(true)
            || matches!(by_labels, Some(Err(_)));
        let has_other_labels = matches!(by_labels, Some(Ok(selector)) if !selector.selects(&self.object));
        match (all.contains(&Some(false)) || has_other_labels, is_unknown) {
            (true, _) => Selection::NotSelected,
            (false, true) => Selection::Unknown,
            (false, false) => Selection::Selected,
        }
    }
}

/// Returns whether a pattern of a selector of kustomize matches; `None` if it is not understood.
fn matches(pattern: &str, text: &str) -> Option<bool> {
    Regexp::new(&format!("^(?:{pattern})$")).ok().map(|pattern| pattern.is_match(text))
}

/// Returns an object with a JSON patch or a merge patch, which kustomize uses for types that it does not know; `None` if the result
/// is not known.
fn patched(object: &Value, change: &Value) -> Option<Value> {
    let mut object = object.clone();
    if change.as_array().is_some() {
        let mut patch = Patch::unlimited();
        for operation in json_patch::operations(change).ok()? {
            patch.apply(&PatchOperation::decode(operation), &mut object).ok()?;
        }
        return Some(object);
    }
    if change.get("$patch").is_some() {
        return None;
    }
    let (Value::Object(members), Some(spec)) = (&mut object, change.get("spec")) else { return Some(object) };
    merge(members.entry("spec".to_owned()).or_default(), spec);
    Some(object)
}

/// Returns the members of `spec` that a patch changes; `None` if it may change all.
fn changed_members(change: &Value) -> Option<BTreeSet<&str>> {
    match change {
        Value::Array(operations) => {
            fn member(path: &str) -> Option<&str> {
                path.strip_prefix("/spec/").and_then(|rest| rest.split('/').next())
            }
            let paths = operations.iter().flat_map(|operation| ["path", "from"].map(|name| operation.str_at(&[name])));
            let changes_spec = |path: &&str| path.is_empty() || *path == "/spec" || path.starts_with("/spec/");
            paths.flatten().filter(changes_spec).map(member).collect()
        }
        _ if change.get("$patch").is_some() => None,
        _ => {
            Some(change.get("spec").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| &**name).collect())
        }
    }
}

/// Returns true for a member of `spec` on which the objects depend that are built before variables are replaced.
fn is_built_from(member: &str) -> bool {
    matches!(member, "path" | "sourceRef") || flux_changes::MEMBERS.contains(&member)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;
    use crdx_value::json;

    fn patched(patch: &str) -> KustomizationObject {
        let object = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: web}, spec: {path: a, postBuild: {substitute: {a: b}}}}";
        let mut web = KustomizationObject {
            namespace: String::new(),
            name: "web".to_owned(),
            file: "apps/web.yaml".into(),
            object: yaml::read(object.as_bytes()).unwrap(),
            changed_by: BTreeSet::new(),
            rebuilt_by: None,
        };
        web.apply(&yaml::read(patch.as_bytes()).unwrap(), "flux-system/apps");
        web
    }

    fn spec(patch: &str) -> String {
        let web = patched(patch);
        assert!(web.changed_by.is_empty() && web.rebuilt_by.is_none(), "{patch}");
        json::to_string(web.spec().unwrap())
    }

    const UNCHANGED: &str = r#"{"path":"a","postBuild":{"substitute":{"a":"b"}}}"#;

    #[test]
    fn merge_patches_and_json_patches_are_applied() {
        let merged = spec("{target: {kind: Kustomization}, patch: '{spec: {postBuild: {substitute: {c: d}}}}'}");
        assert_eq!(merged, r#"{"path":"a","postBuild":{"substitute":{"a":"b","c":"d"}}}"#);
        let patch = "{target: {kind: Kustomization}, patch: '[{op: replace, path: /spec/path, value: b}]'}";
        assert_eq!(spec(patch), UNCHANGED.replace("\"path\":\"a\"", "\"path\":\"b\""));
        let own = "{patch: '{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: web}, spec: {path: c}}'}";
        assert!(spec(own).starts_with(r#"{"path":"c""#));
    }

    #[test]
    fn every_document_of_a_patch_is_applied() {
        let own = "apiVersion: kustomize.toolkit.fluxcd.io/v1\\nkind: Kustomization\\nmetadata: {name: web}\\nspec: {path: c}";
        let patch = format!("{{patch: \"kind: A\\nmetadata: {{name: b}}\\n---\\n{own}\\n\"}}");
        assert!(spec(&patch).starts_with(r#"{"path":"c""#));
        assert!(patched("{target: {kind: Kustomization}, patch: 'a: b: c'}").rebuilt_by.is_some());
    }

    #[test]
    fn targets_are_patterns() {
        let with = |target: &str| spec(&format!("{{target: {{{target}}}, patch: '{{spec: {{path: b}}}}'}}"));
        for target in [
            "name: 'w.*'",
            "labelSelector: '!a'",
            "kind: 'Kust.*|Helm.*'",
            "group: kustomize.toolkit.fluxcd.io, version: v1",
        ] {
            assert!(with(target).starts_with(r#"{"path":"b""#), "{target}");
        }
        for target in
            ["name: we", "kind: HelmRelease", "version: v2", "labelSelector: a=b", "kind: A, annotationSelector: a=b"]
        {
            assert_eq!(with(target), UNCHANGED, "{target}");
        }
    }

    #[test]
    fn what_a_patch_does_may_not_be_known() {
        for (target, change) in [
            ("annotationSelector: a=b", "{spec: {path: b}}"),
            ("namespace: other", "{spec: {images: []}}"),
            ("name: '('", "{spec: {targetNamespace: b}}"),
            ("kind: Kustomization", "[{op: test, path: /spec/path, value: x}]"),
            ("kind: Kustomization", "{$patch: delete}"),
        ] {
            let web = patched(&format!("{{target: {{{target}}}, patch: '{change}'}}"));
            assert_eq!(web.rebuilt_by.as_deref(), Some("flux-system/apps"), "{target}");
        }
        let web = patched("{target: {annotationSelector: a=b}, patch: '{spec: {postBuild: {}, interval: 1m}}'}");
        assert_eq!(web.changed_by.iter().collect::<Vec<_>>(), ["patches of the Kustomization flux-system/apps"]);
        assert_eq!(web.rebuilt_by, None);
    }
}

//! The changes of a Flux Kustomization to the kustomization of its directory, as `GenerateManifest` of `fluxcd/pkg/kustomize` 1.44
//! makes them.

use crdx_value::{Map, Value, json, object};

/// The members of a `spec` that change what is built.
pub const MEMBERS: [&str; 11] = [
    "targetNamespace",
    "namePrefix",
    "nameSuffix",
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "images",
    "components",
    "ignoreMissingComponents",
    "buildMetadata",
    "commonMetadata",
];

/// The members of a selector of Flux, which has fewer than that of kustomize.
const SELECTOR: [&str; 7] = ["group", "version", "kind", "name", "namespace", "labelSelector", "annotationSelector"];

/// The changes to a kustomization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FluxChanges(Map);

impl FluxChanges {
    /// Reads those of the `spec` of a Kustomization.
    pub fn of(spec: &Value) -> Self {
        let is_given = |value: &Value| match value {
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            value => value.as_bool() != Some(false),
        };
        let members = MEMBERS.iter().filter_map(|name| Some(((*name).to_owned(), spec.get(name)?.clone())));
        Self(members.filter(|(_, value)| is_given(value)).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if only objects without a namespace change.
    pub fn only_set_namespace(&self) -> bool {
        self.0.keys().all(|name| matches!(name.as_str(), "targetNamespace" | "ignoreMissingComponents"))
    }

    /// Returns the directories of the components that are added.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.list("components").filter_map(Value::as_str)
    }

    /// Returns a kustomization with the changes. `exists` is true for the path of a component that exists.
    pub fn applied(&self, own: Value, exists: impl Fn(&str) -> bool) -> Value {
        let mut members = match own {
            Value::Object(members) => members,
            Value::Null => Map::new(),
            // kustomize says what is wrong with it.
            other => return other,
        };
        let is_empty = members.get("resources").and_then(Value::as_array).is_none_or(<[Value]>::is_empty);
        if is_empty {
            members.insert("buildMetadata".to_owned(), vec![Value::from("originAnnotations")].into());
        }
        for (from, to) in [
            ("targetNamespace", "namespace"),
            ("namePrefix", "namePrefix"),
            ("nameSuffix", "nameSuffix"),
            ("buildMetadata", "buildMetadata"),
        ] {
            if let Some(value) = self.0.get(from) {
                members.insert(to.to_owned(), value.clone());
            }
        }
        let ignores_missing = self.0.contains_key("ignoreMissingComponents");
        let is_used = |component: &&Value| !ignores_missing || component.as_str().is_none_or(&exists);
        append(&mut members, "patches", self.list("patches").map(|patch| selected(patch, Value::clone)));
        append(&mut members, "components", self.list("components").filter(is_used).cloned());
        append(&mut members, "patchesStrategicMerge", self.list("patchesStrategicMerge").map(text));
        append(&mut members, "patchesJson6902", self.list("patchesJson6902").map(|patch| selected(patch, text)));
        self.list("images").for_each(|image| set_image(&mut members, image));
        append(&mut members, "transformers", self.metadata_transformers());
        Value::Object(members)
    }

    fn list(&self, name: &str) -> impl Iterator<Item = &Value> {
        self.0.get(name).and_then(Value::as_array).into_iter().flatten()
    }

    /// Returns the transformers that add the common metadata. Flux adds it to the objects that were built, and so not to templates of
    /// Pods and selectors.
    fn metadata_transformers(&self) -> impl Iterator<Item = Value> {
        let metadata = self.0.get("commonMetadata");
        [("LabelTransformer", "labels"), ("AnnotationsTransformer", "annotations")].into_iter().filter_map(
            move |(kind, member)| {
                let added = metadata?.get(member).filter(|added| added.as_object().is_some())?;
                let field = object([("path", Value::from(format!("metadata/{member}"))), ("create", true.into())]);
                let transformer = object([
                    ("apiVersion", Value::from("builtin")),
                    ("kind", kind.into()),
                    ("metadata", object([("name", format!("common-{member}"))])),
                    (member, added.clone()),
                    ("fieldSpecs", vec![field].into()),
                ]);
                Some(text(&transformer))
            },
        )
    }
}

/// Adds items to a list of a kustomization.
fn append(members: &mut Map, name: &str, items: impl Iterator<Item = Value>) {
    let mut list = members.get(name).and_then(Value::as_array).unwrap_or_default().to_vec();
    list.extend(items);
    if !list.is_empty() {
        members.insert(name.to_owned(), list.into());
    }
}

/// Returns a value as the JSON text that kustomize reads.
fn text(value: &Value) -> Value {
    json::to_string(value).into()
}

/// Returns a patch with the members that Flux knows.
fn selected(patch: &Value, content: impl Fn(&Value) -> Value) -> Value {
    let mut members = Map::new();
    if let Some(patch) = patch.get("patch") {
        members.insert("patch".to_owned(), content(patch));
    }
    if let Some(target) = patch.get("target").filter(|target| target.as_object().is_some()) {
        let known = SELECTOR.iter().filter_map(|name| Some(((*name).to_owned(), target.get(name)?.clone())));
        members.insert("target".to_owned(), Value::Object(known.collect()));
    }
    Value::Object(members)
}

/// Sets an image. One of the same name keeps what is not given; a tag and a digest replace each other.
fn set_image(members: &mut Map, image: &Value) {
    let given = |member: &str| image.get(member).filter(|value| value.as_str().is_some_and(|text| !text.is_empty()));
    let mut images = members.get("images").and_then(Value::as_array).unwrap_or_default().to_vec();
    let is_same = |other: &&mut Value| other.str_at(&["name"]) == image.str_at(&["name"]);
    let Some(Value::Object(known)) = images.iter_mut().find(is_same) else {
        images.push(image.clone());
        members.insert("images".to_owned(), images.into());
        return;
    };
    if let Some(name) = given("newName") {
        known.insert("newName".to_owned(), name.clone());
    }
    let versions = ["newTag", "digest"].map(|member| (member, given(member)));
    if versions.iter().any(|(_, value)| value.is_some()) {
        for (member, value) in versions {
            known.remove(member);
            known.extend(value.map(|value| (member.to_owned(), value.clone())));
        }
    }
    members.insert("images".to_owned(), images.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    fn applied(spec: &str, own: &str) -> String {
        let read = |text: &str| yaml::read(text.as_bytes()).unwrap();
        json::to_string(&FluxChanges::of(&read(spec)).applied(read(own), |name| name != "none"))
    }

    #[test]
    fn names_and_namespaces_replace_those_of_the_directory() {
        let changed = applied(
            "{targetNamespace: a, namePrefix: b-, nameSuffix: '', interval: 5m}",
            "{resources: [r], namespace: x, namePrefix: x-, nameSuffix: -x}",
        );
        assert_eq!(changed, r#"{"namePrefix":"b-","nameSuffix":"-x","namespace":"a","resources":["r"]}"#);
    }

    #[test]
    fn images_are_merged() {
        let own = "{resources: [r], images: [{name: a, newName: b, digest: 'sha256:1'}]}";
        let changed = applied("{images: [{name: a, newTag: '2'}, {name: c, newTag: '3'}]}", own);
        let images = r#""images":[{"name":"a","newName":"b","newTag":"2"},{"name":"c","newTag":"3"}]"#;
        assert_eq!(changed, format!(r#"{{{images},"resources":["r"]}}"#));
        let changed = applied("{images: [{name: a, newName: c}]}", own);
        assert!(changed.contains(r#"{"digest":"sha256:1","name":"a","newName":"c"}"#), "{changed}");
    }

    #[test]
    fn patches_are_texts_after_those_of_the_directory() {
        let spec = "patches: [{patch: p, target: {kind: A, unknown: b}}]\npatchesStrategicMerge: [{kind: A}]\n\
                    patchesJson6902: [{patch: [{op: remove, path: /a}], target: {kind: A}}]\n";
        let changed = applied(spec, "{resources: [r], patches: [{path: own}]}");
        assert!(changed.contains(r#""patches":[{"path":"own"},{"patch":"p","target":{"kind":"A"}}]"#), "{changed}");
        assert!(changed.contains(r#""patchesStrategicMerge":["{\"kind\":\"A\"}"]"#), "{changed}");
        assert!(changed.contains(r#"{"patch":"[{\"op\":\"remove\",\"path\":\"/a\"}]","target":{"kind":"A"}}"#));
    }

    #[test]
    fn missing_components_are_ignored_if_the_kustomization_says_so() {
        let own = "{resources: [r], components: [x]}";
        let changed = applied("{components: [none, c], ignoreMissingComponents: true}", own);
        assert_eq!(changed, r#"{"components":["x","c"],"resources":["r"]}"#);
        assert_eq!(applied("{components: [none]}", own), r#"{"components":["x","none"],"resources":["r"]}"#);
    }

    #[test]
    fn common_metadata_is_only_that_of_the_objects() {
        let changed = applied("{commonMetadata: {annotations: {a: b}}}", "{resources: [r]}");
        assert!(
            changed.contains(r#"\"fieldSpecs\":[{\"create\":true,\"path\":\"metadata/annotations\"}]"#),
            "{changed}"
        );
        assert!(!changed.contains("LabelTransformer"), "{changed}");
    }

    #[test]
    fn a_kustomization_without_resources_gets_annotations() {
        assert_eq!(applied("{namePrefix: a}", "{}"), r#"{"buildMetadata":["originAnnotations"],"namePrefix":"a"}"#);
    }
}

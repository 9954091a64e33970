//! The published schemas of aggregated APIs, which a profile has, because other API servers serve them.

use crate::cluster::Resource;
use crdx_server::server::http::address::{decoded, encoded};
use crdx_types::groups;
use crdx_value::{Map, Value, object};
use std::collections::BTreeSet;

const ROOT: &str = "/openapi/v3/apis/";
/// The maximum depth of a schema from which descriptions are removed.
const MAX_DEPTH: usize = 500;

/// Returns the path of the OpenAPI document of a group and version.
pub fn path(group: &str, version: &str) -> String {
    format!("{ROOT}{}/{}", encoded(group), encoded(version))
}

/// Returns the group and version of the document at a path; `None` for another path.
pub fn parse_path(path: &str) -> Option<(String, String)> {
    let (group, version) = path.split('?').next()?.strip_prefix(ROOT)?.split_once('/')?;
    Some((decoded(group, false)?, decoded(version, false)?))
}

/// Returns the groups and versions of the resources that neither kube-apiserver nor a CRD serves.
pub fn aggregated<'r>(resources: &'r [Resource], crds: &BTreeSet<String>) -> BTreeSet<(&'r str, &'r str)> {
    let is_other =
        |resource: &&Resource| !groups::is_built_in(&resource.group) && !crds.contains(&resource.qualified());
    let versions = resources.iter().filter(is_other);
    versions.map(|resource| (resource.group.as_str(), resource.version.as_str())).collect()
}

/// Returns the schema of a group, version and kind from the schemas of a document; `None` if there is none.
pub fn of_kind<'d>(schemas: &'d Value, (group, version, kind): (&str, &str, &str)) -> Option<&'d Value> {
    let is_it = |own: &Value| {
        let text = |key: &str| own.str_at(&[key]).unwrap_or_default();
        (text("group"), text("version"), text("kind")) == (group, version, kind)
    };
    let kinds = |schema: &'d Value| schema.get("x-kubernetes-group-version-kind").and_then(Value::as_array);
    schemas.as_object()?.values().find(|schema| kinds(schema).is_some_and(|kinds| kinds.iter().any(is_it)))
}

/// Returns what a profile has of a document: its schemas without descriptions.
pub fn saved_document(group: &str, version: &str, document: &Value) -> Value {
    let mut schemas = document.at(&["components", "schemas"]).cloned().unwrap_or_else(|| Value::Object(Map::new()));
    if let Some(members) = schemas.as_object_mut() {
        members.values_mut().for_each(|schema| remove_descriptions(schema, 0));
    }
    object([
        ("apiVersion", Value::from("crdx/v1")),
        ("kind", "PublishedSchemas".into()),
        ("metadata", object([("name", format!("{group}/{version}"))])),
        ("components", object([("schemas", schemas)])),
    ])
}

fn remove_descriptions(schema: &mut Value, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match schema {
        Value::Object(members) => {
            // A property may have this name.
            if members.get("description").is_some_and(|text| matches!(text, Value::String(_))) {
                members.remove("description");
            }
            members.values_mut().for_each(|value| remove_descriptions(value, depth + 1));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| remove_descriptions(value, depth + 1)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;
    use crdx_value::json::to_string;

    #[test]
    fn a_path_names_a_group_and_version() {
        assert_eq!(parse_path(&path("a.example.com", "v1")), Some(("a.example.com".to_owned(), "v1".to_owned())));
        assert_eq!(parse_path("/apis/a.example.com/v1"), None);
    }

    #[test]
    fn resources_of_other_servers_are_aggregated() {
        let resource = |group: &str, plural: &str| Resource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            ..Resource::default()
        };
        let resources =
            [resource("", "pods"), resource("a.example.com", "things"), resource("b.example.com", "routes")];
        let crds = BTreeSet::from(["things.a.example.com".to_owned()]);
        assert_eq!(aggregated(&resources, &crds), BTreeSet::from([("b.example.com", "v1")]));
    }

    #[test]
    fn a_kind_that_is_not_published_has_no_schema() {
        let schemas = read(
            br#"{"A":{"x-kubernetes-group-version-kind":[{"group":"r.example.com","version":"v1","kind":"Route"}]}}"#,
        )
        .unwrap();
        assert_eq!(of_kind(&schemas, ("r.example.com", "v1", "Route")), schemas.get("A"));
        assert_eq!(of_kind(&schemas, ("r.example.com", "v2", "Route")), None);
        assert_eq!(of_kind(&Value::Null, ("", "v1", "Route")), None);
    }

    #[test]
    fn only_schemas_without_descriptions_are_saved() {
        let document = read(
            br#"{"paths":{"/x":{}},"components":{"schemas":{"A":{"description":"canary","properties":{"description":{"type":"string","description":"canary"}}}}}}"#,
        )
        .unwrap();
        let saved = saved_document("b.example.com", "v1", &document);
        assert_eq!(
            to_string(saved.get("components").unwrap()),
            r#"{"schemas":{"A":{"properties":{"description":{"type":"string"}}}}}"#
        );
    }
}

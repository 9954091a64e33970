//! The document of CustomResourceDefinitions themselves. Their paths are those of any kind; their types come from Go and
//! are kept as published in version 3.

use super::{Edition, META, PREFIX_V2, PREFIX_V3, drop_defaults, v2, v3};
use crate::crd;
use crate::text::json;
use crate::value::{Map, Value};

/// The names of the types begin with Go's package, not with the group.
const PACKAGE: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.";
const BY_GROUP: &str = "io.k8s.apiextensions.v1.";
/// What the paths say of the kind.
const KIND: &str = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"customresourcedefinitions.apiextensions.k8s.io"},
    "spec":{"group":"apiextensions.k8s.io","scope":"Cluster","names":{"plural":"customresourcedefinitions",
    "kind":"CustomResourceDefinition","listKind":"CustomResourceDefinitionList"},
    "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}}}]}}"#;

/// The document of an edition.
pub fn of_definitions(edition: Edition) -> Value {
    let Some(crd) = json::read(KIND.as_bytes()).ok().and_then(|v| crd::decode(&v).ok()) else { return Value::Null };
    let (mut document, place): (Value, &[&str]) = match edition {
        Edition::V2 => (v2(&crd.crd, "v1"), &["definitions"]),
        Edition::V3 => (v3(&crd.crd, "v1"), &["components", "schemas"]),
    };
    rename(&mut document);
    let mut types = json::read(include_bytes!("definitions.json")).unwrap_or_default();
    if edition == Edition::V2 {
        join_references(&mut types);
        drop_defaults(&mut types);
    }
    let mut published = Some(&mut document);
    for key in place {
        published = published.and_then(Value::as_object_mut).and_then(|members| members.get_mut(*key));
    }
    if let (Some(Value::Object(published)), Value::Object(types)) = (published, types) {
        published.retain(|name, _| name.starts_with(META) || !name.starts_with(BY_GROUP));
        published.extend(types);
    }
    document
}

/// Lets every reference to the types of the group lead to those of the package.
fn rename(v: &mut Value) {
    match v {
        Value::Array(items) => items.iter_mut().for_each(rename),
        Value::Object(members) => {
            members.values_mut().for_each(rename);
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                *reference = reference.replacen(BY_GROUP, PACKAGE, 1);
            }
        }
        _ => {}
    }
}

/// Turns references of version 3 into those of version 2, which stand beside other keywords.
fn join_references(v: &mut Value) {
    match v {
        Value::Array(items) => items.iter_mut().for_each(join_references),
        Value::Object(members) => {
            if let Some(Value::Array(all)) = members.get("allOf")
                && let [Value::Object(only)] = all.as_slice()
                && only.contains_key("$ref")
            {
                let only: Map = only.clone();
                members.remove("allOf");
                members.extend(only);
            }
            members.values_mut().for_each(join_references);
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                *reference = reference.replacen(PREFIX_V3, PREFIX_V2, 1);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_somewhere() {
        fn references<'v>(v: &'v Value, found: &mut Vec<&'v str>) {
            match v {
                Value::Array(items) => {
                    for v in items {
                        references(v, found);
                    }
                }
                Value::Object(members) => {
                    found.extend(members.get("$ref").and_then(Value::as_str));
                    for v in members.values() {
                        references(v, found);
                    }
                }
                _ => {}
            }
        }
        for (edition, prefix, place) in
            [(Edition::V2, PREFIX_V2, &["definitions"][..]), (Edition::V3, PREFIX_V3, &["components", "schemas"][..])]
        {
            let document = of_definitions(edition);
            let types = document.at(place).and_then(Value::as_object).unwrap();
            let mut found = Vec::new();
            references(&document, &mut found);
            let types_only: Vec<&str> = found.iter().filter_map(|r| r.strip_prefix(prefix)).collect();
            assert!(types_only.len() > 50);
            assert_eq!(types_only.iter().find(|name| !types.contains_key(**name)), None);
        }
    }
}

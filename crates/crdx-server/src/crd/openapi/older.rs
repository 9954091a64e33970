//! Differences between the documents in this folder, of the release [`DOCUMENTS`], and those of the others from 1.30 to 1.38: types, query parameters and descriptions of
//! Kubernetes itself. The sources are `pkg/generated/openapi` of `k8s.io/apiextensions-apiserver` and, for
//! `DeleteOptions`, `kubernetes/scheme` of client-go.

use super::{META, OpenApiVersion, SCALE, remove_keywords};
use crdx_value::release::{DOCUMENTS, Minor, Release, V1_31, V1_32, V1_33, V1_34, V1_35, V1_36, V1_37, V1_38};
use crdx_value::{Map, Value, object};
use std::collections::BTreeSet;

const CRD: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.";
const INFO: &str = "io.k8s.apimachinery.pkg.version.Info";

/// Properties by the release that introduced them: prefix and name of the type, name of the property.
const PROPERTIES: [(&str, &str, &str, Minor); 8] = [
    (META, "DeleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential", V1_32),
    (INFO, "", "emulationMajor", V1_33),
    (INFO, "", "emulationMinor", V1_33),
    (INFO, "", "minCompatibilityMajor", V1_33),
    (INFO, "", "minCompatibilityMinor", V1_33),
    (CRD, "CustomResourceDefinitionCondition", "observedGeneration", V1_35),
    (CRD, "CustomResourceDefinitionStatus", "observedGeneration", V1_35),
    (META, "ListMeta", "shardInfo", V1_36),
];

/// Query parameters by the release that introduced them.
const PARAMETERS: [(&str, Minor); 2] =
    [("ignoreStoreReadErrorWithClusterBreakingPotential", V1_32), ("shardSelector", V1_36)];

/// API versions that only some releases of client-go have: group, version, the first release with it, the first
/// release without it.
const API_VERSIONS: [(&str, &str, Minor, Minor); 18] = [
    ("authorization.k8s.io", "v1alpha1", V1_38, Minor::NEVER),
    ("autoscaling", "v2beta1", Minor::ALWAYS, V1_36),
    ("autoscaling", "v2beta2", Minor::ALWAYS, V1_36),
    ("coordination.k8s.io", "v1alpha1", V1_31, V1_32),
    ("coordination.k8s.io", "v1alpha2", V1_32, Minor::NEVER),
    ("lifecycle.k8s.io", "v1alpha1", V1_37, Minor::NEVER),
    ("networking.k8s.io", "v1alpha1", Minor::ALWAYS, V1_34),
    ("resource.k8s.io", "v1", V1_34, Minor::NEVER),
    ("resource.k8s.io", "v1alpha2", Minor::ALWAYS, V1_31),
    ("resource.k8s.io", "v1alpha3", V1_31, Minor::NEVER),
    ("resource.k8s.io", "v1beta1", V1_32, Minor::NEVER),
    ("resource.k8s.io", "v1beta2", V1_33, Minor::NEVER),
    ("scheduling.k8s.io", "v1alpha1", Minor::ALWAYS, V1_36),
    ("scheduling.k8s.io", "v1alpha2", V1_36, V1_37),
    ("scheduling.k8s.io", "v1alpha3", V1_37, Minor::NEVER),
    ("storagemigration.k8s.io", "v1", V1_37, Minor::NEVER),
    ("storagemigration.k8s.io", "v1alpha1", Minor::ALWAYS, V1_35),
    ("storagemigration.k8s.io", "v1beta1", V1_35, Minor::NEVER),
];

/// Changes a document of [`DOCUMENTS`] ([`super::v2`], [`super::v3`], [`super::own`] or several of them merged) into the
/// document of `release`.
pub fn adapt(document: &mut Value, openapi_version: OpenApiVersion, release: Release) {
    // `info.version` of the documents of CRDs is not the version of the server.
    let documents = DOCUMENTS.to_string();
    if let Some(version) = at(document, &["info", "version"]).filter(|v| v.as_str() == Some(&documents)) {
        *version =
            if release.since(V1_31) { Value::from(release.minor().to_string()) } else { Value::from("unversioned") };
    }
    if release.since(V1_38) != (DOCUMENTS >= V1_38) {
        let swap =
            |[before, since]: [&'static str; 2]| if release.since(V1_38) { [before, since] } else { [since, before] };
        describe_shards(document, swap(SHARDS), DEPTH);
        rename_parameter(document, swap(SHARD_SELECTOR));
    }
    let types: &[&str] =
        if openapi_version == OpenApiVersion::V2 { &["definitions"] } else { &["components", "schemas"] };
    if release.since(DOCUMENTS) {
        if release.minor() > DOCUMENTS
            && let Some(Value::Object(types)) = at(document, types)
        {
            adapt_kinds(types, release);
        }
        return;
    }
    if let Some(Value::Object(types)) = at(document, types) {
        adapt_types(types, openapi_version, release);
    }
    let is_new = |name: &str| PARAMETERS.iter().any(|(new, since)| *new == name && !release.since(*since));
    if let Some(Value::Object(parameters)) = at(document, &["parameters"]) {
        parameters.retain(|_, parameter| !parameter.str_at(&["name"]).is_some_and(is_new));
    }
    if let Some(Value::Object(paths)) = at(document, &["paths"]) {
        for item in paths.values_mut() {
            retain_parameters(item, &is_new);
            item.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(|operation| {
                retain_parameters(operation, &is_new);
            });
        }
    }
    if !release.since(V1_33)
        && let Some(text) = at(document, &["paths", "/version/", "get", "description"])
    {
        *text = Value::from("get the code version");
    }
}

/// The last sentence about shards, before 1.38 and since.
const SHARDS: [&str; 2] = [
    "This is an alpha field and requires enabling the ShardedListAndWatch feature gate.",
    "This is a beta field and is enabled by default via the ShardedListAndWatch feature gate.",
];
/// The name of the shared parameter of OpenAPI v2, which ends with a hash of its description, before 1.38 and since.
const SHARD_SELECTOR: [&str; 2] = ["shardSelector-Kgyki_3_", "shardSelector-XFJ2rQA7"];
/// The descriptions of Kubernetes itself are not deeper in a document.
const DEPTH: usize = 12;

/// Replaces the end of descriptions of shards.
fn describe_shards(value: &mut Value, [from, to]: [&str; 2], depth: usize) {
    match value {
        Value::Object(members) if depth > 0 => {
            if let Some(Value::String(text)) = members.get_mut("description")
                && let Some(begin) = text.strip_suffix(from)
            {
                *text = format!("{begin}{to}");
            }
            members.values_mut().for_each(|member| describe_shards(member, [from, to], depth - 1));
        }
        Value::Array(items) if depth > 0 => {
            for item in items {
                describe_shards(item, [from, to], depth - 1);
            }
        }
        _ => {}
    }
}

/// Renames a shared parameter, and the references to it.
fn rename_parameter(document: &mut Value, [from, to]: [&str; 2]) {
    if let Some(Value::Object(parameters)) = at(document, &["parameters"])
        && let Some(parameter) = parameters.remove(from)
    {
        parameters.insert(to.to_owned(), parameter);
    }
    let Some(Value::Object(paths)) = at(document, &["paths"]) else { return };
    let reference = format!("#/parameters/{from}");
    for item in paths.values_mut() {
        let operations = item.as_object_mut().into_iter().flat_map(Map::values_mut);
        for list in operations.filter_map(|member| match member {
            Value::Array(shared) => Some(shared),
            operation => match at(operation, &["parameters"]) {
                Some(Value::Array(parameters)) => Some(parameters),
                _ => None,
            },
        }) {
            for parameter in list {
                if let Some(Value::String(target)) =
                    at(parameter, &["$ref"]).filter(|target| target.as_str() == Some(&reference))
                {
                    *target = format!("#/parameters/{to}");
                }
            }
        }
    }
}

fn at<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, key| value.as_object_mut()?.get_mut(key))
}

fn retain_parameters(of: &mut Value, is_new: &dyn Fn(&str) -> bool) {
    let Some(Value::Array(parameters)) = at(of, &["parameters"]) else { return };
    parameters.retain(|parameter| {
        // The last part of a reference is the name, a hyphen and a hash.
        let referred = parameter.str_at(&["$ref"]).and_then(|to| to.strip_prefix("#/parameters/")?.split_once('-'));
        !parameter.str_at(&["name"]).or(referred.map(|(name, _)| name)).is_some_and(is_new)
    });
}

fn adapt_types(types: &mut Map, openapi_version: OpenApiVersion, release: Release) {
    for (prefix, name, property, since) in PROPERTIES {
        if !release.since(since)
            && let Some(Value::Object(properties)) =
                types.get_mut(&format!("{prefix}{name}")).and_then(|of| at(of, &["properties"]))
        {
            properties.remove(property);
        }
    }
    if !release.since(V1_36) {
        types.remove(&format!("{META}ShardInfo"));
        // Before 1.36, the published schemas of CRDs omitted these keywords (`pkg/apiserver/schema/kubeopenapi.go`).
        for schema in types.values_mut() {
            remove_keywords(schema, &["example", "externalDocs"]);
        }
    }
    if !release.since(V1_34)
        && let Some(Value::Object(replicas)) =
            types.get_mut(&format!("{SCALE}Spec")).and_then(|spec| at(spec, &["properties", "replicas"]))
    {
        replicas.remove("default");
    }
    if !release.since(V1_35)
        && let Some(Value::Object(details)) =
            types.get_mut(&format!("{META}Status")).and_then(|status| at(status, &["properties", "details"]))
    {
        details.insert("x-kubernetes-list-type".to_owned(), Value::from("atomic"));
    }
    adapt_kinds(types, release);
    for property in ["major", "minor"].into_iter().filter(|_| !release.since(V1_33)) {
        let of = types.get_mut(INFO).and_then(|info| at(info, &["properties", property]));
        if let Some(Value::Object(schema)) = of {
            schema.remove("description");
        }
    }
    adapt_descriptions(types, release);
    if openapi_version == OpenApiVersion::V3 {
        let structs: BTreeSet<String> = types
            .iter()
            .filter(|(_, schema)| schema.str_at(&["type"]) == Some("object"))
            .map(|(name, _)| format!("{}{name}", crdx_types::openapi::PREFIX_V3))
            .collect();
        let own = types.iter_mut().filter(|(name, _)| is_own(name));
        own.for_each(|(_, schema)| default_elements(schema, &structs));
    }
}

/// Returns true for a type of Kubernetes itself, false for a type of a CRD.
fn is_own(name: &str) -> bool {
    ["io.k8s.apimachinery.pkg.", "io.k8s.apiextensions-apiserver.pkg.", SCALE].iter().any(|p| name.starts_with(p))
}

/// Replaces the API versions of the kinds that are registered in every group (such as `DeleteOptions`) with those of
/// the release's client-go.
fn adapt_kinds(types: &mut Map, release: Release) {
    const KINDS: &str = "x-kubernetes-group-version-kind";
    fn text(kind: &Value, key: &str) -> String {
        kind.str_at(&[key]).unwrap_or_default().to_owned()
    }
    let mut every_group = false;
    for name in ["DeleteOptions", "WatchEvent"] {
        let Some(Value::Array(kinds)) = types.get_mut(&format!("{META}{name}")).and_then(|of| at(of, &[KINDS])) else {
            continue;
        };
        if !kinds.iter().any(|kind| kind.str_at(&["group"]) == Some("apps")) {
            continue;
        }
        every_group = true;
        for (group, version, since, until) in API_VERSIONS {
            kinds.retain(|kind| text(kind, "group") != group || text(kind, "version") != version);
            if release.since(since) && !release.since(until) {
                kinds.push(object([("group", group), ("kind", name), ("version", version)]));
            }
        }
        kinds.sort_by_cached_key(|kind| (text(kind, "group"), text(kind, "version")));
    }
    // `resource.k8s.io/v1alpha2` also registered `Status`.
    if every_group
        && !release.since(V1_31)
        && let Some(Value::Array(kinds)) = types.get_mut(&format!("{META}Status")).and_then(|of| at(of, &[KINDS]))
    {
        kinds.push(object([("group", "resource.k8s.io"), ("kind", "Status"), ("version", "v1alpha2")]));
    }
}

/// Replaces the descriptions whose wording or escaping differs in older releases.
fn adapt_descriptions(types: &mut Map, release: Release) {
    let mut replace = |name: &str, path: &[&str], from: &str, to: &str| {
        if let Some(Value::String(text)) = types.get_mut(name).and_then(|of| at(of, path)) {
            *text = text.replace(from, to);
        }
    };
    let metadata = ["properties", "metadata", "description"];
    replace(SCALE, &metadata, "metadata is the standard object metadata", "Standard object metadata");
    replace("io.k8s.apimachinery.pkg.runtime.RawExtension", &["description"], r#"json:"""#, r#"json:",inline""#);
    if !release.since(V1_32) {
        let format = ["properties", "format", "description"];
        replace(&format!("{CRD}JSONSchemaProps"), &format, r"\\d", r"\d");
    }
    if !release.since(V1_31) {
        let rules = ["properties", "x-kubernetes-validations", "description"];
        let text = "written in the CEL expression language.";
        let gate = "This field is an alpha-level. Using this field requires the feature gate `CustomResourceValidationExpressions` to be enabled.";
        replace(&format!("{CRD}JSONSchemaProps"), &rules, text, &format!("{text} {gate}"));
    }
}

/// Adds the default that elements of lists and maps had before 1.37: the empty string or object.
fn default_elements(schema: &mut Value, structs: &BTreeSet<String>) {
    let Value::Object(members) = schema else { return };
    for key in ["items", "additionalProperties"] {
        let Some(Value::Object(element)) = members.get_mut(key) else { continue };
        if element.get("type").and_then(Value::as_str) == Some("string") {
            element.insert("default".to_owned(), Value::from(""));
        }
        if element.get("$ref").and_then(Value::as_str).is_some_and(|to| structs.contains(to)) {
            let reference = Value::Object(std::mem::take(element));
            element.insert("default".to_owned(), Value::Object(Map::new()));
            element.insert("allOf".to_owned(), Value::Array(vec![reference]));
        }
    }
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        for property in properties.values_mut() {
            default_elements(property, structs);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(element) = members.get_mut(key) {
            default_elements(element, structs);
        }
    }
}

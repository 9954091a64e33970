//! Every resource of the server takes the patch types that the real server takes.

use crate::conformance::exchange::{Client, InProcess, Reply};
use crdx_server::policies::authorizer::Rules;
use crdx_server::server::ServerBuilder;
use crdx_value::release::Release;
use serde_json::{Value, json};
use std::sync::Arc;

const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
/// No release serves CBOR by default.
const CBOR: &str = "application/apply-patch+cbor";

fn call(client: &mut InProcess, method: &str, path: &str, body: &Value, content_type: &str) -> Reply {
    let body = body.to_string();
    client.call(method, path, Some(&body), Some(content_type), "application/json")
}

fn get(client: &mut InProcess, path: &str) -> Value {
    client.call("GET", path, None, None, "application/json").body
}

/// The groups and versions of a server, as path and `apiVersion`.
fn versions(client: &mut InProcess) -> Vec<(String, String)> {
    let groups = get(client, "/apis");
    let versions = groups["groups"].as_array().unwrap().iter().flat_map(|g| g["versions"].as_array().unwrap().clone());
    let named = versions.map(|v| v["groupVersion"].as_str().unwrap().to_owned()).map(|v| (format!("/apis/{v}"), v));
    std::iter::once(("/api/v1".to_owned(), "v1".to_owned())).chain(named).collect()
}

/// A valid object of each kind that needs more than a name.
fn objects() -> Vec<Value> {
    let text = include_str!("../apiserver/builtin/objects.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Sends a patch of each type to an object and its subresources. Returns the subresources.
fn patch_all(client: &mut InProcess, resource: &Value, path: &str, api_version: &str, known: &[Value]) -> usize {
    let (plural, kind) = (resource["name"].as_str().unwrap(), resource["kind"].as_str().unwrap());
    let scope = if resource["namespaced"] == true { "/namespaces/default" } else { "" };
    let collection = format!("{path}{scope}/{plural}");
    let group = |api_version: &str| api_version.rsplit_once('/').map(|(group, _)| group.to_owned());
    let of_kind = || known.iter().filter(|object| object["kind"] == kind);
    let same_group = |object: &&Value| group(object["apiVersion"].as_str().unwrap()) == group(api_version);
    let object = of_kind().find(|object| object["apiVersion"] == api_version).or_else(|| of_kind().find(same_group));
    let object = object.cloned();
    let mut object =
        object.unwrap_or_else(|| json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "some"}}));
    object["apiVersion"] = json!(api_version);
    object["metadata"].as_object_mut().unwrap().remove("namespace");
    let name = object["metadata"]["name"].as_str().unwrap().to_owned();
    let created = call(client, "POST", &collection, &object, "application/json");
    assert!(matches!(created.code, 201 | 409), "{api_version} {kind}: {}", created.body);

    let one = format!("{collection}/{name}");
    let applied = |kind: &str, api_version: &str, metadata: Value| {
        let mut metadata = metadata;
        metadata["name"] = json!(name);
        json!({"apiVersion": api_version, "kind": kind, "metadata": metadata})
    };
    for (patch, content_type, label) in [
        (json!([{"op": "add", "path": "/metadata/labels", "value": {"json": "1"}}]), JSON, "json"),
        (json!({"metadata": {"labels": {"merge": "1"}, "finalizers": ["example.com/a"]}}), MERGE, "merge"),
        (json!({"metadata": {"labels": {"strategic": "1"}, "finalizers": ["example.com/b"]}}), STRATEGIC, "strategic"),
        (applied(kind, api_version, json!({"labels": {"apply": "1"}})), APPLY, "apply"),
    ] {
        let answer = call(client, "PATCH", &format!("{one}?fieldManager=m"), &patch, content_type);
        assert_eq!(answer.code, 200, "{api_version} {kind}, {content_type}: {}", answer.body);
        assert_eq!(answer.body["metadata"]["labels"][label], "1", "{api_version} {kind}, {content_type}");
    }
    // Finalizers are merged by a strategic merge patch, and replaced by a merge patch.
    let finalizers = get(client, &one)["metadata"]["finalizers"].clone();
    let finalizers: Vec<&str> = finalizers.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(["example.com/a", "example.com/b"].iter().all(|f| finalizers.contains(f)), "{kind}: {finalizers:?}");
    let refused = call(client, "PATCH", &format!("{one}?fieldManager=m"), &json!({}), CBOR);
    assert_eq!(refused.code, 415, "{api_version} {kind}");

    let all = get(client, path)["resources"].as_array().unwrap().clone();
    let prefix = format!("{plural}/");
    let takes_patches = |r: &&Value| r["verbs"].as_array().unwrap().iter().any(|verb| verb == "patch");
    let mut count = 0;
    for subresource in all.iter().filter(takes_patches) {
        let Some(sub) = subresource["name"].as_str().unwrap().strip_prefix(&prefix) else { continue };
        count += 1;
        let kind = subresource["kind"].as_str().unwrap();
        let group = subresource["group"].as_str().unwrap_or_default();
        let version = subresource["version"].as_str();
        let own = version.map_or_else(|| api_version.to_owned(), |v| format!("{group}/{v}"));
        let path = format!("{one}/{sub}?fieldManager=s");
        for (patch, content_type) in [
            (json!([{"op": "test", "path": "/metadata/name", "value": name}]), JSON),
            (json!({"metadata": {"name": name}}), MERGE),
            (json!({"metadata": {"name": name}}), STRATEGIC),
            (applied(kind, &own, json!({})), APPLY),
        ] {
            let answer = call(client, "PATCH", &path, &patch, content_type);
            assert_eq!(answer.code, 200, "{api_version} {prefix}{sub}, {content_type}: {}", answer.body);
        }
        assert_eq!(call(client, "PATCH", &path, &json!({}), CBOR).code, 415, "{api_version} {prefix}{sub}");
    }
    count
}

fn patch_everything(builder: ServerBuilder) -> (usize, usize) {
    let mut client = InProcess::with(builder.build());
    let client = &mut client;
    let known = objects();
    let (mut resources, mut subresources) = (0, 0);
    for (path, api_version) in versions(client) {
        for resource in get(client, &path)["resources"].as_array().unwrap() {
            let verbs = resource["verbs"].as_array().unwrap();
            let name = resource["name"].as_str().unwrap();
            let is_definition = name == "customresourcedefinitions";
            if name.contains('/') || is_definition || !verbs.iter().any(|verb| verb == "patch") {
                continue;
            }
            resources += 1;
            subresources += patch_all(client, resource, &path, &api_version, &known);
        }
    }
    (resources, subresources)
}

#[test]
fn every_built_in_resource_takes_all_patch_types() {
    for release in [Release::OLDEST, Release::NEWEST] {
        let builder = crdx_kinds::builder(release, 1).with_built_in_kinds().with_content_validation();
        let (resources, subresources) = patch_everything(builder.with_generated_fields());
        assert!(resources > 45 && subresources > 25, "{release}: {resources} resources, {subresources} subresources");
    }
}

/// The kinds that a server has for policies and namespaces, without all built-in kinds.
#[test]
fn the_kinds_of_admission_take_all_patch_types() {
    let builder = crdx_kinds::builder(Release::NEWEST, 1).with_policies(Arc::new(Rules::allow_all()));
    let (resources, _) = patch_everything(builder);
    assert!(resources >= 8, "{resources} resources");
}

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn definition() -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "foos.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": {"plural": "foos", "kind": "Foo"}, "versions": [{"name": "v1",
        "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}},
        "subresources": {"status": {}}}]}})
}

#[test]
fn a_definition_takes_all_patch_types_and_its_objects_no_strategic_merge() {
    let mut client = InProcess::default();
    let client = &mut client;
    assert_eq!(call(client, "POST", CRDS, &definition(), "application/json").code, 201);
    let one = format!("{CRDS}/foos.example.com");
    let finalizers = |client: &mut InProcess| get(client, &one)["metadata"]["finalizers"].clone();
    for path in [one.clone(), format!("{one}/status")] {
        let path = format!("{path}?fieldManager=m");
        let patches = [
            (json!([{"op": "add", "path": "/metadata/finalizers", "value": ["example.com/a"]}]), JSON),
            (json!({"metadata": {"finalizers": ["example.com/b"]}}), MERGE),
            (json!({"metadata": {"finalizers": ["example.com/c"]}}), STRATEGIC),
        ];
        for (patch, content_type) in patches {
            let answer = call(client, "PATCH", &path, &patch, content_type);
            assert_eq!(answer.code, 200, "{path}, {content_type}: {}", answer.body);
        }
        assert_eq!(call(client, "PATCH", &path, &json!({}), CBOR).code, 415);
    }
    assert_eq!(finalizers(client), json!(["example.com/c", "example.com/b"]));
    // Lists without a patch strategy are replaced, and directives work everywhere.
    let directive = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/b"]},
        "spec": {"names": {"$patch": "replace", "plural": "foos", "kind": "Foo", "singular": "foo", "listKind": "FooList",
        "shortNames": ["f"]}}});
    let answer = call(client, "PATCH", &one, &directive, STRATEGIC);
    assert_eq!(answer.code, 200, "{}", answer.body);
    assert_eq!(answer.body["spec"]["names"]["shortNames"], json!(["f"]));
    assert_eq!(finalizers(client), json!(["example.com/c"]));
    let wrong = call(client, "PATCH", &one, &json!({"spec": {"scope": 1}}), STRATEGIC);
    assert_eq!(
        (wrong.code, wrong.body["message"].as_str().unwrap()),
        (
            422,
            " \"\" is invalid: patch: Invalid value: \"map[spec:map[scope:1]]\": cannot convert int64 to v1.ResourceScope"
        )
    );

    let foos = "/apis/example.com/v1/foos";
    let foo = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}});
    assert_eq!(call(client, "POST", foos, &foo, "application/json").code, 201);
    for path in [format!("{foos}/a"), format!("{foos}/a/status")] {
        let path = format!("{path}?fieldManager=m");
        for (content_type, patch, code) in [
            (JSON, json!([]), 200),
            (MERGE, json!({}), 200),
            (STRATEGIC, json!({}), 415),
            (CBOR, json!({}), 415),
            (APPLY, foo.clone(), 200),
        ] {
            let answer = call(client, "PATCH", &path, &patch, content_type);
            assert_eq!(answer.code, code, "{path}, {content_type}: {}", answer.body);
        }
    }
}

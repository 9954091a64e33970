//! Compares writes of built-in kinds with what Kubernetes does: defaults, encoding, strategic merge patches, applies and
//! field owners (`tests/apiserver/builtin/record.sh` records `tests/facts/builtin-writes.jsonl.gz`).

use crate::facts::unpacked;
use crdx_server::server::{Body, Method, Request, ResponseBody};
use crdx_text::json;
use crdx_value::release::Release;
use crdx_value::{Map, Value};
use std::collections::BTreeMap;
use std::fs;

/// The object without what the judge does not set: it has no registry, so neither identity nor status.
fn bare(object: &Value) -> Value {
    let mut object = object.clone();
    let members = object.as_object_mut().unwrap();
    members.remove("status");
    if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
        // The strategy of DaemonSets counts it.
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
            annotations.remove("deprecated.daemonset.template.generation");
        }
        for key in ["uid", "resourceVersion", "creationTimestamp", "generation", "namespace"] {
            metadata.remove(key);
        }
        if let Some(Value::Array(entries)) = metadata.get_mut("managedFields") {
            for entry in entries.iter_mut() {
                entry.as_object_mut().unwrap().remove("time");
            }
            // Entries are sorted by time, which the judge takes from the clock.
            entries.sort_by_key(crdx_value::json::to_string);
        }
    }
    object
}

/// The differences of one object's history, by verb.
fn differences(line: &str, seen: &mut BTreeMap<String, (usize, Vec<String>)>) {
    let fact = json::read(line.as_bytes()).unwrap();
    protobuf_difference(&fact, seen);
    let server = crdx_kinds::builder(Release::NEWEST, 1).with_built_in_kinds().build();
    for step in fact.get("steps").and_then(Value::as_array).unwrap() {
        let text = |key: &str| step.str_at(&[key]).unwrap_or_default();
        let body = step.get("body").unwrap();
        let collection = collection(&fact);
        let (method, path, content_type) = match text("verb") {
            "create" => (Method::Post, collection, "application/json"),
            "strategic" => (Method::Patch, format!("{collection}/a"), "application/strategic-merge-patch+json"),
            _ => (Method::Patch, format!("{collection}/a"), "application/apply-patch+yaml"),
        };
        let force = if step.get("force").is_some() { "&force=true" } else { "" };
        let path = format!("{path}?fieldManager={}&fieldValidation=Ignore{force}", text("manager"));
        let mut request = Request::new(method, &path, body.clone());
        request.content_type = Some(content_type.to_owned());
        let response = server.handle(&request);
        let ResponseBody::Json(found) = &response.body else { panic!("{path}: {:?}", response.body) };
        let expected = step.get("object").filter(|_| text("error").is_empty());
        let (count, all) = seen.entry(text("verb").to_owned()).or_default();
        *count += 1;
        let difference = match (expected, response.code < 300) {
            (Some(expected), true) if bare(expected) == bare(found) => continue,
            (Some(expected), true) => {
                let difference = first_difference(&bare(expected), &bare(found), String::new());
                format!("{difference}\n    found {}", crdx_value::json::to_string(&bare(found)))
            }
            (Some(_), false) => format!("refused: {}", response.body.message()),
            (None, true) => format!("accepted: {}", text("error")),
            (None, false) if response.body.message().contains(text("error")) => continue,
            (None, false) => format!("{} instead of {}", response.body.message(), text("error")),
        };
        all.push(format!("{path} {}: {difference}", crdx_value::json::to_string(body)));
        return;
    }
}

/// Compares the create in Protobuf with that in JSON.
fn protobuf_difference(fact: &Value, seen: &mut BTreeMap<String, (usize, Vec<String>)>) {
    let first = fact.get("steps").and_then(Value::as_array).unwrap().first().unwrap();
    let Some(bytes) = first.str_at(&["protobuf"]) else { return };
    let bytes = crdx_value::base64::Encoding::Standard.decode(bytes).unwrap();
    let create = |body: Body, content_type: &str| {
        let server = crdx_kinds::builder(Release::NEWEST, 1).with_built_in_kinds().build();
        let mut request = Request::new(Method::Post, &collection(fact), "");
        request.body = body;
        request.content_type = Some(content_type.to_owned());
        server.handle(&request)
    };
    let found = create(Body::Bytes(bytes), "application/vnd.kubernetes.protobuf");
    let expected = create(first.get("body").unwrap().clone().into(), "application/json");
    let (count, all) = seen.entry("protobuf".to_owned()).or_default();
    *count += 1;
    if let (ResponseBody::Json(found), ResponseBody::Json(expected)) = (&found.body, &expected.body)
        && bare(found) != bare(expected)
    {
        let body = crdx_value::json::to_string(first.get("body").unwrap());
        all.push(format!("{body}: {}", first_difference(&bare(expected), &bare(found), String::new())));
    }
}

/// The first difference between two values.
fn first_difference(expected: &Value, found: &Value, path: String) -> String {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys());
            let mut differing = keys.filter(|key| a.get(key) != b.get(key));
            let Some(key) = differing.next() else { return path };
            match (a.get(key), b.get(key)) {
                (Some(a), Some(b)) => first_difference(a, b, format!("{path}.{key}")),
                (a, b) => format!("{path}.{key}: {a:?} expected, found {b:?}"),
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap();
            first_difference(&a[at], &b[at], format!("{path}[{at}]"))
        }
        _ => format!(
            "{path}: {} expected, found {}",
            crdx_value::json::to_string(expected),
            crdx_value::json::to_string(found)
        ),
    }
}

/// The path of the collection.
fn collection(fact: &Value) -> String {
    let first = fact.get("steps").and_then(Value::as_array).unwrap().first().unwrap();
    let head = |key: &str| first.get("body").unwrap().str_at(&[key]).unwrap_or_default();
    let (group, version) = head("apiVersion").rsplit_once('/').unwrap_or(("", head("apiVersion")));
    let resource = crdx_types::resources::resources(37)
        .find(|r| (r.group, r.version, r.kind) == (group, version, head("kind")))
        .unwrap();
    let root = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
    let namespace = if resource.namespaced { "/namespaces/default" } else { "" };
    format!("{root}{namespace}/{}", resource.plural)
}

fn compare(lines: &str) -> (BTreeMap<String, (usize, Vec<String>)>, usize) {
    let mut seen = BTreeMap::new();
    lines.lines().for_each(|line| differences(line, &mut seen));
    let wrong = seen.values().map(|(_, all)| all.len()).sum();
    (seen, wrong)
}

#[test]
fn recorded_writes_have_the_same_results() {
    let (seen, wrong) = compare(&unpacked("builtin-writes.jsonl.gz"));
    let counts: Map = seen.iter().map(|(verb, (count, _))| (verb.clone(), Value::Int(*count as i64))).collect();
    assert!(counts.values().all(|count| count.as_int() > Some(200)), "{counts:?}");
    assert_eq!(wrong, 0, "{:#?}", seen.values().flat_map(|(_, all)| all).collect::<Vec<_>>());
}

#[test]
#[ignore = "BUILTIN_WRITES names a file that tests/apiserver/builtin/record.sh has written"]
fn writes_of_a_file_have_the_same_results() {
    let lines = fs::read_to_string(std::env::var("BUILTIN_WRITES").unwrap()).unwrap();
    let (seen, wrong) = compare(&lines);
    for (verb, (count, all)) in &seen {
        println!("{verb}: {count}, {} differ", all.len());
        all.iter().take(40).for_each(|difference| println!("  {difference}"));
    }
    assert_eq!(wrong, 0);
}

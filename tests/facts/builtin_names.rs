//! Compares what is wrong with the metadata of new objects of built-in kinds with what Kubernetes says
//! (`JUDGE=names tests/apiserver/builtin/record.sh` records `tests/facts/builtin-names-*.jsonl.gz`).

use crate::facts::unpacked;
use crdx_server::server::{Method, Request, ResponseBody};
use crdx_text::json;
use crdx_value::Value;
use crdx_value::release::Release;

fn differences(release: Release, file: &str) -> (usize, Vec<String>) {
    let lines = unpacked(file);
    let mut all = Vec::new();
    for line in lines.lines() {
        let fact = json::read(line.as_bytes()).unwrap();
        let text = |key: &str| fact.str_at(&[key]).unwrap();
        let root = if text("apiVersion").contains('/') { "apis" } else { "api" };
        let namespaced = fact.get("namespaced") == Some(&Value::Bool(true));
        let namespace = if namespaced { "/namespaces/default" } else { "" };
        let path = format!("/{root}/{}{namespace}/{}", text("apiVersion"), text("resource"));
        let object =
            crdx_value::object(["apiVersion", "kind", "metadata"].map(|key| (key, fact.get(key).unwrap().clone())));
        let server = crdx_kinds::builder(release, 1).with_built_in_kinds().build();
        let response = server.handle(&Request::new(Method::Post, &path, object));
        let ResponseBody::Json(status) = &response.body else { panic!("{path}: {:?}", response.body) };
        let causes = status.at(&["details", "causes"]).and_then(Value::as_array).unwrap_or_default();
        let member = |cause: &Value, key: &str| cause.str_at(&[key]).unwrap_or_default().to_owned();
        let mut found: Vec<_> =
            causes.iter().map(|cause| format!("{}: {}", member(cause, "field"), member(cause, "message"))).collect();
        let mut expected: Vec<_> =
            fact.get("errors").and_then(Value::as_array).unwrap().iter().filter_map(Value::as_str).collect();
        found.sort();
        expected.sort_unstable();
        if found != expected || found.is_empty() != (response.code == 201) {
            all.push(format!(
                "{path} {}: {expected:?} expected, found {} {found:?}",
                crdx_value::json::to_string(&object_of(&fact)),
                response.code
            ));
        }
    }
    (lines.lines().count(), all)
}

fn object_of(fact: &Value) -> Value {
    fact.get("metadata").unwrap().clone()
}

#[test]
fn recorded_metadata_has_the_same_errors() {
    let (count, wrong) = differences(Release::new(37).unwrap(), "builtin-names-1.37.jsonl.gz");
    assert!(count > 1300, "{count}");
    assert!(wrong.is_empty(), "{} of {count}: {:#?}", wrong.len(), &wrong[..wrong.len().min(10)]);
}

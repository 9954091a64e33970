//! Compares the conversion of `HorizontalPodAutoscaler`s between `autoscaling/v1` and `autoscaling/v2` with Kubernetes
//! (`JUDGE=autoscalers tests/apiserver/builtin/record.sh` records `tests/facts/builtin-autoscalers-*.jsonl.gz`).

use crate::facts::unpacked;
use crdx_server::server::{Method, Request, ResponseBody, Server};
use crdx_text::json;
use crdx_value::release::Release;
use crdx_value::{Value, json::to_string};

const PATH: [&str; 2] = ["/apis/", "/namespaces/default/horizontalpodautoscalers"];

/// The annotations, specification and status of an object.
fn parts(object: &Value) -> [Option<&Value>; 3] {
    [&["metadata", "annotations"][..], &["spec"], &["status"]].map(|path| object.at(path))
}

fn send(server: &Server, method: Method, path: &str, body: &Value) -> Value {
    let response = server.handle(&Request::new(method, path, body.clone()));
    let ResponseBody::Json(object) = &response.body else { panic!("{path}: {:?}", response.body) };
    assert!(response.code < 300, "{path}: {}", response.body.message());
    (**object).clone()
}

fn differences(release: Release, file: &str) -> (usize, Vec<String>) {
    let lines = unpacked(file);
    let server = crdx_kinds::builder(release, 1).with_built_in_kinds().build();
    let mut all = Vec::new();
    for line in lines.lines() {
        let fact = json::read(line.as_bytes()).unwrap();
        let body = fact.get("body").unwrap();
        let collection = |version: &str| format!("{}autoscaling/{version}{}", PATH[0], PATH[1]);
        let version = body.str_at(&["apiVersion"]).and_then(|text| text.strip_prefix("autoscaling/")).unwrap();
        send(&server, Method::Post, &collection(version), body);
        let answer = send(&server, Method::Put, &format!("{}/h/status", collection(version)), body);
        for version in ["v1", "v2"] {
            let found = send(&server, Method::Get, &format!("{}/h", collection(version)), &Value::Null);
            let expected = fact.get(version).unwrap();
            if parts(&found) != parts(expected) {
                let text =
                    |object: &Value| parts(object).map(|part| part.map(to_string).unwrap_or_default()).join("\n  ");
                all.push(format!("{}\n {version}\n  {}\n found\n  {}", to_string(body), text(expected), text(&found)));
            }
            if answer.get("apiVersion") == found.get("apiVersion") && parts(&answer) != parts(&found) {
                all.push(format!("the response differs from the object: {}", to_string(&answer)));
            }
        }
        send(&server, Method::Delete, &format!("{}/h", collection("v2")), &Value::Null);
    }
    (lines.lines().count(), all)
}

fn compare(minor: u16, file: &str) {
    let (count, wrong) = differences(Release::new(minor).unwrap(), file);
    assert!(count >= 500, "{count}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong[..wrong.len().min(4)].join("\n"));
}

#[test]
fn recorded_autoscalers_are_converted_the_same_way() {
    compare(37, "builtin-autoscalers-1.37.jsonl.gz");
    compare(34, "builtin-autoscalers-1.34.jsonl.gz");
}

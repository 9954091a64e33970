//! Compares the OpenAPI documents that the real and the simulated server publish for CRDs and for themselves.

use super::{Pair, Subject};
use crate::conformance::exchange::Client as _;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

pub fn compare(pair: &mut Pair, subjects: &[Subject]) {
    documents(pair);
    let mut names = Vec::new();
    for subject in subjects {
        let text = subject.crd.to_string();
        if pair.real.call("POST", CRDS, Some(&text), Some("application/json"), "").code == 201 {
            pair.ours.call("POST", CRDS, Some(&text), Some("application/json"), "application/json");
            names.push(subject.name().to_owned());
        }
    }
    documents(pair);
    for name in names {
        pair.real.call("DELETE", &format!("{CRDS}/{name}"), None, None, "");
    }
}

/// Compares every document that our server lists.
fn documents(pair: &mut Pair) {
    let index = pair.ours.call("GET", "/openapi/v3", None, None, "application/json").body;
    let listed = index["paths"].as_object().unwrap().keys().map(|path| format!("/openapi/v3/{path}"));
    // Publishing takes the real server some time.
    let mut retries = 60;
    for path in listed.chain(["/openapi/v2".to_owned()]) {
        let expected = pair.ours.call("GET", &path, None, None, "application/json").body;
        pair.asked += 1;
        let mut fetch = || difference(&pair.real.call("GET", &path, None, None, "application/json").body, &expected);
        let mut last = fetch();
        while last.is_some() && retries > 0 {
            retries -= 1;
            std::thread::sleep(Duration::from_millis(500));
            last = fetch();
        }
        if let Some(text) = last {
            pair.differ(format!("GET {path}: {text}"));
        }
    }
}

/// The first members that differ.
fn difference(real: &Value, ours: &Value) -> Option<String> {
    fn walk(at: &str, real: &Value, ours: &Value, out: &mut Vec<String>) {
        if real == ours || out.len() > 8 {
            return;
        }
        let before = out.len();
        if let (Value::Object(a), Value::Object(b)) = (real, ours) {
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in names {
                walk(&format!("{at}/{name}"), &real[name], &ours[name], out);
            }
        }
        // Nothing when a member is null on one side and absent on the other.
        if out.len() == before {
            let short = |v: &Value| v.to_string().chars().take(600).collect::<String>();
            out.push(format!("{at}\n  real {}\n  here {}", short(real), short(ours)));
        }
    }
    let mut out = Vec::new();
    walk("", real, ours, &mut out);
    (!out.is_empty()).then(|| out.join("\n"))
}

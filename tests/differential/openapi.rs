//! Compares the OpenAPI documents that the real and the simulated server publish for CRDs.

use super::{Pair, subjects};
use crate::exchange::Client as _;
use crdx::crd::{self, CustomResourceDefinition, openapi};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn ours(document: &crdx::value::Value) -> Value {
    serde_json::from_str(&crdx::value::json::to_string(document)).unwrap()
}

pub fn compare(pair: &mut Pair) {
    let mut installed: Vec<CustomResourceDefinition> = Vec::new();
    let mut names = Vec::new();
    for subject in subjects() {
        let sent = pair.real.call("POST", CRDS, Some(&subject.crd.to_string()), Some("application/json"), "");
        if sent.code == 201 {
            let read = crdx::text::json::read(subject.crd.to_string().as_bytes()).unwrap();
            installed.push(crd::decode(&read).unwrap().crd);
            names.push(subject.name().to_owned());
        }
    }
    let mut documents: BTreeMap<(String, String), Vec<crdx::value::Value>> = BTreeMap::new();
    let mut second = Vec::new();
    for crd in &installed {
        for version in crd.spec.versions.iter().filter(|v| v.served) {
            let key = (crd.spec.group.clone(), version.name.clone());
            documents.entry(key).or_default().push(openapi::v3(crd, &version.name));
            second.push(openapi::v2(crd, &version.name));
        }
    }
    for ((group, version), documents) in documents {
        let path = format!("/openapi/v3/apis/{group}/{version}");
        let expected = ours(&openapi::merge(documents));
        judge(pair, &path, |published| (published != &expected).then(|| "differs".to_owned()));
    }
    let expected = ours(&openapi::merge(second));
    judge(pair, "/openapi/v2", |published| {
        let part = |document: &Value, part: &str| document[part].as_object().cloned().unwrap_or_default();
        ["paths", "definitions", "parameters"].into_iter().find_map(|name| {
            let published = part(published, name);
            // The server merges the kinds of its own DeleteOptions into those of CRDs.
            let mut members = part(&expected, name).into_iter().filter(|(key, _)| !key.ends_with(".DeleteOptions"));
            members.find(|(key, v)| published.get(key) != Some(v)).map(|(key, _)| format!("{name} {key} differs"))
        })
    });
    for name in names {
        pair.real.call("DELETE", &format!("{CRDS}/{name}"), None, None, "");
    }
}

/// Retries until the document is correct, because publishing takes some time.
fn judge(pair: &mut Pair, path: &str, fault: impl Fn(&Value) -> Option<String>) {
    pair.asked += 1;
    let mut last = None;
    for _ in 0..60 {
        last = fault(&pair.real.call("GET", path, None, None, "application/json").body);
        if last.is_none() {
            return;
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    pair.differing.extend(last.map(|text| format!("GET {path}: {text}")));
}

//! Requests that are not about objects: discovery, OpenAPI documents and health checks in all formats. The real server
//! must be new, because these answers list all of its CRDs.

use super::mutate::Rng;
use super::{Pair, Subject};
use crate::conformance::exchange::{Answer, Client as _, parse};
use crate::conformance::varying;
use std::time::Duration;

const ACCEPTED: [&str; 7] = [
    "application/json",
    "application/yaml",
    "application/cbor",
    "text/plain",
    "*/*",
    "application/json;q=0.5,application/yaml;q=0.9",
    "",
];

/// The representations of all groups.
const DISCOVERY: [&str; 3] = [
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer",
    "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
];

/// The OpenAPI v2 document in Protobuf.
const PROTOBUF: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
];

fn paths(subjects: &[Subject]) -> Vec<String> {
    let mut all: Vec<String> = [
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/",
        "/openapi/v3/version",
        "/openapi/v3/apis/apiextensions.k8s.io",
        "/openapi/v3/apis/apiextensions.k8s.io/v1",
        "/openapi/v3/apis/apiextensions.k8s.io/v1?hash=0",
        "/openapi/v3/apis/absent.example.com/v1",
        "/apis/apiextensions.k8s.io",
        "/apis/apiextensions.k8s.io/v1",
        "/apis/apiextensions.k8s.io/v1/nothing",
        "/apis/apiextensions.k8s.io/v9",
        "/apis/absent.example.com",
        "/healthz",
        "/healthz/ping",
        "/healthz/nothing",
        "/healthz?exclude=ping",
        "/livez",
        "/livez/ping",
        "/readyz/ping",
        "/healthz/ping/x",
        "/nothing",
        "/a/b/c",
        "/apis/%zz",
    ]
    .map(str::to_owned)
    .to_vec();
    for subject in subjects {
        let group = subject.crd["spec"]["group"].as_str().unwrap();
        all.push(format!("/apis/{group}"));
        for version in subject.crd["spec"]["versions"].as_array().unwrap() {
            let version = version["name"].as_str().unwrap();
            all.push(format!("/apis/{group}/{version}"));
            all.push(format!("/openapi/v3/apis/{group}/{version}"));
            all.push(format!("/openapi/v3/apis/{group}/{version}?hash=ABC"));
            all.push(format!("/apis/{group}/{version}/a/b/c/d/e"));
        }
    }
    all
}

/// The code, the warnings and the body. The list of all paths depends on the program, and hashes on the order of members.
fn shown(answer: &Answer) -> String {
    let text = String::from_utf8_lossy(&answer.data);
    let body = parse(&text).to_string();
    let body =
        if body.starts_with(r#"{"paths":["#) { "all paths".into() } else { varying::HASH.replace_all(&body, "hash=*") };
    format!("{} {:?} {body}", answer.code, answer.warnings)
}

/// Sends a request to both servers until their answers are equal or the attempts are over.
fn ask(pair: &mut Pair, method: &str, path: &str, accept: &str, attempts: &mut u32) {
    let content_type = (method != "GET").then_some("application/json");
    let body = content_type.map(|_| &b"{}"[..]);
    pair.asked += 1;
    let ours = shown(&pair.ours.send(method, path, body, content_type, accept));
    loop {
        let real = shown(&pair.real.send(method, path, body, content_type, accept));
        if real == ours {
            return;
        }
        if *attempts == 0 {
            let (real, ours) = super::around(&real, &ours);
            return pair.differ(format!("{method} {path} {accept}\n  real {real}\n  here {ours}"));
        }
        *attempts -= 1;
        // Publishing takes the real server some time.
        std::thread::sleep(Duration::from_millis(500));
    }
}

pub fn compare(pair: &mut Pair, rng: &mut Rng, subjects: &[Subject], rounds: u64) {
    for subject in subjects {
        pair.install(&subject.crd);
    }
    let mut attempts = 40;
    ask(pair, "GET", "/openapi/v2", "application/json", &mut attempts);
    let paths = paths(subjects);
    for path in &paths {
        ask(pair, "GET", path, "application/json", &mut attempts);
    }
    for accept in DISCOVERY {
        ask(pair, "GET", "/apis", accept, &mut attempts);
    }
    for accept in PROTOBUF {
        ask(pair, "GET", "/openapi/v2", accept, &mut attempts);
    }
    for _ in 0..rounds {
        if pair.is_over() {
            break;
        }
        let method = if rng.chance(8) { *rng.pick(&["POST", "PUT", "PATCH", "DELETE"]) } else { "GET" };
        ask(pair, method, rng.pick::<String>(&paths), rng.pick::<&str>(&ACCEPTED), &mut attempts);
    }
    for subject in subjects {
        pair.remove(&subject.crd);
    }
}

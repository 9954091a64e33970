//! Random admission policies with bindings and params, and random writes that they admit, deny or change.
//!
//! The real server runs with `-policies`. Each round stores at most one policy of either kind, because the server
//! evaluates several in a random order, and sends requests to both servers. If a validating policy has two bindings or
//! several params, the server responds with one of the denials, and the simulation lists all of them.

mod expressions;
mod objects;

use super::{Pair, mutate::Rng, setting};
use crate::conformance::exchange::InProcess;
use crdx_server::policies::authorizer::Rules;
use crdx_server::server::{Namespaces, SYSTEM_NAMESPACES, UserInfo};
use crdx_value::release::Release;
use expressions::Scope;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

const JSON: &str = "application/json";
const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";

/// The answers of the authorizer of the real server.
const AUTHORIZER: &str = "rules:
- {resource: forbidden, decision: deny, reason: nobody may touch what is forbidden}
- {path: /forbidden, decision: deny, reason: nobody may touch what is forbidden}
- {resource: unknown, decision: noOpinion}
- {path: /unknown, decision: noOpinion}
- {resource: broken, decision: error, reason: the authorizer is broken}
- {path: /broken, decision: error, reason: the authorizer is broken}
- {resource: '*', decision: allow, reason: everything is allowed}
- {path: '*', decision: allow, reason: everything is allowed}
";

/// Returns the simulated server, configured as the real one: that with `-policies`, or the whole one.
pub fn ours(release: Release) -> InProcess {
    if is_whole() {
        return whole(release);
    }
    let rules = Rules::read(&crdx_text::yaml::read(AUTHORIZER.as_bytes()).unwrap()).unwrap();
    let user =
        UserInfo { username: "crdx".to_owned(), groups: vec!["system:masters".to_owned()], ..UserInfo::default() };
    let server = crdx_kinds::builder(release, 1).with_policies(Arc::new(rules));
    InProcess::with(server.with_user(user).build())
}

/// Returns the simulated server, configured as the whole kube-apiserver that `tests/apiserver/whole.py` starts.
fn whole(release: Release) -> InProcess {
    let user = UserInfo {
        username: "admin".to_owned(),
        groups: vec!["system:masters".to_owned(), "system:authenticated".to_owned()],
        ..UserInfo::default()
    };
    let names: Vec<String> = SYSTEM_NAMESPACES.into_iter().chain(["other"]).map(str::to_owned).collect();
    let server = crdx_kinds::builder(release, 1)
        .with_namespaces(Namespaces::Finalized, &names)
        .with_policies(Arc::new(Rules::allow_all()))
        .with_policy_validation()
        .with_built_in_kinds()
        .with_content_validation()
        .with_generated_fields();
    InProcess::with(server.with_user(user).build())
}

/// Returns true if the real server is the whole kube-apiserver (`CRDX_WHOLE=1`).
fn is_whole() -> bool {
    setting("CRDX_WHOLE", 0) > 0
}

/// Waits until the whole kube-apiserver, which looks for changed policies once a second, has seen them.
fn wait() {
    if is_whole() {
        std::thread::sleep(Duration::from_millis(2500));
    }
}

/// The cases that the rounds covered.
#[derive(Debug, Default)]
pub struct Seen {
    validating: usize,
    mutating: usize,
    denied: usize,
    warned: usize,
    accepted: usize,
    other: usize,
}

pub fn compare(pair: &mut Pair, rng: &mut Rng, rounds: u64) -> Seen {
    let mut seen = Seen::default();
    for crd in objects::definitions() {
        assert!(pair.install(&crd), "{crd}");
    }
    // When a policy of either kind is created, the real server waits until it has discovered the new CRDs.
    for (path, object) in objects::setting() {
        pair.both("POST", &path, Some(&object));
    }
    for round in 0..rounds {
        if pair.is_over() {
            break;
        }
        let before = pair.differing.len();
        let stored = objects::stored(rng);
        for (path, object) in &stored {
            pair.both("POST", path, Some(object));
        }
        let policies = policies(rng);
        for (path, object) in &policies {
            seen.validating += usize::from(path.ends_with("/validatingadmissionpolicies"));
            seen.mutating += usize::from(path.ends_with("/mutatingadmissionpolicies"));
            pair.both("POST", path, Some(object));
        }
        wait();
        let mutates = policies.iter().any(|(path, _)| path.contains("mutating"));
        for _ in 0..8 {
            let (method, path, body, content_type) = objects::request(rng, mutates);
            let answer = pair.ask(method, &path, body.as_ref(), content_type, JSON);
            let denied = answer.to_string().contains("denied request");
            let code = answer["code"].as_u64().unwrap_or(200);
            match (denied, code) {
                (true, _) => seen.denied += 1,
                (false, 200..=299) => seen.accepted += 1,
                _ => seen.other += 1,
            }
            seen.warned += usize::from(!pair.warnings.is_empty());
        }
        for (path, object) in policies.iter().rev() {
            pair.both("DELETE", &format!("{path}/{}", object["metadata"]["name"].as_str().unwrap()), None);
        }
        wait();
        for path in objects::collections() {
            pair.both("DELETE", path, None);
        }
        if pair.differing.len() > before {
            let shown: Vec<String> = policies.iter().map(|(_, object)| object.to_string()).collect();
            println!("  round {round}\n  policies {}", shown.join("\n    "));
        }
    }
    seen
}

/// Returns policies and bindings with the collections in which they are stored.
fn policies(rng: &mut Rng) -> Vec<(String, Value)> {
    let (validating, mutating) = match rng.below(5) {
        0 | 1 => (true, false),
        2 | 3 => (false, true),
        _ => (true, true),
    };
    let mut all = Vec::new();
    if validating {
        all.extend(family(rng, false));
    }
    if mutating {
        all.extend(family(rng, true));
    }
    all
}

fn family(rng: &mut Rng, mutating: bool) -> Vec<(String, Value)> {
    let (kind, plural) = if mutating {
        ("MutatingAdmissionPolicy", "mutatingadmissionpolic")
    } else {
        ("ValidatingAdmissionPolicy", "validatingadmissionpolic")
    };
    let param = objects::param_kind(rng);
    let scope = Scope { params: param.as_ref().map(|kind| kind["kind"].as_str().unwrap().to_owned()) };
    let mut spec = Map::new();
    if let Some(param) = &param {
        spec.insert("paramKind".to_owned(), param.clone());
    }
    spec.insert("matchConstraints".to_owned(), match_resources(rng, true));
    if rng.chance(2) {
        spec.insert("failurePolicy".to_owned(), json!(rng.pick(&["Fail", "Ignore"])));
    }
    if rng.chance(2) {
        let variables = ["n", "t", "b", "l", "c", "d"].iter().take(1 + rng.below(6));
        let variables: Vec<Value> =
            variables.map(|name| json!({"name": name, "expression": scope.variable(name, rng)})).collect();
        spec.insert("variables".to_owned(), json!(variables));
    }
    if rng.chance(4) {
        let conditions: Vec<Value> =
            (0..=rng.below(2)).map(|i| json!({"name": format!("c{i}"), "expression": scope.condition(rng)})).collect();
        spec.insert("matchConditions".to_owned(), json!(conditions));
    }
    if mutating {
        let mutations: Vec<Value> = (0..=rng.below(2)).map(|_| mutation(&scope, rng)).collect();
        spec.insert("mutations".to_owned(), json!(mutations));
        spec.insert("reinvocationPolicy".to_owned(), json!(rng.pick(&["Never", "IfNeeded"])));
    } else {
        let validations: Vec<Value> = (0..=rng.below(3)).map(|_| validation(&scope, rng)).collect();
        spec.insert("validations".to_owned(), json!(validations));
        if rng.chance(6) {
            spec.insert("auditAnnotations".to_owned(), json!([{"key": "k", "valueExpression": scope.annotation(rng)}]));
        }
    }
    let policy =
        json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "p"}, "spec": spec});
    let mut all = vec![(format!("{ADMISSION}/{plural}ies"), policy)];
    let bindings = if !mutating && rng.chance(4) { 2 } else { 1 };
    for i in 0..bindings {
        let mut spec = Map::new();
        spec.insert("policyName".to_owned(), json!("p"));
        if param.is_some() && !rng.chance(12) || rng.chance(20) {
            spec.insert("paramRef".to_owned(), objects::param_ref(rng, mutating));
        }
        if rng.chance(3) {
            spec.insert("matchResources".to_owned(), match_resources(rng, false));
        }
        if !mutating {
            let actions = [
                json!(["Deny"]),
                json!(["Deny"]),
                json!(["Warn"]),
                json!(["Audit"]),
                json!(["Warn", "Audit"]),
                json!(["Deny", "Audit"]),
            ];
            spec.insert("validationActions".to_owned(), rng.pick(&actions).clone());
        }
        let binding = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{kind}Binding"), "metadata": {"name": format!("b{i}")}, "spec": spec});
        all.push((format!("{ADMISSION}/{plural}ybindings"), binding));
    }
    all
}

fn validation(scope: &Scope, rng: &mut Rng) -> Value {
    let mut validation = Map::new();
    validation.insert("expression".to_owned(), json!(scope.bool(3, rng)));
    if rng.chance(2) {
        validation.insert("message".to_owned(), json!(rng.pick(&["no", " not so ", "two\nlines", "é", ""])));
    }
    if rng.chance(3) {
        validation.insert("messageExpression".to_owned(), json!(scope.message(rng)));
    }
    if rng.chance(3) {
        let reasons = ["Invalid", "Forbidden", "Unauthorized", "RequestEntityTooLarge", "Teapot"];
        validation.insert("reason".to_owned(), json!(rng.pick(&reasons)));
    }
    validation.into()
}

fn mutation(scope: &Scope, rng: &mut Rng) -> Value {
    if rng.chance(2) {
        json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": scope.apply(rng)}})
    } else {
        json!({"patchType": "JSONPatch", "jsonPatch": {"expression": scope.json_patch(rng)}})
    }
}

/// Returns `matchConstraints` or `matchResources`, which match most requests.
fn match_resources(rng: &mut Rng, required: bool) -> Value {
    let mut found = Map::new();
    if required || rng.chance(2) {
        let rules: Vec<Value> = (0..=rng.below(2)).map(|_| rule(rng)).collect();
        found.insert("resourceRules".to_owned(), json!(rules));
    }
    if rng.chance(8) {
        found.insert("excludeResourceRules".to_owned(), json!([rule(rng)]));
    }
    if rng.chance(4) {
        found.insert("namespaceSelector".to_owned(), selector(rng, "env", &["prod", "dev"]));
    }
    if rng.chance(5) {
        found.insert("objectSelector".to_owned(), selector(rng, "app", &["a", "b"]));
    }
    if rng.chance(3) {
        found.insert("matchPolicy".to_owned(), json!(rng.pick(&["Exact", "Equivalent"])));
    }
    found.into()
}

fn rule(rng: &mut Rng) -> Value {
    let any = |rng: &mut Rng, all: &[&[&str]]| json!(rng.pick(all));
    let mut rule = Map::new();
    rule.insert(
        "apiGroups".to_owned(),
        any(rng, &[&["d.example.com"], &["d.example.com"], &["*"], &["apps", "d.example.com"], &["apps"]]),
    );
    rule.insert("apiVersions".to_owned(), any(rng, &[&["*"], &["*"], &["v1"], &["v2"], &["v1", "v2"], &["v9"]]));
    rule.insert(
        "operations".to_owned(),
        any(
            rng,
            &[&["*"], &["*"], &["CREATE", "UPDATE"], &["CREATE"], &["UPDATE"], &["DELETE"], &["UPDATE", "DELETE"]],
        ),
    );
    rule.insert(
        "resources".to_owned(),
        any(
            rng,
            &[
                &["widgets"],
                &["widgets"],
                &["*"],
                &["*/*"],
                &["widgets", "plants"],
                &["widgets/*"],
                &["widgets/status", "widgets"],
                &["*/scale", "plants"],
                &["plants"],
            ],
        ),
    );
    if rng.chance(8) {
        rule.insert("resourceNames".to_owned(), any(rng, &[&["one"], &["one", "two"], &["other"]]));
    }
    if rng.chance(6) {
        rule.insert("scope".to_owned(), json!(rng.pick(&["*", "Namespaced", "Cluster"])));
    }
    rule.into()
}

fn selector(rng: &mut Rng, key: &str, values: &[&str]) -> Value {
    let value = *rng.pick(values);
    match rng.below(8) {
        0 => json!({}),
        1 => json!({"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}),
        2 => json!({"matchExpressions": [{"key": key, "operator": "NotIn", "values": [value]}]}),
        3 => json!({"matchExpressions": [{"key": key, "operator": "Exists"}]}),
        4 => json!({"matchExpressions": [{"key": key, "operator": "DoesNotExist"}]}),
        5 if rng.chance(3) => json!({"matchExpressions": [{"key": key, "operator": "Near", "values": [value]}]}),
        _ => json!({"matchLabels": {key: value}}),
    }
}

//! Random pairs of objects of a CRD: the old object is stored, and the new one is sent as PUT, merge patch, JSON patch,
//! server-side apply by two managers, and like `kubectl apply`; if kubectl is available, it sends the latter, too.

use super::{
    Pair, Subject,
    mutate::{Rng, any_value, mutate},
};
use crate::conformance::exchange::{Client, normalise};
use crdx_server::apply::client_side;
use serde_json::{Map, Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// Compares `count` pairs of objects of a CRD; returns the number of pairs.
pub fn compare(pair: &mut Pair, subject: &Subject, rng: &mut Rng, count: u64, kubectl: bool) -> u64 {
    if !pair.install(&subject.crd) {
        return 0;
    }
    let spec = &subject.crd["spec"];
    let namespace = if spec["scope"] == "Namespaced" { "/namespaces/default" } else { "" };
    // An object of another version would be sent to a conversion webhook before it is stored, and the webhook does not
    // exist.
    let webhook = spec["conversion"]["strategy"] == "Webhook";
    let served = |o: &&Value| {
        let versions = spec["versions"].as_array().unwrap();
        versions.iter().any(|v| v["name"] == version(o) && v["served"] == true && (v["storage"] == true || !webhook))
    };
    let objects: Vec<&Value> = subject.objects.iter().filter(served).collect();
    let mut walked = 0;
    for round in 0..count {
        if objects.is_empty() {
            break;
        }
        let old = nameless(objects[rng.below(objects.len())]);
        // Similar objects exercise more cases of rejection, ratcheting and merging than different ones.
        let mut new = if rng.chance(3) { old.clone() } else { nameless(objects[rng.below(objects.len())]) };
        for _ in 0..rng.below(4) {
            mutate(&mut new, rng, |p| p.len() > 1 || p[0] == "spec" || p[0] == "status", any_value);
        }
        let walk = Walk {
            base: |o: &Value| {
                format!(
                    "/apis/{}/{}{namespace}/{}",
                    spec["group"].as_str().unwrap(),
                    version(o),
                    spec["names"]["plural"].as_str().unwrap()
                )
            },
            name: format!("p{round}"),
            validation: ["Strict", "Warn", "Ignore"][rng.below(3)],
        };
        // kubectl is slow, so it is run for the first pair only.
        walked += u64::from(walk.all(pair, &old, &new, rng, kubectl && round == 0));
    }
    pair.uninstall(&subject.crd);
    walked
}

fn version(object: &Value) -> &str {
    object["apiVersion"].as_str().and_then(|v| v.split_once('/')).map_or("", |(_, version)| version)
}

fn nameless(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("namespace");
        metadata.remove("generateName");
    }
    object
}

fn named(object: &Value, name: &str) -> Value {
    let mut object = object.clone();
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    object["metadata"]["name"] = json!(name);
    object
}

struct Walk<B> {
    base: B,
    name: String,
    validation: &'static str,
}

impl<B: Fn(&Value) -> String> Walk<B> {
    /// Compares all kinds of requests for one pair; returns false if the old object is rejected.
    fn all(&self, pair: &mut Pair, old: &Value, new: &Value, rng: &mut Rng, kubectl: bool) -> bool {
        let validation = self.validation;
        let create = format!("{}?fieldManager=maker", (self.base)(old));
        let one = |way: &str, o: &Value| format!("{}/{}-{way}", (self.base)(o), self.name);
        let object = |way: &str, o: &Value| named(o, &format!("{}-{way}", self.name));
        let first = pair.ask("POST", &create, Some(&object("put", old)), JSON, JSON);
        if first["kind"] == "Status" {
            return false;
        }
        let query = format!("fieldValidation={validation}&fieldManager=writer");
        let mut body = object("put", new);
        body["metadata"]["resourceVersion"] = json!("{{resourceVersion}}");
        pair.ask("PUT", &format!("{}?{query}", one("put", new)), Some(&body), JSON, JSON);

        pair.ask("POST", &create, Some(&object("merge", old)), JSON, JSON);
        let patch = difference(&object("merge", old), &object("merge", new));
        pair.ask("PATCH", &format!("{}?{query}", one("merge", new)), Some(&patch), MERGE, JSON);
        let patch = json!([{"op": "test", "path": "/kind", "value": old["kind"]}, {"op": "replace", "path": "/spec", "value": old["spec"]}]);
        pair.ask("PATCH", &format!("{}?{query}", one("merge", old)), Some(&patch), "application/json-patch+json", JSON);

        let by = |manager: &str, o: &Value| format!("{}?fieldManager={manager}", one("apply", o));
        pair.ask("PATCH", &by("one", old), Some(&object("apply", old)), APPLY, JSON);
        let mut part = object("apply", new);
        part["spec"] = some_of(&part["spec"], rng);
        pair.ask("PATCH", &by("two", new), Some(&part), APPLY, JSON);
        pair.ask("PATCH", &format!("{}&force=true", by("two", new)), Some(&part), APPLY, JSON);
        pair.ask("PATCH", &by("one", new), Some(&object("apply", new)), APPLY, JSON);
        pair.ask("PATCH", &format!("{}&force=true", by("one", new)), Some(&object("apply", new)), APPLY, JSON);
        pair.ask(
            "PATCH",
            &by("two", old),
            Some(&object("apply", &json!({"apiVersion": old["apiVersion"], "kind": old["kind"]}))),
            APPLY,
            JSON,
        );

        self.client_side(pair, &object("client", old), &object("client", new));
        if kubectl {
            let here = |o: &Value| self.in_namespace(object("kubectl", o));
            self.kubectl(pair, &here(old), &here(new));
        }
        if old["metadata"]["finalizers"].is_array() || new["metadata"]["finalizers"].is_array() {
            let patch = json!({"metadata": {"finalizers": null}}).to_string();
            for way in ["put", "merge", "apply", "client", "kubectl"] {
                for client in [&mut pair.real as &mut dyn Client, &mut pair.ours] {
                    client.call("PATCH", &one(way, old), Some(&patch), Some(MERGE), JSON);
                }
            }
        }
        true
    }

    /// kubectl sets the namespace of the object before anything else.
    fn in_namespace(&self, mut object: Value) -> Value {
        if (self.base)(&object).contains("/namespaces/") {
            object["metadata"]["namespace"] = json!("default");
        }
        object
    }

    fn client_side(&self, pair: &mut Pair, old: &Value, new: &Value) {
        let by = "?fieldManager=kubectl-client-side-apply";
        let sent = foreign(&client_side::to_create(own(old)));
        pair.ask("POST", &format!("{}{by}", (self.base)(old)), Some(&sent), JSON, JSON);
        let path = format!("{}/{}-client", (self.base)(new), self.name);
        let live = pair.ours.call("GET", &path, None, None, JSON).body;
        let patch = client_side::patch(&own(&live), client_side::with_last_applied(own(new))).unwrap();
        pair.ask("PATCH", &format!("{path}{by}"), Some(&foreign(&patch)), MERGE, JSON);
    }

    /// Runs kubectl with the real server, and sends the request that it should send to the simulated server.
    fn kubectl(&self, pair: &mut Pair, old: &Value, new: &Value) {
        let query = "?fieldManager=kubectl-client-side-apply&fieldValidation=Ignore";
        let path = format!("{}/{}-kubectl", (self.base)(new), self.name);
        let mut taken = Vec::new();
        for object in [old, new] {
            let passed = run_kubectl(pair.real_url(), object);
            let live = pair.ours.call("GET", &path, None, None, JSON);
            let modified = client_side::with_last_applied(own(object));
            let code = if live.code == 404 {
                let body = foreign(&client_side::to_create(own(object))).to_string();
                pair.ours.call("POST", &format!("{}{query}", (self.base)(object)), Some(&body), Some(JSON), JSON).code
            } else {
                let patch = foreign(&client_side::patch(&own(&live.body), modified).unwrap());
                if patch == json!({}) {
                    200
                } else {
                    pair.ours.call("PATCH", &format!("{path}{query}"), Some(&patch.to_string()), Some(MERGE), JSON).code
                }
            };
            taken.push((passed, code < 300));
        }
        pair.asked += 1;
        let stored = |client: &mut dyn Client| normalise(client.call("GET", &path, None, None, JSON).body, true);
        let (real, ours) = (stored(&mut pair.real), stored(&mut pair.ours));
        if real != ours || taken.iter().any(|(real, ours)| real != ours) {
            pair.differ(format!("kubectl apply {path} taken (real, here) {taken:?}\n  old {old}\n  new {new}\n  real {real}\n  here {ours}"));
        }
    }
}

fn run_kubectl(server: &str, object: &Value) -> bool {
    let mut child = Command::new("kubectl")
        .args(["apply", "--validate=ignore", "--server", server, "-f", "-"])
        .env("KUBECONFIG", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(object.to_string().as_bytes()).unwrap();
    child.wait().unwrap().success()
}

fn own(value: &Value) -> crdx_value::Value {
    crdx_text::json::read(value.to_string().as_bytes()).unwrap()
}

fn foreign(value: &crdx_value::Value) -> Value {
    serde_json::from_str(&crdx_value::json::to_string(value)).unwrap()
}

/// The merge patch from one object to another.
fn difference(old: &Value, new: &Value) -> Value {
    let (Value::Object(old), Value::Object(new)) = (old, new) else { return new.clone() };
    let mut patch = Map::new();
    for (key, value) in new {
        match old.get(key) {
            Some(before) if before == value => {}
            Some(before) => _ = patch.insert(key.clone(), difference(before, value)),
            None => _ = patch.insert(key.clone(), value.clone()),
        }
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    Value::Object(patch)
}

/// A part of a value with some changes, as a second manager might own it.
fn some_of(value: &Value, rng: &mut Rng) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter_map(|(key, child)| match rng.below(8) {
                0..3 => None,
                3 => Some((key.clone(), any_value(rng))),
                _ => Some((key.clone(), some_of(child, rng))),
            });
            kept.collect()
        }
        Value::Array(items) if !items.is_empty() && rng.chance(2) => {
            let mut items = items.clone();
            items.remove(rng.below(items.len()));
            Value::Array(items)
        }
        other => other.clone(),
    }
}

//! Sends the requests of a recorded scenario in order.

use crate::conformance::exchange::{Client, Reply, normalise};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Sends the requests of a scenario in order, and records the last resourceVersion and uid of each object for `{{…}}`.
pub struct Scenario<'a> {
    client: &'a mut dyn Client,
    seen: BTreeMap<String, (String, String)>,
    installed: BTreeMap<String, Value>,
}

impl<'a> Scenario<'a> {
    pub fn new(client: &'a mut dyn Client) -> Self {
        Self { client, seen: BTreeMap::new(), installed: BTreeMap::new() }
    }

    pub fn send(&mut self, request: &Value) -> Value {
        let method = request["method"].as_str().unwrap();
        let path = request["path"].as_str().unwrap();
        if method == "PUT" && path.starts_with(CRDS) && path.matches('/').count() == 5 {
            return self.install(&request["body"]);
        }
        let key = path.split('?').next().unwrap().trim_end_matches("/status").trim_end_matches("/scale").to_owned();
        let body = request.get("body").map(|body| {
            let text = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
            let (version, uid) = self.seen.get(&key).cloned().unwrap_or_default();
            text.replace("{{resourceVersion}}", &version).replace("{{uid}}", &uid)
        });
        let accept = request.get("accept").and_then(Value::as_str).unwrap_or("application/json");
        let content_type =
            request.get("contentType").and_then(Value::as_str).or(body.as_ref().map(|_| "application/json"));
        let reply = self.client.call(method, path, body.as_deref(), content_type, accept);
        if method != "GET" && path.starts_with(CRDS) {
            // The server's controllers run in the background, and the next exchange must see what they write.
            self.client.settle();
        }
        self.remember(path, &key, &reply.body);
        reply_to_json(&reply, path.contains("fieldManager="))
    }

    fn remember(&mut self, path: &str, key: &str, body: &Value) {
        let kind = body["kind"].as_str().unwrap_or_default();
        if kind == "Status" || kind == "Table" || path.contains("dryRun") {
            return;
        }
        if let (Some(name), Some(version)) =
            (body["metadata"]["name"].as_str(), body["metadata"]["resourceVersion"].as_str())
        {
            let key = if key.ends_with(&format!("/{name}")) { key.to_owned() } else { format!("{key}/{name}") };
            let uid = body["metadata"]["uid"].as_str().unwrap_or_default();
            self.seen.insert(key, (version.to_owned(), uid.to_owned()));
        }
    }

    /// Creates or replaces a CRD and waits until it is served.
    fn install(&mut self, crd: &Value) -> Value {
        let name = crd["metadata"]["name"].as_str().unwrap();
        let path = format!("{CRDS}/{name}");
        let old = self.client.call("GET", &path, None, None, "application/json");
        let reply = if old.code == 200 {
            let mut want = crd.clone();
            want["metadata"]["resourceVersion"] = old.body["metadata"]["resourceVersion"].clone();
            self.client.call("PUT", &path, Some(&want.to_string()), Some("application/json"), "application/json")
        } else {
            self.client.call("POST", CRDS, Some(&crd.to_string()), Some("application/json"), "application/json")
        };
        if reply.code >= 400 {
            return reply_to_json(&reply, false);
        }
        self.installed.insert(name.to_owned(), crd.clone());
        let mut got = self.client.call("GET", &path, None, None, "application/json").body;
        for _ in 0..300 {
            let conditions = got["status"]["conditions"].to_string();
            let has =
                |status: &str, kind: &str| conditions.contains(&format!(r#""status":"{status}","type":"{kind}""#));
            if has("True", "Established") || has("False", "NamesAccepted") {
                break;
            }
            self.client.settle();
            got = self.client.call("GET", &path, None, None, "application/json").body;
        }
        self.client.settle();
        let mut status = normalise(got, false)["status"].clone();
        if let Some(map) = status.as_object_mut() {
            map.retain(|k, _| k == "acceptedNames" || k == "storedVersions" || k == "conditions");
        }
        let mut response = Map::new();
        response.insert("code".to_owned(), json!(200));
        response.insert("status".to_owned(), status);
        if !reply.warnings.is_empty() {
            response.insert("warnings".to_owned(), json!(reply.warnings));
        }
        Value::Object(response)
    }

    /// Removes everything that the scenario created from the real server.
    pub fn clean_up(&mut self) {
        for (name, crd) in std::mem::take(&mut self.installed) {
            let group = crd["spec"]["group"].as_str().unwrap();
            let plural = crd["spec"]["names"]["plural"].as_str().unwrap();
            let version =
                crd["spec"]["versions"].as_array().unwrap().iter().find(|v| v["served"] == json!(true)).unwrap();
            let list = format!("/apis/{group}/{}/{plural}", version["name"].as_str().unwrap());
            let objects = self.client.call("GET", &list, None, None, "application/json").body;
            for object in objects["items"].as_array().into_iter().flatten() {
                let namespace =
                    object["metadata"]["namespace"].as_str().map(|n| format!("namespaces/{n}/")).unwrap_or_default();
                let base = list.trim_end_matches(plural);
                let path = format!("{base}{namespace}{plural}/{}", object["metadata"]["name"].as_str().unwrap());
                let body = r#"{"metadata":{"finalizers":null}}"#;
                self.client.call("PATCH", &path, Some(body), Some("application/merge-patch+json"), "application/json");
            }
            let path = format!("{CRDS}/{name}");
            self.client.call("DELETE", &path, None, None, "application/json");
            for _ in 0..300 {
                if self.client.call("GET", &path, None, None, "application/json").code == 404 {
                    break;
                }
                self.client.settle();
            }
        }
    }
}

fn reply_to_json(reply: &Reply, managed_fields: bool) -> Value {
    let mut response = Map::new();
    response.insert("code".to_owned(), json!(reply.code));
    response.insert("body".to_owned(), normalise(reply.body.clone(), managed_fields));
    if !reply.warnings.is_empty() {
        let mut warnings = reply.warnings.clone();
        warnings.sort();
        response.insert("warnings".to_owned(), json!(warnings));
    }
    Value::Object(response)
}

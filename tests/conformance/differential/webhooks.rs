//! Random answers of admission webhooks and conversion webhooks.
//!
//! Both servers call the same webhook. The path of a call is a seed, from which the webhook computes its answer, so both
//! servers get the same answer. The reviews they send are compared, too.

mod answers;
pub mod conversions;

use super::mutate::Rng;
use crate::conformance::exchange::{Client, Http, Reply, normalise};
use crate::conformance::varying;
use crate::serve::webhooks::hook::Hook;
use crate::serve::webhooks::{CRDS, KITES, authority, crd, kite};
use crdx_serve::{Running, ServeOptions, Webhooks};
use crdx_server::policies::authorizer::Rules;
use crdx_server::server::UserInfo;
use crdx_value::release::Release;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";

/// The real and the simulated server, and the webhook that both call.
struct Servers {
    real: Http,
    ours: Http,
    _running: Running,
    hook: Hook,
    requests: usize,
    refused: usize,
    differing: Vec<String>,
    /// True if the reviews are compared, too.
    compares_reviews: bool,
}

impl Servers {
    fn start(hook: Hook, compares_reviews: bool) -> Self {
        let real = std::env::var("CRDX_REAL").expect("CRDX_REAL is the URL of the real server");
        let release = std::env::var("CRDX_VERSION").map_or(Release::NEWEST, |version| version.parse().unwrap());
        let user =
            UserInfo { username: "crdx".to_owned(), groups: vec!["system:masters".to_owned()], ..UserInfo::default() };
        let server =
            crdx_kinds::builder(release, 1).with_policies(Arc::new(Rules::allow_all())).with_user(user).build();
        let options = ServeOptions { webhooks: Some(Webhooks::default()), ..ServeOptions::default() };
        let running = crdx_serve::start(crdx_serve::Runtime::new().unwrap(), Arc::new(server), options).unwrap();
        let ours = Http::new(&running.url());
        Self {
            real: Http::new(&real),
            ours,
            _running: running,
            hook,
            requests: 0,
            refused: 0,
            differing: Vec::new(),
            compares_reviews,
        }
    }

    /// Sends a request that both servers must accept.
    fn set_up(&mut self, method: &str, path: &str, body: Option<&Value>) {
        let text = body.map(ToString::to_string);
        for server in [&mut self.real, &mut self.ours] {
            let reply = server.call(method, path, text.as_deref(), Some("application/json"), "application/json");
            assert!((200..300).contains(&reply.code), "{method} {path}: {} {}", reply.code, reply.body);
        }
    }

    /// Installs a CRD, without the objects of an earlier run, and waits until both servers serve it.
    fn install(&mut self, crd: &Value, path: &str) {
        self.remove(crd);
        self.set_up("POST", CRDS, Some(crd));
        for server in [&mut self.real, &mut self.ours] {
            assert!((0..500).any(|_| {
                std::thread::sleep(Duration::from_millis(10));
                server.call("GET", path, None, None, "application/json").code != 404
            }));
        }
        // The real server delays the first create shortly after this.
        std::thread::sleep(Duration::from_millis(500));
    }

    /// Deletes a CRD from the real server, if it is there.
    fn remove(&mut self, crd: &Value) {
        let one = format!("{CRDS}/{}", crd["metadata"]["name"].as_str().unwrap());
        self.real.call("DELETE", &one, None, None, "application/json");
        for _ in 0..100 {
            if self.real.call("GET", &one, None, None, "application/json").code == 404 {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Compares the answers to a request, and the reviews that the webhook received.
    fn compare(&mut self, method: &str, path: &str, body: Option<&Value>, context: &str) {
        self.requests += 1;
        let text = body.map(ToString::to_string);
        let content_type = match method {
            "PATCH" if path.contains("fieldManager=") => "application/apply-patch+yaml",
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        self.hook.calls();
        let mut shown = Vec::new();
        for server in [&mut self.real, &mut self.ours] {
            let content_type = Some(content_type).filter(|_| body.is_some());
            let reply = server.call(method, path, text.as_deref(), content_type, "application/json");
            self.refused += usize::from(reply.code >= 400);
            shown.push((
                answer(&reply),
                self.hook.calls().iter().map(|(path, review)| reviewed(path, review)).collect(),
            ));
        }
        let [(real, real_calls), (ours, our_calls)]: [(Value, Vec<Value>); 2] = shown.try_into().unwrap();
        let body = body.map(ToString::to_string).unwrap_or_default();
        // The real server repeats an update that changes nothing, because the object that it read first may be outdated.
        if real != ours {
            self.differing.push(format!("{context}\n  {method} {path} {body}\n  real {real}\n  here {ours}"));
        } else if self.compares_reviews
            && real_calls != our_calls
            && real_calls != [&our_calls[..], &our_calls].concat()
        {
            self.differing.push(format!(
                "{context}\n  {method} {path} {body}\n  real calls {}\n  here calls {}",
                json!(real_calls),
                json!(our_calls)
            ));
        }
    }

    fn finish(self) {
        println!("{} requests, {} refusals, {} answers differ", self.requests, self.refused, self.differing.len());
        for line in self.differing.iter().take(super::setting("CRDX_SHOW", 20) as usize) {
            println!("\n{line}");
        }
        assert!(self.requests > 0, "nothing was asked");
        assert!(self.differing.is_empty(), "{} of {} answers differ", self.differing.len(), self.requests);
    }
}

/// Removes what varies between runs.
fn answer(reply: &Reply) -> Value {
    let mut warnings = reply.warnings.clone();
    warnings.sort();
    let text = json!([reply.code, normalise(reply.body.clone(), true), warnings]).to_string();
    // An error may quote the object.
    let text = varying::UID.replace_all(&text, "*");
    let text = varying::QUOTED_MEMBER.replace_all(&text, "$1");
    serde_json::from_str(&varying::REVISION.replace_all(&text, "revision=*")).unwrap()
}

/// A review without what varies between runs.
fn reviewed(path: &str, review: &Value) -> Value {
    let mut review = review.clone();
    let request = &mut review["request"];
    request["uid"] = json!("*");
    for member in ["object", "oldObject"] {
        request[member] = normalise(request[member].take(), true);
    }
    for object in request["objects"].as_array_mut().into_iter().flatten() {
        *object = normalise(object.take(), true);
    }
    let text = json!([path, review]).to_string();
    serde_json::from_str(&varying::MANAGER_TIME.replace_all(&text, r#"$1"*""#)).unwrap()
}

/// Compares `rounds` configurations with random webhooks.
pub fn compare(seed: u64, rounds: u64) {
    let hook = Hook::serve(|path, review| {
        let seed = path.rsplit('/').next().and_then(|seed| seed.parse().ok()).unwrap_or(0);
        answers::admission(&mut Rng::new(seed), path.starts_with("/mutate"), review)
    });
    let mut servers = Servers::start(hook, true);
    for family in ["mutating", "validating"] {
        // Of an earlier run that was interrupted.
        let one = format!("{ADMISSION}/{family}webhookconfigurations/hooks");
        servers.real.call("DELETE", &one, None, None, "application/json");
    }
    let mut crd = crd();
    crd["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    servers.install(&crd, KITES);
    let mut rng = Rng::new(seed);
    for round in 0..rounds {
        let existing = format!("old-{round}");
        servers.set_up("POST", KITES, Some(&kite(&existing, 3)));
        let mut installed = Vec::new();
        let mut context = format!("round {round}");
        for family in ["mutating", "validating"] {
            if rng.chance(3) {
                continue;
            }
            let configuration = configuration(&mut rng, family, &servers.hook.url);
            let collection = format!("{ADMISSION}/{family}webhookconfigurations");
            servers.set_up("POST", &collection, Some(&configuration));
            installed.push(format!("{collection}/hooks"));
            let shown = configuration.to_string().replace(&authority(), "CA");
            let _ = write!(context, "\n  {shown}");
            for webhook in configuration["webhooks"].as_array().unwrap() {
                let url = webhook["clientConfig"]["url"].as_str().unwrap();
                let seed = url.rsplit('/').next().unwrap().parse().unwrap();
                let sample = answers::admission(&mut Rng::new(seed), family == "mutating", &json!({"apiVersion": "?"}));
                let _ = write!(context, "\n  answers {} {} {}", sample.code, sample.content_type, sample.body);
            }
        }
        let one = format!("{KITES}/{existing}");
        servers.compare("POST", KITES, Some(&kite(&format!("new-{round}"), 3)), &context);
        servers.compare("POST", &format!("{KITES}?dryRun=All"), Some(&kite(&format!("dry-{round}"), 4)), &context);
        servers.compare("PATCH", &one, Some(&json!({"spec": {"length": 5}})), &context);
        servers.compare("PATCH", &format!("{one}/status"), Some(&json!({"spec": {"length": 6}})), &context);
        let applied = kite(&existing, 7);
        servers.compare("PATCH", &format!("{one}?fieldManager=m&force=true"), Some(&applied), &context);
        servers.compare("DELETE", &one, None, &context);
        for path in installed {
            servers.set_up("DELETE", &path, None);
        }
        servers.set_up("DELETE", KITES, None);
    }
    servers.finish();
}

/// A configuration with one or two webhooks; the path of each ends with the seed of its answers.
fn configuration(rng: &mut Rng, family: &str, url: &str) -> Value {
    let kind = if family == "mutating" { "Mutating" } else { "Validating" };
    let path = if family == "mutating" { "mutate" } else { "validate" };
    // Validating webhooks are called at the same time, and the first refusal wins.
    let count = if family == "mutating" && rng.chance(2) { 2 } else { 1 };
    let webhooks: Vec<Value> = (0..count).map(|index| {
        let seed = rng.next() >> 16;
        let mut webhook = json!({"name": format!("hook-{index}.example.com"),
            "clientConfig": {"url": format!("{url}/{path}/{seed}"), "caBundle": authority()},
            "rules": [{"operations": [rng.pick(&["*", "*", "*", "CREATE", "UPDATE"])], "apiGroups": ["toys.example.com"],
                "apiVersions": ["*"], "resources": [rng.pick(&["kites", "kites", "*/*"])]}],
            "failurePolicy": rng.pick(&["Fail", "Fail", "Ignore"]),
            "sideEffects": rng.pick(&["None", "None", "None", "NoneOnDryRun", "Some", "Unknown"]),
            "timeoutSeconds": rng.pick(&[10, 10, 3]),
            "admissionReviewVersions": rng.pick(&[&["v1"][..], &["v1"], &["v1"], &["v1beta1"], &["v2", "v1beta1", "v1"], &["v2"]])});
        if family == "mutating" && rng.chance(3) {
            webhook["reinvocationPolicy"] = json!("IfNeeded");
        }
        if rng.chance(6) {
            webhook["objectSelector"] = json!({"matchLabels": {"mutated": "yes"}});
        }
        if rng.chance(6) {
            let expression = rng.pick(&["object == null || object.spec.length < 6", "object.spec.size > 1", "request.dryRun"]);
            webhook["matchConditions"] = json!([{"name": "condition", "expression": expression}]);
        }
        webhook
    }).collect();
    json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{kind}WebhookConfiguration"),
        "metadata": {"name": "hooks"}, "webhooks": webhooks})
}

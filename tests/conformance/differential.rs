//! Sends random requests to the real and the simulated server, whose responses must be equal
//! (`tests/apiserver/README.md`).
//!
//! All tests here are ignored by default, because they need the real server and real CRDs:
//! `CRDX_REAL=http://127.0.0.1:18080 CRDX_CORPUS=../shared/corpus cargo test --release --test tests differential --
//! --ignored --nocapture` `CRDX_SEED`, `CRDX_ROUNDS` (requests per CRD) and `CRDX_ONLY` (part of a CRD's name) select a
//! different run.

mod bounds;
mod crds;
mod definitions;
mod endpoints;
mod expressions;
mod keywords;
mod libraries;
mod metadata;
pub mod mutate;
mod names;
mod objects;
mod openapi;
mod owners;
mod pairs;
mod policies;
mod protobuf;
mod schemas;
mod signatures;
mod surface;
mod texts;
mod tokens;
mod watches;
mod webhooks;

use crate::conformance::exchange::{Client, Http, InProcess, Reply, normalise, parse};
use crate::conformance::varying;
use crdx_value::release::Release;
use mutate::Rng;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::Path,
    time::{Duration, Instant},
};

/// A CRD with some of its objects.
pub struct Subject {
    pub crd: Value,
    pub objects: Vec<Value>,
}

impl Subject {
    pub fn name(&self) -> &str {
        self.crd["metadata"]["name"].as_str().unwrap()
    }

    /// The same without a conversion webhook, which does not run in these tests.
    fn without_conversion(self) -> Self {
        let mut crd = self.crd;
        crd["spec"].as_object_mut().map(|spec| spec.remove("conversion"));
        Self { crd, ..self }
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn documents(folder: &Path) -> Vec<Value> {
    let mut out = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return out };
    let mut files: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    files.sort();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if [".experimental.", ".full.", ".minimal.", ".raw."].iter().any(|part| name.contains(part)) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap_or_default();
        for chunk in text.split("\n---") {
            if let Ok(value) = crdx_text::yaml::read(chunk.trim_start_matches("---").as_bytes()) {
                let value: Value = serde_json::from_str(&crdx_value::json::to_string(&value)).unwrap();
                if value.is_object() {
                    out.push(value);
                }
            }
        }
    }
    out
}

/// The CRDs of the corpus that have objects, with these objects.
pub fn subjects() -> Vec<Subject> {
    let corpus = std::env::var("CRDX_CORPUS").expect("CRDX_CORPUS names the folder of CRDs and objects");
    let only = std::env::var("CRDX_ONLY").unwrap_or_default();
    let mut projects: Vec<_> =
        fs::read_dir(corpus).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    projects.sort();
    let mut out = Vec::new();
    for project in projects {
        let mut objects = documents(&project.join("objects"));
        objects.extend(documents(&project.join("invalid")));
        for crd in documents(&project.join("crds")) {
            let (group, kind) = (&crd["spec"]["group"], &crd["spec"]["names"]["kind"]);
            let is_crd = crd["kind"] == "CustomResourceDefinition" && crd["apiVersion"] == "apiextensions.k8s.io/v1";
            if !is_crd || !crd["metadata"]["name"].as_str().unwrap_or_default().contains(&only) {
                continue;
            }
            let of_it = |o: &&Value| {
                &o["kind"] == kind && o["apiVersion"].as_str().and_then(|v| v.split('/').next()) == group.as_str()
            };
            let objects = objects.iter().filter(of_it).cloned().collect();
            out.push(Subject { crd, objects });
        }
    }
    out
}

/// The two servers, and the differences found.
pub struct Pair {
    url: String,
    real: Http,
    ours: InProcess,
    pub asked: usize,
    pub differing: Vec<String>,
    /// The responses that were not compared, because only one of the servers wrote their managedFields in one second: the
    /// order of the entries depends on it.
    unordered: usize,
    /// The warnings of the last answer.
    pub warnings: Vec<String>,
    /// The end of the time for this test, if it is limited (`CRDX_SECONDS`).
    end: Option<Instant>,
}

impl Pair {
    fn new() -> Self {
        let real = std::env::var("CRDX_REAL").expect("CRDX_REAL is the URL of the real server");
        let release = std::env::var("CRDX_VERSION").map_or(Release::NEWEST, |version| version.parse().unwrap());
        Self {
            real: Http::new(&real),
            url: real,
            ours: InProcess::of(release),
            asked: 0,
            differing: Vec::new(),
            unordered: 0,
            warnings: Vec::new(),
            end: (setting("CRDX_SECONDS", 0) > 0)
                .then(|| Instant::now() + Duration::from_secs(setting("CRDX_SECONDS", 0))),
        }
    }

    /// Returns true if the time for this test is over.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() > end)
    }

    /// Adds a difference, and shows it if it is one of the first.
    pub fn differ(&mut self, text: String) {
        if self.differing.len() < setting("CRDX_SHOW", 20) as usize {
            println!("\n{text}");
        }
        self.differing.push(text);
    }

    /// The same with another simulated server.
    fn with(self, ours: impl Fn(Release) -> InProcess) -> Self {
        let release = std::env::var("CRDX_VERSION").map_or(Release::NEWEST, |version| version.parse().unwrap());
        Self { ours: ours(release), ..self }
    }

    /// Sends a request to both servers, whose answers must have the same code.
    pub fn both(&mut self, method: &str, path: &str, body: Option<&Value>) {
        let text = body.map(ToString::to_string);
        let content_type = body.map(|_| "application/json");
        let real = self.real.call(method, path, text.as_deref(), content_type, "application/json");
        let ours = self.ours.call(method, path, text.as_deref(), content_type, "application/json");
        if real.code != ours.code {
            let text = text.unwrap_or_default();
            self.differ(format!(
                "{method} {path}\n  body {text}\n  real {} {}\n  here {} {}",
                real.code, real.body, ours.code, ours.body
            ));
        }
    }

    /// The URL of the real server.
    pub fn real_url(&self) -> &str {
        &self.url
    }

    /// Sends a request to both servers, in which the placeholders of `filled` are replaced by each server's own values,
    /// and compares the responses.
    pub fn ask(&mut self, method: &str, path: &str, body: Option<&Value>, content_type: &str, accept: &str) -> Value {
        let send = |client: &mut dyn Client| {
            let text = body.map(|b| b.as_str().map_or_else(|| b.to_string(), str::to_owned));
            let (path, text) = filled(client, path, text);
            client.call(method, &path, text.as_deref(), Some(content_type).filter(|_| body.is_some()), accept)
        };
        let mut real = send(&mut self.real);
        // The real server may not have started to serve a CRD.
        for _ in 0..20 {
            if real.code == 429 && real.body.to_string().contains("(re)initializing") {
                self.real.settle();
                real = send(&mut self.real);
            }
        }
        let ours = send(&mut self.ours);
        self.asked += 1;
        if real.code == 0 {
            let body: String = body.map(ToString::to_string).unwrap_or_default().chars().take(3000).collect();
            println!("no answer to {method} {path}\n  body {body}\n  here {} {}", ours.code, ours.body);
            return real.body;
        }
        // Messages may show generated names, times and revisions.
        let show = |reply: &Reply| {
            // A header has no control characters.
            let mut warnings: Vec<_> =
                reply.warnings.iter().filter(|text| !text.chars().any(char::is_control)).collect();
            warnings.sort();
            let shown = json!([reply.code, normalise(reply.body.clone(), path.contains("fieldManager=")), warnings]);
            let text = shown.to_string();
            let text = varying::GENERATED_NAME.replace_all(&text, "gen-*****");
            let text = varying::REVISION_IN_TEXT.replace_all(&text, "$1*");
            // Objects may be created in different seconds.
            let text = if text.contains(r#""cells":"#) {
                varying::TIME_OF_RUN.replace_all(&varying::AGE.replace_all(&text, r#""*""#), r#""*""#).into_owned()
            } else {
                text.into_owned()
            };
            serde_json::from_str(&varying::QUOTED_MEMBER.replace_all(&text, "$1")).unwrap()
        };
        self.warnings.clone_from(&real.warnings);
        let (mut want, got): (Value, Value) = (show(&real), show(&ours));
        // Of several denials the server gives one, in a random order.
        if self.ours.denials.len() > 1
            && want != got
            && denial(&real.body).is_some_and(|d| self.ours.denials.contains(&d))
        {
            want = got.clone();
        }
        // The real server walks an apply patch in Go's random order, up to the first unknown field of each part; which
        // of several equally expensive rules it names is random, too. The simulated response must equal one of the real
        // responses, or list only errors that occur in some of them.
        // So is which of several wrong members of an embedded object it names.
        let random = [
            "field not declared in schema",
            "contributed to estimated rule cost total",
            "must be a string",
            "into Go value of type v1.ObjectMeta",
        ];
        let mut listed = BTreeSet::new();
        for _ in 0..60 {
            if want == got || !random.iter().any(|text| want.to_string().contains(text)) {
                break;
            }
            want = show(&send(&mut self.real));
            listed.extend(undeclared(&want).1);
        }
        let (rest, of_ours) = undeclared(&got);
        if rest == undeclared(&want).0 && !of_ours.is_empty() && of_ours.is_subset(&listed) {
            want = got.clone();
        }
        if want != got {
            let body = body.map(ToString::to_string).unwrap_or_default();
            let body: String = body.chars().take(3000).collect();
            let (want, got) = around(&want.to_string(), &got.to_string());
            self.differ(format!("{method} {path} {content_type}\n  body {body}\n  real {want}\n  here {got}"));
        }
        real.body
    }

    /// Removes the finalizers of an object, so that it can be deleted.
    pub fn remove_finalizers(&mut self, path: &str) {
        let patch = json!({"metadata": {"finalizers": null}});
        self.ask("PATCH", path, Some(&patch), "application/merge-patch+json", "application/json");
    }

    /// The stored object of the simulated server.
    pub fn stored(&mut self, path: &str) -> Value {
        self.ours.call("GET", path, None, None, "application/json").body
    }

    /// The body of a GET of the real server.
    pub fn real_body(&mut self, path: &str) -> Value {
        self.real.call("GET", path, None, None, "application/json").body
    }

    /// Sends the same bytes to both servers and compares the responses.
    pub fn ask_bytes(&mut self, method: &str, path: &str, body: &[u8], content_type: &str) {
        let clients = [&mut self.real as &mut dyn Client, &mut self.ours];
        let shown = clients.map(|client| {
            let answer = client.send(method, path, Some(body), Some(content_type), "application/json");
            let body = normalise(parse(&String::from_utf8_lossy(&answer.data)), false);
            // Go collects unrecognized formats while it iterates over maps in random order (`SchemaHas`).
            let warnings: BTreeSet<String> = answer.warnings.into_iter().collect();
            json!([answer.code, body, warnings])
        });
        self.asked += 1;
        if shown[0] != shown[1] && shown[0][0] != 0 {
            let hex = body.iter().fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            });
            self.differ(format!(
                "{method} {path} {content_type}\n  body {hex}\n  real {}\n  here {}",
                shown[0], shown[1]
            ));
        }
    }

    /// Sends a request with JSON to the real server; returns the code and the bytes of the response.
    pub fn real_bytes(&mut self, method: &str, path: &str, body: &[u8], accept: &str) -> (u16, Vec<u8>) {
        let answer = self.real.send(method, path, Some(body), Some("application/json"), accept);
        (answer.code, answer.data)
    }

    /// Compares the text of a response, in which values that vary between runs are masked.
    pub fn text(&mut self, path: &str, accept: &str) {
        let clients = [&mut self.real as &mut dyn Client, &mut self.ours];
        let answers = clients.map(|client| {
            let answer = client.send("GET", path, None, None, accept);
            (answer.code, String::from_utf8_lossy(&answer.data).into_owned())
        });
        let seconds = |text: &str| {
            let found: BTreeSet<_> = varying::WRITTEN.find_iter(text).map(|found| found.as_str().to_owned()).collect();
            found.len()
        };
        if seconds(&answers[0].1) != seconds(&answers[1].1) {
            self.unordered += 1;
            return;
        }
        let shown = answers.map(|(code, text)| {
            let text = varying::MANAGER.replace_all(&text, "kube-apiserver");
            let text = varying::UID.replace_all(&text, "*");
            let text = varying::TIME.replace_all(&text, "*");
            let text = varying::RESOURCE_VERSION.replace_all(&text, "$1*");
            (code, varying::AGE.replace_all(&text, "*").into_owned())
        });
        self.asked += 1;
        if shown[0] != shown[1] {
            let (real, ours) = around(&shown[0].1, &shown[1].1);
            self.differ(format!(
                "GET {path} {accept} (text)\n  real {} {real:?}\n  here {} {ours:?}",
                shown[0].0, shown[1].0
            ));
        }
    }

    /// Compares all pages of a list.
    pub fn pages(&mut self, path: &str, accept: &str) {
        let mut next = [String::new(), String::new()];
        for _ in 0..10 {
            let clients = [&mut self.real as &mut dyn Client, &mut self.ours];
            let replies: Vec<Reply> = clients
                .into_iter()
                .zip(&next)
                .map(|(client, next)| {
                    let (path, _) = filled(client, path, None);
                    client.call("GET", &format!("{path}{next}"), None, None, accept)
                })
                .collect();
            self.asked += 1;
            let shown: Vec<Value> =
                replies.iter().map(|reply| json!([reply.code, normalise(reply.body.clone(), false)])).collect();
            if shown[0] != shown[1] {
                self.differ(format!("GET {path} {next:?} {accept}\n  real {}\n  here {}", shown[0], shown[1]));
                return;
            }
            let token = |reply: &Reply| reply.body["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
            if token(&replies[0]).is_empty() {
                return;
            }
            next = [0, 1].map(|side| format!("&continue={}", token(&replies[side])));
        }
    }

    /// Creates a CRD on both servers; returns false if the real server rejects it.
    pub fn install(&mut self, crd: &Value) -> bool {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let text = crd.to_string();
        let real = self.real.call("POST", path, Some(&text), Some("application/json"), "application/json");
        let ours = self.ours.call("POST", path, Some(&text), Some("application/json"), "application/json");
        if real.code != ours.code {
            self.differ(format!("install {}: real {} here {}", crd["metadata"]["name"], real.code, ours.code));
        }
        if real.code != 201 {
            return false;
        }
        let one = format!("{path}/{}", crd["metadata"]["name"].as_str().unwrap());
        self.settle(&one, r#""status":"True","type":"Established""#, 100);
        // The real server delays the first create shortly after this.
        std::thread::sleep(Duration::from_millis(300));
        true
    }

    /// Waits until the conditions of a CRD of the real server contain a text.
    pub fn settle(&mut self, path: &str, text: &str, attempts: u32) {
        for _ in 0..attempts {
            let got = self.real.call("GET", path, None, None, "application/json").body;
            if got["status"]["conditions"].to_string().contains(text) {
                break;
            }
            self.real.settle();
        }
    }

    /// Removes a CRD and its objects from both servers.
    pub fn uninstall(&mut self, crd: &Value) {
        let one = format!(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}",
            crd["metadata"]["name"].as_str().unwrap()
        );
        for client in [&mut self.real as &mut dyn Client, &mut self.ours] {
            client.call("DELETE", &one, None, None, "application/json");
            for _ in 0..100 {
                if client.call("GET", &one, None, None, "application/json").code == 404 {
                    break;
                }
                client.settle();
            }
        }
    }

    /// Deletes a CRD on both servers without waiting for the end.
    pub fn remove(&mut self, crd: &Value) {
        let one = format!(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}",
            crd["metadata"]["name"].as_str().unwrap()
        );
        for client in [&mut self.real as &mut dyn Client, &mut self.ours] {
            client.call("DELETE", &one, None, None, "application/json");
        }
    }

    fn finish(self) {
        if self.unordered > 0 {
            println!("{} responses not compared: written in different seconds", self.unordered);
        }
        println!("{} requests, {} answers differ", self.asked, self.differing.len());
        assert!(self.asked > 0, "nothing was asked");
        assert!(self.differing.is_empty(), "{} of {} answers differ", self.differing.len(), self.asked);
    }
}

/// Two texts around their first difference.
fn around(a: &str, b: &str) -> (String, String) {
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let part = |text: &str| text.chars().skip(same.saturating_sub(400)).take(1600).collect();
    (part(a), part(b))
}

/// Replaces `{{resourceVersion}}` and `{{uid}}` by those of the addressed object, and `{{listVersion}}` by the version
/// of the addressed list.
fn filled(client: &mut dyn Client, path: &str, text: Option<String>) -> (String, Option<String>) {
    let holds = |what: &str| path.contains(what) || text.as_ref().is_some_and(|text| text.contains(what));
    let object = path.split('?').next().unwrap().trim_end_matches("/status").trim_end_matches("/scale");
    if !holds("{{") {
        return (path.to_owned(), text);
    }
    let found = client.call("GET", object, None, None, "application/json").body;
    let member = |key: &str| found["metadata"][key].as_str().unwrap_or_default().to_owned();
    let (version, uid) = (member("resourceVersion"), member("uid"));
    let fill = |text: &str| {
        let text = text.replace("{{resourceVersion}}", &version).replace("{{listVersion}}", &version);
        text.replace("{{uid}}", &uid)
    };
    (fill(path), text.map(|text| fill(&text)))
}

/// The denial of a policy in an answer.
fn denial(body: &Value) -> Option<String> {
    let causes = body["details"]["causes"].as_array()?;
    causes.first()?["message"].as_str().map(str::to_owned)
}

/// Splits a response into the response without the lines of its message that name undeclared fields, and those lines.
fn undeclared(answer: &Value) -> (Value, BTreeSet<String>) {
    let mut rest = answer.clone();
    let message = rest[1]["message"].as_str().unwrap_or_default().to_owned();
    let (listed, kept): (Vec<_>, Vec<_>) =
        message.split('\n').map(str::to_owned).partition(|line| line.ends_with(": field not declared in schema"));
    if !listed.is_empty() {
        rest[1]["message"] = json!(kept);
    }
    (rest, listed.into_iter().collect())
}

/// Writes random expressions for `tests/apiserver/facts/cel.go`.
fn print(path: &str, expression: expressions::Generator) {
    let lines = expressions::facts(&mut Rng::new(setting("CRDX_SEED", 1)), setting("CRDX_ROUNDS", 40), expression);
    fs::write(path, lines).unwrap();
}

#[test]
#[ignore = "needs the real server and a corpus: see tests/apiserver/README.md"]
fn differential_objects() {
    let (mut pair, mut rng) = (Pair::new(), Rng::new(setting("CRDX_SEED", 1)));
    for subject in subjects().into_iter().filter(|s| !s.objects.is_empty()).map(Subject::without_conversion) {
        if pair.is_over() {
            break;
        }
        let before = pair.differing.len();
        objects::compare(&mut pair, &subject, &mut rng, setting("CRDX_ROUNDS", 40));
        println!("{} {} differ", subject.name(), pair.differing.len() - before);
    }
    pair.finish();
}

#[test]
#[ignore = "needs the real server and a corpus: see tests/apiserver/README.md"]
fn differential_pairs() {
    let (mut pair, mut rng) = (Pair::new(), Rng::new(setting("CRDX_SEED", 1)));
    let kubectl = std::process::Command::new("kubectl").args(["version", "--client"]).output().is_ok();
    let (mut pairs, mut crds, mut differing) = (0, 0, 0);
    for subject in subjects().iter().filter(|s| !s.objects.is_empty()) {
        if pair.is_over() {
            break;
        }
        let (before, asked) = (pair.differing.len(), pair.asked);
        let walked = pairs::compare(&mut pair, subject, &mut rng, setting("CRDX_ROUNDS", 8), kubectl);
        let differ = pair.differing.len() - before;
        println!("{}: {walked} pairs, {} requests, {differ} differ", subject.name(), pair.asked - asked);
        (pairs, crds, differing) = (pairs + walked, crds + 1, differing + differ);
    }
    let by = if kubectl { "with" } else { "without" };
    println!("{pairs} pairs of {crds} CRDs, {} requests, {by} kubectl, {differing} answers differ", pair.asked);
    pair.finish();
}

#[test]
#[ignore = "needs the real server and a corpus: see tests/apiserver/README.md"]
fn differential_bounds() {
    let (mut pair, mut rng) = (Pair::new(), Rng::new(setting("CRDX_SEED", 1)));
    let statistics = bounds::compare(&mut pair, &mut rng, setting("CRDX_ROUNDS", 40));
    println!("all: {statistics:?}");
    pair.finish();
}

/// Random policies, against a real server with `-policies`; `CRDX_ROUNDS` are policies, each with 8 requests.
#[test]
#[ignore = "needs the real server with -policies: see tests/apiserver/README.md"]
fn differential_policies() {
    let (mut pair, mut rng) = (Pair::new().with(policies::ours), Rng::new(setting("CRDX_SEED", 1)));
    let seen = policies::compare(&mut pair, &mut rng, setting("CRDX_ROUNDS", 100));
    println!("{seen:?}");
    pair.finish();
}

/// Random answers of admission webhooks, against a real server with `-webhooks`; `CRDX_ROUNDS` are configurations, each
/// with 6 requests.
#[test]
#[ignore = "needs the real server with -webhooks: see tests/apiserver/README.md"]
fn differential_webhooks() {
    webhooks::compare(setting("CRDX_SEED", 1), setting("CRDX_ROUNDS", 100));
}

/// Random answers of a conversion webhook; `CRDX_ROUNDS` are answers, each to 4 requests.
#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_conversions() {
    webhooks::conversions::compare(setting("CRDX_SEED", 1), setting("CRDX_ROUNDS", 100));
}

/// Every CRD of the corpus, unchanged.
#[test]
#[ignore = "needs the real server and a corpus: see tests/apiserver/README.md"]
fn differential_corpus() {
    let mut pair = Pair::new();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All";
    let subjects = subjects();
    let mut accepted = 0;
    for subject in &subjects {
        let answer = pair.ask("POST", path, Some(&subject.crd), "application/json", "application/json");
        let is_accepted = answer["kind"] == "CustomResourceDefinition";
        accepted += usize::from(is_accepted);
        if !is_accepted {
            println!("{}: {}", subject.name(), answer["message"]);
        }
    }
    println!("{accepted} of {} CRDs accepted", subjects.len());
    pair.finish();
}

#[test]
#[ignore = "needs the real server and a corpus: see tests/apiserver/README.md"]
fn differential_crds() {
    let (mut pair, mut rng) = (Pair::new(), Rng::new(setting("CRDX_SEED", 1)));
    for subject in subjects() {
        if pair.is_over() {
            break;
        }
        crds::compare(&mut pair, &subject, &mut rng, setting("CRDX_ROUNDS", 40));
    }
    pair.finish();
}

#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_expressions() {
    if let Ok(path) = std::env::var("CRDX_PRINT") {
        return print(&path, expressions::expression);
    }
    let mut pair = Pair::new();
    expressions::compare(&mut pair, setting("CRDX_SEED", 1), setting("CRDX_ROUNDS", 40), expressions::expression);
    pair.finish();
}

#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_libraries() {
    if let Ok(path) = std::env::var("CRDX_PRINT") {
        return print(&path, libraries::expression);
    }
    let mut pair = Pair::new();
    expressions::compare(&mut pair, setting("CRDX_SEED", 1), setting("CRDX_ROUNDS", 40), libraries::expression);
    pair.finish();
}

#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_definitions() {
    let seed = setting("CRDX_SEED", 1);
    let (mut pair, mut rng) = (Pair::new(), Rng::new(seed));
    definitions::compare(&mut pair, &mut rng, seed, setting("CRDX_ROUNDS", 40));
    pair.finish();
}

/// Objects with unusual metadata.
#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_metadata() {
    let (mut pair, mut rng) = (Pair::new(), Rng::new(setting("CRDX_SEED", 1)));
    metadata::compare(&mut pair, &mut rng, setting("CRDX_ROUNDS", 40));
    pair.finish();
}

/// Writes that fill and empty lists, sets, maps and objects.
#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_owners() {
    let (mut pair, mut rng) = (Pair::new(), Rng::new(setting("CRDX_SEED", 1)));
    owners::compare(&mut pair, &mut rng, setting("CRDX_ROUNDS", 400));
    pair.finish();
}

/// CRDs with conflicting names, and requests for the collection of CRDs.
#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_names() {
    let (mut pair, mut rng) = (Pair::new(), Rng::new(setting("CRDX_SEED", 1)));
    names::compare(&mut pair, &mut rng, setting("CRDX_ROUNDS", 40));
    pair.finish();
}

/// `CRDX_CRDS` random CRDs, or this many, without those that the servers reject.
fn accepted_subjects(pair: &mut Pair, rng: &mut Rng, seed: u64, count: u64) -> Vec<Subject> {
    let numbers = 0..setting("CRDX_CRDS", count);
    let mut all: Vec<Subject> = numbers.map(|number| schemas::subject(rng, seed * 10_000 + number)).collect();
    all.retain_mut(|subject| schemas::accepted(pair, subject));
    all
}

/// Discovery, OpenAPI documents and health checks in all formats; needs a new real server.
#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_endpoints() {
    let seed = setting("CRDX_SEED", 1);
    let (mut pair, mut rng) = (Pair::new(), Rng::new(seed));
    let all = accepted_subjects(&mut pair, &mut rng, seed, 3);
    endpoints::compare(&mut pair, &mut rng, &all, setting("CRDX_ROUNDS", 40));
    pair.finish();
}

/// CRDs in Protobuf: random ones, and those of the corpus if there is one.
#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_protobuf() {
    let seed = setting("CRDX_SEED", 1);
    let (mut pair, mut rng) = (Pair::new(), Rng::new(seed));
    for number in 0..setting("CRDX_CRDS", 10) {
        if pair.is_over() {
            break;
        }
        let mut subject = schemas::subject(&mut rng, seed * 10_000 + number);
        schemas::accepted(&mut pair, &mut subject);
        protobuf::compare(&mut pair, &subject, &mut rng, setting("CRDX_ROUNDS", 40));
    }
    pair.finish();
}

#[test]
#[ignore = "needs the real server and a corpus: see tests/apiserver/README.md"]
fn differential_openapi() {
    let mut pair = Pair::new();
    openapi::compare(&mut pair, &subjects());
    pair.finish();
}

/// OpenAPI documents and discovery of random CRDs.
#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_random_openapi() {
    let seed = setting("CRDX_SEED", 1);
    let (mut pair, mut rng) = (Pair::new(), Rng::new(seed));
    let all = accepted_subjects(&mut pair, &mut rng, seed, 10);
    openapi::compare(&mut pair, &all);
    pair.finish();
}

/// Random requests over the whole surface of random CRDs; `CRDX_CRDS` is the number of CRDs, each with `CRDX_ROUNDS`
/// requests.
#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_surface() {
    let seed = setting("CRDX_SEED", 1);
    let (mut pair, mut rng) = (Pair::new(), Rng::new(seed));
    let (mut refused, crds) = (0, setting("CRDX_CRDS", 10));
    for number in 0..crds {
        if pair.is_over() {
            break;
        }
        let mut subject = schemas::subject(&mut rng, seed * 10_000 + number);
        if schemas::accepted(&mut pair, &mut subject) {
            surface::compare(&mut pair, &subject, &mut rng, setting("CRDX_ROUNDS", 40));
            println!("{}: {} requests, {} differ", subject.name(), pair.asked, pair.differing.len());
        } else {
            refused += 1;
        }
    }
    println!("{refused} of {crds} CRDs refused");
    pair.finish();
}

/// Random requests over the whole surface of the CRDs of the corpus.
#[test]
#[ignore = "needs the real server and a corpus: see tests/apiserver/README.md"]
fn differential_corpus_surface() {
    let (mut pair, mut rng) = (Pair::new(), Rng::new(setting("CRDX_SEED", 1)));
    for subject in subjects().into_iter().filter(|s| !s.objects.is_empty()).map(Subject::without_conversion) {
        if pair.is_over() {
            break;
        }
        surface::compare(&mut pair, &subject, &mut rng, setting("CRDX_ROUNDS", 40));
    }
    pair.finish();
}

#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_watches() {
    let (mut pair, mut rng) = (Pair::new(), Rng::new(setting("CRDX_SEED", 1)));
    watches::compare(&mut pair, &mut rng, setting("CRDX_ROUNDS", 8));
    pair.finish();
}

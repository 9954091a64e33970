//! Sends random requests to the real and the simulated server, whose responses must be equal
//! (`tests/apiserver/README.md`).
//!
//! All tests here are ignored by default, because they need the real server and real CRDs:
//! `CRDX_REAL=http://127.0.0.1:18080 CRDX_CORPUS=../shared/corpus cargo test --release --test tests differential --
//! --ignored --nocapture` `CRDX_SEED`, `CRDX_ROUNDS` (requests per CRD) and `CRDX_ONLY` (part of a CRD's name) select a
//! different run.

mod bounds;
mod crds;
mod expressions;
pub mod mutate;
mod objects;
mod openapi;
mod pairs;
mod policies;
mod watches;
mod webhooks;

use crate::exchange::{Client, Http, InProcess, Reply, normalise};
use crdx::release::Release;
use mutate::Rng;
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs, path::Path};

/// A CRD with some of its objects.
pub struct Subject {
    pub crd: Value,
    pub objects: Vec<Value>,
}

impl Subject {
    pub fn name(&self) -> &str {
        self.crd["metadata"]["name"].as_str().unwrap()
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
            if let Ok(value) = crdx::text::yaml::read(chunk.trim_start_matches("---").as_bytes()) {
                let value: Value = serde_json::from_str(&crdx::value::json::to_string(&value)).unwrap();
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
    /// The warnings of the last answer.
    pub warnings: Vec<String>,
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
            warnings: Vec::new(),
        }
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
            self.differing.push(format!(
                "{method} {path}\n  body {text}\n  real {} {}\n  here {} {}",
                real.code, real.body, ours.code, ours.body
            ));
        }
    }

    /// The URL of the real server.
    pub fn real_url(&self) -> &str {
        &self.url
    }

    /// Sends a request to both servers, in which `{{resourceVersion}}` is replaced by each server's own, and compares
    /// the responses.
    pub fn ask(&mut self, method: &str, path: &str, body: Option<&Value>, content_type: &str, accept: &str) -> Value {
        let object = path.split('?').next().unwrap().trim_end_matches("/status").trim_end_matches("/scale");
        let needs_version = body.is_some_and(|b| b.to_string().contains("{{resourceVersion}}"));
        let send = |client: &mut dyn Client| {
            let mut text = body.map(|b| b.as_str().map_or_else(|| b.to_string(), str::to_owned));
            if needs_version {
                let old = client.call("GET", object, None, None, "application/json").body;
                let version = old["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
                text = text.map(|t| t.replace("{{resourceVersion}}", &version));
            }
            client.call(method, path, text.as_deref(), Some(content_type).filter(|_| body.is_some()), accept)
        };
        let (real, ours) = (send(&mut self.real), send(&mut self.ours));
        self.asked += 1;
        if real.code == 0 {
            println!("no answer to {method} {path}");
            return real.body;
        }
        // Messages may show generated names, times and revisions.
        let generated = regex::Regex::new("gen-[a-z0-9]{5}\\b").unwrap();
        let own = regex::Regex::new(r#"(creationTimestamp|time|resourceVersion)\\+":\\+"[^"\\]*\\+""#).unwrap();
        let show = |reply: &Reply| {
            // A header has no control characters.
            let mut warnings: Vec<_> =
                reply.warnings.iter().filter(|text| !text.chars().any(char::is_control)).collect();
            warnings.sort();
            let shown = json!([reply.code, normalise(reply.body.clone(), path.contains("fieldManager=")), warnings]);
            let text = shown.to_string();
            let text = generated.replace_all(&text, "gen-*****");
            serde_json::from_str(&own.replace_all(&text, "$1")).unwrap()
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
        let random = ["field not declared in schema", "contributed to estimated rule cost total"];
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
            let short = |v: &Value| v.to_string().chars().take(2500).collect::<String>();
            self.differing.push(format!(
                "{method} {path} {content_type}\n  body {body}\n  real {}\n  here {}",
                short(&want),
                short(&got)
            ));
        }
        real.body
    }

    /// Returns true if the real server accepts a POST.
    pub fn accepts(&mut self, path: &str, body: &Value) -> bool {
        self.real.call("POST", path, Some(&body.to_string()), Some("application/json"), "application/json").code == 201
    }

    /// Creates a CRD on both servers; returns false if the real server rejects it.
    pub fn install(&mut self, crd: &Value) -> bool {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let text = crd.to_string();
        let real = self.real.call("POST", path, Some(&text), Some("application/json"), "application/json");
        let ours = self.ours.call("POST", path, Some(&text), Some("application/json"), "application/json");
        if real.code != ours.code {
            self.differing.push(format!("install {}: real {} here {}", crd["metadata"]["name"], real.code, ours.code));
        }
        if real.code != 201 {
            return false;
        }
        let one = format!("{path}/{}", crd["metadata"]["name"].as_str().unwrap());
        for _ in 0..100 {
            let got = self.real.call("GET", &one, None, None, "application/json").body;
            if got["status"]["conditions"].to_string().contains(r#""status":"True","type":"Established""#) {
                break;
            }
            self.real.settle();
        }
        // The real server delays the first create shortly after this.
        std::thread::sleep(std::time::Duration::from_millis(300));
        true
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

    fn finish(self) {
        println!("{} requests, {} answers differ", self.asked, self.differing.len());
        for line in self.differing.iter().take(setting("CRDX_SHOW", 20) as usize) {
            println!("\n{line}");
        }
        assert!(self.asked > 0, "nothing was asked");
        assert!(self.differing.is_empty(), "{} of {} answers differ", self.differing.len(), self.asked);
    }
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

#[test]
#[ignore = "needs the real server and a corpus: see tests/apiserver/README.md"]
fn differential_objects() {
    let (mut pair, mut rng) = (Pair::new(), Rng::new(setting("CRDX_SEED", 1)));
    for subject in subjects().iter().filter(|s| !s.objects.is_empty()) {
        let before = pair.differing.len();
        objects::compare(&mut pair, subject, &mut rng, setting("CRDX_ROUNDS", 40));
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
        let (before, asked) = (pair.differing.len(), pair.asked);
        let walked = pairs::compare(&mut pair, subject, &mut rng, setting("CRDX_ROUNDS", 8), kubectl);
        let differ = pair.differing.len() - before;
        println!("{}: {walked} pairs, {} requests, {differ} differ", subject.name(), pair.asked - asked);
        for difference in &pair.differing[before..] {
            println!("  {difference}");
        }
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
        crds::compare(&mut pair, &subject, &mut rng, setting("CRDX_ROUNDS", 40));
    }
    pair.finish();
}

#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_expressions() {
    if let Ok(path) = std::env::var("CRDX_PRINT") {
        let lines = expressions::facts(&mut Rng::new(setting("CRDX_SEED", 1)), setting("CRDX_ROUNDS", 40));
        return fs::write(path, lines).unwrap();
    }
    let (mut pair, mut rng) = (Pair::new(), Rng::new(setting("CRDX_SEED", 1)));
    expressions::compare(&mut pair, &mut rng, setting("CRDX_ROUNDS", 40));
    pair.finish();
}

#[test]
#[ignore = "needs the real server and a corpus: see tests/apiserver/README.md"]
fn differential_openapi() {
    let mut pair = Pair::new();
    openapi::compare(&mut pair);
    pair.finish();
}

#[test]
#[ignore = "needs the real server: see tests/apiserver/README.md"]
fn differential_watches() {
    let (mut pair, mut rng) = (Pair::new(), Rng::new(setting("CRDX_SEED", 1)));
    watches::compare(&mut pair, &mut rng, setting("CRDX_ROUNDS", 8));
    pair.finish();
}

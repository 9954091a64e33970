//! Tests of `kubectl crdx serve` as a process: initial objects, persistence, rejected arguments, and misbehaving
//! clients.

use crate::conformance::exchange::{Client, Http, InProcess, normalise};
use crdx_serve::ServeOptions;
use crdx_server::server::Method;
use crdx_value::release::Release;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fs, thread};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const KITES: &str = "/apis/toys.example.com/v1/namespaces/default/kites";

/// The query of requests that only wait for the CRD.
const POLL: &str = "?limit=1";

/// A `serve` process that is killed (`kill -9`) at the end.
pub struct Serve {
    child: Child,
    pub url: String,
    output: BufReader<std::process::ChildStdout>,
}

impl Serve {
    pub fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
            .args(["serve", "--port", "0"])
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        output.read_line(&mut url).unwrap();
        assert!(url.starts_with("http://127.0.0.1:"), "{url:?}");
        Self { child, url: url.trim().to_owned(), output }
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let text = body.map(ToString::to_string);
        let reply = Http::new(&self.url).call(method, path, text.as_deref(), None, "application/json");
        (reply.code, reply.body)
    }

    /// Creates the CRD and waits until it is served.
    fn install(&self) {
        assert_eq!(self.call("POST", CRDS, Some(&crd())).0, 201);
        let served = || self.call("GET", &format!("{KITES}{POLL}"), None).0 == 200;
        assert!(
            (0..1000).any(|_| served() || {
                thread::sleep(Duration::from_millis(5));
                false
            }),
            "the CRD is not served"
        );
    }

    fn stream(&self) -> TcpStream {
        let stream = TcpStream::connect(self.url.trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// Sends raw bytes, which request or cause the connection to be closed, and reads the response.
    fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.stream();
        // The server may close the connection before all bytes are sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a `serve` that fails to start.
fn refused(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubectl-crdx")).arg("serve").args(args).output().unwrap()
}

fn crd() -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "kites.toys.example.com"}, "spec": {"group": "toys.example.com", "scope": "Namespaced",
        "names": {"plural": "kites", "kind": "Kite"}, "versions": [{"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "length": {"type": "integer", "minimum": 1}, "colour": {"type": "string", "default": "red"}}}}}}}]}})
}

fn kite(name: &str, length: i64) -> Value {
    json!({"apiVersion": "toys.example.com/v1", "kind": "Kite", "metadata": {"name": name}, "spec": {"length": length}})
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn acknowledged_changes_survive_kill_9() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state.jsonl");
    let known: Mutex<Vec<(String, Option<Value>)>> = Mutex::default();
    let mut uid = None;
    for round in 0..6 {
        let mut serve = Serve::start(&["--state", text(&state)]);
        if round == 0 {
            serve.install();
        }
        let (code, definition) = serve.call("GET", &format!("{CRDS}/kites.toys.example.com"), None);
        assert_eq!(code, 200);
        assert_eq!(*uid.get_or_insert_with(|| definition["metadata"]["uid"].clone()), definition["metadata"]["uid"]);
        for (name, object) in known.lock().unwrap().iter() {
            let (code, found) = serve.call("GET", &format!("{KITES}/{name}"), None);
            match object {
                Some(object) => assert_eq!((code, &found), (200, object), "round {round}"),
                None => assert_eq!(code, 404, "round {round}: {name} was deleted"),
            }
        }
        let serve_url = serve.url.clone();
        thread::scope(|scope| {
            for writer in 0..3 {
                let (known, url) = (&known, &serve_url);
                scope.spawn(move || {
                    for i in 0.. {
                        let name = format!("k-{round}-{writer}-{i}");
                        let body = kite(&name, i + 1);
                        let Some((201, created)) = attempt(url, "POST", KITES, Some(&body)) else { return };
                        known.lock().unwrap().push((name.clone(), Some(created)));
                        if i % 3 == 0 {
                            let Some((200, _)) = attempt(url, "DELETE", &format!("{KITES}/{name}"), None) else {
                                // The deletion was not answered, so the object may or may not exist.
                                known.lock().unwrap().retain(|(n, _)| *n != name);
                                return;
                            };
                            for (n, object) in known.lock().unwrap().iter_mut().filter(|(n, _)| *n == name) {
                                assert_eq!(*n, name);
                                *object = None;
                            }
                        }
                    }
                });
            }
            thread::sleep(Duration::from_millis(200 + 70 * round));
            serve.child.kill().unwrap();
            serve.child.wait().unwrap();
        });
    }
    let known = known.into_inner().unwrap();
    assert!(known.len() > 20 && known.iter().any(|(_, object)| object.is_none()), "only {} objects", known.len());
}

/// Sends a request to a server that may have been killed.
fn attempt(url: &str, method: &str, path: &str, body: Option<&Value>) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).ok()?;
    let body = body.map(ToString::to_string).unwrap_or_default();
    let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{kind}Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, serde_json::from_str(body).ok()?))
}

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn start_with_pause(pause: Duration) -> crdx_serve::Running {
    let server = crdx_kinds::builder(Release::NEWEST, 1).with_built_in_kinds().build();
    let options = ServeOptions { pause_before_commit: pause, ..ServeOptions::default() };
    crdx_serve::start(crdx_serve::Runtime::new().unwrap(), Arc::new(server), options).unwrap()
}

#[test]
fn a_write_pauses_before_it_is_visible() {
    let running = start_with_pause(Duration::from_millis(500));
    let url = running.url();
    let call = |method: &str, path: &str, body: Option<&str>| {
        Http::new(&url).call(method, path, body, None, "application/json").code
    };
    let body = Some(r#"{"metadata":{"name":"a"}}"#);
    thread::scope(|scope| {
        let write = scope.spawn(|| call("POST", MAPS, body));
        // Reads and dry runs do not pause. The number of those that do not see the object yet is compared with the number
        // of those between commit and response, so that the load of the machine does not matter.
        let (mut before, mut after) = (0, 0);
        while !write.is_finished() {
            let is_visible = call("GET", &format!("{MAPS}/a"), None) == 200;
            let dry_run = call("POST", &format!("{MAPS}?dryRun=All"), body);
            assert!(if is_visible { dry_run == 409 } else { matches!(dry_run, 201 | 409) });
            if is_visible { after += 1 } else { before += 1 }
        }
        assert_eq!(write.join().unwrap(), 201);
        assert!(before > after, "{before} reads before the commit, {after} between commit and response");
    });
}

#[test]
fn a_write_is_handled_against_the_state_after_its_pause() {
    let running = start_with_pause(Duration::from_millis(300));
    let url = running.url();
    let direct = |method, path: &str, body: &str| {
        running.server().handle(&crdx_server::server::Request::new(method, path, body)).code
    };
    let path = format!("{MAPS}/a");
    assert_eq!(direct(Method::Post, MAPS, r#"{"metadata":{"name":"a"}}"#), 201);
    let read = || Http::new(&url).call("GET", &path, None, None, "application/json").body;
    let mut object = read();
    object["data"] = json!({"by": "http"});
    let update = object.to_string();
    object["data"] = json!({"by": "process"});
    let other = object.to_string();
    thread::scope(|scope| {
        const JSON: &str = "application/json";
        let waiting = scope.spawn(|| Http::new(&url).call("PUT", &path, Some(&update), Some(JSON), JSON).code);
        // This write does not pause.
        let mut codes = [direct(Method::Put, &path, &other), waiting.join().unwrap()];
        codes.sort_unstable();
        assert_eq!(codes, [200, 409]);
    });
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let merge = Some("application/merge-patch+json");
            Http::new(&url).call("PATCH", &path, Some(r#"{"data":{"a":"1"}}"#), merge, "application/json").code
        });
        assert_eq!(direct(Method::Patch, &path, r#"{"data":{"b":"2"}}"#), 200);
        assert_eq!(waiting.join().unwrap(), 200);
    });
    let data = &read()["data"];
    assert!(data["a"] == "1" && data["b"] == "2", "{data}");
}

#[test]
fn a_list_waits_after_a_write_of_another_kind() {
    let running = start_with_pause(Duration::from_millis(1));
    let create = |resource: &str, name: &str| {
        let path = format!("/api/v1/namespaces/default/{resource}");
        let body = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
        let request = crdx_server::server::Request::new(Method::Post, &path, body.as_str());
        assert_eq!(running.server().handle(&request).code, 201);
    };
    let url = running.url();
    let get = |path: &str| Http::new(&url).call("GET", path, None, None, "application/json").body;
    let length = || get(MAPS)["items"].as_array().unwrap().len();
    // A list that does not wait is answered before ten later reads are. On a busy machine a round may show nothing,
    // hence several.
    let sees_later_writes = (0..10).any(|round| {
        create("secrets", &format!("a{round}"));
        // After this list, the next one waits.
        let before = length();
        create("secrets", &format!("b{round}"));
        thread::scope(|scope| {
            let list = scope.spawn(length);
            for _ in 0..10 {
                get(&format!("{MAPS}/none"));
            }
            create("configmaps", &format!("a{round}"));
            list.join().unwrap() > before
        })
    });
    assert!(sees_later_writes);
}

#[test]
fn a_recording_can_be_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let record = directory.path().join("record.jsonl");
    let serve = Serve::start(&["--record", text(&record)]);
    serve.install();
    serve.call("POST", KITES, Some(&kite("a", 1)));
    serve.call("POST", KITES, Some(&kite("b", 0)));
    let (_, mut a) = serve.call("GET", &format!("{KITES}/a"), None);
    a["spec"]["length"] = json!(2);
    assert_eq!(serve.call("PUT", &format!("{KITES}/a"), Some(&a)).0, 200);
    assert_eq!(serve.call("PUT", &format!("{KITES}/a"), Some(&a)).0, 409);
    let mut http = Http::new(&serve.url);
    http.call("POST", KITES, Some("{\"kind\": 1, \"kind\": 2"), Some("application/json"), "application/json");
    let apply = "apiVersion: toys.example.com/v1\nkind: Kite\nmetadata:\n  name: c\nspec: {length: 3, long: 1}\n";
    let path = format!("{KITES}/c?fieldManager=me");
    http.call("PATCH", &path, Some(apply), Some("application/apply-patch+yaml"), "application/json");
    serve.call("GET", KITES, None);
    serve.call("DELETE", &format!("{KITES}/a"), None);
    drop(serve);

    let recorded = fs::read_to_string(&record).unwrap();
    assert!(recorded.contains("{{resourceVersion}}") && recorded.contains("{{uid}}"), "{recorded}");
    let mut client = InProcess::default();
    let mut seen = (String::new(), String::new());
    let mut codes = Vec::new();
    for line in recorded.lines() {
        let exchange: Value = serde_json::from_str(line).unwrap();
        let (request, response) = (&exchange["request"], &exchange["response"]);
        let path = request["path"].as_str().unwrap();
        if path.ends_with(POLL) {
            continue;
        }
        let body = request.get("body").map(|body| {
            let text = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
            text.replace("{{resourceVersion}}", &seen.0).replace("{{uid}}", &seen.1)
        });
        let (content_type, accept) = (request["contentType"].as_str(), request["accept"].as_str().unwrap());
        let reply = client.call(request["method"].as_str().unwrap(), path, body.as_deref(), content_type, accept);
        if reply.body["metadata"]["name"] == "a" && reply.body["kind"] == "Kite" {
            let text = |member: &str| reply.body["metadata"][member].as_str().unwrap_or_default().to_owned();
            seen = (text("resourceVersion"), text("uid"));
        }
        let warnings: Vec<Value> = reply.warnings.iter().map(|w| json!(w)).collect();
        assert_eq!(json!(reply.code), response["code"], "{line}");
        assert_eq!(normalise(reply.body, false), normalise(response["body"].clone(), false), "{line}");
        assert_eq!(Value::Array(warnings), *response.get("warnings").unwrap_or(&json!([])), "{line}");
        codes.push(reply.code);
    }
    assert_eq!(codes, [201, 201, 422, 200, 200, 409, 400, 500, 200, 200]);
}

#[test]
fn serve_starts_with_loaded_objects() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    // The object precedes its CRD, which is v1beta1 and in another file.
    let old = "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: boats.toys.example.com}\nspec:\n  group: toys.example.com\n  version: v1\n  scope: Cluster\n  names: {plural: boats, kind: Boat}\n";
    let first = format!("{}\n---\napiVersion: toys.example.com/v1\nkind: Boat\nmetadata: {{name: b}}\n", kite("k", 3));
    fs::write(root.join("0.yaml"), first).unwrap();
    fs::write(
        root.join("1.yaml"),
        format!("{}\n---\n{old}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\n", crd()),
    )
    .unwrap();
    let serve = Serve::start(&["--load", text(root)]);
    assert_eq!(serve.call("GET", &format!("{KITES}/k"), None).1["spec"], json!({"length": 3, "colour": "red"}));
    assert_eq!(serve.call("GET", "/apis/toys.example.com/v1/boats/b", None).0, 200);
    drop(serve);

    fs::write(
        root.join("2.yaml"),
        format!("{}\n---\napiVersion: a.example.com/v1\nkind: A\nmetadata: {{name: a}}\n", kite("l", 0)),
    )
    .unwrap();
    let serve = Serve::start(&["--load", text(root)]);
    assert_eq!(serve.call("GET", &format!("{KITES}/k"), None).0, 200, "an invalid object does not stop the others");
    assert_eq!(serve.call("GET", &format!("{KITES}/l"), None).0, 404);
    drop(serve);

    let output = refused(&["--strict-load", "--load", text(root)]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{said}");
    assert!(said.contains("2.yaml:1:1: Kite.toys.example.com \"l\" is invalid: spec.length"), "{said}");
    assert!(said.contains("no CRD defines A of a.example.com: load it, too"), "{said}");
    assert!(said.contains("ConfigMap is built into Kubernetes and not served here: left out"), "{said}");
}

#[test]
fn a_cluster_is_copied_as_it_is_stored() {
    let cluster = Serve::start(&[]);
    cluster.install();
    let (_, object) = cluster.call("POST", KITES, Some(&kite("a", 5)));
    let copy = Serve::start(&["--load-from-cluster", "--server", &cluster.url, "--no-cache"]);
    assert_eq!(copy.call("GET", &format!("{KITES}/a"), None), (200, object));
    let name = format!("{CRDS}/kites.toys.example.com");
    assert_eq!(copy.call("GET", &name, None), cluster.call("GET", &name, None));
    // Writes continue after the versions of the cluster, and are not sent to it.
    let (code, b) = copy.call("POST", KITES, Some(&kite("b", 5)));
    let version = |object: &Value| object["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(code, 201);
    assert!(version(&b) > version(&copy.call("GET", &format!("{KITES}/a"), None).1));
    assert_eq!(cluster.call("GET", &format!("{KITES}/b"), None).0, 404);
}

#[test]
fn a_cluster_that_cannot_be_copied_is_one_error() {
    let output = refused(&["--load-from-cluster", "--kubeconfig", "/dev/null/config"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("\nerror: the kubeconfig ") && said.matches("error: ").count() == 1, "{said}");
    assert!(said.contains("\nhelp: correct it") && !said.contains("\n\n"), "{said}");
}

#[test]
fn read_only_answers_dry_runs() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("crd.json");
    fs::write(&file, format!("{}\n---\n{}", crd(), kite("a", 1))).unwrap();
    let serve = Serve::start(&["--read-only", "--load", text(&file)]);
    let a = format!("{KITES}/a");
    assert_eq!(serve.call("GET", &a, None).0, 200);
    for (method, path, body) in [
        ("POST", KITES, Some(kite("b", 1))),
        ("PUT", a.as_str(), Some(kite("a", 2))),
        ("DELETE", a.as_str(), None),
        ("DELETE", KITES, None),
    ] {
        let (code, status) = serve.call(method, path, body.as_ref());
        assert_eq!((code, status["reason"].as_str()), (403, Some("Forbidden")), "{method}");
        assert!(status["message"].as_str().unwrap().contains("--read-only"), "{status}");
    }
    assert_eq!(serve.call("POST", &format!("{KITES}?dryRun=All"), Some(&kite("b", 1))).0, 201);
    assert_eq!(serve.call("GET", KITES, None).1["items"].as_array().unwrap().len(), 1);
}

#[test]
fn the_plugin_has_a_home_page() {
    let mut serve = Serve::start(&["--print-kubeconfig"]);
    let mut config = String::new();
    while !config.contains("user: {}") {
        assert!(serve.output.read_line(&mut config).unwrap() > 0, "{config}");
    }
    assert!(config.contains(&format!("server: {}\n", serve.url)), "{config}");
    let output = refused(&["--address", "0.0.0.0"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("0.0.0.0 is not an address of the loopback: use 127.0.0.1 or ::1"), "{said}");
}

#[test]
fn malformed_requests_get_error_responses() {
    let serve = Serve::start(&[]);
    serve.install();
    let post = |head: &str, body: &[u8]| {
        let length = body.len();
        let head = format!(
            "POST {KITES} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}Content-Length: {length}\r\n\r\n"
        );
        serve.raw(&[head.as_bytes(), body].concat())
    };
    let json = "Content-Type: application/json\r\n";
    let long = vec![b' '; 3 * 1024 * 1024 + 1];
    let answer = post(json, &long);
    assert!(
        answer.starts_with("HTTP/1.1 413 Request Entity Too Large\r\n")
            && answer.contains("Request entity too large: limit is 3145728"),
        "{answer}"
    );
    // An endless body is cut off.
    let answer = post(json, &vec![b' '; 64 << 20]);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let answer = post(json, b"{\"kind\":");
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("json parse error"), "{answer}");
    assert!(post("Content-Type: text/plain\r\n", b"{}").starts_with("HTTP/1.1 415 "));
    assert!(post(json, &vec![b'['; 100_000]).starts_with("HTTP/1.1 400 "));
    assert!(post(json, b"\xff\xfe\x00").starts_with("HTTP/1.1 400 "));
    for method in ["OPTIONS", "TRACE", "PROPFIND", "CONNECT"] {
        let answer =
            serve.raw(format!("{method} {CRDS} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes());
        assert!(answer.starts_with("HTTP/1.1 405 "), "{method}: {answer}");
    }
    assert!(serve.raw(b"GET /apis HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 "));
    assert!(serve.raw(b"\x16\x03\x01\x02\x00\x01\r\n\r\n").starts_with("HTTP/1.1 400 "));
    assert!(
        serve.raw(b"GET /apis HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n").starts_with("HTTP/1.1 400 ")
    );
    let headers = format!("GET /apis HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "a".repeat(4 << 20));
    assert!(serve.raw(headers.as_bytes()).starts_with("HTTP/1.1 431 "));
    let path = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(100_000));
    assert!(serve.raw(path.as_bytes()).starts_with("HTTP/1.1 414 "));
    for path in ["/apis/%zz", "/%00", "/apis/../../etc/passwd", "/apis/a/b/c/d/e/f/g/h?%%%=%"] {
        let answer =
            serve.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes());
        assert!(answer.starts_with("HTTP/1.1 40"), "{path}: {answer}");
    }
    // A body that is cut off.
    let mut stream = serve.stream();
    let head = format!("POST {KITES} HTTP/1.1\r\nHost: localhost\r\n{json}Content-Length: 100\r\n\r\n{{");
    stream.write_all(head.as_bytes()).unwrap();
    drop(stream);
    assert_eq!(serve.call("POST", KITES, Some(&kite("after", 1))).0, 201);
}

/// The example `crd_derive_schema` of kube-rs ends like this: on the real server, the controllers remove the CRD a few
/// milliseconds after the response, when the watch has started.
#[test]
fn a_watch_from_revision_0_sees_the_deletion_of_a_crd() {
    let serve = Serve::start(&[]);
    let name = format!("{CRDS}/kites.toys.example.com");
    let watch = format!(
        "GET {CRDS}?watch=true&resourceVersion=0&timeoutSeconds=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    );
    // On a busy machine the watch may start after the controllers ran: then it sees no CRD, and the test tries again.
    let mut events = Vec::new();
    for _ in 0..20 {
        serve.install();
        let (code, marked) = serve.call("DELETE", &name, None);
        assert_eq!(
            (code, marked["status"]["conditions"][2]["reason"].as_str()),
            (200, Some("InstanceDeletionPending"))
        );
        let answer = serve.raw(watch.as_bytes());
        let seen = |event: &&str| answer.contains(&format!("\"type\":\"{event}\""));
        events = ["ADDED", "MODIFIED", "DELETED"].into_iter().filter(seen).collect();
        if !events.is_empty() {
            break;
        }
    }
    assert_eq!(events, ["ADDED", "MODIFIED", "DELETED"]);
    assert_eq!(serve.call("GET", &name, None).0, 404);
    assert_eq!(serve.call("GET", KITES, None).0, 404);
}

/// A response in the form of `tests/facts/request-targets.jsonl`.
fn shown(answer: &str) -> (u16, Value) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let code = head.split(' ').nth(1).unwrap().parse().unwrap();
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let text: String = if chunked { body.split("\r\n").skip(1).step_by(2).collect() } else { body.to_owned() };
    let values: Vec<Value> = serde_json::Deserializer::from_str(&text).into_iter().filter_map(Result::ok).collect();
    let shown = match values.as_slice() {
        [events @ .., last] if last["type"].is_string() => {
            events.iter().chain([last]).map(|event| event["type"].clone()).collect()
        }
        [status] if status["kind"] == "Status" => status.get("message").cloned().unwrap_or(json!("")),
        [list] if list["items"].is_array() => {
            list["items"].as_array().unwrap().iter().map(|object| object["metadata"]["name"].clone()).collect()
        }
        [value] if value.is_object() => {
            value["metadata"].get("name").or(value.get("kind")).cloned().unwrap_or(json!("an object"))
        }
        [value] if text.starts_with(['{', '"']) => value.clone(),
        _ => json!(text),
    };
    (code, shown)
}

/// The real server's responses to request targets with raw `{`, `>`, `"` and other characters, escapes, and repeated
/// slashes, as recorded by `tests/clients/kubectl/request_targets.py`.
#[test]
fn request_targets_are_answered_as_by_the_real_server() {
    // Strings are UTF-8 here, and hyper's own error responses have no body.
    let known = |target: &str| target.ends_with("%ff");
    let without_text = |answer: &Value| *answer == json!("400 Bad Request");
    let serve = Serve::start(&[]);
    serve.install();
    let mut a = kite("a", 1);
    a["metadata"]["labels"] = json!({"app": "x"});
    assert_eq!(serve.call("POST", KITES, Some(&a)).0, 201);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in fs::read_to_string("tests/facts/request-targets.jsonl").unwrap().lines() {
        let fact: Value = serde_json::from_str(line).unwrap();
        let target = fact["target"].as_str().unwrap();
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
        );
        let (code, answer) = shown(&serve.raw(request.as_bytes()));
        let same = answer == fact["answer"] || known(target) || answer == json!("") && without_text(&fact["answer"]);
        if code != fact["code"] || !same {
            wrong.push(format!("{target}: {code} {answer}, expected {} {}", fact["code"], fact["answer"]));
        }
        count += 1;
    }
    assert!(count > 200, "{count} targets");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Pipelined requests on one connection, with a body that looks like a request.
#[test]
fn targets_are_escaped_between_bodies_on_one_connection() {
    let serve = Serve::start(&[]);
    serve.install();
    let body = r#"{"a":"GET /{ HTTP/1.1"}"#;
    let length = body.len();
    let post = format!(
        "POST {KITES}?x={{ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let last = format!("GET {KITES}?labelSelector=\"a{{ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let answer = serve.raw(format!("{post}{post}{last}").as_bytes());
    assert_eq!(answer.matches("HTTP/1.1 400 Bad Request").count(), 3, "{answer}");
    assert!(answer.contains("name part must consist of"), "{answer}");
}

#[test]
fn only_requests_with_loopback_hosts_are_accepted() {
    let serve = Serve::start(&["--allowed-host", "crdx.example.com", "--allowed-host", "Other.example."]);
    let send = |version: &str, headers: &str| {
        serve.raw(format!("GET /apis HTTP/{version}\r\n{headers}Connection: close\r\n\r\n").as_bytes())
    };
    for host in ["localhost", "localhost.:8080", "127.0.0.1", "[::1]:8080", "crdx.example.com:1", "other.example"] {
        let answer = send("1.1", &format!("Host: {host}\r\n"));
        assert!(answer.starts_with("HTTP/1.1 200 "), "{host}: {answer}");
    }
    assert!(send("1.0", "").starts_with("HTTP/1.0 200 "));
    assert!(send("1.1", "").starts_with("HTTP/1.1 400 "));
    for (headers, said) in [
        ("Host: evil.example\r\n", "start it with --allowed-host evil.example"),
        ("Host: localhost.evil.example:80\r\n", "for the host \\\"localhost.evil.example:80\\\""),
        ("Host: localhost\r\nSec-Fetch-Site: cross-site\r\n", "a web page of another site sent this request"),
        ("Host: localhost\r\nOrigin: https://evil.example\r\n", "a web page of another site (https://evil.example)"),
        ("Host: localhost\r\nOrigin: null\r\n", "a web page of another site (null)"),
    ] {
        let answer = send("1.1", headers);
        assert!(
            answer.starts_with("HTTP/1.1 403 ") && answer.contains("\"reason\":\"Forbidden\"") && answer.contains(said),
            "{headers}: {answer}"
        );
    }
    assert!(send("1.1", "Host: localhost\r\nHost: evil.example\r\n").starts_with("HTTP/1.1 400 "));
    assert!(send("1.1", "Host: localhost\r\nSec-Fetch-Site: none\r\n").starts_with("HTTP/1.1 200 "));
    let output = refused(&["--allowed-host", "http://a"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("\"http://a\" is not a host: give a name or an address"), "{said}");
}

/// The resident memory in MiB.
#[cfg(target_os = "linux")]
fn memory(serve: &Serve) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", serve.child.id())).unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() >> 10
}

#[cfg(target_os = "linux")]
#[test]
fn a_thousand_bad_clients_do_not_block_others() {
    let serve = Serve::start(&[]);
    serve.install();
    let before = memory(&serve);
    let mut held = Vec::new();
    for i in 0..450 {
        let mut stream = serve.stream();
        match i % 3 {
            // Sends nothing.
            0 => {}
            // Stops in the middle of the headers.
            1 => stream.write_all(b"GET /apis HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").unwrap(),
            // Announces a body of nearly 3 MiB and stops in the middle of it.
            _ => {
                let head = format!(
                    "POST {KITES} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n{{"
                );
                stream.write_all(head.as_bytes()).unwrap();
            }
        }
        held.push(stream);
    }
    for i in 0..50 {
        assert_eq!(serve.call("POST", KITES, Some(&kite(&format!("k{i}"), 1))).0, 201);
    }
    let after = memory(&serve);
    assert!(after < before + 200, "{before} MiB became {after} MiB");
    drop(held);
    assert_eq!(serve.call("GET", KITES, None).1["items"].as_array().unwrap().len(), 50);
}

/// Runs the scenarios of `tests/clients/kubectl/` with real kubectl against `serve` and the real server.
#[test]
#[ignore = "needs kubectl, Python and the real server: CRDX_APISERVER=PATH cargo test --test tests kubectl -- --ignored"]
fn kubectl_prints_the_same_with_serve() {
    let apiserver = std::env::var_os("CRDX_APISERVER")
        .expect("CRDX_APISERVER is the program that tests/apiserver/README.md builds");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let documents = root.join("../shared/documents").is_dir();
    let mut scenarios: Vec<_> =
        fs::read_dir(root.join("tests/clients/kubectl")).unwrap().map(|e| e.unwrap().path()).collect();
    scenarios.retain(|p| p.extension().is_some_and(|e| e == "txt") && (documents || !p.ends_with("doc-000.txt")));
    scenarios.sort();
    assert!(scenarios.len() >= 4);
    let status = Command::new("python3")
        .arg(root.join("tests/clients/kubectl/compare.py"))
        .args(["--binary", env!("CARGO_BIN_EXE_kubectl-crdx"), "--apiserver"])
        .arg(apiserver)
        .args(scenarios)
        .status()
        .unwrap();
    assert!(status.success());
}

/// Runs third-party clients: kube-rs, client-go with controller-runtime, and the official Python client.
#[test]
#[ignore = "needs Go, Python and the network for their packages: cargo test --test tests clients -- --ignored"]
fn third_party_clients_work() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/run.sh");
    let status = Command::new("bash").arg(script).arg(env!("CARGO_BIN_EXE_kubectl-crdx")).status().unwrap();
    assert!(status.success());
}

/// A server in this process that has the CRD.
fn with_limits(limits: crdx_serve::Limits) -> crdx_serve::Running {
    let runtime = crdx_serve::Runtime::new().unwrap();
    let server = crdx_kinds::builder(Release::NEWEST, 1).with_notifier(runtime.notifier()).build();
    let running =
        crdx_serve::start(runtime, Arc::new(server), ServeOptions { limits, ..ServeOptions::default() }).unwrap();
    let reply = Http::new(&running.url()).call("POST", CRDS, Some(&crd().to_string()), None, "application/json");
    assert_eq!(reply.code, 201, "{}", reply.body);
    running
}

fn connect(running: &crdx_serve::Running) -> TcpStream {
    TcpStream::connect(running.url().strip_prefix("http://").unwrap()).unwrap()
}

/// Nothing but the patience of the server ends a slow client.
const PATIENT: crdx_serve::Limits = crdx_serve::Limits {
    bodies: 8 << 20,
    answers: 30 << 20,
    patience: Duration::from_millis(300),
    body_timeout: Duration::from_hours(1),
    write_timeout: Duration::from_hours(1),
};

fn large_kite(name: &str, length: usize) -> Value {
    let mut kite = kite(name, 1);

    kite["spec"]["colour"] = "x".repeat(length).into();
    kite
}

#[test]
fn slow_bodies_do_not_delay_others() {
    let running = with_limits(PATIENT);
    let head = format!(
        "POST {KITES} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
    );
    let slow: Vec<TcpStream> = (0..150)
        .map(|_| {
            let mut stream = connect(&running);
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(&vec![b' '; 300_000]).unwrap();
            stream
        })
        .collect();
    let mut client = Http::new(&running.url());
    let body = large_kite("a", 500_000).to_string();
    let reply = client.call("POST", KITES, Some(&body), None, "application/json");
    assert_eq!(reply.code, 201, "{}", reply.body);
    // The clients that had to make room are told so.
    let mut refused = slow.into_iter().filter_map(|mut stream| {
        stream.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        let mut line = [0; 12];
        stream.read_exact(&mut line).ok().map(|()| line)
    });
    assert_eq!(refused.next().as_ref(), Some(b"HTTP/1.1 408"));
}

#[test]
fn a_body_must_arrive_in_time() {
    let running = with_limits(crdx_serve::Limits { body_timeout: Duration::from_millis(50), ..PATIENT });
    let mut stream = connect(&running);
    let head = format!("POST {KITES} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{{");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

/// Requests a list of 28 MB, more than the system buffers, from clients that do not read it, and then reads it. Returns
/// the number of answers of these clients that are incomplete.
fn unread_lists(limits: crdx_serve::Limits, clients: usize) -> usize {
    let running = with_limits(limits);
    let mut client = Http::new(&running.url());
    for number in 0..20 {
        let body = large_kite(&format!("k{number}"), 1_400_000).to_string();
        assert_eq!(client.call("POST", KITES, Some(&body), None, "application/json").code, 201);
    }
    let request = format!("GET {KITES} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let slow: Vec<TcpStream> = (0..clients)
        .map(|_| {
            let mut stream = connect(&running);
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    // The first bytes are there when an answer is being written.
    for stream in slow.iter().take(1) {
        stream.peek(&mut [0]).unwrap();
    }
    if limits.write_timeout < Duration::from_secs(10) {
        thread::sleep(limits.write_timeout * 10);
    } else {
        let list = client.call("GET", KITES, None, None, "application/json");
        assert_eq!((list.code, list.body["items"].as_array().unwrap().len()), (200, 20));
    }
    let is_incomplete = |mut stream: TcpStream| {
        let mut read = Vec::new();
        let result = stream.read_to_end(&mut read);
        result.is_err() || read.len() < 28_000_000
    };
    slow.into_iter().map(is_incomplete).filter(|incomplete| *incomplete).count()
}

#[test]
fn unread_answers_make_room_for_others() {
    // There is room for one list.
    let limits = crdx_serve::Limits { patience: Duration::from_secs(2), ..PATIENT };
    assert!(unread_lists(limits, 3) > 0);
}

#[test]
fn an_answer_must_be_read_in_time() {
    let limits = crdx_serve::Limits { answers: usize::MAX, write_timeout: Duration::from_millis(100), ..PATIENT };
    assert_eq!(unread_lists(limits, 1), 1);
}

/// A `serve --sessions` process and its standard input.
struct Sessions {
    child: Child,
    input: Option<std::process::ChildStdin>,
    output: BufReader<std::process::ChildStdout>,
}

impl Sessions {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
            .args(["serve", "--sessions"])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn ask(&mut self, request: &str) -> Value {
        writeln!(self.input.as_mut().unwrap(), "{request}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&answer["apiVersion"], &answer["kind"]), (&json!("crdx/v1"), &json!("SessionReport")));
        answer
    }

    fn new_server(&mut self, request: &str) -> (String, Http) {
        let answer = self.ask(request);
        let url = answer["url"].as_str().unwrap().to_owned();
        assert!(answer["kubeconfig"].as_str().unwrap().contains(&url), "{answer}");
        let client = Http::new(&url);
        (url, client)
    }
}

#[test]
fn each_session_has_a_state_of_its_own_and_ends_with_standard_input() {
    let directory = tempfile::tempdir().unwrap();
    let (crds, objects) = (directory.path().join("crd.json"), directory.path().join("kite.json"));
    fs::write(&crds, crd().to_string()).unwrap();
    fs::write(&objects, kite("given", 3).to_string()).unwrap();
    let mut sessions = Sessions::start(&["--load", text(&crds)]);
    let (_, mut first) = sessions.new_server("new");
    let (second_url, mut second) = sessions.new_server(&format!("new {}", json!([text(&objects)])));
    let created = first.call("POST", KITES, Some(&kite("a", 1).to_string()), None, "application/json");
    assert_eq!(created.code, 201, "{}", created.body);
    let names = |client: &mut Http| {
        let list = client.call("GET", KITES, None, None, "application/json").body;
        list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!((names(&mut first), names(&mut second)), (vec![json!("a")], vec![json!("given")]));

    assert_eq!(sessions.ask(&format!("end {second_url}"))["ended"], json!(second_url));
    let error = sessions.ask(&format!("end {second_url}"))["error"].clone();
    assert!(error.as_str().unwrap().starts_with("no server has the URL"), "{error}");
    let error = sessions.ask("new [\"missing-file\"]")["error"].clone();
    assert!(error.as_str().unwrap().contains("missing-file"), "{error}");

    drop(sessions.input.take());
    assert_eq!(sessions.child.wait().unwrap().code(), Some(0), "it ends with its parent");
}

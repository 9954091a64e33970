//! Tests with real files.

use super::*;
use crate::release::Release;
use crate::server::{Method, Request, ResponseBody};
use crate::value::Value;
use std::fs;

const CRD: &str = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"kites.toys.example.com"},"spec":{"group":"toys.example.com","scope":"Cluster",
    "names":{"plural":"kites","kind":"Kite"},"versions":[{"name":"v1","served":true,"storage":true,
    "schema":{"openAPIV3Schema":{"type":"object"}}}]}}"#;
const KITES: &str = "/apis/toys.example.com/v1/kites";

fn open(path: &Path) -> (Server, Arc<State>) {
    let Opened { server, state, orphans } = State::open(path, Server::builder(Release::NEWEST, 1)).unwrap();
    assert_eq!(orphans, [""; 0]);
    (server, state)
}

fn send(server: &Server, method: Method, path: &str, body: &str) -> (u16, Value) {
    let response = server.handle(&Request::new(method, path, body));
    match response.body {
        ResponseBody::Json(body) => (response.code, Arc::unwrap_or_clone(body)),
        ResponseBody::Text(text) => panic!("{text}"),
    }
}

fn create(server: &Server, name: &str) {
    let kite = format!(r#"{{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{{"name":"{name}"}}}}"#);
    assert_eq!(send(server, Method::Post, KITES, &kite).0, 201);
}

fn names(server: &Server) -> Vec<String> {
    let (_, list) = send(server, Method::Get, KITES, "");
    let items = list.get("items").and_then(Value::as_array).unwrap();
    items.iter().map(|o| o.str_at(&["metadata", "name"]).unwrap().to_owned()).collect()
}

fn with_kites(path: &Path) -> (Server, Arc<State>) {
    let (server, state) = open(path);
    assert_eq!(send(&server, Method::Post, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD).0, 201);
    for name in ["a", "b", "c"] {
        create(&server, name);
    }
    (server, state)
}

/// Closes the file; the server also refers to it.
fn close(server: Server, state: Arc<State>) {
    drop(server);
    drop(state);
}

#[test]
fn stored_objects_are_restored() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    let (server, state) = with_kites(&path);
    assert_eq!(send(&server, Method::Delete, &format!("{KITES}/b"), "").0, 200);
    let before = send(&server, Method::Get, KITES, "");
    close(server, state);
    let (server, state) = open(&path);
    assert_eq!(send(&server, Method::Get, KITES, ""), before);
    create(&server, "d");
    close(server, state);
    assert_eq!(names(&open(&path).0), ["a", "c", "d"]);
}

#[test]
fn a_line_without_an_end_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    let (server, state) = with_kites(&path);
    close(server, state);
    let whole = fs::read(&path).unwrap();
    let last = whole.iter().take(whole.len() - 1).rposition(|b| *b == b'\n').unwrap() + 1;
    for length in [last, last + 1, last + 20, whole.len() - 1] {
        fs::write(&path, whole.get(..length).unwrap()).unwrap();
        let (server, state) = open(&path);
        assert_eq!(names(&server), ["a", "b"], "{length}");
        create(&server, "z");
        close(server, state);
        assert_eq!(names(&open(&path).0), ["a", "b", "z"], "{length}");
    }
}

#[test]
fn a_file_written_anew_holds_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    let (server, state) = with_kites(&path);
    for _ in 0..20 {
        create(&server, "x");
        assert_eq!(send(&server, Method::Delete, &format!("{KITES}/x"), "").0, 200);
    }
    let before = fs::metadata(&path).unwrap().len();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0..50 {
                create(&server, &format!("w{i}"));
            }
        });
        for _ in 0..10 {
            state.compact(state.log());
        }
    });
    state.compact(state.log());
    assert!(state.failure().is_none());
    create(&server, "y");
    let expected = names(&server);
    assert_eq!(expected.len(), 54);
    let lines = fs::read_to_string(&path).unwrap().lines().count();
    assert!(lines < 60, "{lines} lines, {before} bytes before");
    close(server, state);
    assert!(!with_suffix(&path, "tail").exists());
    assert_eq!(names(&open(&path).0), expected);
}

#[test]
fn a_tail_is_read_after_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    let (server, state) = with_kites(&path);
    // Simulates a crash during compaction: some commits are in the tail only.
    state.log().file = FileSystem.create(&with_suffix(&path, "tail")).unwrap();
    create(&server, "d");
    assert_eq!(send(&server, Method::Delete, &format!("{KITES}/a"), "").0, 200);
    close(server, state);
    let (server, state) = open(&path);
    assert_eq!(names(&server), ["b", "c", "d"]);
    assert!(!with_suffix(&path, "tail").exists());
    close(server, state);
    assert_eq!(names(&open(&path).0), ["b", "c", "d"]);
}

#[test]
fn other_files_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    for other in ["kind: Config", "kind: Config\n", "{}\n{}\n"] {
        fs::write(&path, other).unwrap();
        let error = State::open(&path, Server::builder(Release::NEWEST, 1)).unwrap_err();
        assert!(matches!(error, StateError::OtherFormat(_)), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), other);
    }
    fs::remove_file(&path).unwrap();
    let (_server, _state) = open(&path);
    let error = State::open(&path, Server::builder(Release::NEWEST, 1)).unwrap_err();
    assert!(matches!(error, StateError::InUse(_)), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let (server, state) = with_kites(&directory.path().join("state"));
    state.log().file = FileSystem.append(Path::new("/dev/full")).unwrap();
    create(&server, "d");
    let failure = state.failure().unwrap();
    assert!(failure.to_string().contains("cannot be written: No space left"), "{failure}");
    assert!(failure.help().starts_with("free disk space and start again"));
}

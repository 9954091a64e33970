//! Tests with real files.

use super::*;
use crdx_server::server::{Method, Request, ResponseBody};
use crdx_value::Value;
use crdx_value::release::Release;
use std::fs;

const CRD: &str = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"kites.toys.example.com"},"spec":{"group":"toys.example.com","scope":"Cluster",
    "names":{"plural":"kites","kind":"Kite"},"versions":[{"name":"v1","served":true,"storage":true,
    "schema":{"openAPIV3Schema":{"type":"object"}}}]}}"#;
const KITES: &str = "/apis/toys.example.com/v1/kites";

fn opened(path: &Path) -> (Server, Arc<StateFile>) {
    let opened = open_with_notes(path);
    (opened.server, opened.state)
}

fn open_with_notes(path: &Path) -> Opened {
    let opened = StateFile::open(path, Server::builder(Release::NEWEST, 1)).unwrap();
    assert_eq!(opened.orphans, [""; 0]);
    opened
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

fn with_kites(path: &Path) -> (Server, Arc<StateFile>) {
    let (server, state) = opened(path);
    assert_eq!(send(&server, Method::Post, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD).0, 201);
    for name in ["a", "b", "c"] {
        create(&server, name);
    }
    (server, state)
}

/// Closes the file; the server also refers to it.
fn close(server: Server, state: Arc<StateFile>) {
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
    let (server, state) = opened(&path);
    assert_eq!(send(&server, Method::Get, KITES, ""), before);
    create(&server, "d");
    close(server, state);
    assert_eq!(names(&opened(&path).0), ["a", "c", "d"]);
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
        let Opened { server, state, notes, .. } = open_with_notes(&path);
        let expected: &[StateNote] = if length == last { &[] } else { &[StateNote::IncompleteLine] };
        assert_eq!(notes, expected, "{length}");
        assert_eq!(names(&server), ["a", "b"], "{length}");
        create(&server, "z");
        close(server, state);
        assert_eq!(names(&opened(&path).0), ["a", "b", "z"], "{length}");
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
    assert_eq!(names(&opened(&path).0), expected);
}

#[test]
fn a_tail_is_read_after_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    let (server, state) = with_kites(&path);
    // Simulates a crash during compaction: some commits are in the tail only.
    state.log().file = Arc::new(open::created(&with_suffix(&path, "tail")).unwrap());
    create(&server, "d");
    assert_eq!(send(&server, Method::Delete, &format!("{KITES}/a"), "").0, 200);
    close(server, state);
    let (server, state) = opened(&path);
    assert_eq!(names(&server), ["b", "c", "d"]);
    assert!(!with_suffix(&path, "tail").exists());
    close(server, state);
    assert_eq!(names(&opened(&path).0), ["b", "c", "d"]);
}

#[test]
fn other_files_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    for other in ["kind: Config", "kind: Config\n", "{}\n{}\n"] {
        fs::write(&path, other).unwrap();
        let error = StateFile::open(&path, Server::builder(Release::NEWEST, 1)).unwrap_err();
        assert!(matches!(error, StateError::OtherFormat(_)), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), other);
    }
    fs::remove_file(&path).unwrap();
    let (_server, _state) = opened(&path);
    let error = StateFile::open(&path, Server::builder(Release::NEWEST, 1)).unwrap_err();
    assert!(matches!(error, StateError::InUse(_)), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let (server, state) = with_kites(&directory.path().join("state"));
    state.log().file = Arc::new(fs::File::options().append(true).open("/dev/full").unwrap());
    create(&server, "d");
    let failure = state.failure().unwrap();
    assert!(failure.to_string().contains("cannot be written: No space left"), "{failure}");
    assert!(failure.help().starts_with("free disk space and start again"));
}

/// A file of a build that wrote no checksums, with its tail.
const EARLIER: &str = concat!(
    "{\"kubectlCrdxState\":1}\n{\"revision\":4}\n",
    r#"{"definition":"customresourcedefinitions.apiextensions.k8s.io","key":"kites.toys.example.com","revision":2,"object":CRD}"#,
    "\n",
    r#"{"definition":"kites.toys.example.com","key":"a","revision":3,"object":{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"a","resourceVersion":"3","uid":"6b6f4d40-0d3e-4f0a-8d4f-0b2f5d0a8c11"}}}"#,
    "\n"
);
const EARLIER_TAIL: &str = concat!(
    r#"{"definition":"kites.toys.example.com","key":"b","revision":5,"object":{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"b","resourceVersion":"5","uid":"6b6f4d40-0d3e-4f0a-8d4f-0b2f5d0a8c12"}}}"#,
    "\n"
);

#[test]
fn a_file_of_an_earlier_build_is_converted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    fs::write(&path, EARLIER.replace("CRD", &CRD.replace('\n', " "))).unwrap();
    fs::write(with_suffix(&path, "tail"), EARLIER_TAIL).unwrap();
    let Opened { server, state, notes, .. } = open_with_notes(&path);
    assert!(notes.contains(&StateNote::EarlierFormat), "{notes:?}");
    assert_eq!(names(&server), ["a", "b"]);
    close(server, state);
    assert!(fs::read_to_string(&path).unwrap().starts_with(HEADER));
    // The process was killed before it removed the tail.
    fs::write(with_suffix(&path, "tail"), EARLIER_TAIL).unwrap();
    let Opened { server, notes, .. } = open_with_notes(&path);
    assert_eq!(
        (names(&server), notes.contains(&StateNote::EarlierFormat)),
        (vec!["a".to_owned(), "b".to_owned()], false)
    );
}

#[test]
fn every_flipped_bit_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    let (server, state) = with_kites(&path);
    assert_eq!(send(&server, Method::Delete, &format!("{KITES}/b"), "").0, 200);
    close(server, state);
    let whole = fs::read(&path).unwrap();
    for bit in 0..whole.len() * 8 {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        // A damaged line break at the end gives an incomplete line, which is reported, too.
        let Ok(StateFileContent { lines, rest }) = content(damaged) else { continue };
        assert!(index(&path, &lines, "").is_err() || !rest.is_empty(), "bit {bit}");
    }
    assert!(index(&path, &String::from_utf8(whole).unwrap(), "").is_ok());
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    #[test]
    fn a_link_remains_and_planted_ones_are_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        let (file, link, victim) = (base.join("file"), base.join("link"), base.join("victim"));
        fs::write(&victim, "precious").unwrap();
        fs::write(&file, "").unwrap();
        symlink("file", &link).unwrap();
        for suffix in ["new", "lock"] {
            symlink("victim", with_suffix(&file, suffix)).unwrap();
        }
        let (server, state) = with_kites(&link);
        symlink("victim", with_suffix(&file, "tail")).unwrap();
        state.compact(state.log());
        create(&server, "d");
        assert!(state.failure().is_none());
        close(server, state);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::symlink_metadata(&file).unwrap().is_file());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(names(&opened(&link).0), ["a", "b", "c", "d"]);
        // A tail is read, so a link in its place is an error.
        symlink("victim", with_suffix(&file, "tail")).unwrap();
        let error = StateFile::open(&link, Server::builder(Release::NEWEST, 1)).unwrap_err();
        assert!(error.to_string().starts_with("cannot read the tail of "), "{error}");
    }

    #[test]
    fn a_file_has_one_server_under_all_its_names() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        let (file, link, hard) = (base.join("file"), base.join("link"), base.join("hard"));
        let (server, state) = with_kites(&file);
        symlink(&file, &link).unwrap();
        fs::hard_link(&file, &hard).unwrap();
        let in_use = |path: &Path| {
            let error = StateFile::open(path, Server::builder(Release::NEWEST, 1)).unwrap_err();
            assert!(matches!(error, StateError::InUse(_)), "{error}");
        };
        for path in [&file, &link, &hard] {
            in_use(path);
        }
        // The file that replaces it is locked, too.
        for _ in 0..2 {
            state.compact(state.log());
            in_use(&file);
            in_use(&link);
        }
        close(server, state);
        assert_eq!(names(&opened(&link).0), ["a", "b", "c"]);
    }

    #[test]
    fn only_a_regular_file_is_opened() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), Path::new("/dev/null"), directory.path()] {
            let error = StateFile::open(path, Server::builder(Release::NEWEST, 1)).unwrap_err();
            assert!(matches!(error, StateError::Io { operation: "open", .. }), "{error}");
            assert!(
                fs::metadata(path).unwrap().is_file() || error.to_string().contains("regular file") || path.is_dir()
            );
        }
    }

    #[test]
    fn only_the_owner_may_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let (server, state) = with_kites(&path);
        assert_eq!(mode(), 0o600);
        state.compact(state.log());
        assert_eq!(mode(), 0o600);
        close(server, state);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(open_with_notes(&path).notes, [StateNote::WasOpen(0o644)]);
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn a_file_that_replaced_it_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let (server, state) = with_kites(&path);
        fs::rename(&path, directory.path().join("moved")).unwrap();
        fs::write(&path, "other").unwrap();
        state.compact(state.log());
        assert_eq!(fs::read_to_string(&path).unwrap(), "other");
        close(server, state);
    }
}

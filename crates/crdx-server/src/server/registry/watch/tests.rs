//! Tests of watches through the server's requests.

use super::*;
use crate::server::Reply;
use crate::server::fixture::{self, CRDS, FOOS, crd, install, v1};
use crate::server::{Method, Request, Server};
use crdx_text::json;
use crdx_value::Value;
use crdx_value::release::Release;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

const METADATA: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";

fn send(server: &Server, method: Method, path: &str, body: &str) -> u16 {
    fixture::send(server, method, path, body).code
}

fn with_foos() -> Server {
    let server = Server::builder(Release::NEWEST, 1).without_managed_fields().build();
    let schema =
        r#"{"type":"object","properties":{"spec":{"type":"object","properties":{"color":{"type":"string"}}}}}"#;
    let selectable = r#""selectableFields":[{"jsonPath":".spec.color"}],"#;
    install(&server, &crd("foos.example.com", &v1(schema, selectable)));
    server
}

fn create(server: &Server, name: &str, color: &str) {
    let foo = format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{"name":"{name}"}},"spec":{{"color":"{color}"}}}}"#
    );
    assert_eq!(send(server, Method::Post, FOOS, &foo), 201);
}

fn watch(server: &Server, query: &str, accept: Option<&str>) -> Box<Watch> {
    let mut request = Request::new(Method::Get, &format!("{FOOS}?watch=1{query}"), "");
    request.accept = accept.map(str::to_owned);
    match server.reply(&request) {
        Reply::Stream(watch) => watch,
        other => panic!("{other:?}"),
    }
}

/// The events so far: type, name and resourceVersion (or message).
fn events(watch: &mut Watch) -> Vec<String> {
    let events = std::iter::from_fn(|| watch.next_now(Timestamp::default()));
    let line = |event: Arc<[u8]>| {
        let event = json::read(&event).unwrap();
        let text = |path: &[&str]| event.at(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let about = text(&["object", "metadata", "name"]) + &text(&["object", "message"]);
        format!("{} {about} {}", text(&["type"]), text(&["object", "metadata", "resourceVersion"]))
    };
    events.map(line).collect()
}

#[test]
fn a_watch_starts_with_existing_objects_or_after_a_revision() {
    let server = with_foos();
    let start = server.resources().storage.revision.current();
    create(&server, "a", "red");
    let at = |n: u64| (start + n).to_string();
    let mut all = watch(&server, "&allowWatchBookmarks=1", None);
    let mut since = watch(&server, &format!("&resourceVersion={}", at(1)), Some(METADATA));
    create(&server, "b", "red");
    send(&server, Method::Delete, &format!("{FOOS}/a"), "");
    assert_eq!(
        events(&mut all),
        [
            format!("ADDED a {}", at(1)),
            format!("BOOKMARK  {}", at(1)),
            format!("ADDED b {}", at(2)),
            format!("DELETED a {}", at(3))
        ]
    );
    assert_eq!(events(&mut since), [format!("ADDED b {}", at(2)), format!("DELETED a {}", at(3))]);
    let mut old = watch(&server, "&resourceVersion=1", None);
    assert_eq!(
        events(&mut old).first().map(String::as_str),
        // The log of a CRD's objects starts at the write before the one that established the CRD.
        Some(&*format!("ERROR too old resource version: 1 ({}) ", start - 1))
    );
}

#[test]
fn an_object_that_is_no_longer_selected_is_deleted_for_the_watch() {
    let server = with_foos();
    let start = server.resources().storage.revision.current();
    let mut red = watch(
        &server,
        "&fieldSelector=spec.color%3Dred&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
        None,
    );
    create(&server, "a", "red");
    let path = format!("{FOOS}/a");
    for color in ["blue", "green", "red", "red"] {
        let patch = format!(r#"{{"metadata":{{"labels":{{"was":"{color}"}}}},"spec":{{"color":"{color}"}}}}"#);
        send(&server, Method::Patch, &path, &patch);
    }
    send(&server, Method::Patch, &path, r#"{"metadata":{"labels":{"x":"y"}}}"#);
    let at = |n: u64| (start + n).to_string();
    assert_eq!(
        events(&mut red),
        [
            format!("ADDED a {}", at(1)),
            format!("DELETED a {}", at(2)),
            format!("ADDED a {}", at(4)),
            format!("MODIFIED a {}", at(5))
        ]
    );
}

#[test]
fn watches_with_one_representation_share_serialized_events() {
    let server = with_foos();
    let (mut one, mut two) = (watch(&server, "", None), watch(&server, "", None));
    create(&server, "a", "red");
    let now = Timestamp::default();
    assert!(Arc::ptr_eq(&one.next_now(now).unwrap(), &two.next_now(now).unwrap()));
}

#[test]
fn waiting_watches_are_woken_by_events_and_at_the_end() {
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let server = with_foos();
    let mut waiting = watch(&server, "", None);
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    let context = task::Context::from_waker(&waker);
    let now = Timestamp::default();
    assert!(waiting.poll(now, &context).is_pending());
    create(&server, "a", "red");
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    assert!(matches!(waiting.poll(now, &context), Poll::Ready(Some(_))));
    assert!(waiting.poll(now, &context).is_pending());
    assert_eq!(send(&server, Method::Delete, &format!("{CRDS}/foos.example.com"), ""), 200);
    assert!(count.0.load(Ordering::SeqCst) > 1);
    assert!(matches!(waiting.poll(now, &context), Poll::Ready(Some(_))), "the object is deleted");
    assert!(matches!(waiting.poll(now, &context), Poll::Ready(None)), "its definition is gone");
}

#[test]
fn bookmarks_have_the_revision_of_the_watch() {
    let server = with_foos();
    let mut watch = watch(&server, "&allowWatchBookmarks=1&resourceVersion=0", None);
    assert!(watch.bookmark(Timestamp::default()).is_none(), "the beginning was not told yet");
    events(&mut watch);
    let crd = format!("{CRDS}/foos.example.com");
    send(&server, Method::Patch, &crd, r#"{"metadata":{"labels":{"a":"b"}}}"#);
    let text = watch.bookmark(Timestamp::default()).unwrap();
    let current = server.resources().storage.revision.current();
    assert_eq!(
        String::from_utf8_lossy(&text),
        format!(
            "{{\"type\":\"BOOKMARK\",\"object\":{{\"apiVersion\":\"example.com/v1\",\"kind\":\"Foo\",\"metadata\":{{\"resourceVersion\":\"{current}\"}}}}}}\n"
        )
    );
}

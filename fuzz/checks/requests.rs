//! Any sequence of requests gets responses. Records are separated by a line `%%`; each is a line `METHOD PATH
//! CONTENT-TYPE` followed by the body.
use crdx_server::server::{Body, Method, Request, ResponseBody, Server};
use crdx_text::json;
use crdx_value::STACK_SIZE;
use std::sync::LazyLock;
use std::thread;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

static CRONTAB: LazyLock<Vec<u8>> = LazyLock::new(|| include_bytes!("../../examples/crds/crontab.yaml").to_vec());

fn request(method: &str, path: &str, content_type: Option<&str>, body: Vec<u8>) -> Request {
    let body = if body.is_empty() { Body::Empty } else { Body::Bytes(body) };
    Request { content_type: content_type.map(str::to_owned), ..Request::new(Method::from_name(method), path, body) }
}

fn answer(text: &str) {
    let server = Server::new(crdx_value::release::Release::NEWEST, 1);
    let created = server.handle(&request("POST", DEFINITIONS, Some("application/yaml"), CRONTAB.clone()));
    assert_eq!(created.code, 201);
    for record in text.split("\n%%\n").take(8) {
        let (head, body) = record.split_once('\n').unwrap_or((record, ""));
        let mut words = head.split(' ');
        let (Some(method), Some(path)) = (words.next(), words.next()) else { continue };
        let response = server.handle(&request(method, path, words.next(), body.as_bytes().to_vec()));
        assert!((200..600).contains(&response.code), "{}", response.code);
        if let ResponseBody::Json(value) = &response.body {
            let text = json::write::kubectl(value);
            assert_eq!(json::read(text.as_bytes()).as_ref(), Ok(&**value), "{text}");
        }
    }
}

pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, || answer(text));
        worker.expect("a thread").join().expect("no panic");
    });
}

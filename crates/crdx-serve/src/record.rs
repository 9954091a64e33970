//! `--record`: every exchange as one JSON line, in the shape of the recordings in `tests/conformance/`.
//!
//! `{"request": {"method", "path", "body", "contentType", "accept"}, "response": {"code", "body", "warnings"}}`. A JSON
//! body is written as JSON, any other body as a string. A resourceVersion or uid that a request took from an earlier
//! response is written as `{{resourceVersion}}` or `{{uid}}`, so that the lines can be replayed in order against an
//! empty server.

use crdx_output::printable::complain;
use crdx_server::server::{Body, Request, Response, ResponseBody};
use crdx_text as text;
use crdx_value::lock::lock;
use crdx_value::{Map, Value, json, object};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::sync::Mutex;

/// The maximum number of objects whose last resourceVersion and uid are kept.
const MAX_SEEN: usize = 100_000;

/// Records exchanges in a file.
#[derive(Debug)]
pub(super) struct Record {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    /// The resourceVersion and uid last returned for each path.
    seen: HashMap<String, (String, String)>,
}

impl Record {
    /// Creates a record that is appended to `file`.
    pub fn new(file: File) -> Self {
        Self { inner: Mutex::new(Inner { file, seen: HashMap::new() }) }
    }

    /// Records one exchange. If the file cannot be written, prints an error for each missing exchange.
    pub fn exchange(&self, request: &Request, response: &Response) {
        let mut sent = sent(&request.body);
        let answered = answered(&response.body);
        let mut inner = lock(&self.inner);
        let key = key(&request.path);
        if let Some(sent) = &mut sent
            && let Some((version, uid)) = inner.seen.get(&key)
        {
            replace(sent, "resourceVersion", version);
            replace(sent, "uid", uid);
        }
        inner.remember(request, &key, &answered);
        let line = line(request, sent, response, answered);
        if let Err(error) = inner.file.write_all(line.as_bytes()) {
            complain!("warning: an exchange could not be recorded: {error}");
        }
    }
}

impl Inner {
    fn remember(&mut self, request: &Request, key: &str, answer: &Value) {
        let text = |path: &[&str]| answer.str_at(path).unwrap_or_default().to_owned();
        let (name, version) = (text(&["metadata", "name"]), text(&["metadata", "resourceVersion"]));
        let is_object = !matches!(text(&["kind"]).as_str(), "Status" | "Table");
        if !is_object || name.is_empty() || version.is_empty() || request.path.contains("dryRun") {
            return;
        }
        let key = if key.ends_with(&format!("/{name}")) { key.to_owned() } else { format!("{key}/{name}") };
        if self.seen.len() >= MAX_SEEN {
            self.seen.clear();
        }
        self.seen.insert(key, (version, text(&["metadata", "uid"])));
    }
}

/// Returns the path of the object, without query and subresource.
fn key(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let path = path.strip_suffix("/status").or_else(|| path.strip_suffix("/scale")).unwrap_or(path);
    path.to_owned()
}

/// Replaces `metadata.member` of `body` by `{{member}}` if it is `value`.
fn replace(body: &mut Value, member: &str, value: &str) {
    let metadata = body.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(member_value) = metadata.and_then(|m| m.get_mut(member))
        && member_value.as_str() == Some(value)
    {
        *member_value = Value::from(format!("{{{{{member}}}}}"));
    }
}

fn sent(body: &Body) -> Option<Value> {
    match body {
        Body::Empty => None,
        Body::Value(value) => Some(value.clone()),
        // Written as JSON only if it decodes without loss; bodies with duplicate keys or syntax errors are written as
        // strings.
        Body::Bytes(bytes) => match text::json::read_strict(bytes) {
            Ok(read) if read.errors.is_empty() => Some(read.value),
            _ => Some(Value::from(text::lossy(bytes))),
        },
    }
}

fn answered(body: &ResponseBody) -> Value {
    match body {
        ResponseBody::Json(value) => (**value).clone(),
        ResponseBody::Text(text) => Value::from(text.as_str()),
    }
}

fn line(request: &Request, sent: Option<Value>, response: &Response, answered: Value) -> String {
    let mut request_value = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            request_value.insert(key.to_owned(), value);
        }
    };
    put("method", Some(request.method.as_str().into()));
    put("path", Some(request.path.as_str().into()));
    put("contentType", request.content_type.as_deref().map(Value::from));
    put("accept", request.accept.as_deref().map(Value::from));
    put("body", sent);
    let mut response_value = object([("code", Value::Int(response.code.into())), ("body", answered)]);
    if let Some(response_value) = response_value.as_object_mut()
        && !response.warnings.is_empty()
    {
        let warnings = response.warnings.iter().map(|w| Value::from(w.as_str())).collect();
        response_value.insert("warnings".to_owned(), Value::Array(warnings));
    }
    let mut line = json::to_string(&object([("request", Value::Object(request_value)), ("response", response_value)]));
    line.push('\n');
    line
}

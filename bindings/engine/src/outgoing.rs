//! The frames to the host.

use crate::frame::Frame;
use crdx_server::server::http::wire;
use crdx_server::server::{Call, Paused, Response, Watch};
use crdx_server::webhooks::call::{MAX_RESPONSE, url};
use crdx_value::{Value, object};
use std::time::Duration;

/// The answer to a request.
pub fn response(id: i64, response: Response) -> Frame {
    let (content_type, body) = wire::encode(response.body, response.format);
    let has_type = response.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let mut headers: Vec<Value> = response.headers.into_iter().map(|(name, value)| pair(name, &value)).collect();
    if !has_type && !body.is_empty() {
        headers.push(pair("Content-Type", content_type));
    }
    let warnings: Vec<Value> = response.warnings.into_iter().map(Value::from).collect();
    let header = object([
        ("id", Value::Int(id)),
        ("code", Value::Int(response.code.into())),
        ("headers", headers.into()),
        ("warnings", warnings.into()),
        ("last", true.into()),
    ]);
    Frame { header, body }
}

/// The answer to a watch: its events follow, until one has `last`.
pub fn watch(id: i64, watch: &Watch) -> Frame {
    let warnings: Vec<Value> = watch.warnings().iter().map(|warning| warning.as_str().into()).collect();
    let mut header = vec![
        ("id", Value::Int(id)),
        ("code", Value::Int(200)),
        ("headers", vec![pair("Content-Type", "application/json")].into()),
        ("warnings", warnings.into()),
        ("timeoutMilliseconds", milliseconds(watch.timeout())),
    ];
    header.extend(watch.bookmark_interval().map(|interval| ("bookmarkMilliseconds", milliseconds(interval))));
    Frame { header: object(header), body: Vec::new() }
}

/// An event of a watch.
pub fn event(id: i64, text: &[u8]) -> Frame {
    Frame { header: object([("id", id)]), body: text.to_vec() }
}

/// The end of a watch.
pub fn last(id: i64) -> Frame {
    Frame { header: object([("id", Value::Int(id)), ("last", true.into())]), body: Vec::new() }
}

/// A webhook call for the host: a POST of the body (JSON) to `url`. The certificate of the server must be signed by an authority in
/// `caBundle` (PEM) or, if that is empty, by one that the system trusts. The host follows redirects, repeats the call as long as a response
/// asks for it with `Retry-After`, and reads at most `maxBytes` of a response. The outcome has the same `id` and `call`.
pub fn call(id: i64, number: i64, call: &Call) -> Frame {
    let header = object([
        ("id", Value::Int(id)),
        ("call", Value::Int(number)),
        ("url", url(&call.target, call.timeout_seconds).into()),
        ("caBundle", String::from_utf8_lossy(&call.target.ca_bundle).into_owned().into()),
        ("timeoutMilliseconds", milliseconds(Duration::from_secs(call.timeout_seconds))),
        ("maxBytes", Value::Int(MAX_RESPONSE.try_into().unwrap_or(i64::MAX))),
    ]);
    Frame { header, body: call.body.clone().into_bytes() }
}

/// A pause, after which the host resumes the request.
pub fn pause(id: i64, paused: &Paused) -> Frame {
    let header = object([("id", Value::Int(id)), ("pauseMilliseconds", milliseconds(paused.duration()))]);
    Frame { header, body: Vec::new() }
}

fn milliseconds(duration: Duration) -> Value {
    Value::Int(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}

fn pair(name: &str, value: &str) -> Value {
    vec![Value::from(name), Value::from(value)].into()
}

//! The frames from the host.

use crate::frame::Frame;
use crdx_server::server::http::bearer_token::bearer_token;
use crdx_server::server::http::impersonation::impersonated;
use crdx_server::server::{Body, CallOutcome, Method, Request, Timestamp};
use crdx_value::Value;
use std::borrow::Cow;

/// A frame from the host.
#[derive(Debug)]
pub enum Message {
    /// A request to the server, and its bearer token.
    Request(Box<Request>, Option<String>),
    /// The outcome of a webhook's call, whose number is that of its frame.
    Outcome(i64, CallOutcome),
    /// The pause of a request is over.
    Resume,
    /// A watch may send a bookmark.
    Bookmark,
    /// The client of a request or a watch is gone.
    End,
    /// The seed of UIDs and generated names, for a copy of a server.
    Seed(u64),
}

impl Message {
    /// Reads a frame.
    pub fn read(frame: Frame, now: Timestamp) -> Self {
        let header = &frame.header;
        if let Some(seed) = header.get("seed").and_then(Value::as_int) {
            return Self::Seed(seed.cast_unsigned());
        }
        if let Some(call) = header.get("call").and_then(Value::as_int) {
            return Self::Outcome(call, outcome(frame));
        }
        let is = |key: &str| header.get(key).is_some();
        if is("end") {
            Self::End
        } else if is("resume") {
            Self::Resume
        } else if is("bookmark") {
            Self::Bookmark
        } else {
            let token = header.str_at(&["authorization"]).and_then(bearer_token).map(str::to_owned);
            Self::Request(Box::new(request(frame, now)), token)
        }
    }
}

/// An outcome has `error`, client-go's error, or `code` and `isText` with the response of the webhook as the body.
fn outcome(frame: Frame) -> CallOutcome {
    if let Some(error) = frame.header.str_at(&["error"]) {
        return CallOutcome::Failed(error.to_owned());
    }
    let code = frame.header.get("code").and_then(Value::as_int).unwrap_or_default();
    let is_text = frame.header.get("isText").is_some_and(|is_text| *is_text == Value::Bool(true));
    CallOutcome::Answered { code: u16::try_from(code).unwrap_or_default(), is_text, body: frame.body }
}

fn request(frame: Frame, now: Timestamp) -> Request {
    let text = |key: &str| frame.header.str_at(&[key]).map(str::to_owned);
    let method = Method::from_name(frame.header.str_at(&["method"]).unwrap_or_default());
    let path = text("path").unwrap_or_default();
    let headers = frame.header.get("impersonate").and_then(Value::as_array).unwrap_or_default();
    let headers: Vec<(String, &str)> = headers.iter().filter_map(header_pair).collect();
    let user = impersonated(headers.iter().map(|(name, value)| (name.as_str(), Cow::from(*value))));
    Request {
        content_type: text("contentType"),
        accept: text("accept"),
        user_agent: text("userAgent"),
        user,
        now,
        ..Request::new(method, &path, if frame.body.is_empty() { Body::Empty } else { Body::Bytes(frame.body) })
    }
}

/// A header with its name in lower case.
fn header_pair(pair: &Value) -> Option<(String, &str)> {
    let [name, value] = pair.as_array()? else { return None };
    Some((name.as_str()?.to_ascii_lowercase(), value.as_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(header: &str, body: &str) -> Message {
        let frame = Frame { header: json::read(header.as_bytes()).unwrap(), body: body.as_bytes().to_vec() };
        Message::read(frame, Timestamp { seconds: 0, nanos: 0 })
    }

    #[test]
    fn a_request_has_the_impersonated_user() {
        let header = r#"{"id":1,"method":"GET","path":"/api","impersonate":[["Impersonate-User","jane"],["Impersonate-Group","dev"]]}"#;
        let Message::Request(request, _) = read(header, "") else { panic!("no request") };
        let user = request.user.unwrap();
        assert_eq!((user.username.as_str(), user.groups.first().map(String::as_str)), ("jane", Some("dev")));
    }

    #[test]
    fn a_call_has_a_response_or_an_error() {
        let Message::Outcome(3, outcome) = read(r#"{"id":1,"call":3,"code":200,"isText":true}"#, "ok") else {
            panic!("no outcome")
        };
        assert_eq!(outcome, CallOutcome::Answered { code: 200, is_text: true, body: b"ok".to_vec() });
        let Message::Outcome(0, outcome) = read(r#"{"id":1,"call":0,"error":"EOF"}"#, "") else { panic!("no outcome") };
        assert_eq!(outcome, CallOutcome::Failed("EOF".to_owned()));
    }
}

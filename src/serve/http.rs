//! From HTTP to [`api::Request`](crate::api::Request) and back.

use crate::api::{self, Format, Method, ResponseBody, Server, Timestamp};
use crate::text;
use axum::body::{self, Body};
use axum::http::{self, HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, header};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// What is read of a body at most; the server itself refuses far shorter ones.
const MOST: usize = 64 << 20;

/// Answers one HTTP request.
pub(super) async fn answer(server: Arc<Server>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(bytes) = body::to_bytes(body, MOST).await else { return plain(StatusCode::BAD_REQUEST, "bad body") };
    let text = |name: HeaderName| header_text(&parts.headers, &name);
    let request = api::Request {
        method: method(&parts.method),
        path: parts.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
        content_type: text(header::CONTENT_TYPE),
        accept: text(header::ACCEPT),
        user_agent: text(header::USER_AGENT),
        body: if bytes.is_empty() { api::Body::Empty } else { api::Body::Bytes(bytes.into()) },
        now: now(),
    };
    let known = header_text(&parts.headers, &header::IF_NONE_MATCH);
    let answered = tokio::task::spawn_blocking(move || write(server.handle(&request))).await;
    match answered {
        Ok(response) => unless_known(response, known.as_deref()),
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the request could not be answered"),
    }
}

/// The headers of one name joined, as Go's `Header.Get` reads the first: clients send one.
fn header_text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn method(method: &http::Method) -> Method {
    match *method {
        http::Method::GET => Method::Get,
        http::Method::HEAD => Method::Head,
        http::Method::POST => Method::Post,
        http::Method::PUT => Method::Put,
        http::Method::PATCH => Method::Patch,
        http::Method::DELETE => Method::Delete,
        _ => Method::Other,
    }
}

fn now() -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { seconds: now.as_secs() as i64, nanos: now.subsec_nanos() }
}

fn write(answer: api::Response) -> Response<Body> {
    let (content_type, text) = match answer.body {
        ResponseBody::Text(text) => ("text/plain; charset=utf-8", text),
        ResponseBody::Json(value) => match answer.format {
            Format::Json => ("application/json", api::wire::compact(&value) + "\n"),
            Format::PrettyJson => ("application/json", api::wire::pretty(&value)),
            Format::Yaml => ("application/yaml", text::yaml::write::to_string(&value)),
        },
    };
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::from_u16(answer.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    for (name, value) in answer.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    for warning in answer.warnings {
        if let Some(value) = warning_header(&warning) {
            headers.append(header::WARNING, value);
        }
    }
    response
}

/// What the client has already, by its `ETag`, is not sent again.
fn unless_known(response: Response<Body>, known: Option<&str>) -> Response<Body> {
    let same =
        |tag: &HeaderValue| known.is_some_and(|known| known.split(',').any(|k| k.trim().as_bytes() == tag.as_bytes()));
    if response.status() != StatusCode::OK || !response.headers().get(header::ETAG).is_some_and(same) {
        return response;
    }
    let (mut parts, _) = response.into_parts();
    parts.status = StatusCode::NOT_MODIFIED;
    parts.headers.remove(header::CONTENT_TYPE);
    Response::from_parts(parts, Body::empty())
}

/// `299 - "text"`; a text with control characters is not sent at all.
fn warning_header(text: &str) -> Option<HeaderValue> {
    if text.chars().any(char::is_control) {
        return None;
    }
    let mut out = String::from("299 - \"");
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    HeaderValue::from_bytes(out.as_bytes()).ok()
}

fn plain(code: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = code;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_quoted() {
        let header = warning_header("unknown field \"spec.a\\é\"").unwrap();
        assert_eq!(header.as_bytes(), "299 - \"unknown field \\\"spec.a\\\\é\\\"\"".as_bytes());
        assert_eq!(warning_header("a\nb"), None);
    }
}

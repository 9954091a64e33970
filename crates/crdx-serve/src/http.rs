//! Converts between HTTP and [`server::Request`](crdx_server::server::Request).

use super::access::Refused;
use super::authentication::Peer;
use super::body::{self, IncompleteError, Received};
use super::budget::Share;
use super::clock::now;
use super::status::{status, unsaved};
use super::stream::Stream;
use super::unread::UnreadAnswer;
use super::{Service, consistent_read, read_only};
use crdx_server::server::http::impersonation::impersonated;
use crdx_server::server::{self, Call, Calls, Method, Paused, Reply, Watch};
use crdx_value::Value;
use crdx_value::quote::go_quote;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::ext::ReasonPhrase;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode, Version};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// An HTTP response.
pub(super) type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

/// The time limit for the webhooks of a request.
const TIMEOUT: Duration = Duration::from_mins(1);
/// A longer body needs a permit to be handled, and a longer answer a share of the budget.
const SMALL: usize = 64 << 10;

/// The client of a connection.
#[derive(Debug)]
pub(super) struct Client {
    pub peer: Peer,
    /// Notified to close the connection, because the client does not read an answer while others wait.
    pub disconnect: Arc<Notify>,
}

/// Handles one HTTP request.
pub(super) async fn answer(service: Arc<Service>, client: &Client, request: Request<Incoming>) -> HttpResponse {
    let (parts, body) = request.into_parts();
    if parts.version == Version::HTTP_11 && !parts.headers.contains_key(header::HOST) {
        return plain(StatusCode::BAD_REQUEST, "400 Bad Request: missing required Host header");
    }
    if parts.uri.scheme().is_none() && parts.uri.authority().is_some() && parts.method != hyper::Method::CONNECT {
        // hyper reads a target without a leading slash as a host; Go refuses it.
        return plain(StatusCode::BAD_REQUEST, "400 Bad Request");
    }
    match service.access.check(&parts.uri, &parts.headers) {
        Ok(()) => {}
        Err(refused @ Refused::ManyHosts) => {
            return plain(StatusCode::BAD_REQUEST, format!("400 Bad Request: {refused}"));
        }
        Err(refused) => return refuse(StatusCode::FORBIDDEN, "Forbidden", &refused.to_string()),
    }
    let user = service.authentication.as_ref().map(|authentication| {
        let issued = |token: &str| service.server.user_of_token(token, now());
        authentication.user(&client.peer, &parts.headers, issued)
    });
    let Ok(user) = user.transpose() else {
        return refuse(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized");
    };
    let headers = parts.headers.iter();
    let impersonated =
        impersonated(headers.map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes()))));
    if let (Some(other), Some(user)) = (&impersonated, &user)
        && user.is_anonymous()
    {
        let (other, user) = (go_quote(&other.username), go_quote(&user.username));
        let message = format!(
            "users {other} is forbidden: User {user} cannot impersonate resource \"users\" in API group \"\" at the cluster scope"
        );
        return refuse(StatusCode::FORBIDDEN, "Forbidden", &message);
    }
    let method = Method::from_name(parts.method.as_str());
    let body = if is_read(method) {
        Received::default()
    } else {
        let read = body::read(&service.permits.bodies, body);
        match tokio::time::timeout(service.limits.body_timeout, read).await {
            Ok(Ok(received)) => received,
            Ok(Err(IncompleteError::Lost(_))) => {
                return plain(StatusCode::BAD_REQUEST, "the body of the request did not arrive");
            }
            Ok(Err(IncompleteError::Slow)) | Err(_) => {
                return plain(StatusCode::REQUEST_TIMEOUT, "the body of the request did not arrive in time");
            }
        }
    };
    // The share ends when the request has been handled.
    let Received { bytes, share: _share } = body;
    let is_long = bytes.len() > SMALL;
    let text = |name: HeaderName| header_text(&parts.headers, &name);
    let request = server::Request {
        method,
        path: parts.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
        content_type: text(header::CONTENT_TYPE),
        accept: text(header::ACCEPT),
        user_agent: text(header::USER_AGENT),
        user: impersonated.or(user),
        skips_admission: false,
        skips_validation: false,
        hides_dry_run: false,
        applied_before: None,
        is_encoded: false,
        empties: None,
        cluster_state: None,
        body: if bytes.is_empty() { server::Body::Empty } else { server::Body::Bytes(bytes) },
        now: now(),
    };
    let known = header_text(&parts.headers, &header::IF_NONE_MATCH);
    if !service.pause_before_commit.is_zero() && !service.read_only && service.server.may_store(&request) {
        // No lock is held and nothing has been read yet, so writes that wait at the same time conflict as usual.
        tokio::time::sleep(service.pause_before_commit).await;
    }
    if !service.pause_before_commit.is_zero()
        && let Some(read) = service.server.consistent_read(&request)
    {
        consistent_read::wait(&read, service.started, service.pause_before_commit).await;
    }
    match within_budget(&service, client, Arc::new(request), is_long).await {
        Some(answer) => unless_known(answer, known.as_deref()),
        None => plain(StatusCode::INTERNAL_SERVER_ERROR, "the request could not be answered"),
    }
}

/// Handles a request whose answer, if it is large, has a share of the budget. If there is no room for it, the answer to a
/// read is dropped, and made again when there is room: it does not wait in memory.
async fn within_budget(
    service: &Arc<Service>,
    client: &Client,
    request: Arc<server::Request>,
    is_long: bool,
) -> Option<HttpResponse> {
    let mut share: Option<(Share, usize)> = None;
    loop {
        let answer = answered(service, Arc::clone(&request), is_long).await?;
        let length = answer.body().size_hint().exact().unwrap_or(0) as usize;
        if length <= SMALL {
            return Some(answer);
        }
        let (own, reserved) =
            share.take().unwrap_or_else(|| (service.permits.answers.share(Arc::clone(&client.disconnect)), 0));
        let missing = length.saturating_sub(reserved);
        if own.try_grow(missing) {
            return Some(limited(answer, own).await);
        }
        // A write is not repeated, an exchange is recorded once, and a client that has bytes does not wait for more.
        if !is_read(request.method) || service.record.is_some() || reserved > 0 {
            own.grow_anyway(missing);
            return Some(limited(answer, own).await);
        }
        drop(answer);
        own.grow(missing).await;
        share = Some((own, reserved + missing));
    }
}

fn is_read(method: Method) -> bool {
    matches!(method, Method::Get | Method::Head)
}

/// Gives an answer in pieces.
async fn limited(answer: HttpResponse, share: Share) -> HttpResponse {
    let (parts, body) = answer.into_parts();
    // The body is complete, so this does not wait.
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    share.record_progress();
    Response::from_parts(parts, BoxBody::new(UnreadAnswer::new(bytes, share)))
}

/// Handles a request on threads with large stacks, and calls the webhooks that it needs between attempts. Returns
/// `None` if a thread panicked.
async fn answered(service: &Arc<Service>, request: Arc<server::Request>, is_long: bool) -> Option<HttpResponse> {
    let calls = service.webhooks.as_ref().map_or_else(Calls::default, |_| service.server.calls());
    let deadline = Instant::now() + TIMEOUT;
    let mut paused = None;
    for _ in 0..Calls::MAX_ATTEMPTS {
        let pending = loop {
            match attempt(service, &request, &calls, paused.take(), is_long).await? {
                Attempt::Answer(answer) => return Some(answer),
                Attempt::Pending(pending) => break pending,
                Attempt::Paused(pause) => {
                    tokio::time::sleep(pause.duration()).await;
                    paused = Some(pause);
                }
            }
        };
        let Some(webhooks) = &service.webhooks else { break };
        if tokio::time::timeout_at(deadline, webhooks.answer(&calls, pending)).await.is_err() {
            break;
        }
    }
    Some(write(server::Response::timeout()))
}

/// Handles a request, as far as possible on the thread that read it, which saves two context switches, or resumes it if it
/// paused. Returns `None` if the handler panicked.
async fn attempt(
    service: &Arc<Service>,
    request: &Arc<server::Request>,
    calls: &Calls,
    paused: Option<Box<Paused>>,
    is_long: bool,
) -> Option<Attempt> {
    // The semaphores are never closed.
    let _reading = if is_read(request.method) { service.permits.reading.acquire().await.ok() } else { None };
    if !is_long && let Ok(_permit) = service.permits.in_place.try_acquire() {
        return catch_unwind(AssertUnwindSafe(|| handle(service, request, calls, paused))).ok();
    }
    let working = permit(&service.permits.working, is_long).await;
    let (service, request, calls) = (Arc::clone(service), Arc::clone(request), calls.clone());
    let handled = tokio::task::spawn_blocking(move || {
        let handled = handle(&service, &request, &calls, paused);
        drop(working);
        handled
    });
    handled.await.ok()
}

/// The result of one attempt to handle a request.
enum Attempt {
    Answer(HttpResponse),
    Pending(Vec<Call>),
    Paused(Box<Paused>),
}

fn handle(service: &Service, request: &server::Request, calls: &Calls, paused: Option<Box<Paused>>) -> Attempt {
    if service.read_only && read_only::writes(request.method, &request.path) {
        return Attempt::Answer(refuse(StatusCode::FORBIDDEN, "Forbidden", read_only::REFUSAL));
    }
    let reply = match paused {
        Some(paused) => service.server.resume(request, calls, paused),
        None => service.server.reply_with(request, calls),
    };
    if service.server.has_work_for_controllers() {
        service.controllers.notify_one();
    }
    // Check after the request is handled: it may have stored or read something that could not be persisted.
    if !matches!(reply, Reply::Pending(_) | Reply::Paused(_))
        && let Some(failure) = service.state.as_ref().and_then(|s| s.failure())
    {
        return Attempt::Answer(failed(StatusCode::INTERNAL_SERVER_ERROR, &unsaved(failure)));
    }
    let response = match reply {
        Reply::Whole(response) => response,
        Reply::Stream(watch) => return Attempt::Answer(stream(*watch, service)),
        Reply::Pending(pending) => return Attempt::Pending(pending),
        Reply::Paused(paused) => return Attempt::Paused(paused),
    };
    if let Some(record) = &service.record {
        record.exchange(request, &response);
    }
    Attempt::Answer(write(response))
}

/// Acquires a permit for a long body if one is needed. The semaphore is never closed.
async fn permit(permits: &Arc<Semaphore>, needed: bool) -> Option<OwnedSemaphorePermit> {
    if needed { Arc::clone(permits).acquire_owned().await.ok() } else { None }
}

/// Returns the first header with this name, as Go's `Header.Get` does.
fn header_text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn write(answer: server::Response) -> HttpResponse {
    let (content_type, bytes) = server::http::wire::encode(answer.body, answer.format);
    let has_body = !bytes.is_empty();
    let mut response = whole(bytes);
    *response.status_mut() = StatusCode::from_u16(answer.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if response.status() == StatusCode::PAYLOAD_TOO_LARGE {
        // Go uses the reason phrases of older standards.
        response.extensions_mut().insert(ReasonPhrase::from_static(b"Request Entity Too Large"));
    }
    let headers = response.headers_mut();
    for (name, value) in answer.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.append(HeaderName::from_static(name), value);
        }
    }
    if has_body {
        headers.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static(content_type));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache, private"));
    add_warnings(headers, &answer.warnings);
    response
}

/// Streams a watch until its client disconnects.
fn stream(watch: Watch, service: &Service) -> HttpResponse {
    let warnings = watch.warnings().to_vec();
    let (webhooks, state) = (service.webhooks.clone().unwrap_or_default(), service.state.clone());
    let mut response = Response::new(BoxBody::new(Stream::new(watch, webhooks, state)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    add_warnings(headers, &warnings);
    response
}

fn add_warnings(headers: &mut HeaderMap, warnings: &[String]) {
    for value in warnings.iter().filter_map(|warning| warning_header(warning)) {
        headers.append(header::WARNING, value);
    }
}

/// Returns 304 if the client already has the response with this `ETag`.
fn unless_known(response: HttpResponse, known: Option<&str>) -> HttpResponse {
    let same =
        |tag: &HeaderValue| known.is_some_and(|known| known.split(',').any(|k| k.trim().as_bytes() == tag.as_bytes()));
    if response.status() != StatusCode::OK || !response.headers().get(header::ETAG).is_some_and(same) {
        return response;
    }
    let (mut parts, _) = response.into_parts();
    parts.status = StatusCode::NOT_MODIFIED;
    parts.headers.remove(header::CONTENT_TYPE);
    Response::from_parts(parts, BoxBody::default())
}

fn whole(text: impl Into<Bytes>) -> HttpResponse {
    Response::new(BoxBody::new(Full::new(text.into())))
}

/// Returns `299 - "text"`; `None` for a text with control characters.
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

/// Returns a Status that does not come from the simulated server.
fn refuse(code: StatusCode, reason: &'static str, message: &str) -> HttpResponse {
    failed(code, &status(code.as_u16(), reason, message))
}

fn failed(code: StatusCode, status: &Value) -> HttpResponse {
    let mut response = whole(server::http::wire::compact(status) + "\n");
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The response to a request that cannot be parsed; the connection is closed.
fn plain(code: StatusCode, text: impl Into<Bytes>) -> HttpResponse {
    let mut response = whole(text);
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
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

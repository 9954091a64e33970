//! A call of a webhook and its result, as client-go reports it (`rest/request.go`, `util/webhook/client.go`).

use crate::crd::WebhookClientConfig;
use crdx_text as text;
use crdx_types::reviews::{self, ReviewKind};
use crdx_value::GoError;
use crdx_value::group_version;
use crdx_value::release::Release;
use crdx_value::{Value, json, quote};
use std::borrow::Cow;
use std::sync::Arc;

/// The default port of a service.
const HTTPS: i32 = 443;
/// The maximum number of bytes of a response. The API server reads responses of any length.
pub const MAX_RESPONSE: usize = 16 << 20;
/// The maximum number of characters of a response in an error (`maxUnstructuredResponseTextBytes`).
const MAX_SHOWN: usize = 2048;

/// A POST of JSON to a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The address of the webhook.
    pub target: Arc<WebhookClientConfig>,
    /// The timeout of the call, in seconds.
    pub timeout_seconds: u64,
    /// The review.
    pub body: String,
    /// Identifies the call among those of its request.
    pub key: Arc<str>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// A response.
    Answered {
        /// The HTTP status.
        code: u16,
        /// True if the content type is textual.
        is_text: bool,
        /// The body.
        body: Vec<u8>,
    },
    /// No response, or one that cannot be read: client-go's error.
    Failed(String),
}

impl CallOutcome {
    /// A request to `url` that failed, with the error that Go reports after the method and the URL.
    pub fn unsent(url: &str, reason: &str) -> Self {
        // Go reports the method of the first request, also after redirects.
        Self::Failed(format!("Post {}: {reason}", quote::go_quote(url)))
    }

    /// A response whose body cannot be read.
    pub fn unreadable(reason: &str) -> Self {
        let message = "unexpected error when reading response body. Please retry. Original error";
        Self::Failed(format!("{message}: {reason}"))
    }
}

/// Returns the URL of a call; the host of a service is its DNS name in the cluster.
pub fn url(target: &WebhookClientConfig, timeout_seconds: u64) -> String {
    let (base, path) = match (&target.service, &target.url) {
        (Some(service), _) => {
            let port = service.port.unwrap_or(HTTPS);
            let base = format!("https://{}.{}.svc:{port}", service.name, service.namespace);
            (base, service.path.as_deref().unwrap_or_default())
        }
        (None, Some(url)) => {
            let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (host, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
            (format!("{scheme}://{host}"), path.split(['?', '#']).next().unwrap_or_default())
        }
        (None, None) => (String::new(), ""),
    };
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    format!("{base}/{}?timeout={timeout_seconds}s", parts.join("/"))
}

/// Returns the review in the response of a webhook, which must be of this kind and version.
///
/// # Errors
/// Returns client-go's message if there is none.
pub fn review(outcome: &CallOutcome, kind: ReviewKind, version: &str, release: Release) -> Result<Value, GoError> {
    let (code, is_text, body) = match outcome {
        CallOutcome::Failed(error) => return Err(error.clone().into()),
        CallOutcome::Answered { code, is_text, body } => (*code, *is_text, body),
    };
    if !(200..=206).contains(&code) {
        return Err(rejected(code, is_text, body).into());
    }
    if body.is_empty() {
        return Err(format!("0-length response with status code: {code} and content type: application/json").into());
    }
    // A body that does not begin like JSON is YAML.
    let body = if body.trim_ascii_start().starts_with(b"{") {
        Cow::Borrowed(body)
    } else {
        let value =
            text::yaml::read(body).map_err(|error| format!("couldn't get version/kind; json parse error: {error}"))?;
        Cow::Owned(json::to_string(&value).into_bytes())
    };
    reviews::check(release, kind, version, &body)?;
    text::json::read(&body).map_err(|error| error.message.into())
}

/// Formats the type of an object as `GroupVersionKind.String` does.
pub(crate) fn type_text(object: &Value) -> String {
    let (group, version) = group_version::split(object.str_at(&["apiVersion"]).unwrap_or_default());
    format!("{group}/{version}, Kind={}", object.str_at(&["kind"]).unwrap_or_default())
}

fn status_message(status: &Value) -> String {
    status.str_at(&["message"]).unwrap_or_default().to_owned()
}

/// The message for a status that is not a success: the message of a `Status` in the body (`Result.Error`), or a message
/// for the code (`NewGenericServerResponse`).
fn rejected(code: u16, is_text: bool, body: &[u8]) -> String {
    if let Ok(status) = text::json::read(body)
        && (status.str_at(&["kind"]), status.str_at(&["apiVersion"])) == (Some("Status"), Some("v1"))
        && status.str_at(&["status"]) != Some("Success")
    {
        return status_message(&status);
    }
    let body = body.get(..MAX_SHOWN).unwrap_or(body);
    let body_text = if is_text { text::lossy(body).trim().to_owned() } else { "unknown".to_owned() };
    match code {
        409 => "the server reported a conflict".to_owned(),
        404 => "the server could not find the requested resource".to_owned(),
        400 => "the server rejected our request for an unknown reason".to_owned(),
        401 => "the server has asked for the client to provide credentials".to_owned(),
        406 if body_text.is_empty() || body_text == "unknown" => {
            "the server was unable to respond with a content type that the client supports".to_owned()
        }
        403 | 406 | 415 => body_text,
        405 => "the server does not allow this method on the requested resource".to_owned(),
        422 => "the server rejected our request due to an error in our request".to_owned(),
        503 => "the server is currently unable to handle the request".to_owned(),
        504 => {
            "the server was unable to return a response in the time allotted, but may still be processing the request"
                .to_owned()
        }
        429 => "the server has received too many requests and has asked us to try again later".to_owned(),
        500.. => {
            format!(
                "an error on the server ({}) has prevented the request from succeeding",
                quote::go_quote(&body_text)
            )
        }
        _ => format!("the server responded with the status code {code} but did not return more information"),
    }
}

/// Encodes a review as the body of a call.
pub fn body(review: &Value) -> String {
    json::to_string(review)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crd::ServiceReference;

    fn call() -> Call {
        let service = ServiceReference {
            namespace: "ns".to_owned(),
            name: "hook".to_owned(),
            path: Some("a//b/".to_owned()),
            port: None,
        };
        let target = WebhookClientConfig { service: Some(service), ..WebhookClientConfig::default() };
        Call { target: Arc::new(target), timeout_seconds: 10, body: String::new(), key: "".into() }
    }

    #[test]
    fn urls_are_those_of_client_go() {
        assert_eq!(url(&call().target, 10), "https://hook.ns.svc:443/a/b?timeout=10s");
        let target = WebhookClientConfig { url: Some("https://localhost:9443".to_owned()), ..Default::default() };
        assert_eq!(url(&target, 3), "https://localhost:9443/?timeout=3s");
    }

    #[test]
    fn failures_are_in_the_words_of_client_go() {
        let failed = |outcome: CallOutcome| review(&outcome, ReviewKind::Admission, "v1", Release::NEWEST).unwrap_err();
        let answered = |code: u16, body: &str| {
            failed(CallOutcome::Answered { code, is_text: true, body: body.as_bytes().to_vec() })
        };
        assert_eq!(
            failed(CallOutcome::unsent("https://a:443/b?timeout=10s", "dial tcp: connection refused")),
            "Post \"https://a:443/b?timeout=10s\": dial tcp: connection refused".into()
        );
        assert_eq!(answered(404, ""), "the server could not find the requested resource".into());
        let status = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no"}"#;
        assert_eq!(answered(500, status), "no".into());
        assert_eq!(
            answered(500, "a\nb\n"),
            r#"an error on the server ("a\nb") has prevented the request from succeeding"#.into()
        );
        assert!(
            answered(200, "<html>")
                .as_str()
                .starts_with("couldn't get version/kind; json parse error: json: cannot unmarshal string")
        );
        assert_eq!(
            answered(200, "{"),
            "couldn't get version/kind; json parse error: unexpected end of JSON input".into()
        );
    }
}

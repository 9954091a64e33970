//! A response of the server, and the error for a response that is not a success.

use super::limits::{self, HeldBody};
use super::{Error, Status};
use crdx_text::json;
use crdx_value::Value;
use std::time::Duration;

/// The length of the part of a body without a message that is shown, in characters.
const MAX_MESSAGE: usize = 200;

/// An HTTP answer.
#[derive(Debug, Default)]
pub struct Answer {
    /// The HTTP status code.
    pub code: u16,
    /// `Retry-After`, when it is in seconds.
    pub retry_after: Option<Duration>,
    /// The whole body.
    pub body: HeldBody,
    /// True if the user's credentials were not sent, because the server is not `https`.
    pub lacks_credentials: bool,
}

impl Answer {
    /// The body; `None` for 404.
    pub fn read(&self, path: &str) -> Result<Option<Value>, Error> {
        match self.code {
            404 => Ok(None),
            200 => {
                limits::check_decoded(self.body.bytes(), path)?;
                json::read(self.body.bytes()).map(Some).map_err(|error| {
                    let message = format!("the cluster's answer to GET {path} is not JSON: {error}");
                    let help = Some("is it a Kubernetes API server? check --server and the proxy".to_owned());
                    Error { message, help, code: Some(200), ..Error::default() }
                })
            }
            _ => Err(self.refusal(path)),
        }
    }

    /// The body of an answer that is an error, if it is JSON.
    pub fn status(&self) -> Option<Value> {
        limits::check_decoded(self.body.bytes(), "").ok().and_then(|()| json::read(self.body.bytes()).ok())
    }

    /// The message of a body. Other short JSON is shown as it is. Long JSON, such as the index of all paths, is left out.
    fn message(&self, value: Option<&Value>) -> String {
        if let Some(message) = value.and_then(|value| value.str_at(&["message"])) {
            return message.to_owned();
        }
        let start = self.body.bytes().get(..4096).unwrap_or(self.body.bytes());
        let text = String::from_utf8_lossy(start);
        let mut rest = text.trim().chars();
        let shown: String = rest.by_ref().take(MAX_MESSAGE).collect();
        if value.is_some() && rest.next().is_some() { String::new() } else { shown }
    }

    /// Returns the error for a code other than 200.
    pub fn refusal(&self, path: &str) -> Error {
        let code = self.code;
        let value = self.status();
        let body_message = self.message(value.as_ref());
        let path = path.split('?').next().unwrap_or_default();
        let body_message = if body_message.is_empty() { body_message } else { format!(": {body_message}") };
        let message = format!("the cluster answered {code} to GET {path}{body_message}");
        let help = match code {
            401 | 403 if self.lacks_credentials => {
                "the credentials were not sent, because the URL of the server is not https: give one with https://"
            }
            401 => "the credentials are wrong or have expired: log in again, or choose others with --context or --user",
            403 => "ask for permission to read it: kubectl crdx rbac prints the rules",
            410 => "the list took too long and its snapshot is gone: run it again",
            429 | 503 => "it is overloaded: try again later",
            500..=599 => "the server, or a proxy in front of it, failed: run it again",
            _ => "",
        };
        let help = Some(help.to_owned()).filter(|h| !h.is_empty());
        let status = value.as_ref().and_then(Status::from_value);
        Error { message, help, code: Some(code), status, unreachable: code == 401, too_long: false }
    }
}

/// The innermost error, which is the most specific.
pub fn root_cause(error: &dyn std::error::Error) -> String {
    let mut at = error;
    while let Some(cause) = at.source() {
        at = cause;
    }
    at.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> String {
        let mut answer = Answer { code: 404, ..Answer::default() };
        answer.body.add(body.as_bytes(), "/metrics").unwrap();
        answer.refusal("/metrics").message
    }

    #[test]
    fn an_error_has_the_message_of_the_body() {
        let long = "x".repeat(MAX_MESSAGE + 1);
        for (body, message) in [
            (r#"{"kind":"Status","message":"no"}"#.to_owned(), ": no".to_owned()),
            (r#"{"error":"invalid_token"}"#.to_owned(), r#": {"error":"invalid_token"}"#.to_owned()),
            (format!(r#"{{"paths":["/{long}"]}}"#), String::new()),
            ("404 page not found\n".to_owned(), ": 404 page not found".to_owned()),
            (long.clone(), format!(": {}", "x".repeat(MAX_MESSAGE))),
            (String::new(), String::new()),
        ] {
            assert_eq!(refusal(&body), format!("the cluster answered 404 to GET /metrics{message}"), "{body}");
        }
    }
}

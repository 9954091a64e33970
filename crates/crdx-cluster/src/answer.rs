//! A response of the server, and the error for a response that is not a success.

use super::limits::{self, HeldBody};
use super::{Error, Status};
use crdx_text::json;
use crdx_value::Value;
use std::time::Duration;

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

    /// Returns the error for a code other than 200.
    pub fn refusal(&self, path: &str) -> Error {
        let code = self.code;
        let value = self.status();
        let body_message = value.as_ref().and_then(|v| v.str_at(&["message"])).map(str::to_owned);
        let body_message = body_message.unwrap_or_else(|| {
            String::from_utf8_lossy(self.body.bytes().get(..4096).unwrap_or(self.body.bytes()))
                .trim()
                .chars()
                .take(200)
                .collect()
        });
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

//! One HTTP request and its response.

use crdx_server::server::CallOutcome;
use crdx_server::webhooks::call::MAX_RESPONSE;
use crdx_value::GoError;
use http::{HeaderValue, Method, header, response};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// The response of a webhook.
pub(super) struct WebhookResponse {
    parts: response::Parts,
    /// The body, or the error that Go reports if it cannot be read.
    body: Result<Bytes, GoError>,
}

impl WebhookResponse {
    pub fn code(&self) -> u16 {
        self.parts.status.as_u16()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.parts.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the pause after which the request is to be repeated (`checkWait`).
    pub fn retry_after(&self) -> Option<Duration> {
        let seconds = self.header(header::RETRY_AFTER.as_str())?.parse().ok()?;
        (self.code() == 429 || self.code() >= 500).then(|| Duration::from_secs(seconds))
    }

    pub fn outcome(self) -> CallOutcome {
        let is_text = self.header("content-type").is_none_or(|value| value.starts_with("text/"));
        match self.body {
            Ok(body) => CallOutcome::Answered { code: self.parts.status.as_u16(), is_text, body: body.to_vec() },
            Err(error) => CallOutcome::unreadable(error.as_str()),
        }
    }
}

/// Returns a POST of the review, or a GET without one.
pub(super) fn request(path: &str, authority: &str, review: Option<&str>) -> Result<Request<Full<Bytes>>, GoError> {
    let mut request = Request::builder()
        .method(if review.is_some() { Method::POST } else { Method::GET })
        .uri(path)
        .header(header::HOST, authority)
        .header(header::ACCEPT, "application/json, */*")
        .header(header::USER_AGENT, "kube-apiserver-admission")
        .header(header::CONNECTION, "close");
    if review.is_some() {
        request = request.header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    request.body(Full::new(Bytes::from(review.unwrap_or_default().to_owned()))).map_err(|_| "invalid URL".into())
}

/// Sends a request on a new connection.
pub(super) async fn send<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    request: Request<Full<Bytes>>,
) -> Result<WebhookResponse, GoError> {
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(|_| "EOF")?;
    let connection = tokio::spawn(connection);
    let response = match sender.send_request(request).await {
        Ok(response) => Ok(read(response).await),
        Err(error) if error.is_parse() => Err("malformed HTTP response".into()),
        Err(_) => Err("EOF".into()),
    };
    connection.abort();
    response
}

async fn read(response: Response<hyper::body::Incoming>) -> WebhookResponse {
    let (parts, body) = response.into_parts();
    let body = match Limited::new(body, MAX_RESPONSE).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(format!("the response is longer than {MAX_RESPONSE} bytes").into())
        }
        Err(_) => Err("unexpected EOF".into()),
    };
    WebhookResponse { parts, body }
}

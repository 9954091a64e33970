//! Calls webhooks over HTTPS as the API server's client does (`k8s.io/apiserver/pkg/util/webhook/client.go`).
//!
//! [`Webhooks::call`] makes one call. Each call opens a new connection, because webhooks in tests are called rarely.

mod tls;

use crdx_output::printable::complain;
use crdx_server::crd::{ServiceReference, WebhookClientConfig};
use crdx_server::server::{self, Call, CallOutcome, Calls, Reply, Server};
use crdx_value::GoError;
use http::{HeaderValue, Method, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// The maximum number of bytes of an answer.
const MAX_ANSWER: usize = 16 << 20;
/// The maximum number of calls that a request makes at the same time.
const MAX_CONCURRENT: usize = 32;

/// The webhooks that a server can reach.
#[derive(Clone, Debug, Default)]
pub struct Webhooks {
    services: BTreeMap<(String, String), Service>,
}

/// The reason why a text is not the address of a Service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// It is not a URL.
    #[error("{0:?} is not a URL such as https://127.0.0.1:9443")]
    NoUrl(String),
    /// The URL has a path.
    #[error("{0:?} has a path: webhook configurations give it")]
    HasPath(String),
}

/// The address that replaces a Service of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    secure: bool,
    host: String,
    port: u16,
}

impl Service {
    /// Reads `https://HOST:PORT`, or `http://…` for a service without TLS.
    ///
    /// # Errors
    /// Returns a message if the text is not such a URL.
    pub fn read(text: &str) -> Result<Self, ServiceError> {
        let no_url = || ServiceError::NoUrl(text.to_owned());
        let uri: Uri = text.parse().map_err(|_| no_url())?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(no_url()),
        };
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(ServiceError::HasPath(text.to_owned()));
        }
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(no_url)?.to_owned();
        Ok(Self { secure, host, port: uri.port_u16().unwrap_or(if secure { 443 } else { 80 }) })
    }
}

/// Calls webhooks for a program that is not asynchronous.
#[derive(Debug)]
pub struct BlockingWebhooks {
    webhooks: Webhooks,
    runtime: tokio::runtime::Runtime,
}

impl BlockingWebhooks {
    /// Creates a client of webhooks at URLs.
    ///
    /// # Errors
    /// Returns an error if the system has no resources for it.
    pub fn new() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { webhooks: Webhooks::default(), runtime })
    }

    /// Makes a call within its timeout.
    pub fn call(&self, call: &Call) -> CallOutcome {
        self.runtime.block_on(self.webhooks.call(call))
    }
}

/// The address of a webhook.
struct Route {
    secure: bool,
    /// The host and port to connect to.
    host: String,
    port: u16,
    /// The host name that the certificate must have.
    server_name: String,
    /// The `Host` header.
    authority: String,
    path: String,
}

impl Webhooks {
    /// Maps the Service `namespace/name` to an address.
    pub fn add(&mut self, namespace: &str, name: &str, address: Service) {
        self.services.insert((namespace.to_owned(), name.to_owned()), address);
    }

    /// Makes calls concurrently and passes their outcomes to the request that needs them.
    pub(super) async fn answer(&self, calls: &Calls, pending: Vec<Call>) {
        let permits = Arc::new(Semaphore::new(MAX_CONCURRENT));
        let mut running = JoinSet::new();
        for call in pending {
            let (webhooks, calls, permits) = (self.clone(), calls.clone(), Arc::clone(&permits));
            running.spawn(async move {
                let _permit = permits.acquire_owned().await;
                let outcome = webhooks.call(&call).await;
                calls.answer(&call, outcome);
            });
        }
        while running.join_next().await.is_some() {}
    }

    /// Handles a request and calls the webhooks it needs, before the server is started.
    ///
    /// # Errors
    /// Returns an error if no thread or socket can be created.
    pub fn handle(&self, server: &Server, request: &server::Request) -> io::Result<server::Response> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let calls = server.calls();
        for _ in 0..Calls::MAX_ATTEMPTS {
            match server.reply_with(request, &calls) {
                Reply::Pending(pending) => runtime.block_on(self.answer(&calls, pending)),
                Reply::Whole(response) => {
                    server.run_controllers(request.now);
                    return Ok(response);
                }
                // No deletion is sent here.
                Reply::Stream(_) | Reply::Paused(_) => break,
            }
        }
        Ok(server::Response::timeout())
    }

    /// Makes a call within its timeout.
    async fn call(&self, call: &Call) -> CallOutcome {
        let limit = Duration::from_secs(call.timeout_seconds);
        match tokio::time::timeout(limit, self.post(call)).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(error)) => CallOutcome::Failed(error.into()),
            Err(_) => CallOutcome::Failed("context deadline exceeded".to_owned()),
        }
    }

    async fn post(&self, call: &Call) -> Result<CallOutcome, GoError> {
        let route = self.route(&call.target, call.timeout_seconds)?;
        let stream = connect(&route.host, route.port).await?;
        let request = request(&route, &call.body)?;
        if route.secure {
            let stream = tls::connect(stream, &route.server_name, &call.target.ca_bundle).await?;
            send(stream, request).await
        } else {
            send(stream, request).await
        }
    }

    fn route(&self, target: &WebhookClientConfig, timeout_seconds: u64) -> Result<Route, GoError> {
        let url = crdx_server::webhooks::call::url(target, timeout_seconds);
        let uri: Uri = url.parse().map_err(|_| "invalid URL")?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let route = Route {
            secure: true,
            port: uri.port_u16().unwrap_or(443),
            server_name: host.clone(),
            authority: uri.authority().map(ToString::to_string).unwrap_or_default(),
            path: uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
            host,
        };
        let Some(ServiceReference { namespace, name, .. }) = &target.service else { return Ok(route) };
        let Some(address) = self.services.get(&(namespace.clone(), name.clone())) else {
            complain!(
                "warning: a webhook calls the service {namespace}/{name}: give its address with --webhook-service \
                 {namespace}/{name}=https://127.0.0.1:PORT"
            );
            return Err(format!("dial tcp: lookup {}: no such host", route.host).into());
        };
        Ok(Route { secure: address.secure, host: address.host.clone(), port: address.port, ..route })
    }
}

async fn connect(host: &str, port: u16) -> Result<TcpStream, GoError> {
    let host = host.trim_matches(['[', ']']);
    let mut found = tokio::net::lookup_host((host, port))
        .await
        .map_err(|_| format!("dial tcp: lookup {host}: no such host"))?
        .peekable();
    let first = found.peek().copied().ok_or_else(|| format!("dial tcp: lookup {host}: no such host"))?;
    let mut failure = std::io::ErrorKind::ConnectionRefused;
    for address in found {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error.kind(),
        }
    }
    let reason = match failure {
        std::io::ErrorKind::ConnectionRefused => "connection refused",
        std::io::ErrorKind::NetworkUnreachable => "network is unreachable",
        std::io::ErrorKind::HostUnreachable => "no route to host",
        _ => "connection failed",
    };
    Err(format!("dial tcp {first}: connect: {reason}").into())
}

fn request(route: &Route, body: &str) -> Result<Request<Full<Bytes>>, GoError> {
    let json = HeaderValue::from_static("application/json");
    let request = Request::builder()
        .method(Method::POST)
        .uri(&route.path)
        .header(header::HOST, &route.authority)
        .header(header::ACCEPT, "application/json, */*")
        .header(header::USER_AGENT, "kube-apiserver-admission")
        .header(header::CONTENT_TYPE, json)
        .header(header::CONNECTION, "close");
    request.body(Full::new(Bytes::from(body.to_owned()))).map_err(|_| "invalid URL".into())
}

async fn send<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    request: Request<Full<Bytes>>,
) -> Result<CallOutcome, GoError> {
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(|_| "EOF")?;
    let connection = tokio::spawn(connection);
    let answered = sender.send_request(request).await;
    let outcome = match answered {
        Ok(response) => outcome(response).await,
        Err(error) if error.is_parse() => Err("malformed HTTP response".into()),
        Err(_) => Err("EOF".into()),
    };
    connection.abort();
    outcome
}

async fn outcome(response: Response<Incoming>) -> Result<CallOutcome, GoError> {
    let (parts, body) = response.into_parts();
    let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_text = content_type.is_none_or(|value| value.starts_with("text/"));
    let body = Limited::new(body, MAX_ANSWER).collect().await;
    let body = body.map_err(|_| "unexpected error when reading response body. Please retry")?;
    Ok(CallOutcome::Answered { code: parts.status.as_u16(), is_text, body: body.to_bytes().to_vec() })
}

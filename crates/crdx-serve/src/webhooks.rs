//! Calls webhooks over HTTPS as the API server's client does (`k8s.io/apiserver/pkg/util/webhook/client.go`).
//!
//! [`Webhooks::call`] makes one call: redirects are followed, and `Retry-After` is obeyed. Each request opens a new connection, because webhooks in tests are called rarely.

mod exchange;
mod redirect;
mod tls;

use crdx_output::printable::complain;
use crdx_server::crd::{ServiceReference, WebhookClientConfig};
use crdx_server::server::{self, Call, CallOutcome, Calls, Reply, Server};
use crdx_server::webhooks::call::url;
use crdx_value::GoError;
use exchange::WebhookResponse;
use http::Uri;
use redirect::{Redirect, redirect, resolve};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// The maximum number of requests of a call that is redirected (`defaultCheckRedirect`).
const MAX_REQUESTS: usize = 10;
/// The maximum number of times that a call is repeated (`maxRetries` of `rest.Request`).
const MAX_RETRIES: usize = 10;
const HTTP: u16 = 80;
const HTTPS: u16 = 443;
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
        Ok(Self { secure, host, port: uri.port_u16().unwrap_or(if secure { HTTPS } else { HTTP }) })
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
        match tokio::time::timeout(limit, self.attempts(call)).await {
            Ok(Ok(outcome) | Err(outcome)) => outcome,
            Err(_) => CallOutcome::unsent(&url(&call.target, call.timeout_seconds), "context deadline exceeded"),
        }
    }

    /// Makes a call, and repeats it as long as the webhook asks for it (`rest/with_retry.go`).
    async fn attempts(&self, call: &Call) -> Result<CallOutcome, CallOutcome> {
        for _ in 0..MAX_RETRIES {
            let response = self.follow(call).await?;
            let Some(pause) = response.retry_after() else { return Ok(response.outcome()) };
            tokio::time::sleep(pause).await;
        }
        Ok(self.follow(call).await?.outcome())
    }

    /// Makes a call and follows redirects as Go's client does. An `Err` is the outcome of a failed request.
    async fn follow(&self, call: &Call) -> Result<WebhookResponse, CallOutcome> {
        let mut url = url(&call.target, call.timeout_seconds);
        let mut body = Some(call.body.as_str());
        let mut last = String::new();
        for _ in 0..MAX_REQUESTS {
            let response = self.send(&call.target, &url, body).await;
            let response = response.map_err(|error| CallOutcome::unsent(&url, error.as_str()))?;
            let Some(Redirect { location, keeps_body }) = redirect(&response) else { return Ok(response) };
            body = body.filter(|_| keeps_body);
            url = resolve(&url, location).map_err(|error| CallOutcome::unsent(&url, error.as_str()))?;
            location.clone_into(&mut last);
        }
        Err(CallOutcome::unsent(&last, &format!("stopped after {MAX_REQUESTS} redirects")))
    }

    /// Sends the review, or after some redirects a GET.
    async fn send(
        &self,
        target: &WebhookClientConfig,
        url: &str,
        body: Option<&str>,
    ) -> Result<WebhookResponse, GoError> {
        let route = self.route(target, url)?;
        let stream = connect(&route.host, route.port).await?;
        let request = exchange::request(&route.path, &route.authority, body)?;
        if route.secure {
            let stream = tls::connect(stream, &route.server_name, &target.ca_bundle).await?;
            exchange::send(stream, request).await
        } else {
            exchange::send(stream, request).await
        }
    }

    /// Returns the address of a URL. Only the service of the webhook is mapped, not where it redirects to.
    fn route(&self, target: &WebhookClientConfig, url: &str) -> Result<Route, GoError> {
        let uri: Uri = url.parse().map_err(|_| "invalid URL")?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            other => return Err(format!("unsupported protocol scheme {:?}", other.unwrap_or_default()).into()),
        };
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let server_name = target.service.as_ref().map_or_else(|| host.clone(), host_name);
        let route = Route {
            secure,
            port: uri.port_u16().unwrap_or(if secure { HTTPS } else { HTTP }),
            server_name,
            authority: uri.authority().map(ToString::to_string).unwrap_or_default(),
            path: uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
            host,
        };
        let Some(service) = target.service.as_ref().filter(|service| host_name(service) == route.host) else {
            return Ok(route);
        };
        let ServiceReference { namespace, name, .. } = service;
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

/// Returns the host name of a Service in the cluster.
fn host_name(service: &ServiceReference) -> String {
    format!("{}.{}.svc", service.name, service.namespace)
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

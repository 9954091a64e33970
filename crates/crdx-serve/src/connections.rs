//! Limits the number of connections and the time each may take to send its headers.
//!
//! An idle connection is closed after [`TIMEOUT`], as by Go's server (`IdleTimeout` in
//! `k8s.io/apiserver/pkg/server/secure_serving.go`). The same limit applies to a client that sends its headers slowly.

use super::Service;
use super::authentication::Peer;
use super::budget::until;
use super::escape::Escaping;
use super::http::{self, Client};
use super::unread::WriteTimeout;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::pki_types::UnixTime;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The time limit for a request and its headers.
pub(super) const TIMEOUT: Duration = Duration::from_secs(90);
/// The maximum number of connections, if the limit of open files allows them.
const MAX_FILES: u64 = 32_768;
/// Open files reserved for purposes other than connections.
const RESERVE: u64 = 64;

/// Accepts connections until the runtime ends. Connections above the limit wait in the system's queue.
pub(super) async fn accept(listener: TcpListener, service: Arc<Service>) {
    let permits = Arc::new(Semaphore::new(max_connections()));
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(serve_connection(stream, Arc::clone(&service), permit));
            }
            // No file descriptor is free, or the client has already disconnected.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn serve_connection(stream: TcpStream, service: Arc<Service>, _permit: OwnedSemaphorePermit) {
    // With Nagle's algorithm, a small response may wait for the client's acknowledgement.
    let _ = stream.set_nodelay(true);
    let Some(tls) = &service.tls else { return requests(stream, service, Peer::Unknown).await };
    // A client that breaks off the handshake needs no response.
    let Ok(Ok(stream)) = tokio::time::timeout(TIMEOUT, tls.acceptor().accept(stream)).await else { return };
    let peer = service.authentication.as_ref().map_or(Peer::Unknown, |authentication| {
        authentication.peer(stream.get_ref().1.peer_certificates(), UnixTime::now())
    });
    requests(stream, service, peer).await;
}

/// Answers the requests of a connection.
async fn requests(stream: impl AsyncRead + AsyncWrite + Unpin, service: Arc<Service>, peer: Peer) {
    let disconnect = Arc::new(Notify::new());
    let client = Arc::new(Client { peer, disconnect: Arc::clone(&disconnect) });
    let stream = WriteTimeout::new(stream, service.limits.write_timeout);
    let answer = service_fn(move |request| {
        let (service, client) = (Arc::clone(&service), Arc::clone(&client));
        async move { Ok::<_, Infallible>(http::answer(service, &client, request).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(TIMEOUT)
        .serve_connection(TokioIo::new(Escaping::new(stream)), answer);
    // A client that closes its connection needs no response.
    let _ = until(disconnect.notified(), connection).await;
}

/// Returns the limit of connections, after raising this process's limit of open files as far as the system allows.
fn max_connections() -> usize {
    #[cfg(unix)]
    let files = {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let wanted = limit.maximum.unwrap_or(u64::MAX).min(MAX_FILES + RESERVE);
        let current = limit.current.unwrap_or(u64::MAX);
        let raised = current < wanted
            && setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum }).is_ok();
        if raised { wanted } else { current }
    };
    #[cfg(not(unix))]
    let files = MAX_FILES;
    files.saturating_sub(RESERVE).clamp(RESERVE, MAX_FILES) as usize
}

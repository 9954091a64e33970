//! Connections: how many at most, and how long each may take over its headers.
//!
//! A connection that says nothing is closed after [`PATIENCE`], as Go's server does with idle ones (`IdleTimeout` of
//! `k8s.io/apiserver/pkg/server/secure_serving.go`); one that dribbles its headers has as long.

use super::escape::Escaping;
use super::{Service, http};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long the headers of a request may take, and the wait for it.
const PATIENCE: Duration = Duration::from_secs(90);
/// The most connections, if as many files may be open.
const MOST: u64 = 32_768;
/// Open files that are not connections.
const RESERVE: u64 = 64;

/// Takes connections as long as the runtime lives. Above the bound they wait in the system's queue.
pub(super) async fn accept(listener: TcpListener, service: Arc<Service>) {
    let places = Arc::new(Semaphore::new(most()));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(converse(stream, Arc::clone(&service), place));
            }
            // The system has no file left, or the client is gone already.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn converse(stream: TcpStream, service: Arc<Service>, _place: OwnedSemaphorePermit) {
    // Without this a small answer may wait for the client's acknowledgement.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request| {
        let service = Arc::clone(&service);
        async move { Ok::<_, Infallible>(http::answer(service, request).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .serve_connection(TokioIo::new(Escaping::new(stream)), answer);
    // A client that breaks off needs no answer.
    let _ = connection.await;
}

/// How many connections there may be, after asking for as many open files as the system allows this process.
fn most() -> usize {
    #[cfg(unix)]
    let files = {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let wanted = limit.maximum.unwrap_or(u64::MAX).min(MOST + RESERVE);
        let current = limit.current.unwrap_or(u64::MAX);
        let raised = current < wanted
            && setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum }).is_ok();
        if raised { wanted } else { current }
    };
    #[cfg(not(unix))]
    let files = MOST;
    files.saturating_sub(RESERVE).clamp(RESERVE, MOST) as usize
}

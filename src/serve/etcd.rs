//! The part of etcd's HTTP API that shows whether etcd runs. Nothing is stored.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// The etcd version that clients see: the one of Kubernetes 1.37's own tests.
pub const VERSION: &str = "3.6.5";

/// Answers `/health`, `/livez`, `/readyz` and `/version` on these addresses until the process ends.
///
/// # Errors
/// If an address is not one of the loopback, or its port is taken.
pub fn run(addresses: &[SocketAddr]) -> io::Result<Infallible> {
    if let Some(other) = addresses.iter().find(|address| !address.ip().is_loopback()) {
        let text = format!("{} is not an address of the loopback: use 127.0.0.1 or ::1", other.ip());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listeners = addresses.iter().map(async |address| {
            let bound = TcpListener::bind(address).await;
            bound.map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}")))
        });
        for listener in listeners {
            tokio::spawn(accept(listener.await?));
        }
        std::future::pending().await
    })
}

async fn accept(listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(serve_connection(stream));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn serve_connection(stream: TcpStream) {
    let service = service_fn(async |request: Request<Incoming>| Ok::<_, Infallible>(respond(&request)));
    let mut http = hyper::server::conn::http1::Builder::new();
    // A client that closes its connection needs no response.
    let _ = http
        .timer(TokioTimer::new())
        .header_read_timeout(super::connections::TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

fn respond(request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let (code, body) = answer(request.method(), request.uri().path());
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = code;
    response
}

fn answer(method: &Method, path: &str) -> (StatusCode, String) {
    if method != Method::GET {
        return (StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed\n".to_owned());
    }
    match path {
        "/health" => (StatusCode::OK, r#"{"health":"true","reason":""}"#.to_owned()),
        "/livez" | "/readyz" => (StatusCode::OK, "ok\n".to_owned()),
        "/version" => {
            (StatusCode::OK, format!(r#"{{"etcdserver":"{VERSION}","etcdcluster":"3.6.0","storage":"3.6.0"}}"#))
        }
        _ => (StatusCode::NOT_FOUND, "404 page not found\n".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_health_is_known() {
        assert_eq!(answer(&Method::GET, "/health"), (StatusCode::OK, r#"{"health":"true","reason":""}"#.to_owned()));
        assert_eq!(answer(&Method::GET, "/v3/kv/range").0, StatusCode::NOT_FOUND);
        assert_eq!(answer(&Method::POST, "/health").0, StatusCode::METHOD_NOT_ALLOWED);
        let error = run(&["192.0.2.1:1".parse().unwrap()]).unwrap_err();
        assert_eq!(error.to_string(), "192.0.2.1 is not an address of the loopback: use 127.0.0.1 or ::1");
    }
}

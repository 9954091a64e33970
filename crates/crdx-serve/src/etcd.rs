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

/// Answers `/health`, `/livez`, `/readyz` and `/version` on these addresses until the process ends, as etcd `version` does.
///
/// # Errors
/// If an address is not one of the loopback, or its port is taken.
pub fn run(addresses: &[SocketAddr], version: &'static str) -> io::Result<Infallible> {
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
            tokio::spawn(accept(listener.await?, version));
        }
        std::future::pending().await
    })
}

async fn accept(listener: TcpListener, version: &'static str) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(serve_connection(stream, version));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn serve_connection(stream: TcpStream, version: &'static str) {
    let service = service_fn(async |request: Request<Incoming>| Ok::<_, Infallible>(respond(&request, version)));
    let mut http = hyper::server::conn::http1::Builder::new();
    // A client that closes its connection needs no response.
    let _ = http
        .timer(TokioTimer::new())
        .header_read_timeout(super::connections::TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

fn respond(request: &Request<Incoming>, version: &str) -> Response<Full<Bytes>> {
    let (code, body) = answer(request.method(), request.uri().path(), version);
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = code;
    response
}

fn answer(method: &Method, path: &str, version: &str) -> (StatusCode, String) {
    if method != Method::GET {
        return (StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed\n".to_owned());
    }
    match path {
        "/health" => (StatusCode::OK, r#"{"health":"true","reason":""}"#.to_owned()),
        "/livez" | "/readyz" => (StatusCode::OK, "ok\n".to_owned()),
        "/version" => {
            // The version of the cluster has no patch number.
            let cluster = version.rsplit_once('.').map_or(version, |(minor, _)| minor);
            (
                StatusCode::OK,
                format!(r#"{{"etcdserver":"{version}","etcdcluster":"{cluster}.0","storage":"{cluster}.0"}}"#),
            )
        }
        _ => (StatusCode::NOT_FOUND, "404 page not found\n".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_health_is_known() {
        let answer = |method: &Method, path: &str| answer(method, path, "3.7.0");
        assert_eq!(answer(&Method::GET, "/health"), (StatusCode::OK, r#"{"health":"true","reason":""}"#.to_owned()));
        assert_eq!(answer(&Method::GET, "/v3/kv/range").0, StatusCode::NOT_FOUND);
        assert_eq!(answer(&Method::POST, "/health").0, StatusCode::METHOD_NOT_ALLOWED);
        let version = r#"{"etcdserver":"3.7.0","etcdcluster":"3.7.0","storage":"3.7.0"}"#;
        assert_eq!(answer(&Method::GET, "/version"), (StatusCode::OK, version.to_owned()));
        let error = run(&["192.0.2.1:1".parse().unwrap()], "3.7.0").unwrap_err();
        assert_eq!(error.to_string(), "192.0.2.1 is not an address of the loopback: use 127.0.0.1 or ::1");
    }
}

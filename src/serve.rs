//! The simulated server on a loopback port: HTTP around [`api::Server`](crate::api::Server). Nothing outside this machine can
//! reach it.
//!
//! Requests are answered on threads with large stacks, because values may nest 10,000 deep and recursion follows them.

mod http;

use crate::api::Server;
use axum::Router;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The stack of each thread; only what is touched of it is ever real memory.
const STACK: usize = 256 << 20;
/// The most requests that are answered at the same time.
const THREADS: usize = 64;

/// Serves on `127.0.0.1:port` (0 takes a free port) until the process ends. The first line printed is the URL.
pub fn run(port: u16) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(THREADS)
        .thread_stack_size(STACK)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
        let mut out = io::stdout().lock();
        writeln!(out, "http://{}", listener.local_addr()?)?;
        out.flush()?;
        drop(out);
        let server = Arc::new(Server::new(seed()));
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            // Without this a small answer may wait for the client's acknowledgement.
            let _ = stream.set_nodelay(true);
        });
        let app = Router::new().fallback(move |request| http::answer(Arc::clone(&server), request));
        axum::serve(listener, app).await
    })
}

/// A seed that differs from run to run: the clock and the process.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_nanos() as u64) ^ (u64::from(std::process::id()) << 32)
}

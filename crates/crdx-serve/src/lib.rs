//! The simulated server on a loopback port: HTTP around [`Server`]. It is not reachable from other machines.
//!
//! `examples/rust/serve.rs` starts it, and `examples/rust/served_controller.rs` tests a controller with it.
//!
//! [`access`] decides which requests are answered, [`authentication`] determines their users, [`tls`] serves HTTPS,
//! [`body`] reads bodies, [`budget`] and [`limits`] bound the memory of slow clients, [`unread`] writes large answers,
//! [`escape`] rewrites request targets that hyper refuses, [`etcd`] answers health checks of etcd, [`notifier`] wakes
//! watches, [`connections`] accepts and limits connections, [`controllers`] runs the server's controllers, [`http`]
//! reads requests and writes responses, [`read_only`] refuses writes, [`record`] records exchanges, [`state`] persists
//! the store, [`status`] has the statuses of these and [`webhooks`] calls webhooks. Requests run on threads with large
//! stacks, because values may be nested 10,000 levels deep and the code recurses into them. An idle thread ends.

mod access;
mod authentication;
mod body;
mod budget;
mod clock;
mod connections;
mod consistent_read;
mod controllers;
mod escape;
pub mod etcd;
mod http;
mod kubeconfig;
mod limits;
mod notifier;
mod read_only;
mod record;
mod runtime;
mod state;
mod status;
mod stream;
pub mod tls;
mod unread;
mod webhooks;

pub use authentication::{Authentication, AuthenticationError};
use crdx_server::server::Server;
use crdx_value::STACK_SIZE;
pub use limits::Limits;
use record::Record;
pub use runtime::Runtime;
pub use state::{Opened, StateError, StateFailure, StateFile, StateNote};
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tls::Tls;
pub use tls::TlsError;
pub use webhooks::{BlockingWebhooks, Service as WebhookService, ServiceError, Webhooks};

/// The pause of servers for controllers ([`ServerBuilder::with_pause_before_removal`]).
///
/// [`ServerBuilder::with_pause_before_removal`]: crdx_server::server::ServerBuilder::with_pause_before_removal
pub const PAUSE_BEFORE_REMOVAL: Duration = Duration::from_millis(5);
/// The pause of servers for test suites before a write is committed ([`ServeOptions::pause_before_commit`]). A write to etcd
/// takes about as long.
pub const PAUSE_BEFORE_COMMIT: Duration = Duration::from_millis(3);

/// The maximum number of requests handled at the same time on other threads.
const THREADS: usize = 64;

/// Options of [`start`].
#[derive(Debug)]
pub struct ServeOptions {
    /// The address to listen on. Only loopback addresses are accepted.
    pub address: IpAddr,
    /// The port to listen on; 0 selects a free one.
    pub port: u16,
    /// Host names that are allowed in addition to `localhost` and loopback addresses.
    pub allowed_hosts: Vec<String>,
    /// True to refuse every request that would change an object.
    pub read_only: bool,
    /// The time that a write waits before it is handled, as a write to etcd takes time. It is then committed, sent to
    /// watches and answered at once. Other requests do not wait for it, and it is handled against the state after the
    /// pause. Requests that store nothing, such as reads and dry runs, are not delayed, except that a list without a
    /// resourceVersion may wait for up to 100 ms, as on a real server ([`ConsistentRead`]).
    ///
    /// Tests of controllers rely on it: without it, a controller can react to a write before the test that made the
    /// previous one has observed its effect.
    ///
    /// [`ConsistentRead`]: crdx_server::server::ConsistentRead
    pub pause_before_commit: Duration,
    /// The file in which every exchange is recorded, one JSON object per line.
    pub record: Option<File>,
    /// The file that persists the store. Without it, all objects are lost when the process ends.
    pub state: Option<Arc<StateFile>>,
    /// The webhooks that the server can call. Without it, admission ignores webhooks, and versions are converted
    /// without them.
    pub webhooks: Option<Webhooks>,
    /// Serves HTTPS. Without it, HTTP.
    pub tls: Option<Tls>,
    /// Determines the users of requests. Without it, every client is the server's default user.
    pub authentication: Option<Authentication>,
    /// The limits for slow clients.
    pub limits: Limits,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            address: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            allowed_hosts: Vec::new(),
            read_only: false,
            pause_before_commit: Duration::ZERO,
            record: None,
            state: None,
            webhooks: None,
            tls: None,
            authentication: None,
            limits: Limits::default(),
        }
    }
}

/// A running server. Dropping it stops the server.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    service: Arc<Service>,
    _runtime: Runtime,
}

/// The state shared by all connections.
#[derive(Debug)]
struct Service {
    server: Arc<Server>,
    access: access::Access,
    read_only: bool,
    pause_before_commit: Duration,
    started: tokio::time::Instant,
    record: Option<Record>,
    state: Option<Arc<StateFile>>,
    webhooks: Option<Webhooks>,
    tls: Option<Tls>,
    authentication: Option<Authentication>,
    limits: Limits,
    permits: limits::Permits,
    /// Notified when a controller has work to do.
    controllers: Arc<tokio::sync::Notify>,
}

/// Serves `server` in the background, on the threads of `runtime`.
///
/// # Errors
/// Returns an error if the address is not a loopback address or the port is in use.
pub fn start(runtime: Runtime, server: Arc<Server>, options: ServeOptions) -> io::Result<Running> {
    if !options.address.is_loopback() {
        let text = format!("{} is not an address of the loopback: use 127.0.0.1 or ::1", options.address);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let allowed = options.allowed_hosts.iter().map(|host| access::host_name(host).ok_or(host));
    let allowed = allowed.collect::<Result<_, _>>().map_err(|host| {
        let text = format!("{host:?} is not a host: give a name or an address, such as crdx.example.com");
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })?;
    // The caller may be a task of another runtime, where blocking is not allowed.
    let address = SocketAddr::new(options.address, options.port);
    let listener = std::net::TcpListener::bind(address).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            let text =
                format!("the port {} of {} is in use: give another, or --port 0 for any", address.port(), address.ip());
            io::Error::new(error.kind(), text)
        }
        _ => error,
    })?;
    listener.set_nonblocking(true)?;
    let handle = &runtime.handle;
    let entered = handle.enter();
    let listener = tokio::net::TcpListener::from_std(listener)?;
    drop(entered);
    let address = listener.local_addr()?;
    let service = Arc::new(Service {
        server,
        access: access::Access::new(allowed),
        read_only: options.read_only,
        pause_before_commit: options.pause_before_commit,
        started: tokio::time::Instant::now(),
        record: options.record.map(Record::new),
        state: options.state,
        webhooks: options.webhooks,
        tls: options.tls,
        authentication: options.authentication,
        limits: options.limits,
        permits: limits::Permits::new(&options.limits),
        controllers: Arc::default(),
    });
    handle.spawn(controllers::run(Arc::clone(&service.server), Arc::clone(&service.controllers)));
    handle.spawn(connections::accept(listener, Arc::clone(&service)));
    if let Some(state) = &service.state {
        handle.spawn(maintain(Arc::clone(state)));
    }
    Ok(Running { address, service, _runtime: runtime })
}

/// Maintains the state file once a second.
async fn maintain(state: Arc<StateFile>) {
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    seconds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        seconds.tick().await;
        let state = Arc::clone(&state);
        let _ = tokio::task::spawn_blocking(move || state.maintain()).await;
    }
}

impl Running {
    /// Returns `http://127.0.0.1:PORT`, or `https://127.0.0.1:PORT` with TLS.
    pub fn url(&self) -> String {
        let scheme = if self.service.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Returns the server, for direct access without HTTP.
    pub fn server(&self) -> &Arc<Server> {
        &self.service.server
    }

    /// Returns a kubeconfig whose only context is this server.
    pub fn kubeconfig(&self) -> String {
        kubeconfig::text(&self.url())
    }

    /// Serves until the process ends.
    pub fn wait(&self) {
        loop {
            std::thread::park();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(state) = &self.service.state {
            state.sync();
        }
    }
}

/// A seed for [`Server::new`] that differs between runs, computed from the clock and the process ID.
pub fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_nanos() as u64) ^ (u64::from(std::process::id()) << 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::release::Release;

    #[test]
    fn only_the_loopback_is_served() {
        for address in ["0.0.0.0", "192.0.2.1", "::"] {
            let options = ServeOptions { address: address.parse().unwrap(), ..ServeOptions::default() };
            let error = start(Runtime::new().unwrap(), Arc::new(Server::new(Release::NEWEST, 1)), options).unwrap_err();
            assert_eq!(error.to_string(), format!("{address} is not an address of the loopback: use 127.0.0.1 or ::1"));
        }
    }

    #[test]
    fn an_allowed_host_is_a_name_or_an_address() {
        for (host, fine) in
            [("crdx.example.com", true), ("[fd00::1]:80", true), ("http://a", false), ("", false), ("*", false)]
        {
            let options = ServeOptions { allowed_hosts: vec![host.to_owned()], ..ServeOptions::default() };
            assert_eq!(
                start(Runtime::new().unwrap(), Arc::new(Server::new(Release::NEWEST, 1)), options).is_ok(),
                fine,
                "{host}"
            );
        }
    }

    #[test]
    fn a_dropped_server_stops() {
        let running =
            start(Runtime::new().unwrap(), Arc::new(Server::new(Release::NEWEST, 1)), ServeOptions::default()).unwrap();
        let address = running.address;
        assert!(std::net::TcpStream::connect(address).is_ok());
        drop(running);
        let gone = (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            std::net::TcpStream::connect(address).is_err()
        });
        assert!(gone, "the port is still open");
    }
}

//! One connection to one API server: sending requests, timeouts and retries.

use super::answer::{Answer, root_cause};
use super::cache::Cache;
use super::configuration::{Configuration, configuration, unusable};
use super::credentials::Credentials;
use super::discovery::Discovered;
use super::limits::{self, Held, HeldBody};
use super::{ClusterFlags, Error, JSON, log, saved, tls, warnings};
use crdx_input::profile::Profile;
use crdx_value::Value;
use crdx_value::lock::lock;
use http::header::{ACCEPT, AUTHORIZATION, HeaderMap, RETRY_AFTER, WARNING};
use http_body_util::BodyExt;
use kube::client::Body;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// The longest pause in an answer that is tolerated without `--request-timeout`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// The time limit of a credential plugin without `--request-timeout`.
const PLUGIN_TIMEOUT: Duration = Duration::from_mins(1);
/// The maximum number of concurrent requests.
const MAX_CONCURRENT: usize = 16;
/// The maximum number of retries, after 429, 503 or a broken connection.
const AGAIN: usize = 4;
/// A longer `Retry-After` is an error.
const MAX_PAUSE_LENGTH: Duration = Duration::from_secs(15);
/// After more answers than this that are too long, no further request is sent.
const MAX_TOO_LONG: usize = 20;
/// The maximum number of distinct warnings, and of characters of each; API servers send fewer.
const MAX_WARNINGS: usize = 1000;
const MAX_WARNING_LENGTH: usize = 4096;

/// An open connection, or the profile in its place.
pub struct Connection {
    source: Source,
    pub(super) cache: Cache,
    pub(super) discovered: Mutex<Option<Discovered>>,
    /// The answer of `/version`, once it was read.
    pub(super) version: OnceLock<Result<Option<Value>, Error>>,
}

/// The source of the answers.
enum Source {
    Server(ServerConnection),
    Profile(Box<Profile>),
}

/// A connection to a server.
struct ServerConnection {
    /// `None` only during drop.
    runtime: Option<Runtime>,
    handle: Handle,
    line: Arc<SharedConnection>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl Drop for ServerConnection {
    fn drop(&mut self) {
        // A pending name lookup must not delay the end of the program.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A request whose answer has not been read yet.
#[derive(Debug)]
pub struct PendingResponse {
    path: String,
    source: ResponseSource,
}

#[derive(Debug)]
enum ResponseSource {
    Sent(Handle, JoinHandle<Result<Answer, Error>>),
    Saved(Box<Result<Option<Value>, Error>>),
}

impl crdx_engine::cluster::PendingResponse for PendingResponse {
    fn wait(self: Box<Self>) -> Result<Option<Value>, Error> {
        Self::wait(*self)
    }
}

impl PendingResponse {
    /// Waits for the answer; `None` for 404.
    pub fn wait(self) -> Result<Option<Value>, Error> {
        let path = self.path.clone();
        match self.source {
            ResponseSource::Saved(response) => *response,
            source @ ResponseSource::Sent(..) => Self { source, ..self }.answer()?.read(&path),
        }
    }

    pub(super) fn answer(self) -> Result<Answer, Error> {
        let closed = |_| Err(Error::new("the request was cancelled"));
        match self.source {
            ResponseSource::Sent(handle, answer) => handle.block_on(answer).unwrap_or_else(closed),
            ResponseSource::Saved(response) => saved::answer(*response, &self.path),
        }
    }
}

/// How requests are sent.
struct Client {
    inner: kube::Client,
    url: String,
    credentials: Credentials,
    /// True if the user has credentials that are not sent, because the server is not `https`.
    are_withheld: bool,
}

impl Client {
    /// Reads the configuration and runs its credential plugin.
    async fn open(target: &ClusterFlags) -> Result<Self, Error> {
        let limit = target.request_timeout.unwrap_or(PLUGIN_TIMEOUT);
        let Configuration { config, credentials, are_withheld } = configuration(target, limit).await?;
        let url = config.cluster_url.to_string();
        let inner = kube::Client::try_from(config).map_err(|e| unusable(&e))?;
        Ok(Self { inner, url, credentials, are_withheld })
    }
}

impl Connection {
    /// Reads the configuration; the first request opens the socket. `warn` is called once with each distinct text of the
    /// server's warnings.
    pub fn open(target: &ClusterFlags, warn: fn(&str)) -> Result<Self, Error> {
        if let Some(folder) = &target.profile {
            let source = Source::Profile(Box::new(saved::open(folder)?));
            return Ok(Self::new(source, Cache::default()));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|e| Error::new(format!("the network cannot be started: {e}")))?;
        let client = match runtime.block_on(Client::open(target)) {
            Ok(client) => client,
            Err(error) => {
                // A thread may still be reading from a credential plugin.
                runtime.shutdown_background();
                return Err(error);
            }
        };
        let cache = Cache::new(target.cache.as_deref(), &client.url);
        let line = SharedConnection {
            client,
            timeout: target.request_timeout,
            at_once: Semaphore::new(MAX_CONCURRENT),
            held: Held::default(),
            too_long: AtomicUsize::new(0),
            reached: AtomicBool::new(false),
            closed: Mutex::default(),
            warn,
            warned: Mutex::default(),
        };
        let handle = runtime.handle().clone();
        let source = Source::Server(ServerConnection { runtime: Some(runtime), handle, line: Arc::new(line) });
        Ok(Self::new(source, cache))
    }

    fn new(source: Source, cache: Cache) -> Self {
        Self { source, cache, discovered: Mutex::default(), version: OnceLock::new() }
    }

    /// The URL of the server, or the folder of the profile.
    pub fn url(&self) -> Cow<'_, str> {
        match &self.source {
            Source::Server(server) => server.line.client.url.as_str().into(),
            Source::Profile(profile) => profile.folder().to_string_lossy(),
        }
    }

    /// The profile, if it is not a server that answers.
    pub fn profile(&self) -> Option<&Profile> {
        if let Source::Profile(profile) = &self.source { Some(profile) } else { None }
    }

    /// Reads `path`; `None` for 404.
    pub fn get(&self, path: &str, accept: &str) -> Result<Option<Value>, Error> {
        self.ask(path, accept).wait()
    }

    /// Reads the object at `path`. A missing object is an error with the server's message.
    pub fn object(&self, path: &str) -> Result<Value, Error> {
        self.object_of(JSON, path)
    }

    /// Reads the object at `path` in one of the accepted types. A missing object is an error with the server's message.
    pub(super) fn object_of(&self, accept: &str, path: &str) -> Result<Value, Error> {
        let answer = self.ask(path, accept).answer()?;
        answer.read(path)?.ok_or_else(|| answer.refusal(path))
    }

    /// Starts a request without waiting for its answer. Any number may be started; a few run at a time.
    pub fn ask(&self, path: &str, accept: &str) -> PendingResponse {
        let source = match &self.source {
            Source::Server(server) => {
                let (line, path_and_query, accept) = (Arc::clone(&server.line), path.to_owned(), accept.to_owned());
                let answer = server.handle.spawn(async move { line.get(&path_and_query, &accept).await });
                ResponseSource::Sent(server.handle.clone(), answer)
            }
            Source::Profile(profile) => ResponseSource::Saved(Box::new(saved::respond(profile, path))),
        };
        PendingResponse { path: path.to_owned(), source }
    }

    /// Starts a request with a streamed answer.
    pub(super) fn stream(&self, path: &str, accept: &str) -> Result<Stream, Error> {
        let ServerConnection { handle, line, .. } = match &self.source {
            Source::Server(server) => server,
            Source::Profile(profile) => {
                let message = format!("the profile {} has no answer to GET {path}", profile.folder().display());
                return Err(Error::new(message));
            }
        };
        let body = handle.block_on(async {
            let response =
                timeout(line.timeout(), line.send(path, accept)).await.map_err(|_| line.timed_out(path))??;
            let code = response.status().as_u16();
            if code == 200 {
                return Ok(response.into_body());
            }
            let body = line.collect(path, response.into_body()).await?;
            Err(Answer { code, body, ..line.answer() }.refusal(path))
        })?;
        let until = line.timeout.and_then(|limit| Instant::now().checked_add(limit));
        Ok(Stream { handle: handle.clone(), body, until })
    }
}

/// A streamed answer.
pub(super) struct Stream {
    handle: Handle,
    body: Body,
    /// The deadline given by `--request-timeout`.
    until: Option<Instant>,
}

impl Stream {
    /// Waits for the next chunk; `None` at the end of the answer or at the deadline.
    pub fn next(&mut self) -> Option<Result<Vec<u8>, kube::Error>> {
        let Self { handle, body, until } = self;
        handle.block_on(async {
            let frame = match until {
                Some(until) => timeout_at(*until, body.frame()).await.ok()?,
                None => body.frame().await,
            };
            Some(frame?.map(|frame| frame.data_ref().map_or_else(Vec::new, |data| data.to_vec())))
        })
    }
}

/// State shared by all requests.
struct SharedConnection {
    client: Client,
    timeout: Option<Duration>,
    at_once: Semaphore,
    held: Held,
    /// The number of answers that were too long.
    too_long: AtomicUsize,
    /// True if the server has answered any request.
    reached: AtomicBool,
    /// The error that ends all further requests.
    closed: Mutex<Option<Error>>,
    warn: fn(&str),
    /// The texts already given to `warn`.
    warned: Mutex<HashSet<String>>,
}

impl SharedConnection {
    async fn get(&self, path: &str, accept: &str) -> Result<Answer, Error> {
        let _turn = self.at_once.acquire().await;
        if let Some(error) = lock(&self.closed).clone() {
            return Err(error);
        }
        let found = match self.timeout {
            Some(limit) => {
                timeout(limit, self.with_retries(path, accept)).await.unwrap_or_else(|_| Err(self.timed_out(path)))
            }
            None => self.with_retries(path, accept).await,
        };
        let last = match &found {
            Err(error) if error.unreachable => Some(error.clone()),
            Err(error) if error.too_long && self.too_long.fetch_add(1, Ordering::Relaxed) >= MAX_TOO_LONG => {
                Some(Error { unreachable: true, ..error.clone() })
            }
            Ok(answer) if answer.code == 401 => Some(answer.refusal(path)),
            _ => None,
        };
        if last.is_some() {
            *lock(&self.closed) = last;
        }
        found
    }

    /// Sends a request, with retries.
    async fn with_retries(&self, path: &str, accept: &str) -> Result<Answer, Error> {
        let mut again = 0;
        loop {
            let found = self.once(path, accept).await;
            let pause = match &found {
                Ok(Answer { code: 429 | 500..=599, retry_after: Some(pause), .. }) if *pause <= MAX_PAUSE_LENGTH => {
                    *pause
                }
                // The server answered earlier, so only this connection broke. Repeating a GET is safe.
                Err(error) if !error.unreachable && !error.too_long => Duration::from_millis(100 << again),
                _ => return found,
            };
            if again == AGAIN {
                return found;
            }
            again += 1;
            sleep(pause).await;
        }
    }

    async fn once(&self, path: &str, accept: &str) -> Result<Answer, Error> {
        let response = timeout(self.timeout(), self.send(path, accept)).await.map_err(|_| self.timed_out(path))??;
        let code = response.status().as_u16();
        let seconds = response.headers().get(RETRY_AFTER).and_then(|v| v.to_str().ok()?.trim().parse().ok());
        let body = self.collect(path, response.into_body()).await?;
        self.reached.store(true, Ordering::Relaxed);
        Ok(Answer { code, retry_after: seconds.map(Duration::from_secs), body, ..self.answer() })
    }

    /// An answer without content.
    fn answer(&self) -> Answer {
        Answer { lacks_credentials: self.client.are_withheld, ..Answer::default() }
    }

    /// The only place where a request is sent.
    async fn send(&self, path: &str, accept: &str) -> Result<http::Response<Body>, Error> {
        let mut request = http::Request::get(path)
            .header(ACCEPT, accept)
            .body(Body::empty())
            .map_err(|e| Error { unreachable: true, ..Error::new(format!("{path} cannot be requested: {e}")) })?;
        if let Some(header) = self.client.credentials.header().await? {
            request.headers_mut().insert(AUTHORIZATION, header);
        }
        let start = Instant::now();
        let response = self.client.inner.send(request).await;
        let answer = response.as_ref().map_or_else(ToString::to_string, |response| response.status().to_string());
        log::request(&format!("{}{path}", self.client.url.trim_end_matches('/')), &answer, start.elapsed());
        let response = response.map_err(|e| self.failed(path, &e))?;
        self.report_warnings(response.headers());
        Ok(response)
    }

    /// Reports the warnings of an answer.
    fn report_warnings(&self, headers: &HeaderMap) {
        for text in headers.get_all(WARNING).iter().flat_map(|header| warnings::texts(header.as_bytes())) {
            let text: String = text.chars().take(MAX_WARNING_LENGTH).collect();
            let mut warned = lock(&self.warned);
            if warned.len() < MAX_WARNINGS && warned.insert(text.clone()) {
                drop(warned);
                (self.warn)(&text);
            }
        }
    }

    /// Reads a body. Without `--request-timeout`, an answer may take longer than the usual time limit only while data keeps
    /// arriving at a reasonable speed.
    async fn collect(&self, path: &str, mut body: Body) -> Result<HeldBody, Error> {
        let mut held = self.held.body();
        let start = Instant::now();
        loop {
            let limit = self.timeout.unwrap_or_else(|| limits::time_for(held.bytes().len()));
            let left = limit.saturating_sub(start.elapsed()).min(self.timeout());
            let frame = timeout(left, body.frame()).await;
            let within = || self.timeout.unwrap_or_else(|| start.elapsed().max(DEFAULT_TIMEOUT));
            let Some(frame) = frame.map_err(|_| self.late(path, within()))? else {
                return Ok(held);
            };
            let frame = frame.map_err(|e| self.failed(path, &e))?;
            if let Some(data) = frame.data_ref() {
                held.add(data, path)?;
            }
        }
    }

    fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Returns the error of a request that was not answered in time. Later requests fail immediately instead of waiting
    /// again.
    fn timed_out(&self, path: &str) -> Error {
        self.late(path, self.timeout())
    }

    fn late(&self, path: &str, within: Duration) -> Error {
        let path = path.split('?').next().unwrap_or_default();
        // Whole seconds are exact enough for a limit of more than one.
        let within = if within > Duration::from_secs(2) { within.as_secs() as f64 } else { within.as_secs_f64() };
        Error::unreachable(
            format!("the cluster at {} did not answer GET {path} within {within} s", self.client.url),
            "give it more time with --request-timeout, or check --server and the proxy",
        )
    }

    fn failed(&self, path: &str, error: &kube::Error) -> Error {
        if self.reached.load(Ordering::Relaxed) {
            let path = path.split('?').next().unwrap_or_default();
            let message = format!("the connection failed during GET {path}: {}", root_cause(error));
            let help = tls::help(error).unwrap_or("run it again");
            return Error { help: Some(help.to_owned()), ..Error::new(message) };
        }
        Error::unreachable(
            format!("cannot reach the cluster at {}: {}", self.client.url, root_cause(error)),
            tls::help(error).unwrap_or("check --context and --server; --offline uses no cluster"),
        )
    }
}

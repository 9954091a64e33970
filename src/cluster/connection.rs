//! One connection to one API server: sending requests, timeouts and retries.

use super::answer::Answer;
use super::cache::Cache;
use super::configuration::{configuration, root_cause, unusable};
use super::discovery::Discovered;
use super::{Error, JSON, Target, log, tls, warnings};
use crate::value::Value;
use http::header::{ACCEPT, HeaderMap, RETRY_AFTER, WARNING};
use http_body_util::BodyExt;
use kube::client::Body;
use kube::config::ExecInteractiveMode;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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
/// The limit for the body of an answer, far above what API servers send.
const MAX_BODY_LENGTH: usize = 1 << 30;

/// An open connection.
pub struct Connection {
    /// `None` only during drop.
    runtime: Option<Runtime>,
    handle: Handle,
    line: Arc<Line>,
    pub(super) cache: Cache,
    pub(super) discovered: Mutex<Option<Discovered>>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("url", &self.line.url).finish_non_exhaustive()
    }
}

impl Drop for Connection {
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
    handle: Handle,
    path: String,
    answer: JoinHandle<Result<Answer, Error>>,
}

impl PendingResponse {
    /// Waits for the answer; `None` for 404.
    pub fn wait(self) -> Result<Option<Value>, Error> {
        let path = self.path.clone();
        self.answer()?.read(&path)
    }

    pub(super) fn answer(self) -> Result<Answer, Error> {
        let closed = |_| Err(Error::new("the request was cancelled"));
        self.handle.block_on(self.answer).unwrap_or_else(closed)
    }
}

/// Reads the configuration, runs its credential plugin, and returns the client with its URL.
async fn client(target: &Target) -> Result<(kube::Client, String), Error> {
    let config = configuration(target).await?;
    let url = config.cluster_url.to_string();
    let exec = config.auth_info.exec.as_ref();
    let plugin = exec.and_then(|exec| exec.command.clone());
    // A plugin that prompts on the terminal has no time limit, because the user can end it.
    let is_interactive = exec.is_some_and(|exec| exec.interactive_mode != Some(ExecInteractiveMode::Never));
    let limit = target.request_timeout.unwrap_or(PLUGIN_TIMEOUT);
    // A plugin blocks its thread.
    let opened = tokio::task::spawn_blocking(|| kube::Client::try_from(config).map_err(|e| unusable(&e)));
    let opened = if is_interactive { Ok(opened.await) } else { timeout(limit, opened).await };
    let client = match opened {
        Ok(Ok(client)) => client?,
        Ok(Err(_)) => return Err(Error::new("the client of the cluster cannot be created")),
        Err(_) => {
            let plugin = plugin.unwrap_or_default();
            return Err(Error::unreachable(
                format!("the credential plugin {plugin} did not end within {} s", limit.as_secs_f64()),
                "run it by hand, or give it more time with --request-timeout",
            ));
        }
    };
    Ok((client, url))
}

impl Connection {
    /// Reads the configuration; the first request opens the socket. `warn` is called once with each distinct text of the
    /// server's warnings.
    pub fn open(target: &Target, warn: fn(&str)) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|e| Error::new(format!("the network cannot be started: {e}")))?;
        let (client, url) = match runtime.block_on(client(target)) {
            Ok(opened) => opened,
            Err(error) => {
                // A credential plugin may still be running.
                runtime.shutdown_background();
                return Err(error);
            }
        };
        let cache = Cache::new(target.cache.as_deref(), &url);
        let line = Line {
            client,
            url,
            timeout: target.request_timeout,
            at_once: Semaphore::new(MAX_CONCURRENT),
            reached: AtomicBool::new(false),
            closed: Mutex::default(),
            warn,
            warned: Mutex::default(),
        };
        let handle = runtime.handle().clone();
        Ok(Self { runtime: Some(runtime), handle, line: Arc::new(line), cache, discovered: Mutex::default() })
    }

    /// The URL of the server.
    pub fn url(&self) -> &str {
        &self.line.url
    }

    /// Reads `path`; `None` for 404.
    pub fn get(&self, path: &str, accept: &str) -> Result<Option<Value>, Error> {
        self.ask(path, accept).wait()
    }

    /// Reads the object at `path`. A missing object is an error with the server's message.
    pub fn object(&self, path: &str) -> Result<Value, Error> {
        let answer = self.ask(path, JSON).answer()?;
        answer.read(path)?.ok_or_else(|| answer.refusal(path))
    }

    /// Starts a request without waiting for its answer. Any number may be started; a few run at a time.
    pub fn ask(&self, path: &str, accept: &str) -> PendingResponse {
        let (line, path_and_query, accept) = (Arc::clone(&self.line), path.to_owned(), accept.to_owned());
        let answer = self.handle.spawn(async move { line.get(&path_and_query, &accept).await });
        PendingResponse { handle: self.handle.clone(), path: path.to_owned(), answer }
    }

    /// Starts a request with a streamed answer.
    pub(super) fn stream(&self, path: &str, accept: &str) -> Result<Stream, Error> {
        let line = &self.line;
        let body = self.handle.block_on(async {
            let response =
                timeout(line.timeout(), line.send(path, accept)).await.map_err(|_| line.timed_out(path))??;
            let code = response.status().as_u16();
            if code == 200 {
                return Ok(response.into_body());
            }
            let body = line.collect(path, response.into_body()).await?;
            Err(Answer { code, retry_after: None, body }.refusal(path))
        })?;
        let until = line.timeout.map(|limit| Instant::now() + limit);
        Ok(Stream { handle: self.handle.clone(), body, until })
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
struct Line {
    client: kube::Client,
    url: String,
    timeout: Option<Duration>,
    at_once: Semaphore,
    /// True if the server has answered any request.
    reached: AtomicBool,
    /// The error that ends all further requests.
    closed: Mutex<Option<Error>>,
    warn: fn(&str),
    /// The texts already given to `warn`.
    warned: Mutex<HashSet<String>>,
}

impl Line {
    async fn get(&self, path: &str, accept: &str) -> Result<Answer, Error> {
        let _turn = self.at_once.acquire().await;
        if let Some(error) = self.closed.lock().unwrap_or_else(PoisonError::into_inner).clone() {
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
            Ok(answer) if answer.code == 401 => Some(answer.refusal(path)),
            _ => None,
        };
        if last.is_some() {
            *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = last;
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
                Err(error) if !error.unreachable => Duration::from_millis(100 << again),
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
        Ok(Answer { code, retry_after: seconds.map(Duration::from_secs), body })
    }

    /// The only place where a request is sent.
    async fn send(&self, path: &str, accept: &str) -> Result<http::Response<Body>, Error> {
        let request = http::Request::get(path)
            .header(ACCEPT, accept)
            .body(Body::empty())
            .map_err(|e| Error { unreachable: true, ..Error::new(format!("{path} cannot be requested: {e}")) })?;
        let start = Instant::now();
        let response = self.client.send(request).await;
        let answer = response.as_ref().map_or_else(ToString::to_string, |response| response.status().to_string());
        log::request(&format!("{}{path}", self.url.trim_end_matches('/')), &answer, start.elapsed());
        let response = response.map_err(|e| self.failed(path, &e))?;
        self.report_warnings(response.headers());
        Ok(response)
    }

    /// Reports the warnings of an answer.
    fn report_warnings(&self, headers: &HeaderMap) {
        for text in headers.get_all(WARNING).iter().flat_map(|header| warnings::texts(header.as_bytes())) {
            if self.warned.lock().unwrap_or_else(PoisonError::into_inner).insert(text.clone()) {
                (self.warn)(&text);
            }
        }
    }

    async fn collect(&self, path: &str, mut body: Body) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        loop {
            let Some(frame) = timeout(self.timeout(), body.frame()).await.map_err(|_| self.timed_out(path))? else {
                return Ok(bytes);
            };
            let frame = frame.map_err(|e| self.failed(path, &e))?;
            if let Some(data) = frame.data_ref() {
                bytes.extend_from_slice(data);
            }
            if bytes.len() > MAX_BODY_LENGTH {
                return Err(Error::new(format!("the cluster's answer to GET {path} is longer than 1 GiB")));
            }
        }
    }

    fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Returns the error of a request that was not answered in time. Later requests fail immediately instead of waiting
    /// again.
    fn timed_out(&self, path: &str) -> Error {
        let path = path.split('?').next().unwrap_or_default();
        let within = self.timeout().as_secs_f64();
        Error::unreachable(
            format!("the cluster at {} did not answer GET {path} within {within} s", self.url),
            "give it more time with --request-timeout, or check --server and the proxy",
        )
    }

    fn failed(&self, path: &str, error: &kube::Error) -> Error {
        if let kube::Error::Auth(_) = error {
            return unusable(error);
        }
        if self.reached.load(Ordering::Relaxed) {
            let path = path.split('?').next().unwrap_or_default();
            let message = format!("the connection failed during GET {path}: {}", root_cause(error));
            let help = tls::help(error).unwrap_or("run it again");
            return Error { help: Some(help.to_owned()), ..Error::new(message) };
        }
        Error::unreachable(
            format!("cannot reach the cluster at {}: {}", self.url, root_cause(error)),
            tls::help(error).unwrap_or("check --context and --server; --offline uses no cluster"),
        )
    }
}

//! Downloads of files over http and https, from registries and from repositories of charts, through kube's HTTP client: its TLS,
//! its proxies and its timeouts. Only `kubectl crdx fetch` uses this module.
//!
//! No error contains a URL as given: it may contain a password.

mod chart_repository;
mod redirect;
mod registry;

use crate::proxy_from_environment;
use crdx_input::remote::MAX_DOWNLOAD;
use crdx_input::remote::url::{self, UrlKind};
use crdx_server::server::http::address::decoded;
use crdx_value::base64::Encoding;
use http::header::{ACCEPT, AUTHORIZATION, HeaderValue, InvalidHeaderValue, LOCATION, USER_AGENT, WWW_AUTHENTICATE};
use http::uri::InvalidUri;
use http::{Request, StatusCode, Uri};
use http_body_util::BodyExt as _;
use kube::client::Body;
use redirect::{Redirect, RedirectError, followed};
use std::error::Error;
use std::io;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout};

/// The time limit for opening a connection, and for a pause in an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time limit of a download.
const LONGEST: Duration = Duration::from_mins(10);
/// The largest number of redirects.
const MAX_REDIRECTS: usize = 10;

/// The reason why a file is not downloaded.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The runtime cannot be started.
    #[error("the network cannot be started: {0}")]
    Runtime(#[from] io::Error),
    /// It is not a URL with a host.
    #[error("it is not a valid URL")]
    Url,
    /// The user and password cannot be sent.
    #[error("its user and password cannot be sent")]
    Credentials(#[from] InvalidHeaderValue),
    /// The proxy is invalid.
    #[error("{0}")]
    Proxy(crate::Error),
    /// The host cannot be reached, or the connection broke.
    #[error("{host}: {reason}")]
    Connection { host: String, reason: String },
    /// There was no data for too long.
    #[error("{0} did not answer within {limit} s", limit = PATIENCE.as_secs())]
    Silent(String),
    /// It took too long.
    #[error("it took more than {} minutes", LONGEST.as_secs() / 60)]
    TooSlow,
    /// The answer has another status than 200.
    #[error("{host} answered {status}")]
    Status { host: String, status: StatusCode },
    /// A redirect is not followed.
    #[error("{0}")]
    Redirect(#[from] RedirectError),
    #[error("there are more than {MAX_REDIRECTS} redirects")]
    TooManyRedirects,
    #[error("it is larger than {} MB", MAX_DOWNLOAD >> 20)]
    TooLarge,
    /// A registry has no chart or artifact there.
    #[error("{0}")]
    Registry(#[from] registry::RegistryError),
    /// A repository does not have the chart.
    #[error("{0}")]
    Repository(#[from] chart_repository::RepositoryError),
}

impl DownloadError {
    /// The next step for the user.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Url | Self::Credentials(_) => "write it as https://HOST/PATH",
            Self::Proxy(_) => "correct the variable HTTPS_PROXY or HTTP_PROXY",
            Self::Runtime(_) | Self::Connection { .. } | Self::Silent(_) | Self::TooSlow => {
                "check the host, the network and the proxy (HTTPS_PROXY, NO_PROXY), and run it again"
            }
            Self::Status { .. } => {
                "check the URL; a server that needs a login takes it as https://USER:PASSWORD@HOST/PATH"
            }
            Self::Redirect(_) | Self::TooManyRedirects => "name the URL at the end of the redirects, if you trust it",
            Self::Registry(error) => error.hint(),
            Self::Repository(_) => {
                "check the URL of the repository, the name of the chart and its version: helm search repo"
            }
            Self::TooLarge => "download it yourself, and name the file",
        }
    }
}

/// Downloads files.
#[derive(Debug)]
pub struct Downloader {
    /// `None` only during drop.
    runtime: Option<Runtime>,
}

impl Drop for Downloader {
    fn drop(&mut self) {
        // A pending name lookup must not delay the end of the program.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Downloader {
    /// Prepares downloads; no connection is opened yet.
    ///
    /// # Errors
    /// The runtime cannot be started.
    pub fn new() -> Result<Self, DownloadError> {
        Ok(Self { runtime: Some(Builder::new_multi_thread().worker_threads(1).enable_all().build()?) })
    }

    /// Downloads a file of at most [`MAX_DOWNLOAD`] bytes: of a URL, the chart or artifact at a reference `oci://…`, or a chart of a
    /// repository, `helm+https://…/NAME@VERSION`. Redirects are followed unless their scheme differs.
    ///
    /// # Errors
    /// The file cannot be downloaded.
    pub fn get(&self, url: &str) -> Result<Vec<u8>, DownloadError> {
        let Some(runtime) = &self.runtime else { return Err(DownloadError::TooSlow) };
        runtime.block_on(async { timeout(LONGEST, download(url)).await.unwrap_or(Err(DownloadError::TooSlow)) })
    }
}

async fn download(url: &str) -> Result<Vec<u8>, DownloadError> {
    match url::kind(url) {
        Some(UrlKind::Registry) => registry::get(url).await,
        Some(UrlKind::ChartRepository) => chart_repository::get(url).await,
        Some(UrlKind::File) => DownloadUrl::parse(url)?.get().await,
        None => Err(DownloadError::Url),
    }
}

/// A URL, without user and password.
struct DownloadUrl {
    url: Uri,
    authorization: Option<HeaderValue>,
    /// The media types that a registry may answer with.
    accept: Option<&'static str>,
}

enum DownloadResponse {
    Content(Vec<u8>),
    Redirect(Redirect),
    /// The challenge of a registry (`WWW-Authenticate`).
    Challenge(String),
}

impl DownloadUrl {
    fn parse(url: &str) -> Result<Self, DownloadError> {
        let invalid = |_: InvalidUri| DownloadError::Url;
        let (scheme, rest) = url.split_once("://").ok_or(DownloadError::Url)?;
        // A fragment is not sent.
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end).ok_or(DownloadError::Url)?;
        let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let url: Uri = format!("{}://{host}{path}", scheme.to_lowercase()).parse().map_err(invalid)?;
        if url.host().is_none_or(str::is_empty) || !url::is_http(&url.to_string()) {
            return Err(DownloadError::Url);
        }
        Ok(Self { url, authorization: user.map(basic).transpose()?, accept: None })
    }

    /// Downloads the file, and follows redirects.
    async fn get(self) -> Result<Vec<u8>, DownloadError> {
        let host = self.host();
        match self.follow().await? {
            DownloadResponse::Content(content) => Ok(content),
            DownloadResponse::Challenge(_) => Err(DownloadError::Status { host, status: StatusCode::UNAUTHORIZED }),
            DownloadResponse::Redirect(_) => Err(DownloadError::TooManyRedirects),
        }
    }

    /// Sends the request, and follows redirects; the response is one if there are too many.
    async fn follow(self) -> Result<DownloadResponse, DownloadError> {
        let mut target = self;
        let mut response = target.ask().await?;
        for _ in 0..MAX_REDIRECTS {
            let DownloadResponse::Redirect(redirect) = response else { break };
            // A password is for its own host only.
            let authorization = target.authorization.filter(|_| redirect.is_same_host);
            target = DownloadUrl { url: redirect.url, authorization, accept: target.accept };
            response = target.ask().await?;
        }
        Ok(response)
    }

    fn host(&self) -> String {
        self.url.authority().map_or_else(String::new, ToString::to_string)
    }

    async fn ask(&self) -> Result<DownloadResponse, DownloadError> {
        let host = || self.host();
        let failed = |error: &dyn Error| DownloadError::Connection { host: host(), reason: root_cause(error) };
        let mut config = kube::Config::new(self.url.clone());
        let origin =
            Uri::builder().scheme(self.url.scheme_str().unwrap_or_default()).authority(host()).path_and_query("/");
        config.cluster_url = origin.build().map_err(|_| DownloadError::Url)?;
        config.proxy_url =
            proxy_from_environment(&self.url, |name| std::env::var(name).ok()).map_err(DownloadError::Proxy)?;
        config.connect_timeout = Some(PATIENCE);
        config.default_retry = false;
        let client = kube::Client::try_from(config).map_err(|error| failed(&error))?;
        let path = self.url.path_and_query().map_or("/", |path| path.as_str());
        let request = Request::get(path).header(USER_AGENT, concat!("kubectl-crdx/", env!("CARGO_PKG_VERSION")));
        let mut request = request.body(Body::empty()).map_err(|_| DownloadError::Url)?;
        if let Some(header) = &self.authorization {
            request.headers_mut().insert(AUTHORIZATION, header.clone());
        }
        if let Some(types) = self.accept {
            request.headers_mut().insert(ACCEPT, HeaderValue::from_static(types));
        }
        let silent = |_| DownloadError::Silent(host());
        let response =
            timeout(PATIENCE, client.send(request)).await.map_err(silent)?.map_err(|error| failed(&error))?;
        let status = response.status();
        if status.is_redirection()
            && let Some(location) = response.headers().get(LOCATION)
        {
            return Ok(DownloadResponse::Redirect(followed(&self.url, location.to_str().unwrap_or_default())?));
        }
        if status == StatusCode::UNAUTHORIZED
            && let Some(challenge) = response.headers().get(WWW_AUTHENTICATE)
        {
            return Ok(DownloadResponse::Challenge(challenge.to_str().unwrap_or_default().to_owned()));
        }
        if status != StatusCode::OK {
            return Err(DownloadError::Status { host: host(), status });
        }
        let mut body = response.into_body();
        let mut content = Vec::new();
        let start = Instant::now();
        while let Some(frame) = timeout(PATIENCE, body.frame()).await.map_err(silent)? {
            let frame = frame.map_err(|error| failed(&error))?;
            content.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
            if content.len() as u64 > MAX_DOWNLOAD {
                return Err(DownloadError::TooLarge);
            }
            if start.elapsed() > LONGEST {
                return Err(DownloadError::TooSlow);
            }
        }
        Ok(DownloadResponse::Content(content))
    }
}

/// The header for `USER` or `USER:PASSWORD` of a URL.
fn basic(user: &str) -> Result<HeaderValue, InvalidHeaderValue> {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let text = |part: &str| decoded(part, false).unwrap_or_else(|| part.to_owned());
    let encoded = Encoding::Standard.encode(format!("{}:{}", text(user), text(password)).as_bytes());
    let mut header = HeaderValue::from_str(&format!("Basic {encoded}"))?;
    header.set_sensitive(true);
    Ok(header)
}

/// The innermost cause says what happened; the others say that a request failed.
fn root_cause(error: &dyn Error) -> String {
    let mut at = error;
    while let Some(cause) = at.source() {
        at = cause;
    }
    at.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_sent_as_a_header_only() {
        let target = DownloadUrl::parse("HTTPS://me:a%40b@Host:8443/p?q=1#f").unwrap();
        assert_eq!(target.url.to_string(), "https://Host:8443/p?q=1");
        assert_eq!(target.authorization.unwrap(), "Basic bWU6YUBi");
        assert_eq!(DownloadUrl::parse("http://h?q").unwrap().url.to_string(), "http://h/?q");
        for wrong in ["h/p", "https://", "https:///p", "ftp://h/p", "https://a b/", "https://u:p@/"] {
            assert!(DownloadUrl::parse(wrong).is_err(), "{wrong}");
        }
    }
}

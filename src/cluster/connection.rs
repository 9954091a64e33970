//! One connection to one API server.

use super::{Error, Target};
use crate::text::json;
use crate::value::Value;
use http::header::ACCEPT;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use std::fmt::Write as _;
use std::time::Duration;
use tokio::runtime::Runtime;

/// A server that says nothing for so long is taken for gone.
const PATIENCE: Duration = Duration::from_secs(30);
/// Objects per page, as kubectl asks for them.
const PAGE: usize = 500;

/// An open connection.
pub struct Connection {
    runtime: Runtime,
    client: kube::Client,
    url: String,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Connection {
    /// Reads the configuration and makes ready to ask; the first request opens the socket.
    pub fn open(target: &Target) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Error::new(format!("cannot start the network: {e}")))?;
        let (client, url) = runtime.block_on(async {
            let config = configuration(target).await?;
            let url = config.cluster_url.to_string();
            let client = kube::Client::try_from(config)
                .map_err(|e| Error::new(format!("cannot use the cluster's configuration: {}", root_cause(&e))))?;
            Ok((client, url))
        })?;
        Ok(Self { runtime, client, url })
    }

    /// Reads `path`; `None` where nothing is.
    pub fn get(&self, path: &str, accept: &str) -> Result<Option<Value>, Error> {
        let (code, body) = self.runtime.block_on(self.send(path, accept))?;
        if code == 404 {
            return Ok(None);
        }
        let value = json::read(&body);
        if code != 200 {
            let said = value.ok().as_ref().and_then(|v| v.str_at(&["message"])).map(str::to_owned);
            let said = said.unwrap_or_else(|| String::from_utf8_lossy(&body).trim().chars().take(200).collect());
            let help = match code {
                401 => Some("log in again, or choose another context with --context".to_owned()),
                403 => Some("ask for the right to get it".to_owned()),
                _ => None,
            };
            let message = format!("the cluster answered {code} to GET {path}: {said}");
            return Err(Error { message, help, unreachable: false });
        }
        match value {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(Error::new(format!("the cluster's answer to GET {path} is not JSON: {error}"))),
        }
    }

    /// Reads a list page by page and hands each page's items on.
    pub fn list(&self, path: &str, mut each: impl FnMut(Vec<Value>)) -> Result<(), Error> {
        let mut next = String::new();
        loop {
            let mut page = format!("{path}?limit={PAGE}");
            if !next.is_empty() {
                let _ = write!(page, "&continue={}", segment(&next));
            }
            let Some(mut list) = self.get(&page, "application/json")? else {
                return Err(Error::new(format!("the cluster does not serve {path}")));
            };
            list.str_at(&["metadata", "continue"]).unwrap_or_default().clone_into(&mut next);
            if let Some(Value::Array(items)) = list.get_mut("items").map(std::mem::take) {
                each(items);
            }
            if next.is_empty() {
                return Ok(());
            }
        }
    }

    async fn send(&self, path: &str, accept: &str) -> Result<(u16, Vec<u8>), Error> {
        let request = http::Request::get(path)
            .header(ACCEPT, accept)
            .body(Body::empty())
            .map_err(|e| Error::new(format!("cannot ask for {path}: {e}")))?;
        let failed = |e: &kube::Error| {
            Error::unreachable(
                format!("cannot reach the cluster at {}: {}", self.url, root_cause(e)),
                "check --context and --server",
            )
        };
        let response = self.client.send(request).await.map_err(|e| failed(&e))?;
        let code = response.status().as_u16();
        let body = response.into_body().collect_bytes().await.map_err(|e| failed(&e))?;
        Ok((code, body.to_vec()))
    }
}

/// What kubectl would use: the kubeconfig, or inside a cluster the pod's own account.
async fn configuration(target: &Target) -> Result<kube::Config, Error> {
    let options = KubeConfigOptions { context: target.context.clone(), ..KubeConfigOptions::default() };
    let named = match &target.kubeconfig {
        Some(file) => Some(Kubeconfig::read_from(file).map_err(|e| no_configuration(&e))?),
        None => None,
    };
    let explicit = named.is_some() || target.context.is_some();
    let found = match named {
        Some(kubeconfig) => kube::Config::from_custom_kubeconfig(kubeconfig, &options).await,
        None => kube::Config::from_kubeconfig(&options).await,
    };
    let mut config = match (found, &target.server) {
        (Ok(config), _) => config,
        // A bare `--server` needs no kubeconfig.
        (Err(_), Some(server)) if !explicit => kube::Config::new(url(server)?),
        (Err(error), _) if explicit => return Err(no_configuration(&error)),
        (Err(error), _) => kube::Config::incluster().map_err(|_| no_configuration(&error))?,
    };
    if let Some(server) = &target.server {
        config.cluster_url = url(server)?;
    }
    config.read_timeout = Some(PATIENCE);
    config.reset_reader_on_write = true;
    config.connect_timeout = Some(PATIENCE / 3);
    Ok(config)
}

fn url(server: &str) -> Result<http::Uri, Error> {
    let full = if server.contains("://") { server.to_owned() } else { format!("http://{server}") };
    full.parse().map_err(|e| Error::new(format!("--server {server}: {e}")))
}

fn no_configuration(error: &dyn std::error::Error) -> Error {
    Error::unreachable(
        format!("no cluster is configured: {}", chain(error)),
        "choose one with --kubeconfig, --context or --server",
    )
}

/// The error at the bottom, which is the one that says something.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut at = error;
    while let Some(cause) = at.source() {
        at = cause;
    }
    at.to_string()
}

/// The error and what caused it, each said once.
fn chain(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let root = root_cause(error);
    if !said.contains(&root) {
        said = format!("{said}: {root}");
    }
    said
}

/// A path segment or query value, percent-encoded.
pub(super) fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => out.push(char::from(byte)),
            _ => {
                // Writing to a String cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_stays_a_segment() {
        assert_eq!(segment("../x?y=1"), "..%2Fx%3Fy%3D1");
        assert_eq!(segment("stable.example.com"), "stable.example.com");
    }

    #[test]
    fn a_server_without_a_scheme_is_http_as_for_kubectl() {
        assert_eq!(url("localhost:8080").unwrap().to_string(), "http://localhost:8080/");
        assert!(url("https://").is_err());
    }
}

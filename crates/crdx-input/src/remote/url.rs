//! URLs as texts. A URL may contain a password or a token, so every message and file has its [`name`] instead.

use crdx_files::digest::sha256;

/// The length of the hash that replaces a query.
const QUERY_HASH: usize = 16;

/// Returns true if a text is a URL, not a path. On Windows, a path may begin with one letter and a colon.
pub fn is_url(text: &str) -> bool {
    let is_scheme =
        |scheme: &str| scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    text.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme))
}

/// The way in which the content of a URL is downloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlKind {
    /// A file: `http` or `https`.
    File,
    /// A chart or an artifact in a registry: `oci://HOST/REPOSITORY:TAG`, or `@sha256:DIGEST`.
    Registry,
    /// A chart in a repository of charts: `helm+https://HOST/PATH/NAME@VERSION`.
    ChartRepository,
}

/// Returns how a URL is downloaded; `None` if it cannot be.
pub fn kind(url: &str) -> Option<UrlKind> {
    let scheme = url.split_once("://")?.0.to_lowercase();
    match scheme.as_str() {
        "http" | "https" => Some(UrlKind::File),
        "oci" => Some(UrlKind::Registry),
        "helm+http" | "helm+https" => Some(UrlKind::ChartRepository),
        _ => None,
    }
}

/// Returns true for a URL of a file that can be downloaded.
pub fn is_http(url: &str) -> bool {
    kind(url) == Some(UrlKind::File)
}

/// Returns the URL without the parts that may be secret: without user and password, and with a hash instead of the query.
/// A text that is no URL is returned as it is.
pub fn name(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://").filter(|_| is_url(url)) else { return url.to_owned() };
    let rest = rest.split('#').next().unwrap_or_default();
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let query = query.filter(|query| !query.is_empty()).map_or_else(String::new, |query| {
        let hash: String = sha256(query.as_bytes()).chars().take(QUERY_HASH).collect();
        format!("?sha256={hash}")
    });
    let path = if path.is_empty() { "/" } else { path };
    format!("{}://{}{path}{query}", scheme.to_lowercase(), host.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_secret() {
        assert_eq!(name("https://example.com/a/b.yaml"), "https://example.com/a/b.yaml");
        assert_eq!(name("HTTPS://me:se@cret@Example.com:8/A#frag"), "https://example.com:8/A");
        assert_eq!(name("http://token@h"), "http://h/");
        let query = name("https://h/a?token=secret");
        assert!(query.starts_with("https://h/a?sha256=") && !query.contains("secret"), "{query}");
        assert_ne!(query, name("https://h/a?token=other"));
        assert_eq!(name("a/b?c"), "a/b?c");
    }

    #[test]
    fn paths_are_no_urls() {
        assert!(is_url("https://a") && is_url("oci://a/b") && is_http("HTTP://a") && !is_http("ftp://a"));
        for path in ["a/b", "C://a", "://a", "a b://c", "./http", "http:/a"] {
            assert!(!is_url(path), "{path}");
        }
    }
}

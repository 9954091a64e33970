//! Redirects as Go's client follows them (`net/http/client.go`).

use super::exchange::WebhookResponse;
use crdx_value::GoError;
use crdx_value::quote::go_quote;
use http::Uri;
use http::uri::{Authority, Parts, PathAndQuery, Scheme};

/// A request that a response asks for instead.
pub(super) struct Redirect<'a> {
    pub location: &'a str,
    /// False if it is a GET without the review.
    pub keeps_body: bool,
}

/// Returns the redirect of a response (`redirectBehavior`).
pub(super) fn redirect(response: &WebhookResponse) -> Option<Redirect<'_>> {
    let keeps_body = match response.code() {
        301..=303 => false,
        307 | 308 => true,
        _ => return None,
    };
    let location = response.header("location").filter(|location| !location.is_empty())?;
    Some(Redirect { location, keeps_body })
}

/// Resolves a location against the URL of the request (`URL.ResolveReference`).
///
/// # Errors
/// Returns the error of Go's client, without Go's reason, if the location is not a URL.
pub(super) fn resolve(base: &str, location: &str) -> Result<String, GoError> {
    let invalid = || format!("failed to parse Location header {}: not a URL", go_quote(location));
    join(base, location).ok_or_else(|| invalid().into())
}

fn join(base: &str, location: &str) -> Option<String> {
    let location = location.split('#').next().unwrap_or_default();
    let base: Uri = base.parse().ok()?;
    let (scheme, authority) = (base.scheme_str()?, base.authority()?.as_str());
    let absolute = if let Some(rest) = location.strip_prefix("//") {
        format!("{scheme}://{rest}")
    } else if location.split(['/', '?']).next().is_some_and(|start| start.contains(':')) {
        location.to_owned()
    } else {
        let (path, query) = location.split_once('?').map_or((location, None), |(path, query)| (path, Some(query)));
        let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        let (path, query) = match path {
            "" => (base.path().to_owned(), query.or_else(|| base.query().filter(|_| location.is_empty()))),
            _ if path.starts_with('/') => (without_dots(path), query),
            _ => (without_dots(&format!("{folder}/{path}")), query),
        };
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        format!("{scheme}://{authority}{path}{query}")
    };
    let parts: Parts = absolute.parse::<Uri>().ok()?.into_parts();
    let (scheme, authority): (Scheme, Authority) = (parts.scheme?, parts.authority?);
    let path = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
    Some(format!("{scheme}://{authority}{path}"))
}

/// Removes the segments `.` and `..` of a path.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (index, segment) in segments.iter().enumerate() {
        let is_last = index + 1 == segments.len();
        match *segment {
            ".." => {
                kept.pop();
            }
            "." => {}
            segment => {
                kept.push(segment);
                continue;
            }
        }
        if is_last {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_relative_to_the_request() {
        let base = "https://a:9443/v/one?timeout=10s";
        for (location, expected) in [
            ("/two", "https://a:9443/two"),
            ("two?b=1#c", "https://a:9443/v/two?b=1"),
            ("../x/./y/..", "https://a:9443/x/"),
            ("?b=1", "https://a:9443/v/one?b=1"),
            ("#c", base),
            ("//b/two", "https://b/two"),
            ("http://b:80", "http://b:80/"),
            ("ftp://b/c", "ftp://b/c"),
        ] {
            assert_eq!(resolve(base, location).as_deref(), Ok(expected), "{location}");
        }
    }

    #[test]
    fn a_location_must_be_a_url() {
        for location in ["http://[::1", "mailto:a", "/a b"] {
            let error = resolve("https://a/", location).unwrap_err();
            assert_eq!(error.as_str(), format!("failed to parse Location header {location:?}: not a URL"));
        }
    }
}

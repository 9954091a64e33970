//! Parses the path of a request (`RequestInfoFactory` in `k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`).

use crate::server::http::address::decoded;
use crate::server::http::query::Query;
use crate::server::http::request::Method;
use crate::server::http::selector::FieldSelector;

/// The resource that a request addresses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::server) struct RequestInfo {
    /// The verb (`list`, `create`, …); empty for HTTP methods that have none.
    pub verb: &'static str,
    /// The API group.
    pub group: String,
    pub version: String,
    /// The namespace in the URL; empty if there is none.
    pub namespace: String,
    /// The plural.
    pub resource: String,
    /// The name; empty if there is none. A list with a field selector on `metadata.name` has that name.
    pub name: String,
    /// `status`, `scale`, …; empty if there is none.
    pub subresource: String,
}

/// A parsed path.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::server) enum Route {
    /// An object or a collection.
    Resource(RequestInfo),
    /// A non-resource path (discovery, health, OpenAPI), as its segments.
    Other(Vec<String>),
    /// An invalid path.
    Malformed,
    /// A path with a malformed escape.
    Undecodable,
}

/// Parses a path without its query.
pub(in crate::server) fn route(method: Method, path: &str, query: &Query) -> Route {
    let Some(path) = decoded(path, false) else { return Route::Undecodable };
    let trimmed = path.trim_matches('/');
    // `//` is not the root path.
    let is_root = trimmed.is_empty() && path.len() <= 1;
    let parts: Vec<&str> = if is_root { Vec::new() } else { trimmed.split('/').collect() };
    let (group, version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
        _ => return Route::Other(parts.into_iter().map(str::to_owned).collect()),
    };
    let mut target = RequestInfo { group: group.to_owned(), version: version.to_owned(), ..RequestInfo::default() };
    let mut rest = rest;
    target.verb = match rest {
        ["watch" | "proxy", tail @ ..] => {
            if tail.is_empty() {
                return Route::Malformed;
            }
            let verb = if rest.first() == Some(&"watch") { "watch" } else { "proxy" };
            rest = tail;
            verb
        }
        _ => match method {
            Method::Post => "create",
            Method::Get | Method::Head => "get",
            Method::Put => "update",
            Method::Patch => "patch",
            Method::Delete => "delete",
            Method::Other => "",
        },
    };
    if let ["namespaces", namespace, tail @ ..] = rest {
        (*namespace).clone_into(&mut target.namespace);
        if let [first, ..] = tail
            && !matches!(*first, "status" | "finalize")
        {
            rest = tail;
        }
    }
    if target.group.is_empty() && rest.first() == Some(&"namespaces") {
        // A Namespace object is cluster-scoped.
        target.namespace.clear();
    }
    if let [_, _, subresource, ..] = rest
        && target.verb != "proxy"
    {
        (*subresource).clone_into(&mut target.subresource);
    }
    rest.get(1).copied().unwrap_or_default().clone_into(&mut target.name);
    rest.first().copied().unwrap_or_default().clone_into(&mut target.resource);
    if target.name.is_empty() && target.verb == "get" {
        let watch = query.first("watch").is_some_and(|v| v != "0" && !v.eq_ignore_ascii_case("false"));
        target.verb = if watch { "watch" } else { "list" };
        if let Some(Ok(selector)) = query.first("fieldSelector").map(FieldSelector::parse)
            && let Some(name) = selector.required_value("metadata.name")
            && is_path_segment(name)
        {
            name.clone_into(&mut target.name);
        }
    }
    if target.name.is_empty() && target.verb == "delete" {
        target.verb = "deletecollection";
    }
    Route::Resource(target)
}

/// Returns true if `IsPathSegmentName` accepts the segment.
fn is_path_segment(name: &str) -> bool {
    !matches!(name, "." | "..") && !name.contains(['/', '%'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(method: Method, path: &str) -> RequestInfo {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        match route(method, path, &Query::parse(query)) {
            Route::Resource(target) => target,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn paths_become_targets() {
        let t = target(Method::Get, "/apis/g.io/v1/namespaces/ns/foos/a%2Db/status/");
        assert_eq!((t.verb, t.group.as_str(), t.version.as_str(), t.namespace.as_str()), ("get", "g.io", "v1", "ns"));
        assert_eq!((t.resource.as_str(), t.name.as_str(), t.subresource.as_str()), ("foos", "a-b", "status"));
        assert_eq!(target(Method::Get, "/apis/g.io/v1/foos").verb, "list");
        assert_eq!(target(Method::Get, "/apis/g.io/v1/foos?watch=1").verb, "watch");
        assert_eq!(target(Method::Get, "/apis/g.io/v1/foos?fieldSelector=metadata.name%3Dx").name, "x");
        assert_eq!(target(Method::Delete, "/apis/g.io/v1/foos").verb, "deletecollection");
        assert_eq!(target(Method::Get, "/apis/g.io/v1/namespaces/ns").resource, "namespaces");
        let t = target(Method::Get, "/api/v1/namespaces/ns/status");
        assert_eq!((t.namespace.as_str(), t.resource.as_str(), t.name.as_str()), ("", "namespaces", "ns"));
        assert_eq!(t.subresource, "status");
    }

    #[test]
    fn short_paths_are_not_resources() {
        for path in ["/", "/apis", "/apis/g.io/v1", "/api/v1", "/healthz/x/y/z"] {
            assert!(matches!(route(Method::Get, path, &Query::default()), Route::Other(_)), "{path}");
        }
    }
}

//! The health endpoints `/healthz`, `/livez` and `/readyz`, and their individual checks, which have the real server's
//! names (`server/healthz/healthz.go`).

use crate::server::http::page::text;
use crate::server::http::query::Query;
use crate::server::http::response::Response;
use crdx_value::quote::go_quote;
use crdx_value::release::{Release, V1_36};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The checks of an endpoint. All of them always pass.
fn checks(endpoint: &str, release: Release) -> Vec<&'static str> {
    let ready = endpoint == "readyz";
    let mut all = vec!["ping", "log", "etcd"];
    all.extend(ready.then_some("etcd-readiness"));
    // `server/options/serving_with_loopback.go`
    all.extend((!ready && release.since(V1_36)).then_some("loopback-serving-certificate"));
    all.extend([
        "poststarthook/start-apiserver-admission-initializer",
        "poststarthook/generic-apiserver-start-informers",
    ]);
    all.extend(ready.then_some("informer-sync"));
    all.extend([
        "poststarthook/max-in-flight-filter",
        "poststarthook/storage-object-count-tracker-hook",
        "poststarthook/start-apiextensions-informers",
        "poststarthook/start-apiextensions-controllers",
        "poststarthook/crd-informer-synced",
    ]);
    all.extend(ready.then_some("shutdown"));
    all
}

/// The paths of all health endpoints and their checks.
pub(in crate::server) fn paths(release: Release) -> impl Iterator<Item = String> {
    ["healthz", "livez", "readyz"].into_iter().flat_map(move |endpoint| {
        let each = checks(endpoint, release).into_iter().map(move |check| format!("/{endpoint}/{check}"));
        std::iter::once(format!("/{endpoint}")).chain(each)
    })
}

/// Returns the response of a health endpoint or one of its checks; `None` if the check does not exist.
pub(in crate::server) fn answer(query: &Query, endpoint: &str, check: &str, release: Release) -> Option<Response> {
    const PLAIN: &str = "text/plain; charset=utf-8";
    let checks = checks(endpoint, release);
    if !check.is_empty() {
        return checks.contains(&check).then(|| text(200, "ok".to_owned(), PLAIN));
    }
    let body = if query.first("verbose").is_some() { all(query, endpoint, &checks) } else { "ok".to_owned() };
    let mut response = text(200, body, PLAIN);
    response.headers.push(("x-content-type-options", "nosniff".to_owned()));
    Some(response)
}

/// The response body of an endpoint: one line per check.
fn all(query: &Query, endpoint: &str, checks: &[&str]) -> String {
    let mut excluded: BTreeSet<&str> = query.all("exclude").collect();
    let mut out = String::new();
    for check in checks {
        let result = if excluded.remove(check) { " excluded: ok" } else { " ok" };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "[+]{check}{result}");
    }
    if !excluded.is_empty() {
        let names: Vec<String> = excluded.into_iter().map(go_quote).collect();
        let _ = writeln!(out, "warn: some health checks cannot be excluded: no matches for {}", names.join(","));
    }
    let _ = writeln!(out, "{endpoint} check passed");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::ResponseBody;

    #[test]
    fn health_checks_are_listed_individually() {
        let query = Query::parse("verbose&exclude=etcd&exclude=zork");
        let ResponseBody::Text(body) = answer(&query, "livez", "", Release::NEWEST).unwrap().body else {
            panic!("no text")
        };
        let lines: Vec<&str> = body.lines().collect();
        assert_eq!(lines.get(..3).unwrap(), ["[+]ping ok", "[+]log ok", "[+]etcd excluded: ok"]);
        assert_eq!(
            lines.get(11..).unwrap(),
            ["warn: some health checks cannot be excluded: no matches for \"zork\"", "livez check passed"]
        );
        assert!(answer(&query, "livez", "shutdown", Release::NEWEST).is_none());
        assert!(answer(&query, "readyz", "shutdown", Release::NEWEST).is_some());
        let certificate = |release| answer(&query, "livez", "loopback-serving-certificate", release).is_some();
        assert!(certificate(Release::new(36).unwrap()));
        assert!(!certificate(Release::new(35).unwrap()));
    }
}

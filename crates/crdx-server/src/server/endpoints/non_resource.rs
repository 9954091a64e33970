//! Non-resource paths: the index, the version, health checks and discovery.

use super::Endpoints;
use crate::server::endpoints::{discovery, health, openapi};
use crate::server::http::context::Context;
use crate::server::http::page::{not_found_page, text};
use crate::server::http::request::Method;
use crate::server::http::response::Response;
use crate::server::http::status::Refusal;
use crdx_text::json::write::indented;
use crdx_value::release::{Release, V1_33};
use crdx_value::{Value, object};

/// Handles a non-resource path, given as its segments.
pub(super) fn handle(endpoints: &Endpoints, ctx: Context<'_>, parts: &[String]) -> Response {
    let release = ctx.release();
    match parts.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => index(200, release),
        ["api"] => discovery::of_core(endpoints, ctx),
        ["api", version] => discovery::of_core_version(endpoints, ctx, version).unwrap_or_else(|| index(404, release)),
        ["apis"] => discovery::of_groups(endpoints, ctx),
        ["apis", group] => discovery::of_group(endpoints, ctx, group),
        ["apis", group, version] => discovery::of_version(endpoints, ctx, group, version),
        ["apis", ..] => not_found_page(),
        ["version"] if ctx.request.method != Method::Get => ctx.refuse(Refusal::method_not_allowed()),
        ["version"] => version(release),
        ["openapi", "v2"] => openapi::v2(endpoints, &ctx),
        ["openapi", "v3"] if !path_of(&ctx).ends_with('/') => openapi::v3_index(endpoints, &ctx),
        ["openapi", "v3", path @ ..] => openapi::v3(endpoints, &ctx, &path.join("/")),
        [endpoint @ ("healthz" | "livez" | "readyz"), check @ ..] => {
            health::answer(&ctx.query, endpoint, &check.join("/"), release).unwrap_or_else(|| index(404, release))
        }
        _ => index(404, release),
    }
}

/// The path of the request without its query.
fn path_of<'c>(ctx: &Context<'c>) -> &'c str {
    ctx.request.path.split('?').next().unwrap_or_default()
}

/// The list of all paths, which is also the body of the 404 for an unknown path (`server/routes/index.go`).
pub(super) fn index(code: u16, release: Release) -> Response {
    let mut paths: Vec<String> = [
        "/api",
        "/apis",
        "/apis/",
        "/apis/apiextensions.k8s.io",
        "/apis/apiextensions.k8s.io/v1",
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/",
        "/version",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain(health::paths(release))
    .collect();
    paths.sort();
    let paths = Value::Array(paths.into_iter().map(Value::from).collect());
    text(code, indented(&object([("paths", paths)]), "  "), "application/json")
}

/// `version.Info`. The suffix of `gitVersion` marks the simulation. The emulation and compatibility versions exist
/// since 1.33 (`k8s.io/apimachinery/pkg/version/types.go`).
fn version(release: Release) -> Response {
    let minor = release.minor().number().to_string();
    let emulated = release.emulated().number().to_string();
    let compatible = release.compatibility().number().to_string();
    let git_version = format!("v{}+crdx", release.full_version());
    let emulation = [
        ("emulationMajor", "1"),
        ("emulationMinor", emulated.as_str()),
        ("minCompatibilityMajor", "1"),
        ("minCompatibilityMinor", compatible.as_str()),
    ];
    let fields = [
        ("gitVersion", git_version.as_str()),
        ("gitCommit", ""),
        ("gitTreeState", ""),
        ("buildDate", "1970-01-01T00:00:00Z"),
        ("goVersion", ""),
        ("compiler", "rustc"),
        ("platform", ""),
    ];
    // Builds that are not of a release have a plus (hack/lib/version.sh of Kubernetes).
    let shown = format!("{minor}{}", if release.pre_release().is_some() { "+" } else { "" });
    let versions = [("major", "1"), ("minor", shown.as_str())];
    let emulation = emulation.into_iter().filter(|_| release.since(V1_33));
    let fields = versions.into_iter().chain(emulation).chain(fields);
    let lines: Vec<String> = fields.map(|(key, value)| format!("  \"{key}\": \"{value}\"")).collect();
    text(200, format!("{{\n{}\n}}", lines.join(",\n")), "application/json")
}

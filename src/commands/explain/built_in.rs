//! `explain` for the kinds built into Kubernetes: from the OpenAPI document of a cluster, or, without descriptions, from that
//! of the simulated server.

use super::args::{Explain, ExplainFormat};
use super::problem;
use super::report::{Explained, Explanation, openapi_v2, plaintext};
use crate::commands::error::Error;
use crate::commands::terminal;
use crdx_cluster::{Connection, Resource};
use crdx_engine::kubectl::FieldValidation;
use crdx_engine::kubectl::request::{self, RequestOptions};
use crdx_server::server::ResponseBody;
use crdx_types::resources;
use crdx_value::group_version;
use crdx_value::release::Release;
use crdx_value::{Map, Value};
use std::sync::Arc;

/// Explains a field of a built-in kind. `live` is the cluster, if it is read.
pub fn explain(
    args: &Explain,
    release: Release,
    resource: &Resource,
    fields: &[String],
    live: Option<&Connection>,
) -> Result<Explanation, Error> {
    let version = version(args, release, resource, live)?;
    let path = match args.output {
        ExplainFormat::PlaintextOpenapiv2 => "/openapi/v2".to_owned(),
        ExplainFormat::Plaintext if resource.group.is_empty() => format!("/openapi/v3/api/{version}"),
        ExplainFormat::Plaintext => format!("/openapi/v3/apis/{}/{version}", resource.group),
    };
    let document = match live {
        Some(connection) => connection.object(&path)?,
        None => simulated(release, &path)?,
    };
    let explained = Explained {
        document: &document,
        group: &resource.group,
        version: &version,
        kind: &resource.kind,
        fields,
        recursive: args.recursive,
        max_depth: args.max_depth,
    };
    Ok(match args.output {
        ExplainFormat::Plaintext => plaintext(explained),
        ExplainFormat::PlaintextOpenapiv2 => openapi_v2(explained),
    })
}

/// The document that a server with built-in kinds publishes.
fn simulated(release: Release, path: &str) -> Result<Value, Error> {
    let options = RequestOptions { level: FieldValidation::Ignore, dry_run: false, table: false, now: terminal::now() };
    let response =
        crdx_kinds::builder(release, 0).with_built_in_kinds().build().handle_owned(request::read(path, options));
    match response.body {
        ResponseBody::Json(body) if response.code == 200 => Ok(Arc::unwrap_or_clone(body)),
        ResponseBody::Json(_) => Err(Error::usage("the simulated server does not publish this version")),
        ResponseBody::Text(text) => {
            let read = crdx_text::json::read(text.as_bytes());
            Ok(read.unwrap_or_else(|_| Value::Object(Map::new())))
        }
    }
}

/// Returns the version to explain: that of `--api-version`, or the preferred one.
fn version(args: &Explain, release: Release, resource: &Resource, live: Option<&Connection>) -> Result<String, Error> {
    let Some(wanted) = &args.api_version else { return Ok(resource.version.clone()) };
    let (group, version) = group_version::split(wanted);
    let is_it = |other: &Resource| {
        (other.group.as_str(), other.version.as_str(), &other.kind) == (group, version, &resource.kind)
    };
    let is_served = match live {
        Some(connection) => connection.resource_where(is_it)?.is_some(),
        None => resources::of_kind(wanted, &resource.kind, release.minor().number().into()).is_some(),
    };
    if is_served && group == resource.group {
        return Ok(version.to_owned());
    }
    let message = format!("couldn't find resource for \"{wanted}, Resource={}\"", resource.plural);
    Err(problem(&message, "leave out --api-version for the preferred version").into())
}

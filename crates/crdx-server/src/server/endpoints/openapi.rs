//! `/openapi/v2` and `/openapi/v3`: the published schemas of all CRDs, with hashes for client-side caching
//! (`kube-openapi/pkg/handler{,3}/handler.go`).

use super::Endpoints;
use crate::crd::CustomResourceDefinition;
use crate::crd::openapi;
use crate::server::digest;
use crate::server::http::context::Context;
use crate::server::http::negotiate;
use crate::server::http::page::text;
use crate::server::http::response::{Format, Response, ResponseBody};
use crate::server::http::wire::OPENAPI_PROTOBUF;
use crate::server::strategy::built_in_kind::Schemas;
use crate::server::strategy::resources::Resources;
use crate::server::strategy::serving::Serving;
use crdx_types::openapi::OpenApiVersion;
use crdx_value::lock::lock;
use crdx_value::release::Release;
use crdx_value::sort::sort_by;
use crdx_value::time::Timestamp;
use crdx_value::{Value, json, object, time};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A serialized document.
#[derive(Debug)]
struct OpenApiDocument {
    text: String,
    hash: String,
    /// `Last-Modified`, in seconds since the Unix epoch.
    since: i64,
}

impl OpenApiDocument {
    fn new(value: &Value, now: Timestamp) -> Self {
        let text = json::to_string(value);
        Self { hash: digest::of_document(&text), text, since: now.seconds }
    }
}

/// A cache of the documents requested so far, by path.
#[derive(Debug, Default)]
pub(in crate::server) struct Published(Mutex<BTreeMap<String, CachedDocument>>);

/// A cached document, and the tags of the compiled versions it was built from.
type CachedDocument = (Vec<u64>, Arc<OpenApiDocument>);

/// The compiled versions that contribute to each document, by document path. The OpenAPI v2 document, whose key is
/// [`V2`], includes all of them.
type Sources = BTreeMap<String, Vec<(Arc<Serving>, String)>>;

/// The key of the OpenAPI v2 document in [`Sources`].
const V2: &str = "";

fn sources(resources: &Resources) -> Sources {
    let serving = resources.served();
    let mut established: Vec<&Arc<Serving>> = serving.values().filter(|s| s.crd.is_true("Established")).collect();
    sort_by(&mut established, |a, b| a.crd.name().cmp(b.crd.name()));
    let own = openapi::OWN_PATHS.into_iter().chain([V2]);
    let mut all: Sources = own.map(|path| (path.to_owned(), Vec::new())).collect();
    for serving in established {
        for version in serving.crd.spec.versions.iter().filter(|v| v.served) {
            let core = serving.group.is_empty();
            let own = if core { "api/v1".to_owned() } else { format!("apis/{}/{}", serving.group, version.name) };
            for path in [own, V2.to_owned()] {
                all.entry(path).or_default().push((Arc::clone(serving), version.name.clone()));
            }
        }
    }
    all
}

impl Published {
    /// The document at `path`, rebuilt only if its compiled versions changed.
    fn document(&self, path: &str, sources: &Sources, ctx: &Context<'_>) -> Option<Arc<OpenApiDocument>> {
        let of = sources.get(path)?;
        let tags: Vec<u64> = of.iter().filter_map(|(s, version)| s.version(version).map(|v| v.tag())).collect();
        let mut published = lock(&self.0);
        if let Some((_, document)) = published.get(path).filter(|(made_from, _)| *made_from == tags) {
            return Some(Arc::clone(document));
        }
        published.retain(|path, _| sources.contains_key(path));
        let document = Arc::new(OpenApiDocument::new(&write(path, of, ctx.release()), ctx.request.now));
        published.insert(path.to_owned(), (tags, Arc::clone(&document)));
        Some(document)
    }
}

fn write(path: &str, of: &[(Arc<Serving>, String)], release: Release) -> Value {
    let (openapi_version, publish): (_, fn(&CustomResourceDefinition, &str, Release) -> Value) =
        if path == V2 { (OpenApiVersion::V2, openapi::v2) } else { (OpenApiVersion::V3, openapi::v3) };
    let own = openapi::own(openapi_version, path, release, !of.is_empty());
    let mut document = openapi::merge(own.into_iter().chain(of.iter().map(|(serving, version)| {
        let mut document = publish(&serving.crd, version, release);
        if serving.group.is_empty() {
            rewrite_core_paths(&mut document);
        }
        if let Some(kind) = serving.typed_version(version) {
            put_types(&mut document, &serving.crd, version, kind.schemas(openapi_version));
        }
        document
    })));
    openapi::adapt(&mut document, openapi_version, release);
    document
}

/// Replaces the schemas of a CRD by those of Go types.
fn put_types(document: &mut Value, crd: &CustomResourceDefinition, version: &str, types: Schemas) {
    let names = &crd.spec.names;
    let model = |kind: &str| openapi::model_name(&crd.spec.group, version, kind);
    let mut renamed = vec![(model(&names.kind), types.kind)];
    renamed.extend(types.list.map(|list| (model(&names.list_kind), list)));
    rename_references(document, &renamed);
    for path in [&["components", "schemas"][..], &["definitions"]] {
        let schemas =
            path.iter().try_fold(&mut *document, |value, key| value.get_mut(key)).and_then(Value::as_object_mut);
        let Some(schemas) = schemas else { continue };
        schemas.retain(|name, _| renamed.iter().all(|(old, _)| old != name));
        for (name, schema) in &types.all {
            schemas.entry(name.clone()).or_insert_with(|| schema.clone());
        }
    }
}

/// Renames the types to which references refer.
fn rename_references(value: &mut Value, renamed: &[(String, String)]) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| rename_references(item, renamed)),
        Value::Object(members) => {
            if let Some(Value::String(text)) = members.get_mut("$ref")
                && let Some((prefix, name)) = text.rsplit_once('/')
                && let Some((_, new)) = renamed.iter().find(|(old, _)| old == name)
            {
                *text = format!("{prefix}/{new}");
            }
            for member in members.values_mut() {
                rename_references(member, renamed);
            }
        }
        _ => {}
    }
}

/// Rewrites paths of the core group from `/apis//` to `/api/`.
fn rewrite_core_paths(document: &mut Value) {
    let Some(Value::Object(paths)) = document.as_object_mut().and_then(|d| d.get_mut("paths")) else { return };
    *paths = std::mem::take(paths).into_iter().map(|(path, v)| (path.replacen("/apis//", "/api/", 1), v)).collect();
}

/// The media type of the same form in `Accept` headers. Go's parser rejects media types with an `@`, so responses do
/// not use it.
const REQUESTED_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// Handles `/openapi/v2`.
pub(super) fn v2(endpoints: &Endpoints, ctx: &Context<'_>) -> Response {
    let vary = || vec![("vary", "Accept-Encoding".to_owned()), ("vary", "Accept".to_owned())];
    if ctx.request.accept.as_deref().is_some_and(|accept| {
        accept.split(',').any(|clause| matches!(clause.trim(), REQUESTED_PROTOBUF | OPENAPI_PROTOBUF))
    }) && let Some(document) = endpoints.published.document(V2, &sources(&endpoints.backend.resources), ctx)
        && let Ok(value) = crdx_text::json::read(document.text.as_bytes())
    {
        let mut response = with_hash(&document, vary());
        response.headers.retain(|(name, _)| *name != "content-type");
        (response.body, response.format) = (ResponseBody::Json(Arc::new(value)), Format::Protobuf);
        return response;
    }
    if !negotiate::accepts_json(ctx.request.accept.as_deref()) {
        return empty(406, vary());
    }
    let Some(document) = endpoints.published.document(V2, &sources(&endpoints.backend.resources), ctx) else {
        return empty(404, Vec::new());
    };
    with_hash(&document, vary())
}

/// Handles `/openapi/v3`: the paths of all documents.
pub(super) fn v3_index(endpoints: &Endpoints, ctx: &Context<'_>) -> Response {
    let sources = sources(&endpoints.backend.resources);
    let paths = sources.keys().filter(|path| *path != V2).filter_map(|path| {
        let document = endpoints.published.document(path, &sources, ctx)?;
        Some((path.clone(), object([("serverRelativeURL", relative_url(path, &document.hash))])))
    });
    let index = OpenApiDocument::new(&object([("paths", Value::Object(paths.collect()))]), ctx.request.now);
    with_hash(&index, Vec::new())
}

/// Handles `/openapi/v3/…`.
pub(super) fn v3(endpoints: &Endpoints, ctx: &Context<'_>, path: &str) -> Response {
    let mut headers = vec![("vary", "Accept".to_owned())];
    if !negotiate::accepts_json(ctx.request.accept.as_deref()) {
        return empty(406, headers);
    }
    // For an unknown path the server sends an empty 200 response.
    let found = endpoints.published.document(path, &sources(&endpoints.backend.resources), ctx).filter(|_| path != V2);
    let Some(document) = found else { return empty(200, Vec::new()) };
    if let Some(hash) = ctx.query.first("hash").filter(|h| !h.is_empty()) {
        if hash != document.hash {
            headers.push(("location", relative_url(path, &document.hash)));
            headers.push(("etag", format!("\"{}\"", document.hash)));
            return empty(301, headers);
        }
        // A document addressed by its hash never changes.
        headers.push(("cache-control", "public, immutable".to_owned()));
        headers.push(("expires", time::rfc_1123(ctx.request.now.seconds + 365 * 24 * 60 * 60)));
    }
    with_hash(&document, headers)
}

fn relative_url(path: &str, hash: &str) -> String {
    format!("/openapi/v3/{path}?hash={hash}")
}

fn with_hash(document: &OpenApiDocument, headers: Vec<(&'static str, String)>) -> Response {
    let mut response = text(200, document.text.clone(), "application/json");
    response.headers.extend(headers);
    response.headers.extend([
        ("etag", format!("\"{}\"", document.hash)),
        ("last-modified", time::rfc_1123(document.since).replace("UTC", "GMT")),
        ("accept-ranges", "bytes".to_owned()),
    ]);
    response
}

fn empty(code: u16, headers: Vec<(&'static str, String)>) -> Response {
    Response { headers, ..text(code, String::new(), "") }
}

//! Aggregated discovery: all groups in one document, with an `ETag` for `If-None-Match`
//! (`endpoints/discovery/aggregated/{handler,etag}.go`).

use crate::server::endpoints::digest;
use crate::server::endpoints::discovery::groups::{Group, Kind, Resource, subresource_verbs};
use crate::server::endpoints::discovery::legacy::texts;
use crate::server::http::answer::Answer;
use crate::server::http::context::Context;
use crate::server::http::negotiate::Output;
use crate::server::http::response::{Format, Response};
use crate::server::http::wire;
use crdx_value::{Map, Value, object};
use std::sync::Arc;

/// Writes the aggregated discovery document.
pub(super) fn respond(ctx: Context<'_>, output: &Output, groups: &[Group]) -> Response {
    let items = groups.iter().map(group).collect::<Vec<_>>();
    let mut list = Map::from([("items".to_owned(), items.into()), ("metadata".to_owned(), Map::new().into())]);
    // The server computes the hash before it sets the list's apiVersion and kind.
    let hash = digest::of_document(&wire::group_discovery(&Value::Object(list.clone())));
    list.insert("kind".to_owned(), "APIGroupDiscoveryList".into());
    list.insert("apiVersion".to_owned(), "apidiscovery.k8s.io/v2".into());
    let media_type = if output.format == Format::Yaml { "application/yaml" } else { "application/json" };
    let plain = Output { convert: None, ..output.clone() };
    let mut response = ctx.respond(&plain, None, Ok(Answer::object(200, Arc::new(Value::Object(list)))));
    response.headers = vec![
        ("content-type", format!("{media_type};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")),
        ("etag", format!("\"{hash}\"")),
        ("vary", "Accept".to_owned()),
        ("cache-control", "public".to_owned()),
    ];
    response
}

fn group(group: &Group) -> Value {
    let versions = group.versions.iter().map(|version| {
        object([
            ("version", Value::from(version.name.as_str())),
            ("resources", version.resources.iter().map(resource).collect::<Vec<_>>().into()),
            ("freshness", "Current".into()),
        ])
    });
    object([
        ("metadata", object(Some(("name", group.name.as_str())).filter(|(_, name)| !name.is_empty()))),
        ("versions", versions.collect::<Vec<_>>().into()),
    ])
}

fn resource(r: &Resource) -> Value {
    let mut out = Map::from(
        [
            ("resource", Value::from(r.name.as_str())),
            ("responseKind", kind(&r.kind)),
            ("scope", if r.namespaced { "Namespaced" } else { "Cluster" }.into()),
            ("singularResource", r.singular.as_str().into()),
            ("verbs", texts(r.verbs)),
        ]
        .map(|(key, v)| (key.to_owned(), v)),
    );
    for (key, items) in [("shortNames", &r.short_names), ("categories", &r.categories)] {
        if !items.is_empty() {
            out.insert(key.to_owned(), texts(items));
        }
    }
    if !r.subresources.is_empty() {
        let subresources = r.subresources.iter().map(|(name, of)| {
            object([
                ("subresource", Value::from(*name)),
                ("responseKind", kind(of)),
                ("verbs", texts(subresource_verbs(name))),
            ])
        });
        out.insert("subresources".to_owned(), subresources.collect::<Vec<_>>().into());
    }
    Value::Object(out)
}

fn kind(kind: &Kind) -> Value {
    object([("group", kind.group.as_str()), ("version", kind.version.as_str()), ("kind", kind.name.as_str())])
}

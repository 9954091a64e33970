//! Aggregated discovery: all groups in one document, with an `ETag` for `If-None-Match`
//! (`endpoints/discovery/aggregated/{handler,etag}.go`).

use crate::server::digest;
use crate::server::endpoints::discovery::groups::{DiscoveredResource, Group, subresource_verbs};
use crate::server::endpoints::discovery::legacy::texts;
use crate::server::http::answer::Answer;
use crate::server::http::context::Context;
use crate::server::http::negotiate::Output;
use crate::server::http::response::{Format, Response};
use crate::server::http::wire;
use crdx_value::group_version::GroupVersionKind;
use crdx_value::release::{Release, V1_34};
use crdx_value::{Map, Value, object};
use std::sync::Arc;

/// Writes the aggregated discovery document.
pub(super) fn respond(ctx: Context<'_>, output: &Output, groups: &[Group]) -> Response {
    let items = groups.iter().map(|of| group(of, ctx.release())).collect::<Vec<_>>();
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

fn group(group: &Group, release: Release) -> Value {
    let mut metadata = Map::new();
    if !group.name.is_empty() {
        metadata.insert("name".to_owned(), group.name.as_str().into());
    }
    // Since 1.34, Go's `ObjectMeta` omits it.
    if !release.since(V1_34) {
        metadata.insert("creationTimestamp".to_owned(), Value::Null);
    }
    let versions = group.versions.iter().map(|version| {
        object([
            ("version", Value::from(version.name.as_str())),
            ("resources", version.resources.iter().map(resource).collect::<Vec<_>>().into()),
            ("freshness", "Current".into()),
        ])
    });
    object([("metadata", Value::Object(metadata)), ("versions", versions.collect::<Vec<_>>().into())])
}

fn resource(r: &DiscoveredResource) -> Value {
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

fn kind(kind: &GroupVersionKind) -> Value {
    object([("group", kind.group.as_str()), ("version", kind.version.as_str()), ("kind", kind.kind.as_str())])
}

#[cfg(test)]
mod tests {
    use crate::server::{Method, Request, Server};
    use crdx_value::release::Release;

    /// The tags of the real servers without CRDs.
    #[test]
    fn the_tag_depends_on_the_release() {
        let tag = |minor| {
            let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList".to_owned();
            let request = Request { accept: Some(accept), ..Request::new(Method::Get, "/apis", "") };
            let response = Server::new(Release::new(minor).unwrap(), 0).handle(&request);
            response.headers.into_iter().find(|(name, _)| *name == "etag").unwrap().1
        };
        for minor in [30, 33] {
            assert!(tag(minor).starts_with("\"24D1AF1A4126D388734975FBFD9765D8"), "{}", tag(minor));
        }
        for minor in [34, 37] {
            assert!(tag(minor).starts_with("\"790BFBF6BFB40D7031B74F348C4565E8"), "{}", tag(minor));
        }
    }
}

//! The OpenAPI documents of the server's built-in resources: CRDs, discovery and version. The real server generates
//! them from Go types; these are copies of its documents.

use super::{META, common};
use crdx_embedded::embedded;
use crdx_text::json;
use crdx_types::openapi::OpenApiVersion;
use crdx_value::release::{Release, V1_36};
use crdx_value::{Map, Value, object};
use std::sync::OnceLock;

/// The paths of the OpenAPI v3 documents.
pub const OWN_PATHS: [&str; 3] = ["apis/apiextensions.k8s.io", "apis/apiextensions.k8s.io/v1", "version"];

/// Returns the document of 1.37 at a path, with the group-version-kinds of `DeleteOptions` and `WatchEvent` in
/// `release`; [`super::adapt`] applies all other differences. OpenAPI v2 has one document for all paths, and `merged`
/// is true if the documents of CRDs are merged into it.
pub fn own(openapi_version: OpenApiVersion, path: &str, release: Release, merged: bool) -> Option<Value> {
    let mut document = recorded(openapi_version, path)?.clone();
    let (types, complete): (_, &[&str]) = match openapi_version {
        // Merging concatenates the lists (`MergeSpecs` of `kube-openapi/pkg/aggregator`).
        OpenApiVersion::V2 => (document.get_mut("definitions"), if merged { &["DeleteOptions"] } else { &[] }),
        // Since 1.36 a document lists only its own group (`filterScopedGVKs` of `k8s.io/apiserver/pkg/server/routes`).
        OpenApiVersion::V3 => (
            document.get_mut("components").and_then(|c| c.get_mut("schemas")),
            if release.since(V1_36) { &[] } else { &["DeleteOptions", "WatchEvent"] },
        ),
    };
    if let Some(Value::Object(types)) = types {
        for kind in complete {
            list_every_group(types, kind);
        }
    }
    Some(document)
}

/// Adds to a kind that is registered in every group the groups of client-go and both versions of
/// `apiextensions.k8s.io`.
fn list_every_group(types: &mut Map, kind: &str) {
    const KINDS: &str = "x-kubernetes-group-version-kind";
    let Some(Value::Array(kinds)) = types.get_mut(&format!("{META}{kind}")).and_then(|of| of.get_mut(KINDS)) else {
        return;
    };
    let groups = common("definitions").get(&format!("{META}DeleteOptions")).and_then(|of| of.at(&[KINDS]));
    let groups = groups.and_then(Value::as_array).into_iter().flatten();
    let names = groups.filter_map(|of| Some((of.str_at(&["group"])?, of.str_at(&["version"])?)));
    let own = ["v1", "v1beta1"].map(|version| ("apiextensions.k8s.io", version));
    let mut names: Vec<_> = names.chain(own).collect();
    names.sort_unstable();
    *kinds = names
        .into_iter()
        .map(|(group, version)| object([("group", group), ("kind", kind), ("version", version)]))
        .collect();
}

fn recorded(openapi_version: OpenApiVersion, path: &str) -> Option<&'static Value> {
    static OWN: OnceLock<Value> = OnceLock::new();
    let all = OWN.get_or_init(|| json::read(embedded!("own.json").text().as_bytes()).unwrap_or_default());
    all.get(if openapi_version == OpenApiVersion::V2 { "v2" } else { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_openapi_path_has_a_document() {
        for path in OWN_PATHS {
            assert_eq!(
                recorded(OpenApiVersion::V3, path).and_then(|d| d.str_at(&["openapi"])),
                Some("3.0.0"),
                "{path}"
            );
        }
        assert_eq!(recorded(OpenApiVersion::V2, "").and_then(|d| d.str_at(&["swagger"])), Some("2.0"));
        assert_eq!(recorded(OpenApiVersion::V3, "apis/example.com/v1"), None);
    }
}

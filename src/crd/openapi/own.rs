//! The OpenAPI documents of the server's built-in resources: CRDs, discovery and version. The real server generates
//! them from Go types; these are copies of its documents.

use super::Edition;
use crate::text::json;
use crate::value::Value;
use std::sync::OnceLock;

/// The paths of the OpenAPI v3 documents.
pub const OWN_PATHS: [&str; 3] = ["apis/apiextensions.k8s.io", "apis/apiextensions.k8s.io/v1", "version"];

/// The document at a path; in OpenAPI v2 there is one for all paths.
pub fn own(edition: Edition, path: &str) -> Option<&'static Value> {
    static OWN: OnceLock<Value> = OnceLock::new();
    let all = OWN.get_or_init(|| json::read(include_bytes!("own.json")).unwrap_or_default());
    all.get(if edition == Edition::V2 { "v2" } else { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_openapi_path_has_a_document() {
        for path in OWN_PATHS {
            assert_eq!(own(Edition::V3, path).and_then(|d| d.str_at(&["openapi"])), Some("3.0.0"), "{path}");
        }
        assert_eq!(own(Edition::V2, "").and_then(|d| d.str_at(&["swagger"])), Some("2.0"));
        assert_eq!(own(Edition::V3, "apis/example.com/v1"), None);
    }
}

//! The OpenAPI documents of the server's own resources: CustomResourceDefinitions, discovery, version. The types come from Go, and the
//! documents are copies of the real server's.

use super::Edition;
use crate::text::json;
use crate::value::Value;
use std::sync::OnceLock;

/// The documents of version 3, by their paths.
pub const OWN_PATHS: [&str; 3] = ["apis/apiextensions.k8s.io", "apis/apiextensions.k8s.io/v1", "version"];

/// The document at a path; in version 2 it is one for all.
pub fn own(edition: Edition, path: &str) -> Option<&'static Value> {
    static OWN: OnceLock<Value> = OnceLock::new();
    let all = OWN.get_or_init(|| json::read(include_bytes!("own.json")).unwrap_or_default());
    all.get(if edition == Edition::V2 { "v2" } else { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_a_document() {
        for path in OWN_PATHS {
            assert_eq!(own(Edition::V3, path).and_then(|d| d.str_at(&["openapi"])), Some("3.0.0"), "{path}");
        }
        assert_eq!(own(Edition::V2, "").and_then(|d| d.str_at(&["swagger"])), Some("2.0"));
        assert_eq!(own(Edition::V3, "apis/example.com/v1"), None);
    }
}

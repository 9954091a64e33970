//! The type of the patch that `kubectl apply` sends for a built-in resource.

use super::patch::PatchType;
use crdx_types::resources::ApiResource;
use crdx_types::types::Types;
use crdx_value::group_version::api_version;
use crdx_value::release::Release;

/// The API group of kube-aggregator, whose types are not in kubectl's scheme.
const AGGREGATOR: &str = "apiregistration.k8s.io";

impl PatchType {
    /// Returns the type of the patch that kubectl sends for a built-in resource.
    pub(crate) fn of_built_in(resource: &ApiResource, release: Release) -> Self {
        let types_of = |release: Release| Types::for_release(release.minor().number().into());
        let (types, api_version) = (types_of(release), api_version(resource.group, resource.version));
        let is_registered =
            resource.group != AGGREGATOR && types_of(Release::NEWEST).of_kind(&api_version, resource.kind).is_some();
        match types.of_kind(&api_version, resource.kind) {
            Some(id) if is_registered => Self::Strategic(types, id),
            Some(id) => Self::StrategicOrMerge(types, id),
            None => Self::Merge,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::UnsentError;
    use super::super::patch::{MERGE, STRATEGIC};
    use super::*;
    use crdx_text::json;
    use crdx_types::resources;

    /// The requests of kubectl to a real server.
    #[test]
    fn a_merge_patch_replaces_a_strategic_one_that_cannot_be_computed() {
        let of = |group: &str, kind: &str, conditions: &str| {
            let text =
                format!(r#"{{"apiVersion":"{group}/v1","kind":"{kind}","status":{{"conditions":{conditions}}}}}"#);
            json::read(text.as_bytes()).unwrap()
        };
        let patch = |group: &str, kind: &str, new: &str| {
            let release = Release::NEWEST.minor().number().into();
            let resource = resources::of_kind(&format!("{group}/v1"), kind, release).unwrap();
            let existing = of(group, kind, r#"[{"type":"Available"}]"#);
            PatchType::of_built_in(resource, Release::NEWEST).patch(&existing, of(group, kind, new))
        };
        let content_type = |new| patch(AGGREGATOR, "APIService", new).unwrap().unwrap().content_type;
        assert_eq!((content_type(r#"["x"]"#), content_type(r#"[{"type":"Other"}]"#)), (MERGE, STRATEGIC));
        assert!(matches!(patch("apps", "Deployment", r#"["x"]"#), Err(UnsentError::Patch(_))));
    }
}

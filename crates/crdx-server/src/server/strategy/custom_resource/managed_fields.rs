//! Field ownership of custom resources (the field managers of the scopes in `apiserver/customresource_handler.go`).
//!
//! Unlike elsewhere, conversion does not prune here. If the version of a field owner does not specify a field of the
//! object, ownership cannot be computed: a write then leaves managedFields unchanged, and an apply fails with 500.

use super::CustomResource;
use crate::apply::set::Set;
use crate::apply::updater::Versions;
use crate::server::http::body::parse_group_version;
use crate::server::strategy::subresource::Subresource;
use crdx_types::merge::Type;
use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::release::{V1_35, V1_36};
use std::sync::LazyLock;

impl Versions for CustomResource {
    fn type_of(&self, api_version: &str) -> Option<&Type> {
        let version = self.serving.version_of(api_version)?;
        let go_type = self.go_type(self.version.stages.release());
        Some(go_type.map_or_else(|| version.merge_type(), |kind| kind.merge_type().resolve()))
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, GoError> {
        let from = object.str_at(&["apiVersion"]).unwrap_or_default();
        for (way, one) in [("to", api_version), ("from", from)] {
            let (group, version) = parse_group_version(one)?;
            if self.serving.version_of(one).is_none() {
                let slash = if group.is_empty() { "" } else { "/" };
                return Err(
                    format!("request to convert CR {way} an invalid group/version: {group}{slash}{version}").into()
                );
            }
        }
        if let Some(kind) = self.go_type(self.version.stages.release()) {
            return kind.convert(object);
        }
        let converted = self.serving.convert_type(object.clone(), api_version, &self.calls);
        converted.map_err(|refusal| refusal.message.into())
    }

    fn ignored(&self, api_version: &str) -> Option<&Set> {
        static STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["status"]]));
        static ALL_ELSE: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["metadata"], &["spec"]]));
        // Before 1.36, a write of the status also changes the owners of metadata, which only that of a Namespace writes.
        static SPEC: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec"]]));
        let release = self.version.stages.release();
        let version = self.serving.version_of(api_version).filter(|version| version.has_status())?;
        let is_own = version.name == self.version.name;
        match self.subresource {
            Subresource::Status if !(version.served || version.storage) => None,
            // Before 1.35, a write of the status also changes the owners of the spec in other versions.
            Subresource::Status if !(is_own || release.since(V1_35)) => None,
            Subresource::Status => {
                let writes_metadata = self.serving.built_in.writes_metadata_with_status();
                Some(if release.since(V1_36) && !writes_metadata { &ALL_ELSE } else { &SPEC })
            }
            _ => is_own.then_some(&STATUS),
        }
    }
}

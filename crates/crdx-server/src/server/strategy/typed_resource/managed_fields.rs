//! Field ownership of built-in kinds (`GetResetFields` of their strategies).

use super::TypedResource;
use crate::apply::set::Set;
use crate::apply::updater::Versions;
use crate::server::http::body::parse_group_version;
use crate::server::strategy::subresource::Subresource;
use crdx_types::merge::Type;
use crdx_value::GoError;
use crdx_value::Value;
use std::sync::LazyLock;

impl Versions for TypedResource {
    fn type_of(&self, api_version: &str) -> Option<&Type> {
        self.serving.typed_at(api_version).map(|kind| kind.merge_type().resolve())
    }

    /// Converts the result of an apply to its Go type, or to another version.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, GoError> {
        let Some(kind) = self.serving.typed_at(api_version) else {
            // Owners of a version without type are dropped (`IsMissingVersionError` in `internal/versionconverter.go`), also those of
            // the other group of Events.
            return parse_group_version(api_version).map(|_| object.clone());
        };
        let have = object.str_at(&["apiVersion"]).unwrap_or_default();
        match self.serving.typed_at(have).filter(|_| have != api_version) {
            None => kind.convert(object),
            Some(from) => Ok(from.to_version(kind, from.convert(object)?)),
        }
    }

    fn unconvertible(&self, object: &Value) -> Option<String> {
        self.kind.strategy.conversion_error(object)
    }

    fn ignored(&self, api_version: &str) -> Option<&Set> {
        static STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["status"]]));
        if !self.version.has_status() {
            return None;
        }
        let kind = self.serving.typed_at(api_version)?;
        if let Some(fields) = kind.strategy.reset_fields(self.subresource) {
            return Some(fields);
        }
        match self.subresource {
            Subresource::None | Subresource::Finalize | Subresource::Approval => Some(&STATUS),
            Subresource::Status => Some(kind.status_keeps()),
            // Their storage implements no `ResetFieldsStrategy`.
            Subresource::EphemeralContainers | Subresource::Resize => None,
        }
    }
}

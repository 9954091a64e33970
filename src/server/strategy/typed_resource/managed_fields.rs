//! Field ownership of built-in kinds (`GetResetFields` of their strategies).

use super::{TypedResource, certificate_request};
use crate::apply::set::Set;
use crate::apply::types::Type;
use crate::apply::updater::Versions;
use crate::server::http::body::parse_group_version;
use crate::server::strategy::custom_resource::Part;
use crate::value::Value;
use std::sync::LazyLock;

impl Versions for TypedResource {
    fn type_of(&self, api_version: &str) -> Option<&Type> {
        (api_version == self.kind.api_version()).then(|| self.kind.merge_type().resolve())
    }

    /// Converts the result of an apply to its Go type.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, String> {
        if api_version != self.kind.api_version() {
            let (group, version) = parse_group_version(api_version)?;
            return Err(format!("no kind is served at {group}/{version}"));
        }
        self.kind.convert(object)
    }

    fn ignored(&self, api_version: &str) -> Option<&Set> {
        static STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["status"]]));
        if !self.version.has_status() || api_version != self.kind.api_version() {
            return None;
        }
        if self.user.is_some() {
            return Some(certificate_request::ignored(self.part));
        }
        match self.part {
            Part::Object | Part::Finalizers | Part::Approval => Some(&STATUS),
            Part::Status => Some(self.kind.status_keeps()),
        }
    }
}

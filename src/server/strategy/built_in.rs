//! Behaviour of built-in kinds that custom resources do not have. Built-in kinds are compiled from internal CRDs and
//! served like custom resources.

use crate::field::ErrorList;
use crate::release::Release;
use crate::server::{Server, Timestamp};
use crate::value::Value;
use std::fmt::Debug;

/// Behaviour of a built-in kind in addition to [`super::custom_resource::CustomResource`]. The default methods are
/// those of a custom resource.
pub(in crate::server) trait BuiltIn: Debug + Send + Sync {
    /// Completes an object that is created or updated, and removes empty fields that its Go type omits.
    fn prepare(&self, _object: &mut Value) {}

    /// Validates what the schema cannot express. Returns errors, and a warning that is sent if the object is accepted;
    /// `old` is the existing object of an update.
    fn validate(&self, _object: &Value, _old: Option<&Value>, _release: Release) -> (ErrorList, Option<String>) {
        (ErrorList::new(), None)
    }

    /// Returns true if request bodies may be Protobuf.
    fn accepts_protobuf(&self) -> bool {
        false
    }

    /// Returns true if an update may omit the resourceVersion.
    fn allows_unconditional_update(&self) -> bool {
        false
    }

    /// Called after an object was removed.
    fn removed(&self, _server: &Server, _name: &str, _now: Timestamp) {}
}

/// The behaviour of a custom resource.
#[derive(Debug)]
pub(in crate::server) struct Custom;

impl BuiltIn for Custom {}

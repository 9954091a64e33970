//! What kinds of Kubernetes do that custom resources do not. They are compiled from definitions of their own and served as
//! custom resources are.

use crate::field::ErrorList;
use crate::release::Release;
use crate::server::{Server, Timestamp};
use crate::value::Value;
use std::fmt::Debug;

/// What a kind does besides what [`super::custom_resource::CustomResource`] does. The defaults are those of a custom resource.
pub(in crate::server) trait BuiltIn: Debug + Send + Sync {
    /// Completes an object that is created or updated, and removes what its Go type omits.
    fn prepare(&self, _object: &mut Value) {}

    /// The errors that the schema does not find, and warnings that are given if the object is accepted; `old` is the stored
    /// object of an update.
    fn validate(&self, _object: &Value, _old: Option<&Value>, _release: Release) -> (ErrorList, Option<String>) {
        (ErrorList::new(), None)
    }

    /// Whether bodies may be Protobuf.
    fn takes_protobuf(&self) -> bool {
        false
    }

    /// Whether an update need not name the revision it replaces.
    fn allows_unconditional_update(&self) -> bool {
        false
    }

    /// An object was removed.
    fn removed(&self, _server: &Server, _name: &str, _now: Timestamp) {}
}

/// A custom resource.
#[derive(Debug)]
pub(in crate::server) struct Custom;

impl BuiltIn for Custom {}

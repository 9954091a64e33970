//! Behaviour of built-in kinds that custom resources do not have. Built-in kinds are compiled from internal CRDs and
//! served like custom resources.

use crate::pipeline::metadata::NameRule;
use crate::server::strategy::subresource::Subresource;
use crdx_value::Value;
use crdx_value::field::ErrorList;
use crdx_value::release::Release;
use std::fmt::Debug;

/// Behaviour of a built-in kind in addition to `CustomResource`. The default methods are
/// those of a custom resource.
pub(in crate::server) trait BuiltIn: Debug + Send + Sync {
    /// Sets the defaults of a decoded object.
    fn default(&self, _object: &mut Value) {}

    /// Completes an object that is created or updated, and removes empty fields that its Go type omits.
    fn prepare(&self, _object: &mut Value) {}

    /// Returns true if [`BuiltIn::prepare`] may remove fields that have defaults.
    fn may_remove_defaults(&self) -> bool {
        true
    }

    /// Completes an object that is updated.
    fn prepare_update(&self, object: &mut Value, _old: &Value, _subresource: Subresource) {
        self.prepare(object);
    }

    /// Which names objects may have.
    fn name_rule(&self) -> NameRule {
        NameRule::Subdomain
    }

    /// Returns true if a write of the status changes the metadata, too.
    fn writes_metadata_with_status(&self) -> bool {
        false
    }

    /// Returns true if an update validates the prefix of a generated name again.
    fn validates_prefix(&self) -> bool {
        false
    }

    /// Validates what the schema cannot express. Returns errors, and a warning that is sent if the object is accepted;
    /// `old` is the existing object of an update.
    fn validate(&self, _object: &Value, _old: Option<&Value>, _release: Release) -> (ErrorList, Vec<String>) {
        (ErrorList::new(), Vec::new())
    }

    /// The warnings about a write of the status that is accepted.
    fn status_warnings(&self, _object: &Value, _old: &Value, _release: Release) -> Vec<String> {
        Vec::new()
    }

    /// Returns true if the real server has a Go type for the kind, so that it accepts strategic merge patches.
    fn has_go_type(&self) -> bool {
        true
    }

    /// Returns true if a DELETE of the collection is served.
    fn deletes_collections(&self) -> bool {
        true
    }

    /// Returns true if the server sets the generation of objects; otherwise that of the create is kept.
    fn has_generation(&self) -> bool {
        true
    }

    /// Returns true if request bodies may be Protobuf.
    fn accepts_protobuf(&self) -> bool {
        false
    }

    /// Returns true if an update may omit the resourceVersion.
    fn allows_unconditional_update(&self) -> bool {
        false
    }

    /// Returns true if the kind has the subresource `finalize`, which writes `spec.finalizers`.
    fn has_finalizers(&self) -> bool {
        false
    }

    /// Marks an object as being deleted; `None` if its finalizers do this.
    fn mark_deleting(&self, _existing: &Value, _now: &str) -> Option<Value> {
        None
    }

    /// Returns true if an update may remove an object that is being deleted and has no finalizers in its metadata.
    fn may_be_removed(&self, _object: &Value) -> bool {
        true
    }

    /// Returns true if a stored object is being deleted and the namespace controller finalizes it.
    fn awaits_finalization(&self, _object: &Value) -> bool {
        false
    }

    /// Returns true if the answer to a deletion is the removed object.
    fn returns_deleted(&self) -> bool {
        false
    }

    /// Returns true if the removal of an object deletes all objects in the namespace of that name.
    fn owns_contents(&self) -> bool {
        false
    }
}

/// The behaviour of a custom resource.
#[derive(Debug)]
pub(in crate::server) struct Custom;

impl BuiltIn for Custom {
    fn has_go_type(&self) -> bool {
        false
    }

    fn may_remove_defaults(&self) -> bool {
        false
    }
}

//! Namespaces with the life cycle of a cluster (`pkg/registry/core/namespace` of Kubernetes): a deleted namespace is
//! `Terminating` and keeps the finalizer `kubernetes` until its contents are deleted.
//! With [`crate::server::Namespaces::Controlled`], [`crate::server::controllers`] removes both; otherwise a client does.

use super::{label, set_default_phase, set_defaults};
use crate::pipeline::metadata::NameRule;
use crate::server::metadata;
use crate::server::scope::NAMESPACES;
use crate::server::strategy::built_in::BuiltIn;
use crate::server::strategy::subresource::Subresource;
use crdx_value::{Map, Value, object};

/// The finalizer in `spec.finalizers` of every namespace.
pub(in crate::server) const KUBERNETES: &str = "kubernetes";

/// The behaviour of a Namespace that exists until it is finalized.
#[derive(Debug)]
pub(super) struct FinalizedNamespace;

impl BuiltIn for FinalizedNamespace {
    fn deletes_collections(&self) -> bool {
        false
    }

    fn default(&self, object: &mut Value) {
        set_defaults(object);
    }

    /// `namespaceStrategy.PrepareForCreate`
    fn prepare(&self, object: &mut Value) {
        complete(object);
    }

    /// `PrepareForUpdate` of the strategies for the object, the status and the finalizers.
    fn prepare_update(&self, object: &mut Value, old: &Value, subresource: Subresource) {
        label(object);
        if subresource == Subresource::None {
            keep_finalizers(object, old);
        }
        // Their Go types are encoded even if they are empty.
        if let Some(members) = object.as_object_mut() {
            for field in ["spec", "status"] {
                members.entry(field.to_owned()).or_insert_with(|| Value::Object(Map::new()));
            }
        }
        set_default_phase(object);
    }

    fn name_rule(&self) -> NameRule {
        NameRule::Label
    }

    fn writes_metadata_with_status(&self) -> bool {
        true
    }

    fn validates_prefix(&self) -> bool {
        true
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn accepts_protobuf(&self) -> bool {
        true
    }

    fn allows_unconditional_update(&self) -> bool {
        true
    }

    fn has_finalizers(&self) -> bool {
        true
    }

    /// `REST.Delete`
    fn mark_deleting(&self, existing: &Value, now: &str) -> Option<Value> {
        let mut object = existing.clone();
        if metadata::is_deleting(existing) {
            return (!finalizers(existing).is_empty()).then_some(object);
        }
        metadata::set_text(&mut object, "deletionTimestamp", now);
        set_phase(&mut object, "Terminating");
        Some(object)
    }

    fn returns_deleted(&self) -> bool {
        true
    }

    /// `ShouldDeleteNamespaceDuringUpdate`
    fn may_be_removed(&self, object: &Value) -> bool {
        finalizers(object).is_empty()
    }

    fn awaits_finalization(&self, object: &Value) -> bool {
        metadata::is_deleting(object)
    }
}

pub(super) fn complete(namespace: &mut Value) {
    label(namespace);
    let mut all: Vec<String> = finalizers(namespace).into_iter().map(str::to_owned).collect();
    if !all.iter().any(|finalizer| finalizer == KUBERNETES) {
        all.push(KUBERNETES.to_owned());
    }
    set_finalizers(namespace, all);
    if let Some(members) = namespace.as_object_mut() {
        members.insert("status".to_owned(), object([("phase", "Active")]));
    }
}

/// Restores the finalizers, which only the subresource `finalize` changes.
pub(super) fn keep_finalizers(object: &mut Value, old: &Value) {
    set_finalizers(object, finalizers(old).into_iter().map(str::to_owned).collect());
}

/// `spec.finalizers`
pub(in crate::server) fn finalizers(namespace: &Value) -> Vec<&str> {
    let all = namespace.at(&["spec", "finalizers"]).and_then(Value::as_array).unwrap_or_default();
    all.iter().filter_map(Value::as_str).collect()
}

/// Replaces `spec.finalizers`; Go omits an empty list.
pub(in crate::server) fn set_finalizers(namespace: &mut Value, finalizers: Vec<String>) {
    let Some(members) = namespace.as_object_mut() else { return };
    let finalizers: Vec<Value> = finalizers.into_iter().map(Value::from).collect();
    let spec = if finalizers.is_empty() {
        object::<&str, Value>([])
    } else {
        object([("finalizers", Value::Array(finalizers))])
    };
    members.insert("spec".to_owned(), spec);
}

fn set_phase(namespace: &mut Value, phase: &str) {
    let Some(members) = namespace.as_object_mut() else { return };
    let status = members.entry("status".to_owned()).or_insert_with(|| object::<&str, Value>([]));
    if let Some(status) = status.as_object_mut() {
        status.insert("phase".to_owned(), phase.into());
    }
}

/// The namespaces that the plugin `NamespaceLifecycle` does not let anyone delete.
pub(in crate::server) fn is_undeletable(group: &str, resource: &str, name: &str) -> bool {
    (group, resource) == (NAMESPACES.group, NAMESPACES.resource)
        && matches!(name, "default" | "kube-system" | "kube-public")
}

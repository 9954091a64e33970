//! Deletes the objects of a CRD that is being deleted, then the CRD.

use super::Controllers;
use crate::crd::{self, CustomResourceDefinition, conditions};
use crate::server::metadata;
use crate::server::strategy::definitions::typed;
use crdx_value::Value;

impl Controllers<'_> {
    /// Deletes the objects of a CRD, and the CRD once no object is left. Objects with finalizers are kept until their
    /// finalizers are removed; `Resources::object_removed` then enqueues the CRD again.
    pub(super) fn finalize(self, name: &str, now: &str) {
        let Some(serving) = self.resources.get(name) else { return };
        let Some(stored) = self.resources.definitions.objects.get(name) else { return };
        let Some(mut definition) = typed(&stored) else { return };
        if !metadata::finalizers(&stored.raw()).contains(&crd::CLEANUP_FINALIZER) {
            return;
        }
        conditions::deleting_instances(&mut definition, now);
        let stored = self.store_definition(name, stored, &mut definition, now);
        self.resources.remove_objects(&serving, "", now);
        if serving.objects.is_empty() {
            conditions::instances_deleted(&mut definition, now);
            remove_finalizer(&mut definition);
            if !definition.metadata.contains_key("finalizers") {
                if self.resources.definitions.objects.remove(name, &stored, &self.resources.storage.revision).is_ok() {
                    self.resources.stop_serving(name);
                }
                return;
            }
            self.store_definition(name, stored, &mut definition, now);
        }
        self.resources.serve_definition(name);
    }
}

fn remove_finalizer(definition: &mut CustomResourceDefinition) {
    if let Some(Value::Array(finalizers)) = definition.metadata.get_mut("finalizers") {
        finalizers.retain(|f| f.as_str() != Some(crd::CLEANUP_FINALIZER));
        if finalizers.is_empty() {
            definition.metadata.remove("finalizers");
        }
    }
}

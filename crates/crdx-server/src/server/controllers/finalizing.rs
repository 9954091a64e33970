//! Deletes the objects of a CRD that is being deleted, then the CRD.

use crate::crd::{self, CustomResourceDefinition, conditions};
use crate::server::Server;
use crate::server::http::calls::Calls;
use crate::server::metadata;
use crate::server::strategy::custom_resource::serving::Serving;
use crate::server::strategy::definition::typed;
use crdx_value::Value;

impl Server {
    /// Deletes the objects of a CRD, and the CRD once no object is left. Objects with finalizers are kept until their
    /// finalizers are removed; [`Server::object_removed`] then enqueues the CRD again.
    pub(super) fn finalize(&self, name: &str, now: &str) {
        let Some(serving) = self.serving_of(name) else { return };
        let Some(stored) = self.definitions.objects.get(name) else { return };
        let Some(mut definition) = typed(&stored) else { return };
        if !metadata::finalizers(&stored.raw()).contains(&crd::CLEANUP_FINALIZER) {
            return;
        }
        conditions::deleting_instances(&mut definition, now);
        let stored = self.store_definition(name, stored, &mut definition, now);
        self.remove_objects(&serving, "", now);
        if serving.objects.is_empty() {
            conditions::instances_deleted(&mut definition, now);
            remove_finalizer(&mut definition);
            if !definition.metadata.contains_key("finalizers") {
                if self.definitions.objects.remove(name, &stored, &self.revision).is_ok() {
                    self.stop_serving(name);
                }
                return;
            }
            self.store_definition(name, stored, &mut definition, now);
        }
        self.serve_definition(name);
    }

    /// Deletes the objects whose keys begin with `prefix`, or marks them as being deleted if they have finalizers.
    pub(in crate::server) fn remove_objects(&self, serving: &Serving, prefix: &str, now: &str) {
        let Some(storage) = serving.storage() else { return };
        for (key, stored) in serving.objects.list(prefix, "", &self.revision).0 {
            let Ok(existing) = serving.read(&stored, storage, &Calls::default()) else { continue };
            let finalizers: Vec<String> = metadata::finalizers(&existing).into_iter().map(str::to_owned).collect();
            if finalizers.is_empty() {
                let _ = serving.objects.remove(&key, &stored, &self.revision);
                continue;
            }
            let mut object = (*existing).clone();
            crate::server::registry::rest::mark_deleting(&mut object, finalizers, now);
            if object != *existing
                && let Ok(written) = serving.written(object, storage, true, &Calls::default())
                && let Ok((marked, shown)) = written.put(&serving.objects, &key, Some(&stored), &self.revision)
            {
                storage.cache_read(&marked, &shown);
            }
        }
    }

    /// Enqueues a CRD that is being deleted when its last object was removed.
    pub(in crate::server) fn object_removed(&self, serving: &Serving) {
        if serving.terminating && serving.objects.is_empty() {
            self.controllers.enqueue(serving.crd.name());
        }
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

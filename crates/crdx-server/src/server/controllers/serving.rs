//! Serves the custom resources of CRDs: compiles a CRD when it changes and drops it when it is removed.

use crate::crd::CustomResourceDefinition;
use crate::server::Server;
use crate::server::registry::store::Collection;
use crate::server::strategy::custom_resource::serving::Serving;
use crate::server::strategy::definition::typed;
use std::sync::{Arc, PoisonError};

impl Server {
    /// Serves a stored CRD, if it exists.
    pub(in crate::server) fn serve_definition(&self, name: &str) {
        if let Some(definition) = self.definitions.objects.get(name).and_then(|s| typed(&s)) {
            self.serve(name, definition);
        }
    }

    /// Serves a CRD. It is compiled unless only its metadata or conditions changed.
    pub(super) fn serve(&self, name: &str, definition: CustomResourceDefinition) {
        let definition = Arc::new(definition);
        let mut served = self.serving.write().unwrap_or_else(PoisonError::into_inner);
        let names = |crd: &CustomResourceDefinition| crd.status.accepted_names.clone();
        let next = match served.get(name) {
            Some(b) if b.crd.spec == definition.spec && names(&b.crd) == names(&definition) => {
                b.with_definition(definition)
            }
            Some(b) => {
                b.retire();
                Serving::compile(definition, Arc::clone(&b.objects), self.release)
            }
            None => {
                let objects = Collection::new(name, &self.storage_config, self.revision.current());
                Serving::compile(definition, Arc::new(objects), self.release)
            }
        };
        served.insert(name.to_owned(), Arc::new(next));
    }

    /// Handles a write of a CRD. If the CRD is served, its new schema applies immediately (the real server takes about
    /// a millisecond); all other changes are left to the controllers. The caller holds the write lock of the CRDs.
    pub(in crate::server) fn definition_written(&self, name: &str) {
        if self.serving_of(name).is_some() {
            self.serve_definition(name);
        }
        self.controllers.enqueue(name);
    }

    /// Stops serving a CRD that was removed, which releases its names. The caller holds the write lock of the CRDs.
    pub(in crate::server) fn stop_serving(&self, name: &str) {
        let removed = self.serving.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        let Some(removed) = removed else { return };
        removed.retire();
        self.enqueue_without_names(&self.others(name, &removed.group));
    }

    /// The compiled CRD with this name, if it is served.
    pub(in crate::server) fn serving_of(&self, name: &str) -> Option<Arc<Serving>> {
        self.serving.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

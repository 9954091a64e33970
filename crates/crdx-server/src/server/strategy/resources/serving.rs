//! Serves the custom resources of CRDs: compiles a CRD when it changes and drops it when it is removed.

use super::Resources;
use crate::crd::CustomResourceDefinition;
use crate::server::strategy::definitions::typed;
use crate::server::strategy::serving::Serving;
use std::sync::Arc;

impl Resources {
    /// Serves a stored CRD, if it exists.
    pub(crate) fn serve_definition(&self, name: &str) {
        if let Some(definition) = self.definitions.objects.get(name).and_then(|s| typed(&s)) {
            self.serve(name, definition);
        }
    }

    /// Serves a CRD. It is compiled unless only its metadata or conditions changed.
    pub fn serve(&self, name: &str, definition: CustomResourceDefinition) {
        self.names_mut().set(&definition);
        let definition = Arc::new(definition);
        let mut served = self.served_mut();
        let names = |crd: &CustomResourceDefinition| crd.status.accepted_names.clone();
        let next = match served.get(name) {
            Some(b) if b.crd.spec == definition.spec && names(&b.crd) == names(&definition) => {
                b.with_definition(definition)
            }
            Some(b) => {
                b.retire();
                Serving::compile(definition, Arc::clone(&b.objects), self.settings.release)
            }
            None => Serving::compile(definition, Arc::new(self.storage.collection(name)), self.settings.release),
        };
        served.insert(name.to_owned(), Arc::new(next));
    }

    /// Handles a write of a CRD. If the CRD is served, its new schema applies immediately (the real server takes about
    /// a millisecond); all other changes are left to the controllers. The caller holds the write lock of the CRDs.
    pub(crate) fn definition_written(&self, name: &str) {
        if self.get(name).is_some() {
            self.serve_definition(name);
        }
        self.written_definitions.add(name);
    }

    /// Stops serving a CRD that was removed, which releases its names. The caller holds the write lock of the CRDs.
    pub(crate) fn stop_serving(&self, name: &str) {
        let removed = self.served_mut().remove(name);
        let Some(removed) = removed else { return };
        removed.retire();
        self.names_mut().remove(name, &removed.group);
        self.enqueue_without_names(&removed.group);
    }

    /// Enqueues the CRDs of a group whose names are not accepted yet.
    pub(crate) fn enqueue_without_names(&self, group: &str) {
        for name in self.names().waiting(group) {
            self.written_definitions.add(name);
        }
    }
}

//! Removes objects together with their namespace or CRD.

use super::Resources;
use crate::server::http::calls::Calls;
use crate::server::metadata;
use crate::server::registry::rest::mark_deleting;
use crate::server::strategy::namespace_rule::{NAME, Namespaces};
use crate::server::strategy::serving::Serving;
use crdx_value::time::{self, Timestamp};

impl Resources {
    /// Handles the removal of an object: a CRD or a namespace that is being deleted may wait for it, and the objects in a
    /// namespace are deleted with it.
    pub fn removed(&self, serving: &Serving, namespace: &str, name: &str, now: Timestamp) {
        self.object_removed(serving);
        self.content_removed(namespace);
        if serving.built_in.owns_contents() && self.namespaces != Some(Namespaces::Unchecked) {
            for serving in self.all().iter().filter(|s| s.namespaced) {
                self.remove_objects(serving, &format!("{name}/"), &time::format(now));
                self.object_removed(serving);
            }
        }
    }

    /// Deletes the objects whose keys begin with `prefix`, or marks them as being deleted if they have finalizers.
    pub(crate) fn remove_objects(&self, serving: &Serving, prefix: &str, now: &str) {
        let Some(storage) = serving.storage() else { return };
        let revision = &self.storage.revision;
        for (key, stored) in serving.objects.list(prefix, "", revision).0 {
            let Ok(existing) = serving.read(&stored, storage, &Calls::default()) else { continue };
            let finalizers: Vec<String> = metadata::finalizers(&existing).into_iter().map(str::to_owned).collect();
            if finalizers.is_empty() {
                let _ = serving.objects.remove(&key, &stored, revision);
                continue;
            }
            let mut object = (*existing).clone();
            mark_deleting(&mut object, finalizers, now);
            if object != *existing
                && let Ok(written) = serving.written(object, storage, true, &Calls::default())
                && let Ok((marked, shown)) = written.put(&serving.objects, &key, Some(&stored), revision)
            {
                storage.cache_read(&marked, &shown);
            }
        }
    }

    /// Enqueues a CRD that is being deleted when its last object was removed.
    pub(crate) fn object_removed(&self, serving: &Serving) {
        if serving.terminating && serving.objects.is_empty() {
            self.written_definitions.add(serving.crd.name());
        }
    }

    /// Enqueues the namespaces that are being deleted, for the namespace controller.
    pub fn enqueue_deleted_namespaces(&self) {
        let controlled = self.get(NAME).filter(|_| self.namespaces == Some(Namespaces::Controlled));
        for stored in controlled.iter().flat_map(|namespaces| namespaces.objects.all()) {
            let namespace = stored.raw();
            if metadata::is_deleting(&namespace) {
                self.deleted_namespaces.add(metadata::text(&namespace, "name"));
            }
        }
    }

    /// Enqueues the namespace of an object that was removed, if the namespace is being deleted.
    fn content_removed(&self, namespace: &str) {
        if self.namespaces == Some(Namespaces::Controlled)
            && self.namespace(namespace).is_some_and(|found| metadata::is_deleting(&found))
        {
            self.deleted_namespaces.add(namespace);
        }
    }
}

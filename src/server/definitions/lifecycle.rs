//! What follows from a written definition: names are accepted, it is served, its objects go with it.

use super::{ownership, typed};
use crate::crd::{self, CustomResourceDefinition};
use crate::server::Server;
use crate::server::serving::Serving;
use crate::server::store::{Collection, Stored};
use crate::server::{Timestamp, metadata};
use crate::value::{Value, time};
use std::sync::{Arc, PoisonError};

impl Server {
    /// Runs the controllers for a definition that was written, and for those whose names it may have freed. The caller
    /// holds the definitions' lock.
    pub(in crate::server) fn settle_definition(&self, name: &str, now: Timestamp) {
        let now_text = time::format(now);
        let mut waiting = vec![name.to_owned()];
        // Every round changes a condition of one more definition, so this ends; the bound is for safety.
        let mut rounds = 0;
        while let Some(name) = waiting.pop() {
            rounds += 1;
            let Some(stored) = self.definitions.objects.get(&name) else { continue };
            let Some(mut definition) = typed(&stored) else { continue };
            let rivals = self.rivals(&name, &definition.spec.group);
            let changed = crd::conditions::settle(&mut definition, rivals.iter().map(|r| &**r), &now_text);
            if changed {
                self.store_definition(&name, &stored, &definition, &now_text);
                if rounds < 1000 {
                    waiting.extend(without_names(&rivals).map(|r| r.name().to_owned()));
                }
            }
            self.serve_definition(&name);
            if definition.metadata.contains_key("deletionTimestamp") {
                self.clean_up_definition(&name, now);
            }
        }
    }

    fn store_definition(&self, name: &str, expected: &Arc<Stored>, definition: &CustomResourceDefinition, now: &str) {
        let mut object = definition.to_value();
        if self.tracks_fields {
            ownership::settle(&expected.raw(), &mut object, now);
        }
        if object == *expected.raw() {
            return;
        }
        // Nobody else writes definitions while the lock is held.
        let _ = self.definitions.objects.put(name, Some(expected), object, &self.revision);
    }

    /// Compiles what is served for a definition, unless only its metadata or conditions changed.
    pub(in crate::server) fn serve_definition(&self, name: &str) {
        let Some(definition) = self.definitions.objects.get(name).and_then(|s| typed(&s)) else { return };
        let definition = Arc::new(definition);
        let mut served = self.serving.write().unwrap_or_else(PoisonError::into_inner);
        let before = served.get(name);
        let names = |crd: &CustomResourceDefinition| crd.status.accepted_names.clone();
        let next = match before {
            Some(b) if b.crd.spec == definition.spec && names(&b.crd) == names(&definition) => {
                b.with_definition(definition)
            }
            Some(b) => {
                b.retire();
                Serving::compile(definition, Arc::clone(&b.objects))
            }
            None => {
                let objects = Collection::new(name, &self.keeping, self.revision.current());
                Serving::compile(definition, Arc::new(objects))
            }
        };
        served.insert(name.to_owned(), Arc::new(next));
    }

    /// Deletes the objects of a definition that is going away, and it with the last one.
    fn clean_up_definition(&self, name: &str, now: Timestamp) {
        let Some(serving) = self.serving_of(name) else { return };
        let Some(stored) = self.definitions.objects.get(name) else { return };
        let Some(mut definition) = typed(&stored) else { return };
        if !metadata::finalizers(&stored.raw()).contains(&crd::CLEANUP_FINALIZER) {
            return;
        }
        let now_text = time::format(now);
        crd::conditions::terminating(&mut definition, &now_text);
        self.remove_objects(&serving, "", &now_text);
        if serving.objects.is_empty() {
            if let Some(Value::Array(finalizers)) = definition.metadata.get_mut("finalizers") {
                finalizers.retain(|f| f.as_str() != Some(crd::CLEANUP_FINALIZER));
                if finalizers.is_empty() {
                    definition.metadata.remove("finalizers");
                }
            }
            if !definition.metadata.contains_key("finalizers") {
                if self.definitions.objects.remove(name, &stored, &self.revision).is_ok() {
                    self.forget_definition(name, now);
                }
                return;
            }
        }
        self.store_definition(name, &stored, &definition, &now_text);
        self.serve_definition(name);
    }

    /// Deletes the objects whose keys begin with `prefix`, or marks them where finalizers hold them.
    pub(in crate::server) fn remove_objects(&self, serving: &Serving, prefix: &str, now: &str) {
        let Some(storage) = serving.storage() else { return };
        for (key, stored) in serving.objects.list(prefix, "", &self.revision).0 {
            let Ok(existing) = serving.read(&stored, storage) else { continue };
            let finalizers: Vec<String> = metadata::finalizers(&existing).into_iter().map(str::to_owned).collect();
            if finalizers.is_empty() {
                let _ = serving.objects.remove(&key, &stored, &self.revision);
                continue;
            }
            let mut object = (*existing).clone();
            crate::server::delete::mark_deleting(&mut object, finalizers, now);
            if object != *existing
                && let Ok(written) = serving.written(object, storage, true)
            {
                let _ = written.put(storage, &serving.objects, &key, Some(&stored), &self.revision);
            }
        }
    }

    /// A definition is gone: nothing is served for it, and its names are free.
    pub(in crate::server) fn forget_definition(&self, name: &str, now: Timestamp) {
        let gone = self.serving.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        let Some(gone) = gone else { return };
        gone.retire();
        for rival in without_names(&self.rivals(name, &gone.group)) {
            self.settle_definition(rival.name(), now);
        }
    }

    /// The other definitions of a group, in order. Reading one takes long, so what is served is taken where it is the same.
    fn rivals(&self, name: &str, group: &str) -> Vec<Arc<CustomResourceDefinition>> {
        let stored = self.definitions.objects.list("", "", &self.revision).0;
        let served = self.serving.read().unwrap_or_else(PoisonError::into_inner);
        let read = |(key, stored): &(String, Arc<Stored>)| {
            let crd = served.get(key).map(|serving| &serving.crd);
            let revision = stored.revision.to_string();
            match crd.filter(|crd| crd.metadata.get("resourceVersion").and_then(Value::as_str) == Some(&revision)) {
                Some(crd) => Some(Arc::clone(crd)),
                None => typed(stored).map(Arc::new),
            }
        };
        stored.iter().filter(|(key, _)| key != name).filter_map(read).filter(|crd| crd.spec.group == group).collect()
    }

    /// An object is gone; it may have been the last one that held its definition.
    pub(in crate::server) fn object_removed(&self, serving: &Serving, now: Timestamp) {
        if serving.terminating && serving.objects.is_empty() {
            let _writing = self.definitions.writing.lock().unwrap_or_else(PoisonError::into_inner);
            self.clean_up_definition(serving.crd.name(), now);
        }
    }

    /// What is served for a definition.
    pub(in crate::server) fn serving_of(&self, name: &str) -> Option<Arc<Serving>> {
        self.serving.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

/// Those that may have names when others give theirs up.
fn without_names(
    definitions: &[Arc<CustomResourceDefinition>],
) -> impl Iterator<Item = &Arc<CustomResourceDefinition>> {
    definitions.iter().filter(|definition| !definition.is_true("NamesAccepted"))
}

//! The stored CRDs.

use crate::crd::{self, CustomResourceDefinition};
use crate::server::registry::journal;
use crate::server::registry::storage::Storage;
use crate::server::registry::store::{Collection, StoredObject};
use crdx_text::malformed::MalformedStrings;
use crdx_value::lock::lock;
use std::sync::{Arc, Mutex};

/// The collection of CRDs.
#[derive(Debug)]
pub(in crate::server) struct Definitions {
    /// The CRDs by name.
    pub objects: Arc<Collection>,
    /// Held while a CRD is written: writes are rare, and one write may affect other CRDs.
    pub writing: Mutex<()>,
    /// The new CRD that was validated last, and the revision at which it was stored.
    validated: Mutex<Option<(CustomResourceDefinition, Option<u64>)>>,
}

impl Definitions {
    /// Creates an empty collection.
    pub fn new(storage: &Storage) -> Self {
        let objects = storage.collection(journal::DEFINITIONS);
        Self { objects: Arc::new(objects), writing: Mutex::default(), validated: Mutex::default() }
    }

    /// Keeps a new CRD in the form in which it will be stored; its schemas are shared.
    pub(crate) fn validated(&self, definition: &CustomResourceDefinition) {
        let kept = CustomResourceDefinition { malformed: MalformedStrings::default(), ..definition.clone() };
        *lock(&self.validated) = Some((kept, None));
    }

    /// Notes the revision at which the CRD that was validated last is stored; later writes of it have another.
    pub(crate) fn committed(&self, stored: &StoredObject) {
        if let Some((kept, revision @ None)) = &mut *lock(&self.validated)
            && kept.metadata.get("uid") == stored.raw().at(&["metadata", "uid"])
        {
            *revision = Some(stored.revision);
        }
    }

    /// Returns a stored CRD, which is decoded unless it is the one that was validated last.
    pub(crate) fn decode(&self, stored: &StoredObject) -> Option<CustomResourceDefinition> {
        let validated = lock(&self.validated).take();
        match validated.filter(|(_, revision)| *revision == Some(stored.revision)) {
            Some((kept, _)) => {
                let metadata = stored.raw().get("metadata")?.as_object()?.clone();
                Some(CustomResourceDefinition { metadata, ..kept })
            }
            None => typed(stored),
        }
    }
}

/// Decodes a stored CRD.
pub(in crate::server) fn typed(stored: &StoredObject) -> Option<CustomResourceDefinition> {
    crd::decode(&stored.raw()).ok().map(|d| d.crd)
}

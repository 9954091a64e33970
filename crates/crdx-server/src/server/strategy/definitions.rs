//! The stored CRDs.

use crate::crd::{self, CustomResourceDefinition};
use crate::server::registry::journal;
use crate::server::registry::storage::Storage;
use crate::server::registry::store::{Collection, Stored};
use std::sync::{Arc, Mutex};

/// The collection of CRDs.
#[derive(Debug)]
pub(in crate::server) struct Definitions {
    /// The CRDs by name.
    pub objects: Arc<Collection>,
    /// Held while a CRD is written: writes are rare, and one write may affect other CRDs.
    pub writing: Mutex<()>,
}

impl Definitions {
    /// Creates an empty collection.
    pub fn new(storage: &Storage) -> Self {
        let objects = storage.collection(journal::DEFINITIONS);
        Self { objects: Arc::new(objects), writing: Mutex::default() }
    }
}

/// Decodes a stored CRD.
pub(in crate::server) fn typed(stored: &Stored) -> Option<CustomResourceDefinition> {
    crd::decode(&stored.raw()).ok().map(|d| d.crd)
}

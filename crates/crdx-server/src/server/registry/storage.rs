//! The storage that all resources of a server share.

use crate::server::registry::journal::StorageConfig;
use crate::server::registry::store::{Collection, Revision};
use std::sync::Arc;
use std::time::Duration;

/// The storage of a server: what the verbs need besides the strategy and the objects of a resource.
#[derive(Debug)]
pub(in crate::server) struct Storage {
    /// The counter of resourceVersions.
    pub revision: Arc<Revision>,
    /// The settings of all collections.
    pub config: Arc<StorageConfig>,
    /// False if the server does not track managedFields.
    pub tracks_fields: bool,
    /// The time between the two writes of a deletion without a grace period.
    pub pause_before_removal: Duration,
}

impl Storage {
    /// Creates an empty collection for the resource of a definition.
    pub fn collection(&self, definition: &str) -> Collection {
        Collection::new(definition, &self.config, self.revision.current())
    }
}

//! The state that the handlers of all resources share.

use crate::server::admission::Chain;
use crate::server::registry::Registry;
use crate::server::strategy::resources::Resources;
use std::sync::Arc;

/// The resources of a server with its admission chain.
#[derive(Debug)]
pub(in crate::server) struct Backend {
    pub resources: Arc<Resources>,
    pub admission: Chain,
}

impl Backend {
    /// The verbs of the resource of a strategy.
    pub fn registry<S: ?Sized>(&self, strategy: Box<S>) -> Registry<'_, S> {
        Registry::new(strategy, &self.resources.storage, &self.admission)
    }
}

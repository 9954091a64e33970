//! The cluster of a run: opened when the first question comes, shared by all threads.

use crate::cluster::{self, Asked, Connection, JSON, Resource};
use crate::output::report::Identity;
use std::sync::OnceLock;

/// A cluster that may be asked.
pub struct Live {
    target: cluster::Target,
    open: OnceLock<Result<Connection, cluster::Error>>,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").finish_non_exhaustive()
    }
}

impl Live {
    /// Nothing is contacted yet.
    pub fn new(target: cluster::Target) -> Self {
        Self { target, open: OnceLock::new() }
    }

    /// The connection.
    pub fn connection(&self) -> Result<&Connection, cluster::Error> {
        // What a server warns of is told with the answer that is simulated.
        self.open.get_or_init(|| Connection::open(&self.target, |_| {})).as_ref().map_err(Clone::clone)
    }

    /// The connection, if there was a question before that needed it.
    pub fn opened(&self) -> Option<&Connection> {
        self.open.get()?.as_ref().ok()
    }

    /// Asks for an object as it is now; `None` if the cluster does not know its kind.
    pub fn ask(&self, identity: &Identity, plural: &str) -> Result<Option<Asked>, cluster::Error> {
        let connection = self.connection()?;
        let (group, version) = identity.api_version.split_once('/').unwrap_or(("", &identity.api_version));
        let Some(version) = connection.served_version(group, plural, version)? else { return Ok(None) };
        let resource = Resource {
            group: group.to_owned(),
            version,
            plural: plural.to_owned(),
            namespaced: identity.namespace.is_some(),
            ..Resource::default()
        };
        Ok(Some(connection.ask(&resource.object_path(identity.namespace.as_deref(), &identity.name), JSON)))
    }
}

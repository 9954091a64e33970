//! The cluster of a run: connected on first use and shared by all threads.

use crate::cluster::{self, Connection, JSON, PendingResponse, Resource};
use crate::output::report::Identity;
use crate::value::group_version;
use std::sync::OnceLock;

/// A cluster that can be queried.
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
    /// Creates the value without contacting the cluster.
    pub fn new(target: cluster::Target) -> Self {
        Self { target, open: OnceLock::new() }
    }

    /// Returns true if a cluster is configured, without contacting it.
    pub fn is_configured(&self) -> bool {
        cluster::is_configured(&self.target)
    }

    /// Returns true if the cluster serves a group, version and kind.
    ///
    /// # Errors
    /// Returns the reason why the resources of the cluster cannot be read.
    pub fn serves(&self, (group, version, kind): (&str, &str, &str)) -> Result<bool, cluster::Error> {
        let is_it = |r: &Resource| r.group == group && r.version == version && r.kind == kind;
        Ok(self.connection()?.resource_where(is_it)?.is_some())
    }

    /// Returns true if the cluster serves a kind of a group in any version.
    ///
    /// # Errors
    /// Returns the reason why the resources of the cluster cannot be read.
    pub fn has_kind(&self, group: &str, kind: &str) -> Result<bool, cluster::Error> {
        Ok(self.connection()?.resource_where(|r| r.group == group && r.kind == kind)?.is_some())
    }

    /// Returns the connection, which is opened on first use.
    pub fn connection(&self) -> Result<&Connection, cluster::Error> {
        // Warnings of the cluster are reported with the simulated response.
        self.open.get_or_init(|| Connection::open(&self.target, |_| {})).as_ref().map_err(Clone::clone)
    }

    /// Returns the connection, if it was opened.
    pub fn opened(&self) -> Option<&Connection> {
        self.open.get()?.as_ref().ok()
    }

    /// Requests an existing object; `None` if the cluster does not serve its kind.
    pub fn ask(&self, identity: &Identity, plural: &str) -> Result<Option<PendingResponse>, cluster::Error> {
        let connection = self.connection()?;
        let (group, version) = group_version::split(&identity.api_version);
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

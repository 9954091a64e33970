//! A live cluster as a simulation reads it. Another crate sends the requests: it implements [`Cluster`].

mod error;
mod resource;

use crate::report::Identity;
use crdx_server::server::http::address::encoded;
use crdx_value::{Value, group_version};
pub use error::{Error, Status};
pub use resource::Resource;
use std::fmt::Debug;
use std::sync::Arc;

/// A cluster that can be read. Its methods may send requests and wait for the answers.
pub trait Cluster: Debug + Send + Sync {
    /// Returns true if a cluster is configured, without contacting it.
    fn is_configured(&self) -> bool;

    /// Returns all resources in the server's order, maybe as they were some minutes ago.
    ///
    /// # Errors
    /// Returns the reason why the resources of the cluster cannot be read.
    fn resources(&self) -> Result<Arc<Vec<Resource>>, Error>;

    /// Returns the first resource that matches, in the server's order; `None` if it serves none now.
    ///
    /// # Errors
    /// Returns the reason why the resources of the cluster cannot be read.
    fn resource_where(&self, fits: &dyn Fn(&Resource) -> bool) -> Result<Option<Resource>, Error>;

    /// Requests the JSON of a path. The answer arrives while the caller does other work.
    ///
    /// # Errors
    /// Returns the reason why no request can be sent.
    fn ask(&self, path: &str) -> Result<Box<dyn PendingResponse>, Error>;

    /// Returns the list of a resource, which is read once; null if the cluster does not serve it.
    ///
    /// # Errors
    /// Returns the reason why it cannot be read.
    fn list(&self, path: &str) -> Result<Arc<Value>, Error>;

    /// Records that an object of a resource could not be read.
    fn record_unreadable(&self, plural: &str, error: &Error);

    /// Returns the list of a resource like [`Self::list`]; `None` if it cannot be read, which is recorded.
    fn list_if_readable(&self, path: &str, plural: &str) -> Option<Arc<Value>> {
        self.list(path).inspect_err(|error| self.record_unreadable(plural, error)).ok()
    }

    /// Returns true if the cluster serves a group, version and kind.
    ///
    /// # Errors
    /// Returns the reason why the resources of the cluster cannot be read.
    fn serves(&self, (group, version, kind): (&str, &str, &str)) -> Result<bool, Error> {
        Ok(self.resource_where(&|r| r.group == group && r.version == version && r.kind == kind)?.is_some())
    }

    /// Returns true if the cluster serves a kind of a group in any version.
    ///
    /// # Errors
    /// Returns the reason why the resources of the cluster cannot be read.
    fn has_kind(&self, group: &str, kind: &str) -> Result<bool, Error> {
        Ok(self.resource_where(&|r| r.group == group && r.kind == kind)?.is_some())
    }

    /// Returns the version in which to read objects: the wanted one if the cluster serves it, otherwise its preferred
    /// one; `None` if it does not serve the resource.
    ///
    /// # Errors
    /// Returns the reason why the resources of the cluster cannot be read.
    fn served_version(&self, group: &str, plural: &str, wanted: &str) -> Result<Option<String>, Error> {
        let is_it = |r: &Resource| r.group == group && r.plural == plural;
        let found = match self.resource_where(&|r| is_it(r) && r.version == wanted)? {
            Some(resource) => Some(resource),
            None => self.resource_where(&is_it)?,
        };
        Ok(found.map(|resource| resource.version))
    }

    /// Determines the path of an object; `None` if the cluster does not serve its kind.
    ///
    /// # Errors
    /// Returns the reason why the resources of the cluster cannot be read.
    fn locate(&self, identity: &Identity, plural: &str) -> Result<Option<ObjectPath>, Error> {
        let (group, version) = group_version::split(&identity.api_version);
        let Some(version) = self.served_version(group, plural, version)? else { return Ok(None) };
        let resource = Resource {
            group: group.to_owned(),
            version,
            plural: plural.to_owned(),
            namespaced: identity.namespace.is_some(),
            ..Resource::default()
        };
        let collection = resource.path(identity.namespace.as_deref());
        // A list would read Secrets that are not in the input.
        let may_list = !(group.is_empty() && plural == "secrets");
        Ok(Some(ObjectPath { collection, name: identity.name.clone(), may_list }))
    }
}

/// A request whose answer has not been read yet.
pub trait PendingResponse: Debug + Send {
    /// Waits for the answer; `None` for 404.
    ///
    /// # Errors
    /// Returns the reason why there is no other answer.
    fn wait(self: Box<Self>) -> Result<Option<Value>, Error>;
}

/// The path of an object in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPath {
    /// The path of the objects of its kind in its namespace.
    pub collection: String,
    /// The name of the object.
    pub name: String,
    /// True if the collection may be listed to read the object.
    pub may_list: bool,
}

impl ObjectPath {
    /// Returns the path of the object.
    pub fn object(&self) -> String {
        format!("{}/{}", self.collection, encoded(&self.name))
    }
}

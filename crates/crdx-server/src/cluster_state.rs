//! The state of the cluster around a server: the objects on which the answer to a request depends, besides the one that it
//! writes.
//!
//! A server that stores all objects of its cluster needs no other state. Any other one is given a [`ClusterState`], which knows
//! a part of the cluster, for example the objects of files. Plugins and strategies read both in the same way, and decide
//! themselves which objects they need: an object that is not known makes an answer open only where the server would have
//! looked for it.
//!
//! A state does no input or output. If it could read an object and has not done so yet, the attempt ends without an effect and
//! the response lists what it needs ([`ClusterNeeds::unread`](crate::server::ClusterNeeds::unread)). The caller reads that and sends the
//! request again, as it does with the answers of webhooks.

use crdx_value::{Value, group_version};
use std::fmt::Debug;
use std::sync::Arc;

/// A group, a version and a resource (plural).
pub type GroupVersionResource<'a> = group_version::GroupVersionResource<&'a str>;

const fn v1(group: &'static str, resource: &'static str) -> GroupVersionResource<'static> {
    GroupVersionResource { group, version: "v1", resource }
}

/// `Namespace`
pub const NAMESPACES: GroupVersionResource<'static> = v1("", "namespaces");
/// `Node`
pub const NODES: GroupVersionResource<'static> = v1("", "nodes");
/// `LimitRange`
pub const LIMIT_RANGES: GroupVersionResource<'static> = v1("", "limitranges");
/// `ResourceQuota`
pub const RESOURCE_QUOTAS: GroupVersionResource<'static> = v1("", "resourcequotas");
/// `ServiceAccount`
pub const SERVICE_ACCOUNTS: GroupVersionResource<'static> = v1("", "serviceaccounts");
/// `IngressClass`
pub const INGRESS_CLASSES: GroupVersionResource<'static> = v1("networking.k8s.io", "ingressclasses");
/// `PriorityClass`
pub const PRIORITY_CLASSES: GroupVersionResource<'static> = v1("scheduling.k8s.io", "priorityclasses");
/// `RuntimeClass`
pub const RUNTIME_CLASSES: GroupVersionResource<'static> = v1("node.k8s.io", "runtimeclasses");
/// `StorageClass`
pub const STORAGE_CLASSES: GroupVersionResource<'static> = v1("storage.k8s.io", "storageclasses");
/// `Service`
pub const SERVICES: GroupVersionResource<'static> = v1("", "services");
/// `ServiceCIDR`
pub const SERVICE_CIDRS: GroupVersionResource<'static> = v1("networking.k8s.io", "servicecidrs");

/// The knowledge about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup<T> {
    /// It exists.
    Found(T),
    /// It does not exist.
    Absent,
    /// It is not known whether it exists.
    Unknown,
}

impl<T> Lookup<T> {
    /// Returns the object, if it is known to exist.
    pub fn found(self) -> Option<T> {
        match self {
            Self::Found(object) => Some(object),
            Self::Absent | Self::Unknown => None,
        }
    }
}

/// The knowledge about the objects of a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listed {
    /// The known objects, in any order.
    pub objects: Vec<Arc<Value>>,
    /// True if there are no others.
    pub is_complete: bool,
}

/// The state could be read, but was not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread;

/// The state of the cluster around a server, as far as it is known. Its methods do no input or output.
pub trait ClusterState: Debug + Send + Sync {
    /// Returns an object; `namespace` is empty for one that is not namespaced.
    ///
    /// # Errors
    /// Returns [`Unread`] if the object has to be read first.
    fn object(&self, of: GroupVersionResource<'_>, namespace: &str, name: &str) -> Result<Lookup<Arc<Value>>, Unread>;

    /// Returns the objects of a resource in a namespace; `namespace` is empty for all namespaces, and for objects that are not
    /// namespaced.
    ///
    /// # Errors
    /// Returns [`Unread`] if the list has to be read first.
    fn list(&self, of: GroupVersionResource<'_>, namespace: &str) -> Result<Listed, Unread>;
}

/// Returns true for a Namespace that is being deleted, which accepts no new objects.
pub fn is_terminating(namespace: &Value) -> bool {
    let is_deleting = namespace.at(&["metadata", "deletionTimestamp"]).is_some_and(|time| !time.is_null());
    is_deleting || namespace.str_at(&["status", "phase"]) == Some("Terminating")
}

/// A cluster without known objects.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnknownCluster;

impl ClusterState for UnknownCluster {
    fn object(&self, _: GroupVersionResource<'_>, _: &str, _: &str) -> Result<Lookup<Arc<Value>>, Unread> {
        Ok(Lookup::Unknown)
    }

    fn list(&self, _: GroupVersionResource<'_>, _: &str) -> Result<Listed, Unread> {
        Ok(Listed::default())
    }
}

/// An object of the cluster, or all objects of a resource, on which an answer depends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// The group, empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural.
    pub resource: String,
    /// The namespace, empty for all namespaces and for objects that are not namespaced.
    pub namespace: String,
    /// The name; `None` for all objects.
    pub name: Option<String>,
}

impl Wanted {
    /// An object, or all objects of a resource in a namespace without `name`.
    pub fn new(of: GroupVersionResource<'_>, namespace: &str, name: Option<&str>) -> Self {
        let GroupVersionResource { group, version, resource } = of;
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.map(str::to_owned),
        }
    }

    /// Returns the resource.
    pub fn of(&self) -> GroupVersionResource<'_> {
        GroupVersionResource { group: &self.group, version: &self.version, resource: &self.resource }
    }
}

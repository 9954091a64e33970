//! The context in which an object is sent: the server, the options of requests and the existing objects.

use super::admission::Admission;
use super::built_in_server::BuiltInServer;
use super::cluster_objects::{ClusterKind, GivenObjects, ObjectList};
use super::existing::ExistingObjects;
use super::object_store::ObjectStore;
use crate::cluster::{self, Cluster};
use crate::kubectl::RequestKind;
use crate::kubectl::request::RequestOptions;
use crdx_server::server::{NamespaceState, Server};
use crdx_value::{Value, names};
use std::sync::Arc;

/// The context of a request.
#[derive(Clone, Copy, Debug)]
pub struct SimulationContext<'a> {
    /// The server.
    pub server: &'a Server,
    /// The options of requests.
    pub request_options: RequestOptions,
    /// Stores the resulting objects for later inputs with the same name.
    pub store: &'a dyn ObjectStore,
    /// The request to send, and the existing objects.
    pub updates: &'a Updates,
    /// True to include the last-applied annotation in results.
    pub show_last_applied: bool,
    /// True to report the Scale of each object.
    pub scale: bool,
    /// The default namespace of objects.
    pub namespace: &'a str,
    /// The server for updates of built-in kinds.
    pub built_in: &'a BuiltInServer,
    /// The policies that admit objects, if there are any.
    pub admission: Option<&'a Admission>,
    /// The cluster, if it may be asked.
    pub cluster: Option<&'a dyn Cluster>,
    /// The objects of the cluster on which answers depend, as far as files give them.
    pub given: &'a GivenObjects,
}

/// The request to send and the objects it may update.
#[derive(Debug)]
pub struct Updates {
    /// The kind of request.
    pub request_kind: RequestKind,
    /// The existing objects.
    pub existing: ExistingObjects,
    /// The options of a comparison; `None` without one.
    pub compares: Option<CompareOptions>,
}

/// Options of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct CompareOptions {
    /// True to compare metadata written by the server.
    pub server_metadata: bool,
}

impl SimulationContext<'_> {
    /// Returns the cluster from which existing objects are read, if one is configured.
    pub(super) fn configured_cluster(&self) -> Option<&Arc<dyn Cluster>> {
        self.updates.existing.cluster().filter(|cluster| cluster.is_configured())
    }

    /// Returns the objects of a kind on which an answer depends: those of files, and those of the cluster if one is configured.
    pub(super) fn list(&self, kind: ClusterKind, namespace: Option<&str>) -> ObjectList<'_> {
        let list = || {
            self.configured_cluster().and_then(|cluster| cluster.list_if_readable(&kind.path(namespace), kind.plural))
        };
        self.given.with_list(kind, namespace, list())
    }

    /// Returns whether the namespace of a new object accepts it. `created` is the Namespace, if an earlier input creates or
    /// updates it. Without a cluster, every namespace with a valid name is assumed to exist.
    pub fn namespace_state(&self, namespace: Option<&str>, created: Option<&Value>) -> NamespaceState {
        let Some(namespace) = namespace else { return NamespaceState::default() };
        // No namespace can have such a name.
        if !names::dns1123_label(namespace.as_bytes()).is_empty() {
            return NamespaceState::Missing;
        }
        let given = created.or_else(|| self.given.namespace(namespace).map(Arc::as_ref));
        match (given, self.configured_cluster()) {
            (Some(given), _) => cluster::state_of(given),
            (None, Some(cluster)) => cluster.namespace_state(namespace),
            (None, None) => NamespaceState::default(),
        }
    }
}

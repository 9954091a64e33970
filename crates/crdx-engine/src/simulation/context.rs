//! The context in which an object is sent: the server, the options of requests and the existing objects.

use super::admission::Admission;
use super::built_in_server::BuiltInServer;
use super::existing::ExistingObjects;
use super::known_cluster::KnownCluster;
use super::known_cluster::created::Created;
use super::known_cluster::given::GivenObjects;
use super::known_cluster::live::LiveObjects;
use super::object_store::ObjectStore;
use super::request_lock::RequestLock;
use super::server_settings::ServedSettings;
use crate::cluster::Cluster;
use crate::kubectl::request::RequestOptions;
use crate::kubectl::{RequestKind, Verb};
use crdx_server::server::Server;
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
    /// The directory that was rendered on its own, if the object is from one.
    pub root: Option<&'a str>,
    /// The lock of the server.
    pub lock: &'a RequestLock,
    /// The server for built-in kinds.
    pub built_in: &'a BuiltInServer,
    /// The policies that admit objects, if there are any.
    pub admission: Option<&'a Admission>,
    /// The cluster, if it may be asked.
    pub cluster: Option<&'a dyn Cluster>,
    /// The objects of the cluster on which answers depend, as far as files give them.
    pub given: &'a Arc<GivenObjects>,
    /// The objects that were read from the cluster.
    pub live: Option<&'a Arc<LiveObjects>>,
    /// The APIs, cluster IPs and node ports of the server.
    pub served: &'a ServedSettings,
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
    /// True to keep each object as it was sent, not only those with dropped fields.
    pub keeps_sent: bool,
}

impl SimulationContext<'_> {
    /// Returns the cluster from which existing objects are read, if one is configured.
    pub(super) fn configured_cluster(&self) -> Option<&Arc<dyn Cluster>> {
        self.updates.existing.cluster().filter(|cluster| cluster.is_configured())
    }

    /// Returns true if the answer to the create of a short object may depend on the last-applied annotation: if something shows
    /// it or reads it, or if `kubectl apply` does not set it.
    pub(super) fn depends_on_annotation(&self, name: &str) -> bool {
        self.updates.request_kind.verb != Verb::Apply
            || name.is_empty()
            || self.show_last_applied
            || self.request_options.table
            || self.admission.is_some()
            || self.updates.compares.is_some()
    }

    /// Returns what is known of the cluster for an object that depends on those of earlier inputs.
    pub(super) fn known_cluster(&self, created: &Created) -> Arc<KnownCluster> {
        let live = self.live.filter(|_| self.configured_cluster().is_some());
        Arc::new(KnownCluster::new(created.clone(), Arc::clone(self.given), live.cloned()))
    }
}

//! The options with which the servers of one release are built.

use super::admission::Admission;
use crdx_server::cluster_state::UnknownCluster;
use crdx_server::server::{AdmissionPlugins, Server, ServerBuilder, Timestamp};
use crdx_types::service_families::ServiceRange;
use crdx_value::release::Release;
use std::sync::Arc;

/// The options that all servers of one release have.
#[derive(Clone, Debug)]
pub struct ServerConfiguration {
    pub release: Release,
    /// The time at which the servers start.
    pub now: Timestamp,
    /// True to track the ownership of fields, which server-side apply and comparisons of metadata need.
    pub tracks_fields: bool,
    pub plugins: AdmissionPlugins,
    /// The ranges of cluster IPs; empty for those of the cluster.
    pub service_ranges: Vec<ServiceRange>,
}

impl ServerConfiguration {
    /// Returns the options of a server that evaluates the policies which will be stored in it.
    pub fn builder(&self, admission: Option<&Admission>) -> ServerBuilder {
        let builder = crdx_kinds::builder(self.release, 0).created_at(self.now);
        let builder = builder.with_cluster_state(Arc::new(UnknownCluster)).with_admission_plugins(self.plugins.clone());
        let builder = builder.with_service_ranges(self.service_ranges.clone());
        let builder = if self.tracks_fields { builder } else { builder.without_managed_fields() };
        match admission {
            Some(admission) => admission.configure(builder),
            None => builder,
        }
    }

    /// Returns another server for custom resources, with the same policies; `namespace` is the default namespace of their objects.
    pub(super) fn another_server(&self, admission: Option<&Admission>, namespace: &str) -> Server {
        let server = self.builder(admission).without_history().build();
        if let Some(admission) = admission {
            // Objects that the server refuses were reported by the first one.
            admission.store_with_definitions(&server, self.now, namespace, &mut |_| {});
        }
        server
    }
}

//! The server for built-in kinds. It is created when it is needed first, because many inputs have only custom resources.

use super::admission::Admission;
use super::request_lock::RequestLock;
use crdx_server::cluster_state::UnknownCluster;
use crdx_server::server::{AdmissionPlugins, Namespaces, Server, Timestamp};
use crdx_types::service_families::ServiceRange;
use crdx_value::release::Release;
use std::sync::{Arc, OnceLock};

/// A server with built-in kinds, created on first use.
#[derive(Debug)]
pub struct BuiltInServer {
    server: OnceLock<Server>,
    release: Release,
    now: Timestamp,
    /// True to track the ownership of fields, which server-side apply and comparisons of metadata need.
    tracks_fields: bool,
    plugins: AdmissionPlugins,
    /// The ranges of cluster IPs; empty for those of the cluster.
    service_ranges: Vec<ServiceRange>,
    lock: RequestLock,
}

impl BuiltInServer {
    /// Creates a server of a release on first use, at the time `now`.
    pub fn new(release: Release, now: Timestamp, plugins: AdmissionPlugins) -> Self {
        let (server, lock) = (OnceLock::new(), RequestLock::default());
        Self { server, release, now, tracks_fields: false, plugins, service_ranges: Vec::new(), lock }
    }

    /// Sets the ranges of cluster IPs, in place of those of the cluster.
    #[must_use]
    pub fn with_service_ranges(self, service_ranges: Vec<ServiceRange>) -> Self {
        Self { service_ranges, ..self }
    }

    /// Tracks the ownership of fields if `tracks_fields` is true.
    #[must_use]
    pub fn with_field_ownership(self, tracks_fields: bool) -> Self {
        Self { tracks_fields, ..self }
    }

    /// Returns the server, with the policies that admit objects; `namespace` is the default namespace of their objects.
    pub fn server(&self, admission: Option<&Admission>, namespace: &str) -> &Server {
        self.server.get_or_init(|| {
            let builder = crdx_kinds::builder(self.release, 0).created_at(self.now).with_built_in_kinds();
            let builder = builder.with_content_validation().with_generated_fields();
            let builder = builder.with_service_ranges(self.service_ranges.clone());
            let builder =
                builder.with_cluster_state(Arc::new(UnknownCluster)).with_admission_plugins(self.plugins.clone());
            let builder = if self.tracks_fields { builder } else { builder.without_managed_fields() };
            let builder = match admission {
                Some(admission) => admission.configure(builder),
                None => builder,
            };
            let server = builder.with_namespaces(Namespaces::Unchecked, &[]).build();
            if let Some(admission) = admission {
                // Objects that the server refuses are reported by the server for custom resources.
                admission.store_with_definitions(&server, self.now, namespace, &mut |_| {});
            }
            server
        })
    }

    /// The lock of requests.
    pub(crate) fn lock(&self) -> &RequestLock {
        &self.lock
    }
}

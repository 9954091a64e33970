//! The server for built-in kinds. It is created when it is needed first, because many inputs have only custom resources.

use super::admission::Admission;
use crdx_server::cluster_state::UnknownCluster;
use crdx_server::server::{AdmissionPlugins, Namespaces, Server, Timestamp};
use crdx_value::release::Release;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A server with built-in kinds, created on first use.
#[derive(Debug)]
pub struct BuiltInServer {
    server: OnceLock<Server>,
    release: Release,
    now: Timestamp,
    /// True to track the ownership of fields, which server-side apply and comparisons of metadata need.
    tracks_fields: bool,
    plugins: AdmissionPlugins,
    /// Held by an update, which stores the existing object while it lasts. Creates store nothing and run in parallel.
    updating: RwLock<()>,
}

/// The right to send a request to the server.
#[derive(Debug)]
pub enum RequestTurn<'a> {
    /// Other requests that store nothing are sent, too.
    Shared(RwLockReadGuard<'a, ()>),
    /// No other request is sent.
    Alone(RwLockWriteGuard<'a, ()>),
}

impl BuiltInServer {
    /// Creates a server of a release on first use, at the time `now`.
    pub fn new(release: Release, now: Timestamp, plugins: AdmissionPlugins) -> Self {
        let (server, updating) = (OnceLock::new(), RwLock::new(()));
        Self { server, release, now, tracks_fields: false, plugins, updating }
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

    /// Waits until a request may be sent, which stores something if `stores` is true.
    pub(super) fn turn(&self, stores: bool) -> RequestTurn<'_> {
        if stores {
            RequestTurn::Alone(self.updating.write().unwrap_or_else(PoisonError::into_inner))
        } else {
            RequestTurn::Shared(self.updating.read().unwrap_or_else(PoisonError::into_inner))
        }
    }
}

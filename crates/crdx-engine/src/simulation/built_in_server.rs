//! The server for built-in kinds. It is created when it is needed first, because many inputs have only custom resources.

use super::admission::Admission;
use super::request_lock::RequestLock;
use super::server_configuration::ServerConfiguration;
use crdx_server::server::{Namespaces, Server};
use std::sync::OnceLock;

/// A server with built-in kinds, created on first use.
#[derive(Debug)]
pub struct BuiltInServer {
    server: OnceLock<Server>,
    configuration: ServerConfiguration,
    lock: RequestLock,
}

impl BuiltInServer {
    /// Creates a server on first use.
    pub fn new(configuration: ServerConfiguration) -> Self {
        Self { server: OnceLock::new(), configuration, lock: RequestLock::default() }
    }

    /// Returns the server, with the policies that admit objects; `namespace` is the default namespace of their objects.
    pub fn server(&self, admission: Option<&Admission>, namespace: &str) -> &Server {
        self.server.get_or_init(|| {
            let builder = self.configuration.builder(admission).with_built_in_kinds();
            let builder = builder.with_content_validation().with_generated_fields();
            let server = builder.with_namespaces(Namespaces::Unchecked, &[]).build();
            if let Some(admission) = admission {
                // Objects that the server refuses are reported by the server for custom resources.
                admission.store_with_definitions(&server, self.configuration.now, namespace, &mut |_| {});
            }
            server
        })
    }

    /// The lock of requests.
    pub(crate) fn lock(&self) -> &RequestLock {
        &self.lock
    }
}

//! Admission (`k8s.io/apiserver/pkg/admission`): everything that may change or reject a write between decoding and
//! storage, except the strategy of its resource.
//!
//! The order of a write is the server's: decode, prune and default; read the existing object; compute managedFields;
//! [`Review::mutate`]; default again; validate name, metadata, schema and rules; [`Review::validate`]; store. A
//! [`Plugin`] is a pure function that reads the cluster through [`Cluster`].

mod attributes;
mod cluster;
mod lifecycle;
mod policies;
mod review;
#[cfg(test)]
mod tests;
mod view;
mod webhooks;

use crate::cel::value::Authorizer;
use crate::policies::findings::Findings;
use crate::policies::knowledge::Knowledge;
use crate::policies::model::Family;
use crate::server::http::status::Refusal;
use crate::server::{Namespaces, Server, Timestamp};
use crate::value::Value;
pub use attributes::UserInfo;
pub(super) use attributes::{
    Attributes, GroupVersionKind, GroupVersionResource, Operation, OperationOptions, RequestScope,
};
pub(super) use cluster::Cluster;
pub(super) use lifecycle::NamespaceLifecycle;
use policies::{MutatingAdmissionPolicy, ValidatingAdmissionPolicy};
pub(super) use review::Review;
use std::fmt::Debug;
use std::sync::Arc;
use webhooks::AdmissionWebhooks;

/// Whether a plugin changed the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mutation {
    /// The object is unchanged.
    Unchanged,
    /// The object was changed; it is defaulted again.
    Changed,
}

/// What plugins report besides deciding.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The texts of warnings for the client.
    pub warnings: Vec<String>,
    /// What policies found and changed.
    pub policies: Findings,
}

/// An admission plugin. By default both methods admit the request; warnings are sent whether it is admitted or refused.
pub(super) trait Plugin: Debug + Send + Sync {
    /// Whether the plugin handles such a request.
    fn handles(&self, operation: Operation) -> bool;

    /// Changes the object before it is validated. On update the object has the managedFields of the write; on create it
    /// has neither uid nor creationTimestamp, and no name if one is to be generated. Not called for a deletion.
    ///
    /// # Errors
    /// The refusal of the request.
    fn mutate(
        &self,
        _attributes: &Attributes<'_>,
        _object: &mut Value,
        _cluster: &Cluster<'_>,
        _report: &mut Report,
    ) -> Result<Mutation, Refusal> {
        Ok(Mutation::Unchanged)
    }

    /// Shows a typed object, which plugins do not change, in place of [`Plugin::mutate`].
    ///
    /// # Errors
    /// The refusal of the request.
    fn observe(
        &self,
        _attributes: &Attributes<'_>,
        _object: &Value,
        _cluster: &Cluster<'_>,
        _report: &mut Report,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    /// Validates the object as it will be stored; `None` for a deletion.
    ///
    /// # Errors
    /// The refusal of the request.
    fn validate(
        &self,
        _attributes: &Attributes<'_>,
        _object: Option<&Value>,
        _cluster: &Cluster<'_>,
        _report: &mut Report,
    ) -> Result<(), Refusal> {
        Ok(())
    }
}

/// The plugins of a server in their order.
#[derive(Debug, Default)]
pub(super) struct Chain {
    plugins: Vec<Box<dyn Plugin>>,
    /// The user that sends the requests.
    user: UserInfo,
}

impl Chain {
    /// Adds a plugin at the end.
    pub fn push(&mut self, plugin: impl Plugin + 'static) {
        self.plugins.push(Box::new(plugin));
    }

    /// Adds a plugin at the beginning: `NamespaceLifecycle` runs before all policies.
    pub fn push_front(&mut self, plugin: impl Plugin + 'static) {
        self.plugins.insert(0, Box::new(plugin));
    }

    fn handling(&self, operation: Operation) -> impl Iterator<Item = &dyn Plugin> {
        self.plugins.iter().map(|plugin| &**plugin).filter(move |plugin| plugin.handles(operation))
    }
}

impl Server {
    /// The server with policies: it stores and serves them, namespaces and config maps, and enforces them on every write.
    /// Their expressions ask `authorizer`; policies that depend on what is not in `knowledge` do not decide. Without [`Server::with_namespaces`] objects may be created in namespaces that
    /// do not exist, as long as no policy looks at the namespace.
    #[must_use]
    pub fn with_policies(mut self, authorizer: Arc<dyn Authorizer>, knowledge: Arc<Knowledge>, now: Timestamp) -> Self {
        if self.namespaces.is_none() {
            self = self.with_namespaces(Namespaces::Unchecked, &[], now);
        }
        self.serve_admission_kinds();
        // The server's order (`kubeapiserver/options/plugins.go`).
        let webhooks = |family| AdmissionWebhooks::new(family, Arc::clone(&authorizer), Arc::clone(&knowledge));
        let (mutating, validating) = (webhooks(Family::Mutating), webhooks(Family::Validating));
        self.admission.push(MutatingAdmissionPolicy::new(Arc::clone(&authorizer), Arc::clone(&knowledge)));
        self.admission.push(mutating);
        self.admission.push(ValidatingAdmissionPolicy::new(authorizer, knowledge));
        self.admission.push(validating);
        self
    }

    /// The server with `user` as the sender of its requests.
    #[must_use]
    pub fn with_user(mut self, user: UserInfo) -> Self {
        self.admission.user = user;
        self
    }
}

//! Admission (`k8s.io/apiserver/pkg/admission`): everything that may change or reject a write between decoding and
//! storage, except the strategy of the resource.
//!
//! Writes follow the API server's order: decode, prune and default; read the existing object; compute managedFields;
//! [`Review::mutate`]; default again; validate name, metadata, schema and rules; [`Review::validate`]; store. A
//! [`Plugin`] is a pure function that reads the cluster through [`Cluster`].

mod attributes;
mod cluster;
mod lifecycle;
mod policies;
mod review;
#[cfg(test)]
mod tests;
mod typed;
mod view;
mod webhooks;

use crate::policies::findings::Findings;
use crate::policies::model::PolicyKind;
use crate::policies::mutating;
use crate::server::Server;
use crate::server::http::status::Refusal;
use crate::server::http::user::UserInfo;
pub(super) use attributes::{Attributes, Operation, OperationOptions};
pub(super) use cluster::Cluster;
use crdx_value::Value;
pub(super) use lifecycle::NamespaceLifecycle;
use policies::{MutatingAdmissionPolicy, ValidatingAdmissionPolicy};
pub(super) use review::Review;
use std::fmt::Debug;
pub use typed::{Admitted, TypedWrite};
pub(super) use view::Inputs;
use webhooks::AdmissionWebhooks;

/// The result of mutating admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mutation {
    /// The object is unchanged.
    Unchanged,
    /// The object was changed and must be defaulted again.
    Changed,
}

/// Warnings and findings that plugins report in addition to their decision.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Warning texts for the client.
    pub warnings: Vec<String>,
    /// Decisions and changes made by admission policies.
    pub policies: Findings,
}

/// An admission plugin. By default both methods admit the request. Warnings are sent whether the request is admitted or
/// rejected.
pub(super) trait Plugin: Debug + Send + Sync {
    /// Returns true if the plugin handles requests with this operation.
    fn handles(&self, operation: Operation) -> bool;

    /// Returns true if [`Plugin::mutate`] may change objects.
    fn mutates(&self) -> bool {
        true
    }

    /// Changes the object before validation. On update, the object already has the managedFields of the write; on
    /// create, it has neither uid nor creationTimestamp, and no name if the name is to be generated. Not called for
    /// deletions. Called a second time if a plugin requests it (`admission/reinvocation.go`).
    ///
    /// # Errors
    /// Returns a refusal if the plugin rejects the request.
    fn mutate(
        &self,
        _attributes: &Attributes<'_>,
        _object: &mut Value,
        _cluster: &Cluster<'_>,
        _report: &mut Report,
        _reinvocation: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        Ok(Mutation::Unchanged)
    }

    /// Called instead of [`Plugin::mutate`] for objects that the server does not store ([`typed`]).
    ///
    /// # Errors
    /// Returns a refusal if the plugin rejects the request.
    fn observe(
        &self,
        _attributes: &Attributes<'_>,
        _object: &Value,
        _cluster: &Cluster<'_>,
        _report: &mut Report,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    /// Validates the object to be stored; `object` is `None` for a deletion.
    ///
    /// # Errors
    /// Returns a refusal if the plugin rejects the request.
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

/// State that is kept from the first round of mutating plugins for the second one.
#[derive(Debug, Default)]
pub(super) struct Reinvocation {
    /// The state of policies: whether this is the second round, and whether one is needed.
    pub policies: mutating::Reinvocation,
    /// The state of webhooks.
    pub webhooks: webhooks::ReinvocationContext,
}

/// The admission plugins of a server, in call order.
#[derive(Debug)]
pub(super) struct Chain {
    plugins: Vec<Box<dyn Plugin>>,
    /// The default user of requests that do not name one.
    pub user: UserInfo,
}

impl Chain {
    /// Creates a chain without plugins.
    pub fn new(user: UserInfo) -> Self {
        Self { plugins: Vec::new(), user }
    }

    /// Appends a plugin.
    pub fn push(&mut self, plugin: impl Plugin + 'static) {
        self.plugins.push(Box::new(plugin));
    }

    /// Inserts a plugin before all others: `NamespaceLifecycle` runs before any policy.
    pub fn push_front(&mut self, plugin: impl Plugin + 'static) {
        self.plugins.insert(0, Box::new(plugin));
    }

    fn handling(&self, operation: Operation) -> impl Iterator<Item = &dyn Plugin> {
        self.plugins.iter().map(|plugin| &**plugin).filter(move |plugin| plugin.handles(operation))
    }
}

impl Server {
    /// Adds the plugins for policies and webhooks.
    pub(in crate::server) fn add_plugins(&mut self, inputs: Inputs) {
        // The order of the API server (`kubeapiserver/options/plugins.go`).
        self.admission.push(MutatingAdmissionPolicy::new(inputs.clone()));
        self.admission.push(AdmissionWebhooks::new(PolicyKind::Mutating, inputs.clone()));
        self.admission.push(ValidatingAdmissionPolicy::new(inputs.clone()));
        self.admission.push(AdmissionWebhooks::new(PolicyKind::Validating, inputs));
    }
}

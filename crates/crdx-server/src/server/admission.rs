//! Admission (`k8s.io/apiserver/pkg/admission`): everything that may change or reject a write between decoding and
//! storage, except the strategy of the resource.
//!
//! Writes follow the API server's order: decode, prune and default; read the existing object; compute managedFields;
//! [`Review::mutate`]; default again; validate name, metadata, schema and rules; [`Review::validate`]; store. A
//! [`Plugin`] is a pure function of the request and of what it was given when it was created; this module knows no
//! resources.

mod attributes;
mod reinvocation;
mod review;

use crate::cluster_state::Wanted;
use crate::policies::findings::Findings;
use crate::server::http::calls::Calls;
use crate::server::http::request::Request;
use crate::server::http::status::Refusal;
use crate::server::scope::RequestScope;
pub use attributes::Operation;
pub(super) use attributes::{Attributes, OperationOptions};
use crdx_value::Value;
pub(super) use reinvocation::{Reinvocation, ReinvocationContext};
pub(super) use review::Review;
use std::fmt::Debug;

/// The result of mutating admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// The object is unchanged.
    Unchanged,
    /// The object was changed and must be defaulted again.
    Changed,
}

/// Warnings, findings and open questions that plugins report in addition to their decision.
#[derive(Debug, Default)]
pub(super) struct AdmissionReport {
    /// Warning texts for the client.
    pub warnings: Vec<String>,
    /// Decisions and changes made by admission policies.
    pub policies: Option<Box<Findings>>,
    /// Unknown parts of the cluster that decide the answer.
    pub unknown: Vec<Wanted>,
}

/// An admission plugin. By default both methods admit the request. Warnings are sent whether the request is admitted or
/// rejected.
pub(super) trait Plugin: Debug + Send + Sync {
    /// Returns true if the plugin handles requests with this operation and target.
    fn handles(&self, operation: Operation, scope: RequestScope<'_>) -> bool;

    /// Returns true if the plugin also changes objects that are stored without admission, because they have passed that of
    /// their cluster.
    fn completes_stored_objects(&self) -> bool {
        false
    }

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
        _calls: &Calls,
        _report: &mut AdmissionReport,
        _reinvocation: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        Ok(Mutation::Unchanged)
    }

    /// Validates the object to be stored; `object` is `None` for a deletion.
    ///
    /// # Errors
    /// Returns a refusal if the plugin rejects the request.
    fn validate(
        &self,
        _attributes: &Attributes<'_>,
        _object: Option<&Value>,
        _calls: &Calls,
        _report: &mut AdmissionReport,
    ) -> Result<(), Refusal> {
        Ok(())
    }
}

/// The admission plugins of a server, in call order.
#[derive(Debug)]
pub(super) struct Chain {
    plugins: Vec<Box<dyn Plugin>>,
}

impl Chain {
    /// Creates a chain of plugins.
    pub fn new(plugins: Vec<Box<dyn Plugin>>) -> Self {
        Self { plugins }
    }

    fn handling<'c>(
        &'c self,
        operation: Operation,
        scope: RequestScope<'c>,
        request: &Request,
    ) -> impl Iterator<Item = &'c dyn Plugin> {
        let is_enabled = |plugin: &dyn Plugin| !request.skips_admission || plugin.completes_stored_objects();
        let plugins = self.plugins.iter().map(|plugin| &**plugin);
        plugins.filter(move |plugin| is_enabled(*plugin) && plugin.handles(operation, scope))
    }
}

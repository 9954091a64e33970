//! Admission of objects that the server does not store: those of kinds built into Kubernetes.

use super::{Attributes, Chain, Operation, OperationOptions, Report};
use crate::policies::findings::Findings;
use crate::server::http::calls::Calls;
use crate::server::http::options::{FieldValidation, WriteOptions};
use crate::server::http::status::Refusal;
use crate::server::http::user::UserInfo;
use crate::server::scope::{GroupVersionKind, GroupVersionResource};
use crdx_cel::value::Gaps;
use crdx_value::Value;

/// A create or update of an object that the server does not store.
#[derive(Clone, Copy, Debug)]
pub struct TypedWrite<'a> {
    /// The group of the URL; empty for the core group.
    pub group: &'a str,
    /// The version of the URL.
    pub version: &'a str,
    /// The plural.
    pub resource: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// The namespace; empty for a cluster-scoped object, and the own name for a Namespace.
    pub namespace: &'a str,
    /// The name; empty if the server generates it.
    pub name: &'a str,
    /// The object as policies see it.
    pub object: &'a Value,
    /// The unknown parts of the object.
    pub gaps: &'a Gaps,
    /// The existing object; `None` for a create.
    pub old_object: Option<&'a Value>,
    /// `fieldManager`
    pub field_manager: &'a str,
    /// `fieldValidation`
    pub field_validation: &'a str,
}

/// The decision of the admission plugins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Admitted {
    /// The findings of policies, and the inputs that are unknown.
    pub findings: Findings,
    /// Warning texts for the client.
    pub warnings: Vec<String>,
    /// The refusal: code, reason and message.
    pub refusal: Option<(u16, String, String)>,
}

impl Chain {
    /// Passes a write to the admission plugins. Mutating policies that match are reported as not evaluated, because the
    /// types of the object are not known to the server.
    pub(in crate::server) fn admit(&self, write: &TypedWrite<'_>, user: &UserInfo) -> Admitted {
        let options = WriteOptions {
            dry_run: false,
            field_manager: write.field_manager.to_owned(),
            field_validation: FieldValidation::Strict,
            field_validation_text: write.field_validation.to_owned(),
            force: None,
        };
        let operation = if write.old_object.is_some() { Operation::Update } else { Operation::Create };
        let attributes = Attributes {
            operation,
            resource: GroupVersionResource { group: write.group, version: write.version, resource: write.resource },
            subresource: "",
            kind: GroupVersionKind { group: write.group, version: write.version, kind: write.kind },
            namespace: write.namespace,
            name: write.name,
            old_object: write.old_object,
            options: OperationOptions::Write(&options),
            dry_run: false,
            user,
            gaps: Some(write.gaps),
        };
        let calls = Calls::default();
        let mut report = Report::default();
        let result = self.ask_plugins(&attributes, write.object, &calls, &mut report);
        let refusal = result.err().map(|refusal| (refusal.code, refusal.reason.as_str().to_owned(), refusal.message));
        Admitted { findings: report.policies, warnings: report.warnings, refusal }
    }

    fn ask_plugins(
        &self,
        attributes: &Attributes<'_>,
        object: &Value,
        calls: &Calls,
        report: &mut Report,
    ) -> Result<(), Refusal> {
        for plugin in self.handling(attributes.operation) {
            plugin.observe(attributes, object, calls, report)?;
        }
        for plugin in self.handling(attributes.operation) {
            plugin.validate(attributes, Some(object), calls, report)?;
        }
        Ok(())
    }
}

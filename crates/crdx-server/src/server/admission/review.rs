//! Runs the admission chain for one write.

use super::{AdmissionReport, Attributes, Chain, Mutation, Operation, OperationOptions, Plugin, Reinvocation};
use crate::apply::managed::Managed;
use crate::policies::findings::Findings;
use crate::server::http::calls::Calls;
use crate::server::http::context::Context;
use crate::server::http::object_checks;
use crate::server::http::object_notes::ObjectNotes;
use crate::server::http::request::Request;
use crate::server::http::status::Refusal;
use crate::server::metadata;
use crate::server::scope::{GroupResource, NAMESPACES, RequestScope};
use crdx_value::Value;
use crdx_value::steps::Spent;

/// A write that the registry passes to the admission chain, before and after validation.
#[derive(Clone, Copy)]
pub(in crate::server) struct Review<'a> {
    pub chain: &'a Chain,
    /// The target of the write.
    pub scope: RequestScope<'a>,
    pub operation: Operation,
    /// The options of the request.
    pub options: OperationOptions<'a>,
    /// The name of a new object before admission, which plugins see even if they change it; empty if it is generated.
    pub new_name: &'a str,
}

/// Sets the defaults of a changed object.
pub(in crate::server) type Default<'d> = dyn Fn(&mut Value, &mut ObjectNotes) -> Result<(), Spent> + 'd;

impl Review<'_> {
    /// Returns true if any plugin handles the write; otherwise callers need not prepare objects for it.
    pub(crate) fn is_needed(&self, ctx: &Context<'_>) -> bool {
        self.handling(ctx.request).next().is_some()
    }

    fn handling(&self, request: &Request) -> impl Iterator<Item = &dyn Plugin> {
        self.chain.handling(self.operation, self.scope, request)
    }

    /// Lets the plugins change the object of a create or update. If a plugin changed the object, `default` is called
    /// and duplicate owner references are removed; fields that the schema does not specify are kept until the object is
    /// decoded again.
    ///
    /// # Errors
    /// Returns the refusal of the first plugin that rejects the request.
    pub fn mutate(
        &self,
        ctx: &mut Context<'_>,
        old: Option<&Value>,
        object: &mut Value,
        default: &Default<'_>,
    ) -> Result<Mutation, Refusal> {
        if !self.is_needed(ctx) {
            return Ok(Mutation::Unchanged);
        }
        let mutates = self.handling(ctx.request).any(Plugin::mutates);
        let managed_fields = metadata::get(object, "managedFields").filter(|_| mutates).cloned();
        let mut outcome = Mutation::Unchanged;
        let mut reinvocation = Reinvocation::default();
        loop {
            self.mutate_once(ctx, old, object, default, (&mut reinvocation, &mut outcome))?;
            if reinvocation.policies.running || !reinvocation.policies.requested {
                break;
            }
            reinvocation.policies.running = true;
        }
        if outcome == Mutation::Changed {
            restore_managed_fields(ctx, object, managed_fields);
            object_checks::dedup_owners(ctx, object, true);
        }
        Ok(outcome)
    }

    /// Runs all mutating plugins once.
    fn mutate_once(
        &self,
        ctx: &mut Context<'_>,
        old: Option<&Value>,
        object: &mut Value,
        default: &Default<'_>,
        (reinvocation, outcome): (&mut Reinvocation, &mut Mutation),
    ) -> Result<(), Refusal> {
        let (namespace, name) = self.address(ctx, None);
        for plugin in self.handling(ctx.request) {
            let mutation = self.call(ctx, (&namespace, &name), old, |attributes, calls, report| {
                plugin.mutate(attributes, object, calls, report, reinvocation)
            })?;
            if mutation == Mutation::Changed {
                *outcome = Mutation::Changed;
                default(object, &mut ctx.notes)?;
            }
        }
        Ok(())
    }

    /// Passes the object to be stored to the validating plugins; `None` means that `old` is deleted.
    ///
    /// # Errors
    /// Returns the refusal of the first plugin that rejects the request.
    pub fn validate(&self, ctx: &mut Context<'_>, old: Option<&Value>, object: Option<&Value>) -> Result<(), Refusal> {
        if !self.is_needed(ctx) {
            return Ok(());
        }
        let (namespace, name) = self.address(ctx, object);
        for plugin in self.handling(ctx.request) {
            self.call(ctx, (&namespace, &name), old, |attributes, calls, report| {
                plugin.validate(attributes, object, calls, report)
            })?;
        }
        Ok(())
    }

    /// Calls a plugin. Its warnings are sent whether it admits the write or not, and policy findings are added to the
    /// trace.
    fn call<T>(
        &self,
        ctx: &mut Context<'_>,
        (namespace, name): (&str, &str),
        old: Option<&Value>,
        question: impl FnOnce(&Attributes<'_>, &Calls, &mut AdmissionReport) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut report = AdmissionReport::default();
        let result = question(&self.attributes(ctx, namespace, name, old), &ctx.calls, &mut report);
        for warning in report.warnings {
            ctx.warn(warning);
        }
        if !report.unknown.is_empty() {
            ctx.trace.needs.get_or_insert_default().unknown.extend(report.unknown);
        }
        if let Some(findings) = report.policies.filter(|findings| **findings != Findings::default()) {
            ctx.trace.policies.get_or_insert_default().append(*findings);
        }
        // A plugin may ignore an object that it cannot read: end the attempt here if the read waits for a webhook or for the state of the cluster.
        ctx.check_complete()?;
        result
    }

    /// Returns the namespace and the name for the attributes; `validated` is the object to be stored, which may have a
    /// generated name.
    fn address(&self, ctx: &Context<'_>, validated: Option<&Value>) -> (String, String) {
        let generated = || match (self.operation, validated) {
            (Operation::Create, Some(object)) => metadata::text(object, "name"),
            _ => "",
        };
        let names = [ctx.target.name.as_str(), self.new_name];
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or_else(generated).to_owned();
        let of = self.scope.resource;
        let is_namespace = NAMESPACES == GroupResource { group: of.group, resource: of.resource };
        let namespace = if is_namespace { name.clone() } else { ctx.target.namespace.clone() };
        (namespace, name)
    }

    fn attributes<'r>(
        &'r self,
        ctx: &'r Context<'_>,
        namespace: &'r str,
        name: &'r str,
        old: Option<&'r Value>,
    ) -> Attributes<'r> {
        let RequestScope { resource, kind, subresource } = self.scope;
        Attributes {
            operation: self.operation,
            resource,
            subresource,
            kind,
            namespace,
            name,
            old_object: old,
            empties: ctx.notes.empties.as_ref(),
            given: &ctx.cluster,
            is_patched: ctx.trace.policies.as_ref().is_some_and(|findings| !findings.changes.is_empty()),
            options: self.options,
            dry_run: !ctx.request.hides_dry_run
                && match self.options {
                    OperationOptions::Write(options) => options.dry_run,
                    OperationOptions::Delete(options) => options.dry_run,
                },
            user: ctx.user(),
            now: ctx.request.now,
        }
    }
}

/// Restores managedFields that a plugin made invalid (`fieldmanager/admission.go`).
fn restore_managed_fields(ctx: &mut Context<'_>, object: &mut Value, before: Option<Value>) {
    let Err(error) = Managed::read(metadata::get(object, "managedFields")) else { return };
    metadata::set(object, "managedFields", before);
    ctx.warn(format!(
        ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: {error}"
    ));
}

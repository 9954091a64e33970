//! One write on its way through the chain.

use super::{Attributes, Cluster, GroupVersionKind, GroupVersionResource, Mutation, Operation, OperationOptions};
use crate::apply::managed::Managed;
use crate::crd;
use crate::pipeline;
use crate::server::http::context::Context;
use crate::server::http::status::Refusal;
use crate::server::registry::decode;
use crate::server::registry::managed_fields::Subresource;
use crate::server::registry::metadata;
use crate::server::registry::serving::{Serving, Version};
use crate::server::strategy::namespace as namespaces;
use crate::value::Value;

/// A write that the registry shows to the chain, twice: before and after validation.
#[derive(Clone, Copy)]
pub(in crate::server) struct Review<'a> {
    /// The resource.
    pub serving: &'a Serving,
    /// The version of the request.
    pub version: &'a Version,
    /// The subresource; the objects of [`Subresource::Scale`] are Scales.
    pub subresource: Subresource,
    /// What the request does.
    pub operation: Operation,
    /// The options.
    pub options: OperationOptions<'a>,
}

impl Review<'_> {
    /// Whether any plugin looks at the write; if not, callers need not prepare objects for it.
    pub fn is_needed(&self, ctx: &Context<'_>) -> bool {
        ctx.server.admission.handling(self.operation).next().is_some()
    }

    /// Lets the plugins change the object that a create or update is about to write. A changed object is defaulted again,
    /// and its repeated owner references are removed; fields that its schema does not have stay until it is read again.
    ///
    /// # Errors
    /// The first refusal of a plugin.
    pub fn mutate(&self, ctx: &mut Context<'_>, old: Option<&Value>, object: &mut Value) -> Result<Mutation, Refusal> {
        if !self.is_needed(ctx) {
            return Ok(Mutation::Unchanged);
        }
        let managed_fields = metadata::get(object, "managedFields").cloned();
        let server = ctx.server;
        let mut outcome = Mutation::Unchanged;
        for plugin in server.admission.handling(self.operation) {
            let (namespace, name) = self.address(ctx, Some(object));
            let attributes = self.attributes(ctx, &namespace, &name, old);
            let mut warnings = Vec::new();
            let result = plugin.mutate(&attributes, object, &Cluster::new(server, ctx.request.now), &mut warnings);
            for warning in warnings {
                ctx.warn(warning);
            }
            if result? == Mutation::Changed {
                outcome = Mutation::Changed;
                if self.subresource != Subresource::Scale {
                    pipeline::default(&self.version.stages, object);
                }
            }
        }
        if outcome == Mutation::Changed {
            restore_managed_fields(ctx, object, managed_fields);
            decode::dedup_owners(ctx, object, true);
        }
        Ok(outcome)
    }

    /// Shows the plugins the object as it will be stored, or with `None` that the old one is deleted.
    ///
    /// # Errors
    /// The first refusal of a plugin.
    pub fn validate(&self, ctx: &mut Context<'_>, old: Option<&Value>, object: Option<&Value>) -> Result<(), Refusal> {
        if !self.is_needed(ctx) {
            return Ok(());
        }
        let (namespace, name) = self.address(ctx, object);
        let server = ctx.server;
        for plugin in server.admission.handling(self.operation) {
            let attributes = self.attributes(ctx, &namespace, &name, old);
            let mut warnings = Vec::new();
            let result = plugin.validate(&attributes, object, &Cluster::new(server, ctx.request.now), &mut warnings);
            for warning in warnings {
                ctx.warn(warning);
            }
            result?;
        }
        Ok(())
    }

    /// The namespace and the name that admission is told.
    fn address(&self, ctx: &Context<'_>, object: Option<&Value>) -> (String, String) {
        let mut name = ctx.target.name.clone();
        if let (Operation::Create, true, Some(object)) = (self.operation, name.is_empty(), object) {
            metadata::text(object, "name").clone_into(&mut name);
        }
        let namespace = if namespaces::are(self.serving) { name.clone() } else { ctx.target.namespace.clone() };
        (namespace, name)
    }

    fn attributes<'r>(
        &'r self,
        ctx: &'r Context<'_>,
        namespace: &'r str,
        name: &'r str,
        old: Option<&'r Value>,
    ) -> Attributes<'r> {
        let Serving { group, plural, kind, .. } = self.serving;
        let version = self.version.name.as_str();
        Attributes {
            operation: self.operation,
            resource: GroupVersionResource { group, version, resource: plural },
            subresource: self.subresource.as_str(),
            kind: match self.subresource {
                Subresource::Scale => GroupVersionKind { group: "autoscaling", version: "v1", kind: "Scale" },
                Subresource::None | Subresource::Status => GroupVersionKind { group, version, kind },
            },
            namespace,
            name,
            old_object: old,
            options: self.options,
            dry_run: match self.options {
                OperationOptions::Write(options) => options.dry_run,
                OperationOptions::Delete(options) => options.dry_run,
            },
            user: ctx.request.user.as_ref().unwrap_or(&ctx.server.admission.user),
        }
    }
}

/// Shows the plugins a definition as it will be stored, or with `None` that the old one is deleted. Plugins do not change
/// definitions.
///
/// # Errors
/// The first refusal of a plugin.
pub(in crate::server) fn validate_definition(
    ctx: &mut Context<'_>,
    (operation, options): (Operation, OperationOptions<'_>),
    name: &str,
    old: Option<&Value>,
    object: Option<&Value>,
) -> Result<(), Refusal> {
    let server = ctx.server;
    for plugin in server.admission.handling(operation) {
        let attributes = Attributes {
            operation,
            resource: GroupVersionResource { group: crd::GROUP, version: "v1", resource: "customresourcedefinitions" },
            subresource: &ctx.target.subresource,
            kind: GroupVersionKind { group: crd::GROUP, version: "v1", kind: "CustomResourceDefinition" },
            namespace: "",
            name,
            old_object: old,
            options,
            dry_run: match options {
                OperationOptions::Write(options) => options.dry_run,
                OperationOptions::Delete(options) => options.dry_run,
            },
            user: ctx.request.user.as_ref().unwrap_or(&server.admission.user),
        };
        let mut warnings = Vec::new();
        let result = plugin.validate(&attributes, object, &Cluster::new(server, ctx.request.now), &mut warnings);
        for warning in warnings {
            ctx.warn(warning);
        }
        result?;
    }
    Ok(())
}

/// Undoes invalid managedFields of a plugin (`fieldmanager/admission.go`).
fn restore_managed_fields(ctx: &mut Context<'_>, object: &mut Value, before: Option<Value>) {
    let Err(error) = Managed::read(metadata::get(object, "managedFields")) else { return };
    metadata::set(object, "managedFields", before);
    ctx.warn(format!(
        ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: {error}"
    ));
}

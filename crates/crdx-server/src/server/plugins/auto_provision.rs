//! `NamespaceAutoProvision` (`plugin/pkg/admission/namespace/autoprovision`): creates the namespace of a new object.

use crate::server::admission::{AdmissionReport, Attributes, Mutation, Operation, Plugin, Reinvocation};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::scope::{NAMESPACES, RequestScope};
use crate::server::strategy::namespace;
use crate::server::strategy::resources::Resources;
use crdx_value::Value;
use std::sync::Arc;

/// The plugin.
#[derive(Debug)]
pub(super) struct NamespaceAutoProvision(Arc<Resources>);

impl NamespaceAutoProvision {
    /// Creates the plugin; `None` if the server does not store the namespaces of its cluster.
    pub fn new(resources: &Arc<Resources>) -> Option<Self> {
        (resources.namespaces.is_some() && !resources.is_partial()).then(|| Self(Arc::clone(resources)))
    }
}

impl Plugin for NamespaceAutoProvision {
    fn handles(&self, operation: Operation, _: RequestScope<'_>) -> bool {
        operation == Operation::Create
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        _: &Calls,
        _: &mut AdmissionReport,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        let has_namespace = !attributes.namespace.is_empty() && attributes.group_resource() != NAMESPACES;
        if has_namespace && !attributes.dry_run {
            let created = namespace::create_valid(&self.0, attributes.namespace, attributes.now);
            created.map_err(|refusal| attributes.forbidden_object(object, refusal.message()))?;
        }
        Ok(Mutation::Unchanged)
    }
}

#[cfg(test)]
mod tests {
    use crate::server::{AdmissionPlugin, AdmissionPlugins, Method, Namespaces, Request, Server};
    use crdx_value::release::Release;

    fn code(plugins: AdmissionPlugins, query: &str) -> (u16, u16) {
        let builder = Server::builder(Release::NEWEST, 1).with_built_in_kinds();
        let server = builder.with_namespaces(Namespaces::Finalized, &[]).with_admission_plugins(plugins).build();
        let path = format!("/api/v1/namespaces/new/configmaps{query}");
        let created = server.handle(&Request::new(Method::Post, &path, r#"{"metadata":{"name":"m"}}"#)).code;
        (created, server.handle(&Request::new(Method::Get, "/api/v1/namespaces/new", "")).code)
    }

    #[test]
    fn the_namespace_of_a_new_object_is_created() {
        let plugins = AdmissionPlugins::all().with(AdmissionPlugin::NamespaceAutoProvision);
        assert_eq!(code(plugins.clone(), ""), (201, 200));
        assert_eq!(code(plugins, "?dryRun=All"), (404, 404), "a dry run creates no namespace");
        assert_eq!(code(AdmissionPlugins::all(), ""), (404, 404));
    }

    #[test]
    fn a_namespace_with_an_invalid_name_is_not_created() {
        let plugins = AdmissionPlugins::all().with(AdmissionPlugin::NamespaceAutoProvision);
        let builder = Server::builder(Release::NEWEST, 1).with_built_in_kinds();
        let server = builder.with_namespaces(Namespaces::Finalized, &[]).with_admission_plugins(plugins).build();
        let path = "/api/v1/namespaces/Bad/configmaps";
        let response = server.handle(&Request::new(Method::Post, path, r#"{"metadata":{"name":"m"}}"#));
        assert_eq!(
            (response.code, response.body.message()),
            (
                403,
                "configmaps \"m\" is forbidden: Namespace \"Bad\" is invalid: metadata.name: Invalid value: \"Bad\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            )
        );
        assert_eq!(server.handle(&Request::new(Method::Get, "/api/v1/namespaces/Bad", "")).code, 404);
    }
}

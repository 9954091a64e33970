//! The label of a namespace without which its claims may not request the access of an administrator to devices
//! ([`crdx_builtin::admin_access`]).

use super::TypedResource;
use crate::cluster_state::{Lookup, NAMESPACES};
use crate::server::http::context::Context;
use crate::server::strategy::namespace::SYSTEM_NAMESPACES;
use crate::server::strategy::resources::Resources;
use crate::server::strategy::subresource::Subresource;
use crdx_builtin::admin_access;
use crdx_value::Value;
use crdx_value::field::ErrorList;
use std::sync::Arc;

/// Returns the Namespace of a request, as far as it is known. The attempt ends later if it has to be read first.
pub(super) fn namespace(ctx: &Context<'_>, resources: &Resources) -> Option<Arc<Value>> {
    let name = &ctx.target.namespace;
    let stored = resources.namespace(name);
    let given = || match ctx.given.object(NAMESPACES, "", name) {
        Ok(Lookup::Found(namespace)) => Some(namespace),
        // API servers create these namespaces, without the label.
        Ok(Lookup::Unknown) if name == "default" || SYSTEM_NAMESPACES.contains(&name.as_str()) => Some(Arc::default()),
        Ok(Lookup::Absent | Lookup::Unknown) | Err(_) => None,
    };
    stored.or_else(given)
}

/// The errors of a write; `old` is `None` for a new object. A server that is part of a cluster may not have the Namespace.
pub(super) fn errors(strategy: &TypedResource, object: &Value, old: Option<&Value>) -> ErrorList {
    let TypedResource { namespace, resources, subresource, kind, .. } = strategy;
    let endpoint = &kind.endpoint;
    let is_known = namespace.is_some() || !resources.is_partial();
    let applies = admin_access::applies(&endpoint.group, &endpoint.kind);
    if !applies || !is_known || !resources.validates_content {
        return ErrorList::new();
    }
    let namespace = namespace.as_deref();
    let error = match (old, subresource) {
        (None, _) => admin_access::refusal(&endpoint.kind, object, namespace),
        (Some(old), Subresource::Status) => admin_access::status_refusal(object, old, namespace),
        // The specification cannot change.
        (Some(_), _) => None,
    };
    error.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use crate::server::fixture;
    use crate::server::{Method, Request, Server};
    use crdx_value::release::Release;

    #[test]
    fn the_namespace_of_a_claim_has_the_label() {
        let server = Server::builder(Release::NEWEST, 0).with_built_in_kinds().with_content_validation().build();
        let post = |path: &str, body: &str| fixture::json(server.handle(&Request::new(Method::Post, path, body)));
        let namespace = r#"{"metadata":{"name":"admin","labels":{"resource.kubernetes.io/admin-access":"true"}}}"#;
        assert_eq!(post("/api/v1/namespaces", namespace).0, 201);
        let claim = |namespace: &str| {
            let request = r#"{"name":"r","exactly":{"deviceClassName":"c","adminAccess":true}}"#;
            let claim = format!(r#"{{"metadata":{{"name":"c"}},"spec":{{"devices":{{"requests":[{request}]}}}}}}"#);
            post(&format!("/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims"), &claim)
        };
        assert_eq!(claim("admin").0, 201);
        let (code, answer) = claim("default");
        let message = "ResourceClaim.resource.k8s.io \"c\" is invalid: spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace";
        assert_eq!((code, answer.str_at(&["message"])), (422, Some(message)));
    }
}

//! `DefaultStorageClass` and `DefaultIngressClass`: the classes of new claims and Ingresses ([`crdx_builtin::default_class`]).

use crate::server::admission::{Attributes, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::plugins::cluster::Cluster;
use crate::server::scope::GroupVersionResource;
use crate::server::strategy::resources::Resources;
use crdx_builtin::default_class::DefaultClass;
use crdx_value::Value;
use std::sync::Arc;

/// The plugin `DefaultStorageClass` or `DefaultIngressClass`.
#[derive(Debug)]
pub(super) struct DefaultClasses {
    resources: Arc<Resources>,
    /// The resource whose objects have a class.
    of: (&'static str, &'static str),
}

impl DefaultClasses {
    /// Creates `DefaultStorageClass`; `None` if the server has no built-in kinds.
    pub fn of_claims(resources: &Arc<Resources>) -> Option<Self> {
        Self::new(resources, ("", "persistentvolumeclaims"))
    }

    /// Creates `DefaultIngressClass`; `None` if the server has no built-in kinds.
    pub fn of_ingresses(resources: &Arc<Resources>) -> Option<Self> {
        Self::new(resources, ("networking.k8s.io", "ingresses"))
    }

    fn new(resources: &Arc<Resources>, of: (&'static str, &'static str)) -> Option<Self> {
        resources.serves_built_in_kinds.then(|| Self { resources: Arc::clone(resources), of })
    }
}

impl Plugin for DefaultClasses {
    fn handles(&self, operation: Operation) -> bool {
        operation == Operation::Create
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        calls: &Calls,
        _: &mut Report,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        let Attributes { resource, subresource, given, .. } = *attributes;
        let is_of = (resource.group, resource.resource) == self.of && subresource.is_empty();
        let wanted = if is_of { DefaultClass::wanted(self.of, object) } else { None };
        let Some(kind) = wanted else { return Ok(Mutation::Unchanged) };
        let (group, resource) = kind.classes;
        let of = GroupVersionResource { group, version: "v1", resource };
        let classes = Cluster::new(&self.resources, given, calls).objects(of, "")?.objects;
        let Some(class) = kind.choose(classes.iter().map(|class| &**class)) else { return Ok(Mutation::Unchanged) };
        kind.set(object, class);
        Ok(Mutation::Changed)
    }
}

#[cfg(test)]
mod tests {
    use crate::server::fixture;
    use crate::server::{Method, Request, Server};
    use crdx_value::Value;
    use crdx_value::release::Release;

    #[test]
    fn new_claims_and_ingresses_get_the_default_class() {
        let server = Server::builder(Release::NEWEST, 0).with_built_in_kinds().build();
        let post = |path: &str, body: &str| fixture::json(server.handle(&Request::new(Method::Post, path, body)));
        let class = |mark: &str, rest: &str| {
            format!(
                r#"{{"metadata":{{"name":"usual","annotations":{{"{mark}.kubernetes.io/is-default-class":"true"}}}}{rest}}}"#
            )
        };
        let storage = class("storageclass", r#","provisioner":"example.com/a""#);
        assert_eq!(post("/apis/storage.k8s.io/v1/storageclasses", &storage).0, 201);
        let ingress = class("ingressclass", r#","spec":{"controller":"example.com/a"}"#);
        assert_eq!(post("/apis/networking.k8s.io/v1/ingressclasses", &ingress).0, 201);
        let claim = r#"{"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}"#;
        let (_, claim) = post("/api/v1/namespaces/default/persistentvolumeclaims", claim);
        assert_eq!(claim.str_at(&["spec", "storageClassName"]), Some("usual"));
        let ingress = |class: &str| {
            let backend = r#""defaultBackend":{"service":{"name":"a","port":{"number":80}}}"#;
            let object = format!(r#"{{"metadata":{{"name":"i"}},"spec":{{{backend}{class}}}}}"#);
            let path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses?dryRun=All";
            post(path, &object).1.at(&["spec", "ingressClassName"]).and_then(Value::as_str).map(str::to_owned)
        };
        assert_eq!(ingress("").as_deref(), Some("usual"));
        assert_eq!(ingress(r#","ingressClassName":"other""#).as_deref(), Some("other"));
    }
}

//! `DefaultStorageClass` and `DefaultIngressClass`: the classes of new claims and Ingresses ([`crdx_builtin::default_class`]).

use crdx_builtin::default_class::DefaultClass;
use crdx_server::cluster_state::GroupVersionResource;
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Mutation, Refusal};
use crdx_value::Value;

/// The plugin for claims.
pub(crate) static DEFAULT_STORAGE_CLASS: KindPlugin = KindPlugin {
    targets: &[("", "persistentvolumeclaims", "")],
    mutate: Some(mutate),
    ..KindPlugin::new(AdmissionPlugin::DefaultStorageClass)
};

/// The plugin for Ingresses.
pub(crate) static DEFAULT_INGRESS_CLASS: KindPlugin = KindPlugin {
    targets: &[("networking.k8s.io", "ingresses", "")],
    mutate: Some(mutate),
    ..KindPlugin::new(AdmissionPlugin::DefaultIngressClass)
};

fn mutate(request: &mut AdmissionRequest<'_>, object: &mut Value) -> Result<Mutation, Refusal> {
    let wanted = DefaultClass::wanted((request.resource.group, request.resource.resource), object);
    let Some(kind) = wanted else { return Ok(Mutation::Unchanged) };
    let (group, resource) = kind.classes;
    let classes = request.objects(GroupVersionResource { group, version: "v1", resource }, "")?.objects;
    let Some(class) = kind.choose(classes.iter().map(|class| &**class)) else { return Ok(Mutation::Unchanged) };
    kind.set(object, class);
    Ok(Mutation::Changed)
}

#[cfg(test)]
mod tests {
    use crate::tests::code_and_body;
    use crdx_server::server::{Method, Request};
    use crdx_value::Value;
    use crdx_value::release::Release;

    #[test]
    fn new_claims_and_ingresses_get_the_default_class() {
        let server = crate::builder(Release::NEWEST, 0).with_built_in_kinds().build();
        let post = |path: &str, body: &str| code_and_body(server.handle(&Request::new(Method::Post, path, body)));
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

//! `PodSecurity`: the pod security standard of a namespace ([`crdx_builtin::pod_security`]).

use super::configuration;
use crdx_builtin::pod_security::{self, Policy};
use crdx_server::cluster_state::NAMESPACES;
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Operation, Refusal};
use crdx_value::Value;

/// The plugin, for the objects that have a Pod or a template. Labels of Namespaces are validated with the other fields.
pub(crate) static POD_SECURITY: KindPlugin = KindPlugin {
    operations: &[Operation::Create, Operation::Update],
    targets: &[
        ("", "pods", ""),
        ("", "pods", "ephemeralcontainers"),
        ("", "pods", "resize"),
        ("", "podtemplates", ""),
        ("", "replicationcontrollers", ""),
        ("apps", "daemonsets", ""),
        ("apps", "deployments", ""),
        ("apps", "replicasets", ""),
        ("apps", "statefulsets", ""),
        ("batch", "cronjobs", ""),
        ("batch", "jobs", ""),
    ],
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::PodSecurity)
};

fn validate(request: &mut AdmissionRequest<'_>, object: &Value) -> Result<(), Refusal> {
    let is_pod = request.resource.resource == "pods";
    let changes_images = request.old_object.is_none_or(|old| pod_security::is_significant_update(object, old));
    if is_pod && request.operation == Operation::Update && !changes_images {
        return Ok(());
    }
    let Some((metadata, spec)) = pod_security::pod_of(request.kind, object) else { return Ok(()) };
    let configuration = configuration::pod_security(request.configuration.unwrap_or(&Value::Null)).unwrap_or_default();
    if configuration.exempts(request.namespace, request.username(), spec) {
        return Ok(());
    }
    let Some(policy) = policy(request, configuration.defaults)? else { return Ok(()) };
    if is_pod && let Some(detail) = policy.enforce.violation(metadata, spec, request.release) {
        return Err(request.forbidden(&format!("violates PodSecurity \"{}\": {detail}", policy.enforce)));
    }
    if let Some(detail) = policy.warn.violation(metadata, spec, request.release) {
        request.warn(format!("would violate PodSecurity \"{}\": {detail}", policy.warn));
    }
    Ok(())
}

/// The policy of the namespace of a write.
fn policy(request: &AdmissionRequest<'_>, defaults: Policy) -> Result<Option<Policy>, Refusal> {
    let namespace = request.object(NAMESPACES, "", request.namespace)?.found();
    let labels = |namespace: &Value| namespace.at(&["metadata", "labels"]).cloned().unwrap_or_default();
    Ok(namespace.map(|namespace| Policy::from_labels(&labels(&namespace), defaults)))
}

#[cfg(test)]
mod tests {
    use crdx_server::cluster_state::{
        ClusterState, GroupVersionResource, LIMIT_RANGES, Listed, Lookup, NAMESPACES, Unread,
    };
    use crdx_server::server::{Method, Request, Response, Server};
    use crdx_text::json::read;
    use crdx_value::Value;
    use crdx_value::release::Release;
    use std::sync::Arc;

    fn send(server: &Server, method: Method, path: &str, body: &str) -> Response {
        server.handle(&Request::new(method, path, read(body.as_bytes()).unwrap()))
    }

    fn namespace(labels: &str) -> String {
        format!(r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"n","labels":{labels}}}}}"#)
    }

    const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
        "spec":{"hostPID":true,"containers":[{"name":"c","image":"i"}]}}"#;
    const MESSAGE: &str =
        "pods \"p\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces (hostPID=true)";

    #[test]
    fn labels_of_the_namespace_reject_pods_and_warn_about_templates() {
        let server = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build();
        let labels = r#"{"pod-security.kubernetes.io/enforce":"baseline"}"#;
        assert_eq!(send(&server, Method::Post, "/api/v1/namespaces", &namespace(labels)).code, 201);
        let refused = send(&server, Method::Post, "/api/v1/namespaces/n/pods", POD);
        assert_eq!((refused.code, refused.body.message()), (403, MESSAGE));
        let replica_set = r#"{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"r"},"spec":{"selector":{"matchLabels":{"a":"b"}},
            "template":{"metadata":{"labels":{"a":"b"}},"spec":{"hostPID":true,"containers":[{"name":"c","image":"i"}]}}}}"#;
        let warned = send(&server, Method::Post, "/apis/apps/v1/namespaces/n/replicasets", replica_set);
        let warning = "would violate PodSecurity \"baseline:latest\": host namespaces (hostPID=true)";
        assert_eq!((warned.code, warned.warnings.as_slice()), (201, &[warning.to_owned()][..]));
    }

    #[test]
    fn an_update_without_another_image_is_not_checked() {
        let server = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build();
        assert_eq!(send(&server, Method::Post, "/api/v1/namespaces", &namespace("{}")).code, 201);
        assert_eq!(send(&server, Method::Post, "/api/v1/namespaces/n/pods", POD).code, 201);
        let labels = r#"{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}"#;
        assert_eq!(send(&server, Method::Patch, "/api/v1/namespaces/n", labels).code, 200);
        let patch = |body: &str| send(&server, Method::Patch, "/api/v1/namespaces/n/pods/p", body);
        assert_eq!(patch(r#"{"metadata":{"labels":{"a":"b"}}}"#).code, 200);
        let refused = patch(r#"{"spec":{"containers":[{"name":"c","image":"j"}]}}"#);
        assert_eq!((refused.code, refused.body.message()), (403, MESSAGE));
    }

    /// A cluster whose namespaces have one Namespace object and a limit range.
    #[derive(Debug)]
    struct OneNamespace(Arc<Value>, Vec<Arc<Value>>);

    impl ClusterState for OneNamespace {
        fn object(&self, of: GroupVersionResource<'_>, _: &str, _: &str) -> Result<Lookup<Arc<Value>>, Unread> {
            Ok(if of == NAMESPACES { Lookup::Found(Arc::clone(&self.0)) } else { Lookup::Unknown })
        }

        fn list(&self, of: GroupVersionResource<'_>, _: &str) -> Result<Listed, Unread> {
            let objects = if of == LIMIT_RANGES { self.1.clone() } else { Vec::new() };
            Ok(Listed { objects, is_complete: false })
        }
    }

    #[test]
    fn the_given_state_has_the_namespace_and_its_limit_ranges() {
        let object = |text: &str| Arc::new(read(text.as_bytes()).unwrap());
        let post = |state: OneNamespace| {
            let builder = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_cluster_state(Arc::new(state));
            let builder = builder.with_namespaces(crdx_server::server::Namespaces::Unchecked, &[]);
            let response = send(&builder.build(), Method::Post, "/api/v1/namespaces/n/pods", POD);
            (response.code, response.body.message().to_owned())
        };
        let baseline = object(&namespace(r#"{"pod-security.kubernetes.io/enforce":"baseline"}"#));
        assert_eq!(post(OneNamespace(baseline, Vec::new())), (403, MESSAGE.to_owned()));
        let any = object(&namespace("{}"));
        let range = object(r#"{"metadata":{"name":"l"},"spec":{"limits":[{"type":"Pod","max":{"cpu":"1"}}]}}"#);
        let message = "pods \"p\" is forbidden: maximum cpu usage per Pod is 1.  No limit is specified";
        assert_eq!(post(OneNamespace(Arc::clone(&any), vec![range])), (403, message.to_owned()));
        assert_eq!(post(OneNamespace(any, Vec::new())).0, 201);
    }
}

//! `PodSecurity`: the pod security standard of a namespace ([`crdx_builtin::pod_security`]).

use crate::cluster_state::NAMESPACES;
use crate::server::admission::{Attributes, Operation, Plugin, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::plugins::Configuration;
use crate::server::plugins::cluster::Cluster;
use crate::server::strategy::resources::Resources;
use crdx_builtin::pod_security::{self, Policy};
use crdx_value::Value;
use std::sync::Arc;

/// The resources whose objects have a Pod or a template.
const RESOURCES: [(&str, &str); 9] = [
    ("", "pods"),
    ("", "podtemplates"),
    ("", "replicationcontrollers"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
];

/// The `PodSecurity` plugin. Labels of Namespaces are validated with the other fields.
#[derive(Debug)]
pub(super) struct PodSecurity {
    resources: Arc<Resources>,
    configuration: Arc<Configuration>,
}

impl PodSecurity {
    /// Creates the plugin; `None` if the server has no Pods.
    pub fn new(resources: &Arc<Resources>, configuration: &Arc<Configuration>) -> Option<Self> {
        let (resources, configuration) = (Arc::clone(resources), Arc::clone(configuration));
        resources.get("pods.").is_some().then_some(Self { resources, configuration })
    }

    /// The policy of the namespace of a write.
    fn policy(&self, attributes: &Attributes<'_>, calls: &Calls) -> Result<Option<Policy>, Refusal> {
        let cluster = Cluster::new(&self.resources, attributes.given, calls);
        let defaults = self.configuration.pod_security.defaults;
        let namespace = cluster.object(NAMESPACES, "", attributes.namespace)?.found();
        Ok(namespace.map(|namespace| {
            Policy::from_labels(namespace.at(&["metadata", "labels"]).unwrap_or(&Value::Null), defaults)
        }))
    }
}

impl Plugin for PodSecurity {
    fn handles(&self, operation: Operation) -> bool {
        operation != Operation::Delete
    }

    fn mutates(&self) -> bool {
        false
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        calls: &Calls,
        report: &mut Report,
    ) -> Result<(), Refusal> {
        let Attributes { operation, resource, subresource, kind, old_object, .. } = *attributes;
        let is_pod = (resource.group, resource.resource) == ("", "pods");
        let is_ephemeral = is_pod && matches!(subresource, "ephemeralcontainers" | "resize");
        if !RESOURCES.contains(&(resource.group, resource.resource)) || !(subresource.is_empty() || is_ephemeral) {
            return Ok(());
        }
        let Some(object) = object else { return Ok(()) };
        let changes_images = old_object.is_none_or(|old| pod_security::is_significant_update(object, old));
        if is_pod && operation == Operation::Update && !changes_images {
            return Ok(());
        }
        let Some((metadata, spec)) = pod_security::pod_of(kind.kind, object) else { return Ok(()) };
        let configuration = &self.configuration.pod_security;
        if configuration.exempts(attributes.namespace, &attributes.user.username, spec) {
            return Ok(());
        }
        let Some(policy) = self.policy(attributes, calls)? else { return Ok(()) };
        let release = self.resources.settings.release;
        if is_pod && let Some(detail) = policy.enforce.violation(metadata, spec, release) {
            return Err(attributes.forbidden(&format!("violates PodSecurity \"{}\": {detail}", policy.enforce)));
        }
        if let Some(detail) = policy.warn.violation(metadata, spec, release) {
            report.warnings.push(format!("would violate PodSecurity \"{}\": {detail}", policy.warn));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::cluster_state::{ClusterState, GroupVersionResource, LIMIT_RANGES, Listed, Lookup, NAMESPACES, Unread};
    use crate::server::{Method, Request, Response, Server};
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
        let server = Server::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build();
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
        let server = Server::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build();
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
            let builder = Server::builder(Release::NEWEST, 0).with_built_in_kinds().with_cluster_state(Arc::new(state));
            let builder = builder.with_namespaces(crate::server::Namespaces::Unchecked, &[]);
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

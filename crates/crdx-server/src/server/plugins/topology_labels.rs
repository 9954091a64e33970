//! `PodTopologyLabels`: the labels that Pods get from their Node ([`crdx_builtin::topology_labels`]).

use crate::server::admission::{Attributes, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::strategy::resources::Resources;
use crdx_builtin::topology_labels;
use crdx_value::Value;
use crdx_value::release::Gate;
use std::sync::Arc;

/// The `PodTopologyLabels` plugin.
#[derive(Debug)]
pub(super) struct PodTopologyLabels {
    resources: Arc<Resources>,
}

impl PodTopologyLabels {
    /// Creates the plugin; `None` if the server has no Nodes. The gate `PodTopologyLabelsAdmission` is enabled since 1.35.
    pub fn new(resources: &Arc<Resources>) -> Option<Self> {
        let applies =
            resources.allocations.is_some() && resources.settings.release.enables(Gate::PodTopologyLabelsAdmission);
        applies.then(|| Self { resources: Arc::clone(resources) })
    }
}

impl Plugin for PodTopologyLabels {
    fn handles(&self, operation: Operation) -> bool {
        operation == Operation::Create
    }

    /// Labels have no defaults, so the object is not changed in the sense of [`Mutation`].
    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        _: &Calls,
        _: &mut Report,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        let Attributes { resource, subresource, .. } = *attributes;
        let node = match (resource.group, resource.resource, subresource) {
            ("", "pods", "") => object.str_at(&["spec", "nodeName"]),
            ("", "pods", "binding") if object.str_at(&["target", "kind"]) == Some("Node") => {
                object.str_at(&["target", "name"])
            }
            _ => None,
        };
        if let Some(node) = node.and_then(|name| Some(self.resources.get("nodes.")?.objects.get(name)?.raw())) {
            topology_labels::copy(object, &node);
        }
        Ok(Mutation::Unchanged)
    }
}

#[cfg(test)]
mod tests {
    use crate::server::fixture;
    use crate::server::{Method, Request, Server};
    use crdx_value::release::Release;

    #[test]
    fn a_bound_pod_has_the_topology_labels_of_its_node() {
        let server = Server::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build();
        let post = |path: &str, body: &str| fixture::json(server.handle(&Request::new(Method::Post, path, body)));
        let node = r#"{"metadata":{"name":"n","labels":{"topology.kubernetes.io/region":"r"}}}"#;
        assert_eq!(post("/api/v1/nodes", node).0, 201);
        let pod = r#"{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}"#;
        assert_eq!(post("/api/v1/namespaces/default/pods", pod).0, 201);
        let binding = r#"{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}"#;
        assert_eq!(post("/api/v1/namespaces/default/pods/p/binding", binding).0, 201);
        let (_, pod) =
            fixture::json(server.handle(&Request::new(Method::Get, "/api/v1/namespaces/default/pods/p", "")));
        assert_eq!(pod.str_at(&["metadata", "labels", "topology.kubernetes.io/region"]), Some("r"));
    }

    #[test]
    fn a_pod_on_a_node_has_its_topology_labels() {
        let server = Server::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build();
        let post = |path: &str, body: &str| fixture::json(server.handle(&Request::new(Method::Post, path, body)));
        let node = r#"{"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"z","other":"x"}}}"#;
        assert_eq!(post("/api/v1/nodes", node).0, 201);
        let labels = |node: &str| {
            let pod = format!(
                r#"{{"metadata":{{"name":"p"}},"spec":{{"nodeName":"{node}","containers":[{{"name":"c","image":"i"}}]}}}}"#
            );
            let (_, pod) = post("/api/v1/namespaces/default/pods?dryRun=All", &pod);
            pod.at(&["metadata", "labels"]).map(crdx_value::json::to_string)
        };
        assert_eq!(labels("n").as_deref(), Some(r#"{"topology.kubernetes.io/zone":"z"}"#));
        assert_eq!(labels("absent"), None);
    }
}

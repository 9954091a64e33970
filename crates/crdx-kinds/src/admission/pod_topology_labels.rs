//! `PodTopologyLabels`: the labels that Pods get from their Node ([`crdx_builtin::topology_labels`]).

use crdx_builtin::topology_labels;
use crdx_server::cluster_state::NODES;
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Mutation, PluginServers, Refusal};
use crdx_value::Value;
use crdx_value::release::Gate;

/// The plugin.
pub(crate) static POD_TOPOLOGY_LABELS: KindPlugin = KindPlugin {
    servers: PluginServers::WithGeneratedFields,
    targets: &[("", "pods", ""), ("", "pods", "binding")],
    mutate: Some(mutate),
    ..KindPlugin::new(AdmissionPlugin::PodTopologyLabels)
};

/// Labels have no defaults, so the object is not changed in the sense of [`Mutation`].
fn mutate(request: &mut AdmissionRequest<'_>, object: &mut Value) -> Result<Mutation, Refusal> {
    if !request.release.enables(Gate::PodTopologyLabelsAdmission) {
        return Ok(Mutation::Unchanged);
    }
    let name = match request.subresource {
        "" => object.str_at(&["spec", "nodeName"]),
        _ if object.str_at(&["target", "kind"]) == Some("Node") => object.str_at(&["target", "name"]),
        _ => None,
    };
    if let Some(node) = name.and_then(|name| request.stored_object(NODES, "", name)) {
        topology_labels::copy(object, &node);
    }
    Ok(Mutation::Unchanged)
}

#[cfg(test)]
mod tests {
    use crate::tests::code_and_body;
    use crdx_server::server::{Method, Request};
    use crdx_value::release::Release;

    #[test]
    fn a_bound_pod_has_the_topology_labels_of_its_node() {
        let server = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build();
        let post = |path: &str, body: &str| code_and_body(server.handle(&Request::new(Method::Post, path, body)));
        let node = r#"{"metadata":{"name":"n","labels":{"topology.kubernetes.io/region":"r"}}}"#;
        assert_eq!(post("/api/v1/nodes", node).0, 201);
        let pod = r#"{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}"#;
        assert_eq!(post("/api/v1/namespaces/default/pods", pod).0, 201);
        let binding = r#"{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}"#;
        assert_eq!(post("/api/v1/namespaces/default/pods/p/binding", binding).0, 201);
        let (_, pod) =
            code_and_body(server.handle(&Request::new(Method::Get, "/api/v1/namespaces/default/pods/p", "")));
        assert_eq!(pod.str_at(&["metadata", "labels", "topology.kubernetes.io/region"]), Some("r"));
    }

    #[test]
    fn a_pod_on_a_node_has_its_topology_labels() {
        let server = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build();
        let post = |path: &str, body: &str| code_and_body(server.handle(&Request::new(Method::Post, path, body)));
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

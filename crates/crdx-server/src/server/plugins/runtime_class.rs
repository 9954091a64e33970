//! `RuntimeClass`: the overhead and the scheduling of new Pods with a class ([`crdx_builtin::runtime_class`]).

use super::cluster::Cluster;
use crate::cluster_state::{Lookup, RUNTIME_CLASSES};
use crate::server::admission::{Attributes, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::strategy::resources::Resources;
use crdx_builtin::runtime_class::{self, Refused};
use crdx_value::Value;
use crdx_value::quote::go_quote;
use std::sync::Arc;

/// The `RuntimeClass` plugin.
#[derive(Debug)]
pub(super) struct RuntimeClass {
    resources: Arc<Resources>,
}

impl RuntimeClass {
    /// Creates the plugin; `None` if the server has no `RuntimeClass`es.
    pub fn new(resources: &Arc<Resources>) -> Option<Self> {
        let applies = resources.allocations.is_some() && resources.get("runtimeclasses.node.k8s.io").is_some();
        applies.then(|| Self { resources: Arc::clone(resources) })
    }

    /// Returns the class of a Pod; `Absent` if the Pod names none.
    fn class(&self, attributes: &Attributes<'_>, pod: &Value, calls: &Calls) -> Result<Lookup<Arc<Value>>, Refusal> {
        let Some(name) = runtime_class::class_name(pod) else { return Ok(Lookup::Absent) };
        let cluster = Cluster::new(&self.resources, attributes.given, calls);
        match cluster.object(RUNTIME_CLASSES, "", name)? {
            // The server asks its API for the class, and the client refuses the empty name.
            Lookup::Absent if name.is_empty() => Err(Refusal::unclassified("resource name may not be empty")),
            Lookup::Absent => {
                let reason = format!("pod rejected: RuntimeClass {} not found", go_quote(name));
                Err(attributes.forbidden_object(pod, &reason))
            }
            known => Ok(known),
        }
    }
}

impl Plugin for RuntimeClass {
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
        if !attributes.is_for_pods() {
            return Ok(Mutation::Unchanged);
        }
        let Some(class) = self.class(attributes, object, calls)?.found() else { return Ok(Mutation::Unchanged) };
        let release = self.resources.settings.release;
        runtime_class::admit(object, &class, release).map_err(|refused| match refused {
            Refused::Mismatch(reason) => attributes.forbidden_object(object, &reason),
            Refused::Unfinished(spent) => spent.into(),
        })?;
        // A Pod that is refused in validation keeps its empty overhead, which would be lost if it were completed.
        let is_refused = runtime_class::overhead_refusal(object, Some(&class)).is_some();
        Ok(if is_refused { Mutation::Unchanged } else { Mutation::Changed })
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        calls: &Calls,
        _: &mut Report,
    ) -> Result<(), Refusal> {
        let Some(pod) = object.filter(|_| attributes.is_for_pods()) else { return Ok(()) };
        let refusal = match self.class(attributes, pod, calls)? {
            Lookup::Unknown => None,
            known => runtime_class::overhead_refusal(pod, known.found().as_deref()),
        };
        refusal.map_or(Ok(()), |reason| Err(attributes.forbidden_object(pod, reason)))
    }
}

#[cfg(test)]
mod tests {
    use crate::server::fixture;
    use crate::server::{Method, Request, Server};
    use crdx_text::json::read;
    use crdx_value::Value;
    use crdx_value::release::Release;

    fn post(server: &Server, path: &str, body: &str) -> (u16, Value) {
        fixture::json(server.handle(&Request::new(Method::Post, path, body)))
    }

    fn create_pod(server: &Server, spec: &str) -> (u16, Value) {
        let pod =
            format!(r#"{{"metadata":{{"name":"p"}},"spec":{{{spec},"containers":[{{"name":"c","image":"i"}}]}}}}"#);
        post(server, "/api/v1/namespaces/default/pods?dryRun=All", &pod)
    }

    #[test]
    fn a_pod_gets_the_overhead_and_the_scheduling_of_its_class() {
        let server = Server::builder(Release::NEWEST, 0).with_built_in_kinds().with_content_validation();
        let server = server.with_generated_fields().build();
        let class = r#"{"metadata":{"name":"kata"},"handler":"h","overhead":{"podFixed":{"cpu":"1"}},
            "scheduling":{"nodeSelector":{"a":"b"}}}"#;
        assert_eq!(post(&server, "/apis/node.k8s.io/v1/runtimeclasses", class).0, 201);
        let (code, pod) = create_pod(&server, r#""runtimeClassName":"kata""#);
        let spec = |field: &str| pod.at(&["spec", field]).cloned().unwrap_or_default();
        assert_eq!((code, spec("overhead")), (201, read(br#"{"cpu":"1"}"#).unwrap()));
        assert_eq!(spec("nodeSelector"), read(br#"{"a":"b"}"#).unwrap());
        let message = |spec: &str| {
            let (code, answer) = create_pod(&server, spec);
            (code, answer.str_at(&["message"]).unwrap_or_default().to_owned())
        };
        let refused = |reason: &str| (403, format!("pods \"p\" is forbidden: {reason}"));
        assert_eq!(
            message(r#""runtimeClassName":"kata","nodeSelector":{"a":"x"}"#),
            refused("conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = x")
        );
        let unnamed = r#""runtimeClassName":"" "#;
        assert_eq!(message(unnamed), (500, "resource name may not be empty".to_owned()));
        assert_eq!(message(r#""runtimeClassName":"other""#), refused("pod rejected: RuntimeClass \"other\" not found"));
        assert_eq!(
            message(r#""overhead":{"cpu":"1"}"#),
            refused("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
        );
    }
}

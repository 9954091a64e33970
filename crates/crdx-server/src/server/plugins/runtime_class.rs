//! `RuntimeClass`: the overhead and the scheduling of new Pods with a class ([`crdx_builtin::runtime_class`]).

use super::classes::Classes;
use crate::server::admission::{Attributes, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::strategy::resources::Resources;
use crdx_builtin::runtime_class::{self, Refused};
use crdx_value::Value;
use crdx_value::quote::go_quote;
use crdx_value::release::Release;
use std::sync::Arc;

/// The `RuntimeClass` plugin.
#[derive(Debug)]
pub(super) struct RuntimeClass {
    classes: Classes,
    release: Release,
}

/// The class of a Pod.
enum Class {
    /// The Pod names none.
    None,
    /// The sender of the request does not know all classes, and this one is not among them.
    Unknown,
    Found(Arc<Value>),
}

impl RuntimeClass {
    /// Creates the plugin; `None` if the server has no `RuntimeClass`es.
    pub fn new(resources: &Arc<Resources>) -> Option<Self> {
        let classes = Classes::new(resources, "runtimeclasses.node.k8s.io")?;
        Some(Self { classes, release: resources.settings.release })
    }

    fn class(&self, attributes: &Attributes<'_>, pod: &Value) -> Result<Class, Refusal> {
        let known = attributes.known_objects.map(|known| &known.runtime_classes);
        let Some(name) = runtime_class::class_name(pod) else { return Ok(Class::None) };
        match self.classes.find(known, name) {
            Some(class) => Ok(Class::Found(class)),
            // The server asks its API for the class, and the client refuses the empty name.
            None if name.is_empty() && self.classes.are_complete(known) => {
                Err(Refusal::unclassified("resource name may not be empty"))
            }
            None if self.classes.are_complete(known) => {
                let reason = format!("pod rejected: RuntimeClass {} not found", go_quote(name));
                Err(attributes.forbidden_object(pod, &reason))
            }
            None => Ok(Class::Unknown),
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
        _: &Calls,
        _: &mut Report,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        if !attributes.is_for_pods() {
            return Ok(Mutation::Unchanged);
        }
        let Class::Found(class) = self.class(attributes, object)? else { return Ok(Mutation::Unchanged) };
        runtime_class::admit(object, &class, self.release).map_err(|refused| match refused {
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
        _: &Calls,
        _: &mut Report,
    ) -> Result<(), Refusal> {
        let Some(pod) = object.filter(|_| attributes.is_for_pods()) else { return Ok(()) };
        let refusal = match self.class(attributes, pod)? {
            Class::Unknown => None,
            Class::None => runtime_class::overhead_refusal(pod, None),
            Class::Found(class) => runtime_class::overhead_refusal(pod, Some(&class)),
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

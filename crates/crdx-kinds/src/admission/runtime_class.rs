//! `RuntimeClass`: the overhead and the scheduling of new Pods with a class ([`crdx_builtin::runtime_class`]).

use crdx_builtin::runtime_class::{self, Refused};
use crdx_server::cluster_state::{Lookup, RUNTIME_CLASSES};
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Mutation, PluginServers, Refusal};
use crdx_types::empties::Empties;
use crdx_value::quote::go_quote;
use crdx_value::{Map, Value};
use std::sync::Arc;

/// The plugin.
pub(crate) static RUNTIME_CLASS: KindPlugin = KindPlugin {
    servers: PluginServers::WithGeneratedFields,
    targets: &[("", "pods", "")],
    mutate: Some(mutate),
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::RuntimeClass)
};

/// Returns the class of a Pod; `Absent` if the Pod names none.
fn class(request: &AdmissionRequest<'_>, pod: &Value) -> Result<Lookup<Arc<Value>>, Refusal> {
    let Some(name) = runtime_class::class_name(pod) else { return Ok(Lookup::Absent) };
    match request.object(RUNTIME_CLASSES, "", name)? {
        // The server asks its API for the class, and the client refuses the empty name.
        Lookup::Absent if name.is_empty() => Err(Refusal::unclassified("resource name may not be empty")),
        Lookup::Absent => {
            let reason = format!("pod rejected: RuntimeClass {} not found", go_quote(name));
            Err(request.forbidden_object(pod, &reason))
        }
        known => Ok(known),
    }
}

fn mutate(request: &mut AdmissionRequest<'_>, pod: &mut Value) -> Result<Mutation, Refusal> {
    restore_overhead(pod, request.empties);
    let Some(class) = class(request, pod)?.found() else { return Ok(Mutation::Unchanged) };
    runtime_class::admit(pod, &class, request.release).map_err(|refused| match refused {
        Refused::Mismatch(reason) => request.forbidden_object(pod, &reason),
        Refused::Unfinished(spent) => spent.into(),
    })?;
    // A Pod that is refused in validation keeps its empty overhead, which would be lost if it were completed.
    let is_refused = runtime_class::overhead_refusal(pod, Some(&class), request.release).is_some();
    Ok(if is_refused { Mutation::Unchanged } else { Mutation::Changed })
}

/// Restores an empty overhead, which the encoded form omits and which the validation refuses.
fn restore_overhead(pod: &mut Value, empties: Option<&Empties>) {
    let path = ["spec", "overhead"];
    let empty = path.into_iter().try_fold(empties, |empties, name| Some(empties?.child(name))).flatten();
    if empty.and_then(Empties::text).is_some() {
        pod.insert_at(&path, Value::Object(Map::new()));
    }
}

fn validate(request: &mut AdmissionRequest<'_>, pod: &Value) -> Result<(), Refusal> {
    let refusal = match class(request, pod)? {
        Lookup::Unknown => None,
        known => runtime_class::overhead_refusal(pod, known.found().as_deref(), request.release),
    };
    refusal.map_or(Ok(()), |reason| Err(request.forbidden_object(pod, reason)))
}

#[cfg(test)]
mod tests {
    use crate::tests::code_and_body;
    use crdx_server::server::{Method, Request, Server};
    use crdx_text::json::read;
    use crdx_value::Value;
    use crdx_value::release::Release;

    fn post(server: &Server, path: &str, body: &str) -> (u16, Value) {
        code_and_body(server.handle(&Request::new(Method::Post, path, body)))
    }

    fn create_pod(server: &Server, spec: &str) -> (u16, Value) {
        let pod =
            format!(r#"{{"metadata":{{"name":"p"}},"spec":{{{spec},"containers":[{{"name":"c","image":"i"}}]}}}}"#);
        post(server, "/api/v1/namespaces/default/pods?dryRun=All", &pod)
    }

    #[test]
    fn a_pod_gets_the_overhead_and_the_scheduling_of_its_class() {
        let server = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_content_validation();
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

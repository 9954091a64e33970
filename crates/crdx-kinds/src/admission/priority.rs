//! `Priority`: the priority of Pods, and the only default class ([`crdx_builtin::priority`]).

use crdx_builtin::priority;
use crdx_server::cluster_state::{Lookup, PRIORITY_CLASSES, Wanted};
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Mutation, Operation, PluginServers, Refusal};
use crdx_value::Value;
use std::sync::Arc;

/// The plugin.
pub(crate) static PRIORITY: KindPlugin = KindPlugin {
    servers: PluginServers::WithGeneratedFields,
    operations: &[Operation::Create, Operation::Update],
    targets: &[("", "pods", ""), ("scheduling.k8s.io", "priorityclasses", "")],
    mutate: Some(mutate),
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::Priority)
};

/// The fields that it sets have no defaults, so the object is not changed in the sense of [`Mutation`].
fn mutate(request: &mut AdmissionRequest<'_>, object: &mut Value) -> Result<Mutation, Refusal> {
    if request.resource.resource == "pods" {
        match request.old_object {
            Some(old) => keep_priority(object, old),
            None => set_priority(request, object)?,
        }
    }
    Ok(Mutation::Unchanged)
}

/// Keeps what was set in the existing Pod.
fn keep_priority(pod: &mut Value, old: &Value) {
    for path in [["spec", "priority"], ["spec", "preemptionPolicy"]] {
        if pod.at(&path).is_none() {
            pod.copy_at(old, &path);
        }
    }
}

fn set_priority(request: &mut AdmissionRequest<'_>, pod: &mut Value) -> Result<(), Refusal> {
    let class = match priority::class_name(pod) {
        Some(name) => class(request, pod, name)?,
        None => default_class(request)?,
    };
    if class == Lookup::Unknown && priority::class_name(pod).is_some() {
        return Ok(());
    }
    if class == Lookup::Unknown && priority::needs_default_class(pod) {
        // Another default class may exist that has the priority of the Pod.
        request.leave_open(Wanted::new(PRIORITY_CLASSES, "", None));
        return Ok(());
    }
    let class = class.found();
    priority::admit(pod, class.as_deref()).map_err(|reason| request.forbidden_object(pod, reason.as_str()))
}

/// Returns what is known of the class that a Pod names.
fn class(request: &AdmissionRequest<'_>, pod: &Value, name: &str) -> Result<Lookup<Arc<Value>>, Refusal> {
    // A server that stores only a part of the cluster does not store them.
    if let Some(class) = priority::system_class(name).filter(|_| request.is_partial()) {
        return Ok(Lookup::Found(Arc::new(class)));
    }
    match request.object(PRIORITY_CLASSES, "", name)? {
        Lookup::Absent => {
            let reason = format!("no PriorityClass with name {name} was found");
            Err(request.forbidden_object(pod, &reason))
        }
        known => Ok(known),
    }
}

/// Returns what is known of the default class.
fn default_class(request: &AdmissionRequest<'_>) -> Result<Lookup<Arc<Value>>, Refusal> {
    let classes = request.objects(PRIORITY_CLASSES, "")?;
    Ok(match priority::default_class(classes.objects) {
        Some(class) => Lookup::Found(class),
        None if classes.is_complete => Lookup::Absent,
        None => Lookup::Unknown,
    })
}

fn validate(request: &mut AdmissionRequest<'_>, object: &Value) -> Result<(), Refusal> {
    if request.resource.resource == "pods" || !priority::is_default(object) {
        return Ok(());
    }
    let default = default_class(request)?.found();
    let is_new = request.operation == Operation::Create;
    let refusal = priority::second_default(object, is_new, default.as_deref());
    refusal.map_or(Ok(()), |reason| Err(request.forbidden_object(object, &reason)))
}

#[cfg(test)]
mod tests {
    use crate::tests::code_and_body;
    use crdx_server::server::{Method, Request, Server};
    use crdx_value::Value;
    use crdx_value::release::Release;

    const CLASSES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";

    fn server() -> Server {
        crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build()
    }

    fn post(server: &Server, path: &str, body: &str) -> (u16, Value) {
        code_and_body(server.handle(&Request::new(Method::Post, path, body)))
    }

    fn create_class(server: &Server, name: &str, more: &str) -> (u16, Value) {
        post(server, CLASSES, &format!(r#"{{"metadata":{{"name":"{name}"}},{more}}}"#))
    }

    fn create_pod(server: &Server, metadata: &str, spec: &str) -> (u16, Value) {
        let pod =
            format!(r#"{{"metadata":{{{metadata}}},"spec":{{{spec}"containers":[{{"name":"c","image":"i"}}]}}}}"#);
        post(server, "/api/v1/namespaces/default/pods?dryRun=All", &pod)
    }

    fn priority(answer: &(u16, Value)) -> Option<(i64, &str)> {
        let spec = answer.1.get("spec")?;
        Some((spec.get("priority")?.as_int()?, spec.str_at(&["preemptionPolicy"])?))
    }

    #[test]
    fn a_pod_has_the_priority_of_its_class() {
        let server = server();
        assert_eq!(create_class(&server, "never", r#""value":7,"preemptionPolicy":"Never""#).0, 201);
        let named =
            |more: &str| create_pod(&server, r#""name":"p""#, &format!(r#""priorityClassName":"never",{more}"#));
        assert_eq!(priority(&named("")), Some((7, "Never")));
        assert_eq!(named(r#""priority":8,"#).0, 403);
        let critical = create_pod(&server, r#""name":"p""#, r#""priorityClassName":"system-node-critical","#);
        assert_eq!(priority(&critical), Some((2_000_001_000, "PreemptLowerPriority")));
        let (code, answer) = create_pod(&server, r#""name":"p""#, r#""priorityClassName":"other","#);
        let message = r#"pods "p" is forbidden: no PriorityClass with name other was found"#;
        assert_eq!((code, answer.str_at(&["message"])), (403, Some(message)));
    }

    #[test]
    fn a_pod_without_class_has_the_default_class() {
        let server = server();
        assert_eq!(priority(&create_pod(&server, r#""name":"p""#, "")), Some((0, "PreemptLowerPriority")));
        let (code, answer) = create_pod(&server, r#""generateName":"p-""#, r#""priority":5,"#);
        let message = answer.str_at(&["message"]).unwrap();
        assert!(code == 403 && message.starts_with(r#"pods "p-" is forbidden: the integer value of priority (5)"#));
        assert_eq!(create_class(&server, "usual", r#""value":5,"globalDefault":true"#).0, 201);
        let pod = create_pod(&server, r#""name":"p""#, r#""priority":5,"#);
        assert_eq!(priority(&pod), Some((5, "PreemptLowerPriority")));
        assert_eq!(pod.1.str_at(&["spec", "priorityClassName"]), Some("usual"));
        assert_eq!(create_pod(&server, r#""name":"p""#, r#""priority":0,"#).0, 403);
    }

    #[test]
    fn there_is_one_default_class() {
        let server = server();
        assert_eq!(create_class(&server, "one", r#""value":1,"globalDefault":true"#).0, 201);
        assert_eq!(create_class(&server, "other", r#""value":2"#).0, 201);
        let mark = |name: &str| {
            let class = format!(
                r#"{{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{{"name":"{name}"}},"value":{},"globalDefault":true}}"#,
                if name == "one" { 1 } else { 2 }
            );
            code_and_body(server.handle(&Request::new(Method::Put, &format!("{CLASSES}/{name}"), &*class)))
        };
        assert_eq!(mark("one").0, 200);
        let message = r#"priorityclasses.scheduling.k8s.io "other" is forbidden: PriorityClass one is already marked as default. Only one default can exist"#;
        let (code, answer) = mark("other");
        assert_eq!((code, answer.str_at(&["message"])), (403, Some(message)));
        assert_eq!(create_class(&server, "third", r#""value":1,"globalDefault":true"#).0, 403);
    }
}

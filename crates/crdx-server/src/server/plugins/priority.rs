//! `Priority`: the priority of new Pods, and the only default class ([`crdx_builtin::priority`]).

use super::cluster::Cluster;
use crate::cluster_state::{self, Lookup, Wanted};
use crate::server::admission::{Attributes, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::scope::PRIORITY_CLASSES;
use crate::server::strategy::resources::Resources;
use crdx_builtin::priority;
use crdx_value::Value;
use std::sync::Arc;

/// The `Priority` plugin.
#[derive(Debug)]
pub(super) struct Priority {
    resources: Arc<Resources>,
}

impl Priority {
    /// Creates the plugin; `None` if the server has no `PriorityClass`es.
    pub fn new(resources: &Arc<Resources>) -> Option<Self> {
        let applies = resources.allocations.is_some() && resources.get("priorityclasses.scheduling.k8s.io").is_some();
        applies.then(|| Self { resources: Arc::clone(resources) })
    }

    /// Returns what is known of the class that a Pod names.
    fn class(
        &self,
        attributes: &Attributes<'_>,
        pod: &Value,
        name: &str,
        calls: &Calls,
    ) -> Result<Lookup<Arc<Value>>, Refusal> {
        // A server that stores only a part of the cluster does not store them.
        if let Some(class) = priority::system_class(name).filter(|_| attributes.given.is_given()) {
            return Ok(Lookup::Found(Arc::new(class)));
        }
        let cluster = Cluster::new(&self.resources, attributes.given, calls);
        match cluster.object(cluster_state::PRIORITY_CLASSES, "", name)? {
            Lookup::Absent => {
                let reason = format!("no PriorityClass with name {name} was found");
                Err(attributes.forbidden_object(pod, &reason))
            }
            known => Ok(known),
        }
    }

    /// Returns what is known of the default class.
    fn default_class(&self, attributes: &Attributes<'_>, calls: &Calls) -> Result<Lookup<Arc<Value>>, Refusal> {
        let cluster = Cluster::new(&self.resources, attributes.given, calls);
        let classes = cluster.objects(cluster_state::PRIORITY_CLASSES, "")?;
        Ok(match priority::default_class(classes.objects) {
            Some(class) => Lookup::Found(class),
            None if classes.is_complete => Lookup::Absent,
            None => Lookup::Unknown,
        })
    }
}

impl Plugin for Priority {
    fn handles(&self, operation: Operation) -> bool {
        matches!(operation, Operation::Create | Operation::Update)
    }

    /// The fields that it sets have no defaults, so the object is not changed in the sense of [`Mutation`].
    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        calls: &Calls,
        report: &mut Report,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        if attributes.operation != Operation::Create || !attributes.is_for_pods() {
            return Ok(Mutation::Unchanged);
        }
        let class = match priority::class_name(object) {
            Some(name) => self.class(attributes, object, name, calls)?,
            None => self.default_class(attributes, calls)?,
        };
        if class == Lookup::Unknown && priority::class_name(object).is_some() {
            return Ok(Mutation::Unchanged);
        }
        if class == Lookup::Unknown && priority::needs_default_class(object) {
            // Another default class may exist that has the priority of the Pod.
            report.unknown.push(Wanted::new(cluster_state::PRIORITY_CLASSES, "", None));
            return Ok(Mutation::Unchanged);
        }
        priority::admit(object, class.found().as_deref())
            .map_err(|reason| attributes.forbidden_object(object, reason.as_str()))?;
        Ok(Mutation::Unchanged)
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        calls: &Calls,
        _: &mut Report,
    ) -> Result<(), Refusal> {
        let Some(object) = object else { return Ok(()) };
        // The resource has no subresources.
        if attributes.group_resource() != PRIORITY_CLASSES || !priority::is_default(object) {
            return Ok(());
        }
        let default = self.default_class(attributes, calls)?.found();
        let is_new = attributes.operation == Operation::Create;
        let refusal = priority::second_default(object, is_new, default.as_deref());
        refusal.map_or(Ok(()), |reason| Err(attributes.forbidden_object(object, &reason)))
    }
}

#[cfg(test)]
mod tests {
    use crate::server::fixture;
    use crate::server::{Method, Request, Server};
    use crdx_value::Value;
    use crdx_value::release::Release;

    const CLASSES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";

    fn server() -> Server {
        Server::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build()
    }

    fn post(server: &Server, path: &str, body: &str) -> (u16, Value) {
        fixture::json(server.handle(&Request::new(Method::Post, path, body)))
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
            fixture::json(server.handle(&Request::new(Method::Put, &format!("{CLASSES}/{name}"), &*class)))
        };
        assert_eq!(mark("one").0, 200);
        let message = r#"priorityclasses.scheduling.k8s.io "other" is forbidden: PriorityClass one is already marked as default. Only one default can exist"#;
        let (code, answer) = mark("other");
        assert_eq!((code, answer.str_at(&["message"])), (403, Some(message)));
        assert_eq!(create_class(&server, "third", r#""value":1,"globalDefault":true"#).0, 403);
    }
}

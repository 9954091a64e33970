//! `LimitRanger`: the defaults and limits of the `LimitRange`s in a namespace ([`crdx_builtin::limit_ranger`]).

use crate::cluster_state::LIMIT_RANGES;
use crate::server::admission::{Attributes, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::metadata;
use crate::server::plugins::cluster::Cluster;
use crate::server::strategy::resources::Resources;
use crdx_builtin::limit_ranger;
use crdx_value::Value;
use crdx_value::release::V1_38;
use crdx_value::steps::Steps;
use std::sync::Arc;

/// The `LimitRanger` plugin.
#[derive(Debug)]
pub(super) struct LimitRanger {
    resources: Arc<Resources>,
}

impl LimitRanger {
    /// Creates the plugin; `None` if the server has no `LimitRange`s.
    pub fn new(resources: &Arc<Resources>) -> Option<Self> {
        resources.get("limitranges.").is_some().then(|| Self { resources: Arc::clone(resources) })
    }

    /// Returns true if a write creates or resizes a Pod. Other writes of Pods do not change resources.
    fn sizes_pod(attributes: &Attributes<'_>) -> bool {
        let Attributes { operation, resource, subresource, .. } = *attributes;
        (resource.group, resource.resource) == ("", "pods")
            && matches!((operation, subresource), (Operation::Create, "") | (Operation::Update, "resize"))
    }

    /// The limit ranges that apply to a write. Objects that are being deleted have no limits.
    fn ranges(&self, attributes: &Attributes<'_>, calls: &Calls) -> Result<Vec<Arc<Value>>, Refusal> {
        let Attributes { resource, subresource, namespace, old_object, given, .. } = *attributes;
        let is_claim = (resource.group, resource.resource, subresource) == ("", "persistentvolumeclaims", "");
        if !(is_claim || Self::sizes_pod(attributes)) || old_object.is_some_and(metadata::is_deleting) {
            return Ok(Vec::new());
        }
        let cluster = Cluster::new(&self.resources, given, calls);
        let mut ranges = cluster.objects(LIMIT_RANGES, namespace)?.objects;
        if let Some(resource) = cluster.resource("", "v1", "limitranges").filter(|_| given.is_given()) {
            for range in &mut ranges {
                // A file may leave out the defaults. Those of a type always have room.
                let _ = resource.default(Arc::make_mut(range));
            }
        }
        Ok(ranges)
    }
}

impl Plugin for LimitRanger {
    fn handles(&self, operation: Operation) -> bool {
        operation != Operation::Delete
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        calls: &Calls,
        _: &mut Report,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        if !Self::sizes_pod(attributes) {
            return Ok(Mutation::Unchanged);
        }
        let (steps, mut mutation) = (Steps::of_request(), Mutation::Unchanged);
        for range in self.ranges(attributes, calls)? {
            if limit_ranger::set_defaults(&range, object, &steps)? {
                mutation = Mutation::Changed;
            }
        }
        Ok(mutation)
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        calls: &Calls,
        _: &mut Report,
    ) -> Result<(), Refusal> {
        let Some(object) = object else { return Ok(()) };
        let steps = Steps::of_request();
        // Before 1.38, updates are validated like new objects.
        let release = self.resources.settings.release;
        let old = attributes.old_object.filter(|_| release.since(V1_38));
        for range in self.ranges(attributes, calls)? {
            if let Some(reason) = limit_ranger::violation(&range, attributes.kind.kind, (object, old), &steps)? {
                return Err(attributes.forbidden(&reason));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::server::fixture;
    use crate::server::{Method, Request, Server};
    use crdx_text::json::read;
    use crdx_value::Value;
    use crdx_value::release::Release;

    fn send(server: &Server, method: Method, path: &str, body: &str) -> (u16, Value) {
        let path = format!("/api/v1/namespaces/default/{path}");
        let response = server.handle(&Request::new(method, &path, read(body.as_bytes()).unwrap()));
        fixture::json(response)
    }

    #[test]
    fn limit_ranges_of_the_namespace_apply_to_new_pods_and_to_claims() {
        let server = Server::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build();
        let range = r#"{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l"},"spec":{"limits":[
            {"type":"Container","default":{"cpu":"1"},"max":{"cpu":"2"}},{"type":"PersistentVolumeClaim","max":{"storage":"1Gi"}}]}}"#;
        assert_eq!(send(&server, Method::Post, "limitranges", range).0, 201);
        let pod = |name: &str, resources: &str| {
            format!(
                r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}"}},"spec":{{"containers":[{{"name":"c","image":"i","resources":{resources}}}]}}}}"#
            )
        };
        let (code, created) = send(&server, Method::Post, "pods", &pod("a", "{}"));
        let container = created.at(&["spec", "containers"]).and_then(Value::as_array).unwrap().first().unwrap();
        assert_eq!((code, container.str_at(&["resources", "limits", "cpu"])), (201, Some("1")));
        let (code, refused) = send(&server, Method::Post, "pods", &pod("b", r#"{"limits":{"cpu":"3"}}"#));
        let message = "pods \"b\" is forbidden: maximum cpu usage per Container is 2, but limit is 3";
        assert_eq!((code, refused.str_at(&["message"])), (403, Some(message)));
        let claim = |size: &str| {
            format!(
                r#"{{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{{"name":"c"}},"spec":{{"accessModes":["ReadWriteOnce"],"resources":{{"requests":{{"storage":"{size}"}}}}}}}}"#
            )
        };
        assert_eq!(send(&server, Method::Post, "persistentvolumeclaims", &claim("2Gi")).0, 403);
        assert_eq!(send(&server, Method::Post, "persistentvolumeclaims", &claim("1Gi")).0, 201);
        assert_eq!(send(&server, Method::Put, "persistentvolumeclaims/c", &claim("2Gi")).0, 403);
    }
}

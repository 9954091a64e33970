//! `LimitRanger`: the defaults and limits of the `LimitRange`s in a namespace ([`crdx_builtin::limit_ranger`]).

use crdx_builtin::limit_ranger;
use crdx_server::cluster_state::LIMIT_RANGES;
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Mutation, Operation, Refusal};
use crdx_value::Value;
use crdx_value::release::V1_38;
use crdx_value::steps::Steps;
use std::sync::Arc;

/// The plugin. Other writes of Pods do not change resources.
pub(crate) static LIMIT_RANGER: KindPlugin = KindPlugin {
    operations: &[Operation::Create, Operation::Update],
    targets: &[("", "pods", ""), ("", "pods", "resize"), ("", "persistentvolumeclaims", "")],
    mutate: Some(mutate),
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::LimitRanger)
};

/// Returns true if a write creates or resizes a Pod.
fn sizes_pod(request: &AdmissionRequest<'_>) -> bool {
    request.resource.resource == "pods" && (request.operation == Operation::Create) == request.subresource.is_empty()
}

/// The limit ranges that apply to a write. Objects that are being deleted have no limits.
fn ranges(request: &AdmissionRequest<'_>) -> Result<Vec<Arc<Value>>, Refusal> {
    let is_deleting = |object: &Value| object.at(&["metadata", "deletionTimestamp"]).is_some();
    let applies = request.resource.resource == "persistentvolumeclaims" || sizes_pod(request);
    if !applies || request.old_object.is_some_and(is_deleting) {
        return Ok(Vec::new());
    }
    let mut ranges = request.objects(LIMIT_RANGES, request.namespace)?.objects;
    for range in &mut ranges {
        request.complete(LIMIT_RANGES, range);
    }
    Ok(ranges)
}

fn mutate(request: &mut AdmissionRequest<'_>, object: &mut Value) -> Result<Mutation, Refusal> {
    if !sizes_pod(request) {
        return Ok(Mutation::Unchanged);
    }
    let (steps, mut mutation) = (Steps::of_request(), Mutation::Unchanged);
    for range in ranges(request)? {
        if limit_ranger::set_defaults(&range, object, &steps)? {
            mutation = Mutation::Changed;
        }
    }
    Ok(mutation)
}

fn validate(request: &mut AdmissionRequest<'_>, object: &Value) -> Result<(), Refusal> {
    let steps = Steps::of_request();
    // Before 1.38, updates are validated like new objects.
    let old = request.old_object.filter(|_| request.release.since(V1_38));
    for range in ranges(request)? {
        if let Some(reason) = limit_ranger::violation(&range, request.kind, (object, old), request.release, &steps)? {
            return Err(request.forbidden(&reason));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::tests::code_and_body;
    use crdx_server::server::{Method, Request, Server};
    use crdx_text::json::read;
    use crdx_value::Value;
    use crdx_value::release::Release;

    fn send(server: &Server, method: Method, path: &str, body: &str) -> (u16, Value) {
        let path = format!("/api/v1/namespaces/default/{path}");
        let response = server.handle(&Request::new(method, &path, read(body.as_bytes()).unwrap()));
        code_and_body(response)
    }

    #[test]
    fn limit_ranges_of_the_namespace_apply_to_new_pods_and_to_claims() {
        let server = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build();
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

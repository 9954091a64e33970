//! `ResourceClaim`s.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crate::resource::CLAIM_FEATURES;
use crdx_builtin::admin_access;
use crdx_server::server::behaviour::ALL_BUT_STATUS;
use crdx_server::server::{Behaviour, KindRequest, KindStrategy, Subresource};
use crdx_value::Value;
use crdx_value::field::ErrorList;
use crdx_value::release::{Minor, V1_35, V1_36};
use devices::drop_deallocated;

mod devices;

/// The strategy.
#[derive(Debug)]
pub(crate) struct ResourceClaim;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { depends_on_namespace: true, status_keeps: ALL_BUT_STATUS, ..Behaviour::RETURNED },
    features: Features { at: &["spec"], fields: CLAIM_FEATURES, status: STATUS_FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

impl KindStrategy for ResourceClaim {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn prepare_status(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        // The fields of disabled features were dropped last in 1.34.
        let drops_first = !request.release.since(V1_35);
        if drops_first {
            drop_deallocated(object, old);
        }
        FACTS.prepare_status(object, old, request);
        if !drops_first {
            drop_deallocated(object, old);
        }
    }

    fn validate_in_namespace(
        &self,
        object: &Value,
        old: Option<&Value>,
        namespace: Option<&Value>,
        request: &KindRequest<'_>,
    ) -> ErrorList {
        let error = match old {
            None => admin_access::refusal("ResourceClaim", object, namespace),
            Some(old) if request.subresource == Subresource::Status => {
                admin_access::status_refusal(object, old, namespace)
            }
            // The specification cannot change.
            Some(_) => None,
        };
        error.into_iter().collect()
    }
}

const STATUS_FEATURES: &[Feature] = &[
    Feature {
        used: &[
            &["spec", "devices", "constraints", "*", "distinctAttribute"],
            &["spec", "devices", "requests", "*", "exactly", "capacity"],
            &["spec", "devices", "requests", "*", "firstAvailable", "*", "capacity"],
            &["status", "allocation", "devices", "results", "*", "shareID|consumedCapacity"],
            &["status", "devices", "*", "shareID"],
        ],
        ..feature(
            V1_36,
            &[
                &["status", "allocation", "devices", "results", "*", "shareID|consumedCapacity"],
                &["status", "devices", "*", "shareID"],
            ],
        )
    },
    // Only 1.34 drops the time.
    feature(V1_35, &[&["status", "allocation", "allocationTimestamp"]]),
    feature(
        V1_36,
        &[&["status", "allocation", "devices", "results", "*", "bindingConditions|bindingFailureConditions"]],
    ),
    feature(Minor::NEVER, &[&["status", "allocation", "devices", "results", "*", "skipNodeOperations"]]),
];

#[cfg(test)]
mod tests {
    use crdx_server::cluster_state::{NAMESPACES, UnknownCluster, Wanted};
    use crdx_server::server::{Method, Namespaces, Request, ResponseBody};
    use crdx_value::release::Release;
    use std::sync::Arc;

    #[test]
    fn the_namespace_of_a_claim_has_the_label() {
        let server = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_content_validation().build();
        let post = |path: &str, body: &str| server.handle(&Request::new(Method::Post, path, body));
        let namespace = r#"{"metadata":{"name":"admin","labels":{"resource.kubernetes.io/admin-access":"true"}}}"#;
        assert_eq!(post("/api/v1/namespaces", namespace).code, 201);
        let claim = |namespace: &str| {
            let request = r#"{"name":"r","exactly":{"deviceClassName":"c","adminAccess":true}}"#;
            let claim = format!(r#"{{"metadata":{{"name":"c"}},"spec":{{"devices":{{"requests":[{request}]}}}}}}"#);
            post(&format!("/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims"), &claim)
        };
        assert_eq!(claim("admin").code, 201);
        let refused = claim("default");
        let ResponseBody::Json(answer) = refused.body else { panic!("a status is JSON") };
        let message = "ResourceClaim.resource.k8s.io \"c\" is invalid: spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace";
        assert_eq!((refused.code, answer.str_at(&["message"])), (422, Some(message)));
    }

    #[test]
    fn the_access_of_administrators_depends_on_a_namespace_that_may_be_unknown() {
        let options = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_content_validation();
        let options = options.with_namespaces(Namespaces::Unchecked, &[]).with_cluster_state(Arc::new(UnknownCluster));
        let server = options.build();
        let create = |namespace: &str, request: &str| {
            let claim = format!(
                r#"{{"metadata":{{"name":"c"}},"spec":{{"devices":{{"requests":[{{"name":"r","exactly":{{"deviceClassName":"d.example.com"{request}}}}}]}}}}}}"#
            );
            let path = format!("/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims?dryRun=All");
            let mut response = server.handle(&Request::new(Method::Post, &path, &*claim));
            (response.code, response.trace.take_unknown())
        };
        let access = r#","adminAccess":true"#;
        assert_eq!(create("work", ""), (201, Vec::new()));
        assert_eq!(create("work", access), (201, vec![Wanted::new(NAMESPACES, "", Some("work"))]));
        assert_eq!(create("default", access), (422, Vec::new()), "API servers create it without the label");
    }
}

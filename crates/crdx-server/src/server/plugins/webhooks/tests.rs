//! Tests of the webhooks that are reported for a request.

use crate::policies::authorizer::Rules;
use crate::server::fixture::{ANY, CRDS, KITES as V1, SUBRESOURCES, crd, install, send, v1};
use crate::server::{Method, Response, Server};
use crdx_value::release::Release;
use std::sync::Arc;

const V2: &str = "/apis/toys.example.com/v2/namespaces/ns/kites";
const SCHEMA: &str = r#"{"type":"object","properties":{
    "spec":{"type":"object","properties":{"replicas":{"type":"integer","maximum":9}}},
    "status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}"#;

/// Returns a server with one webhook; `webhook` contains its fields except the name.
fn server(policy_kind: &str, webhook: &str) -> Server {
    let allow = Arc::new(Rules::allow_all());
    let server = Server::builder(Release::NEWEST, 1).with_policies(allow).build();
    let other = format!(r#"{{"name":"v2","served":true,"storage":false,"schema":{{"openAPIV3Schema":{ANY}}}}}"#);
    let versions = [v1(SCHEMA, SUBRESOURCES), other].join(",");
    install(&server, &crd("kites.toys.example.com", &versions));
    let namespace = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ns","labels":{"env":"test"}}}"#;
    assert_eq!(send(&server, Method::Post, "/api/v1/namespaces", namespace).code, 201);
    let path = format!("/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations", policy_kind.to_lowercase());
    let configuration = format!(
        r#"{{"apiVersion":"admissionregistration.k8s.io/v1","kind":"{policy_kind}WebhookConfiguration","metadata":{{"name":"c"}},
        "webhooks":[{{"name":"w.example.com","clientConfig":{{"url":"https://localhost/"}},"sideEffects":"None",
        "admissionReviewVersions":["v1"],{webhook}}}]}}"#
    );
    let stored = send(&server, Method::Post, &path, &configuration);
    assert_eq!(stored.code, 201, "{}", stored.body.message());
    server
}

fn rules(operations: &str, versions: &str, resources: &str) -> String {
    format!(
        r#""rules":[{{"operations":["{operations}"],"apiGroups":["toys.example.com"],"apiVersions":["{versions}"],"resources":["{resources}"]}}]"#
    )
}

fn kite(version: &str, name: &str, labels: &str) -> String {
    format!(
        r#"{{"apiVersion":"toys.example.com/{version}","kind":"Kite","metadata":{{"name":"{name}","labels":{{{labels}}}}},"spec":{{"replicas":2}}}}"#
    )
}

/// Returns the number of webhooks that are reported.
fn called(response: &Response) -> usize {
    assert!(response.code < 300, "{} {}", response.code, response.body.message());
    response.trace.policies.as_ref().map_or(0, |findings| findings.webhooks.len())
}

#[test]
fn rules_name_operations_resources_and_subresources() {
    for policy_kind in ["Validating", "Mutating"] {
        let server = server(policy_kind, &rules("*", "v1", "kites"));
        let a = format!("{V1}/a");
        assert_eq!(called(&send(&server, Method::Post, V1, &kite("v1", "a", ""))), 1);
        assert_eq!(called(&send(&server, Method::Patch, &a, r#"{"spec":{"replicas":3}}"#)), 1);
        assert_eq!(called(&send(&server, Method::Patch, &format!("{a}/status"), r#"{"status":{"replicas":3}}"#)), 0);
        assert_eq!(called(&send(&server, Method::Patch, &format!("{a}/scale"), r#"{"spec":{"replicas":4}}"#)), 0);
        assert_eq!(called(&send(&server, Method::Delete, &a, "")), 1, "{policy_kind}");
        assert_eq!(called(&send(&server, Method::Get, V1, "")), 0);
    }
    let server = server("Validating", &rules("UPDATE", "*", "*/scale"));
    assert_eq!(called(&send(&server, Method::Post, V1, &kite("v1", "a", ""))), 0);
    assert_eq!(called(&send(&server, Method::Patch, &format!("{V1}/a/scale"), r#"{"spec":{"replicas":4}}"#)), 1);
}

#[test]
fn an_object_that_is_invalid_reaches_mutating_webhooks_only() {
    let invalid = kite("v1", "a", "").replace(r#""replicas":2"#, r#""replicas":20"#);
    for (policy_kind, expected) in [("Validating", 0), ("Mutating", 1)] {
        let response = send(&server(policy_kind, &rules("*", "v1", "kites")), Method::Post, V1, &invalid);
        let called = response.trace.policies.map_or(0, |findings| findings.webhooks.len());
        assert_eq!((response.code, called), (422, expected), "{policy_kind}");
    }
}

#[test]
fn other_versions_are_equivalent_unless_exact() {
    for (policy, expected) in [("", 1), (r#","matchPolicy":"Exact""#, 0)] {
        let server = server("Validating", &(rules("*", "v1", "kites") + policy));
        assert_eq!(called(&send(&server, Method::Post, V2, &kite("v2", "a", ""))), expected, "{policy}");
    }
}

#[test]
fn selectors_look_at_the_namespace_and_at_both_objects() {
    let webhook = rules("*", "v1", "kites") + r#","namespaceSelector":{"matchLabels":{"env":"test"}}"#;
    assert_eq!(called(&send(&server("Validating", &webhook), Method::Post, V1, &kite("v1", "a", ""))), 1);
    let other = webhook.replace("test", "production");
    assert_eq!(called(&send(&server("Validating", &other), Method::Post, V1, &kite("v1", "a", ""))), 0);
    let of_object = rules("*", "v1", "kites") + r#","objectSelector":{"matchLabels":{"x":"y"}}"#;
    let server = server("Validating", &of_object);
    assert_eq!(called(&send(&server, Method::Post, V1, &kite("v1", "a", ""))), 0);
    let label = |value: &str| format!(r#"{{"metadata":{{"labels":{{"x":{value}}}}}}}"#);
    let a = format!("{V1}/a");
    assert_eq!(called(&send(&server, Method::Patch, &a, &label(r#""y""#))), 1, "the new object");
    assert_eq!(called(&send(&server, Method::Patch, &a, &label("null"))), 1, "the old object");
    assert_eq!(called(&send(&server, Method::Patch, &a, r#"{"spec":{"replicas":1}}"#)), 0);
}

#[test]
fn a_namespace_that_does_not_exist_is_an_error_where_it_matters() {
    let webhook = rules("CREATE", "v1", "kites") + r#","namespaceSelector":{"matchLabels":{"env":"test"}}"#;
    let nowhere = V1.replace("/ns/", "/nowhere/");
    let response = send(&server("Validating", &webhook), Method::Post, &nowhere, &kite("v1", "a", ""));
    assert_eq!((response.code, response.body.message()), (404, "namespaces \"nowhere\" not found"));
}

#[test]
fn match_conditions_decide() {
    let with = |condition: &str, more: &str| {
        let condition = condition.replace('"', "\\\"");
        rules("*", "v1", "kites") + &format!(r#","matchConditions":[{{"name":"c","expression":"{condition}"}}]{more}"#)
    };
    for (condition, expected) in [
        ("object.spec.replicas == 2", 1),
        ("object.spec.replicas > 2", 0),
        ("request.operation == 'CREATE' && request.userInfo.username == 'kubernetes-admin'", 1),
        ("oldObject != null", 0),
        ("authorizer.group('a').resource('b').check('get').allowed()", 1),
        ("request.kind.version == 'v1' && request.resource.version == 'v2'", 0),
    ] {
        let server = server("Mutating", &with(condition, ""));
        assert_eq!(called(&send(&server, Method::Post, V1, &kite("v1", "a", ""))), expected, "{condition}");
    }
    let failing = with("object.spec.missing == 1", "");
    let refused = send(&server("Validating", &failing), Method::Post, V1, &kite("v1", "a", ""));
    let reason = "kites.toys.example.com \"a\" is forbidden: expression 'object.spec.missing == 1' resulted in error: no such key: missing";
    assert_eq!((refused.code, refused.body.message()), (403, reason));
    let ignored = with("object.spec.missing == 1", r#","failurePolicy":"Ignore""#);
    assert_eq!(called(&send(&server("Validating", &ignored), Method::Post, V1, &kite("v1", "a", ""))), 0);
    // If the rule matches an equivalent version, `request.kind` is that of the rule and `request.resource` that of the
    // request.
    let converted = with("request.kind.version == 'v1' && request.resource.version == 'v2'", "");
    assert_eq!(called(&send(&server("Validating", &converted), Method::Post, V2, &kite("v2", "a", ""))), 1);
}

#[test]
fn definitions_reach_webhooks_and_configurations_do_not() {
    let all = r#""rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]"#;
    for policy_kind in ["Validating", "Mutating"] {
        let server = server(policy_kind, all);
        let other = crd("bikes.toys.example.com", &v1(SCHEMA, SUBRESOURCES));
        assert_eq!(called(&send(&server, Method::Post, CRDS, &other)), 1, "{policy_kind}");
        let path =
            format!("/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations/c", policy_kind.to_lowercase());
        assert_eq!(called(&send(&server, Method::Delete, &path, "")), 0);
    }
}

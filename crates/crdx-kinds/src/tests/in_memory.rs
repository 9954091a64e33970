//! Values that an object has in memory only, because its encoded form omits them: empty lists, and fractions of
//! seconds.

use super::*;

/// The managers and the fields that they own.
fn owners(object: &Value) -> Vec<(String, String)> {
    let all = object.at(&["metadata", "managedFields"]).and_then(Value::as_array).unwrap();
    let owner = |entry: &Value| {
        let fields = entry.get("fieldsV1").map(crdx_value::json::to_string).unwrap();
        (entry.str_at(&["manager"]).unwrap().to_owned(), fields)
    };
    all.iter().map(owner).collect()
}

/// Answers of a real server.
#[test]
fn an_empty_list_inside_an_atomic_list_changes_its_owner() {
    let server = validating();
    let path = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
    let role = |rest: &str| {
        format!(
            r#"{{"metadata":{{"name":"r"}},"rules":[{{"apiGroups":[""],"resources":["pods"],"verbs":["get"]{rest}}}]}}"#
        )
    };
    created(&server, &format!("{path}?fieldManager=a"), &role(""));
    let manager = |rest: &str| {
        let path = format!("{path}/r?fieldManager=b&dryRun=All");
        let owners = owners(&body(&send(&server, Method::Put, &path, &role(rest))));
        assert_eq!(owners.len(), 1);
        owners[0].clone()
    };
    let rules = r#"{"f:rules":{}}"#.to_owned();
    assert_eq!(manager(""), ("a".to_owned(), rules.clone()));
    assert_eq!(manager(r#","resourceNames":null"#), ("a".to_owned(), rules.clone()));
    assert_eq!(manager(r#","resourceNames":[]"#), ("b".to_owned(), rules));
}

/// Answers of real servers.
#[test]
fn times_are_compared_with_their_fractions() {
    let refused = |minor: u16, status: &str| {
        let options = crate::builder(Release::new(minor).unwrap(), 1).with_built_in_kinds().with_content_validation();
        let (server, path) = (options.with_generated_fields().build(), "/apis/batch/v1/namespaces/default/jobs");
        let job = r#"{"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"a"}]}}}}"#;
        let started = r#"{"status":{"startTime":"2020-01-01T00:00:00Z"}}"#;
        created(&server, path, job);
        let status_path = format!("{path}/j/status");
        assert_eq!(merge(&server, &status_path, started).code, 200);
        merge(&server, &status_path, status).body.message().to_owned()
    };
    let later = r#"{"status":{"startTime":"2020-01-01T00:00:00.25Z"}}"#;
    assert!(refused(37, later).ends_with(r#""2020-01-01T00:00:00Z": field is immutable for unsuspended job once set"#));
    assert_eq!(refused(37, r#"{"status":{"startTime":"2020-01-01T01:00:00+01:00"}}"#), "");
    let completed = r#"{"status":{"completionTime":"2020-01-01T00:00:00.25Z"}}"#;
    let text = "status.completionTime: Invalid value: 2020-01-01 00:00:00.25 +0000 UTC: cannot set completionTime";
    assert!(refused(33, completed).contains(text), "{}", refused(33, completed));
}

/// Answers of a real server.
#[test]
fn the_fraction_of_a_deprecated_time_is_shown_before_1_34() {
    let options = crate::builder(Release::new(33).unwrap(), 1).with_built_in_kinds().with_content_validation();
    let (server, path) = (options.build(), "/apis/events.k8s.io/v1/namespaces/default/events");
    let event = r#"{"metadata":{"name":"e"},"eventTime":"2020-01-01T00:00:00.000000Z","reportingController":"a.b/c",
        "reportingInstance":"i","action":"a","reason":"r","type":"Normal","regarding":{"namespace":"default"}}"#;
    created(&server, path, event);
    let message = merge(&server, &format!("{path}/e"), r#"{"deprecatedFirstTimestamp":"2020-01-01T00:00:00.25Z"}"#);
    let text = "firstTimestamp: Invalid value: 2020-01-01 00:00:00.25 +0000 UTC: field is immutable";
    assert_eq!(message.body.message(), format!(r#"Event "e" is invalid: {text}"#));
}

/// Answers of real servers.
#[test]
fn a_deletion_time_is_shown_with_its_fraction_before_1_34() {
    let refused = |minor: u16, time: &str| {
        let options = crate::builder(Release::new(minor).unwrap(), 1).with_built_in_kinds().with_content_validation();
        let (server, path) = (options.with_generated_fields().build(), "/api/v1/namespaces/default/configmaps");
        created(&server, path, r#"{"metadata":{"name":"a"}}"#);
        let patch = format!(r#"{{"metadata":{{"deletionTimestamp":"{time}"}}}}"#);
        merge(&server, &format!("{path}/a"), &patch).body.message().to_owned()
    };
    let fraction = "2026-01-02T03:04:05.000006Z";
    let text = |shown: &str| {
        format!(r#"ConfigMap "a" is invalid: metadata.deletionTimestamp: Invalid value: {shown}: field is immutable"#)
    };
    assert_eq!(refused(32, fraction), text("2026-01-02 03:04:05.000006 +0000 UTC"));
    assert_eq!(refused(32, "2026-01-02T03:04:05Z"), text("2026-01-02 03:04:05 +0000 UTC"));
    assert_eq!(refused(34, fraction), text(r#""2026-01-02T03:04:05Z""#));
}

#[test]
fn an_event_of_its_own_group_is_named_by_its_internal_type() {
    let path = "/apis/events.k8s.io/v1/namespaces/default/events";
    let message = send(&validating(), Method::Post, path, r#"{"metadata":{"name":"e"}}"#).body.message().to_owned();
    assert!(message.starts_with(r#"Event "e" is invalid: "#), "{message}");
}

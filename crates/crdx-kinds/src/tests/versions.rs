//! Objects that are served in several versions or groups, and creates by PUT. The answers are those of kube-apiserver 1.37.2.

use super::*;

const EVENTS: &str = "/api/v1/namespaces/default/events";
const NEW_EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";
const SERVICES: &str = "/api/v1/namespaces/default/services";
const APPLY: &str = "application/apply-patch+yaml";

fn validating() -> Server {
    let builder = crate::builder(Release::NEWEST, 1).with_built_in_kinds().with_content_validation();
    builder.with_generated_fields().with_namespaces(Namespaces::Created, &[]).build()
}

fn with_flow_control_of_two_versions() -> Server {
    crate::builder(Release::OLDEST, 1).with_built_in_kinds().with_content_validation().build()
}

fn message(response: &Response) -> (u16, String) {
    (response.code, body(response).str_at(&["message"]).unwrap_or_default().to_owned())
}

/// An object that a read returns, without its metadata.
fn content(server: &Server, path: &str) -> Value {
    let mut object = Value::clone(&body(&send(server, Method::Get, path, "")));
    object.as_object_mut().unwrap().remove("metadata");
    object
}

fn read(text: &str) -> Value {
    json::read(text.as_bytes()).unwrap()
}

const OLD_EVENT: &str = r#"{"apiVersion":"v1","kind":"Event","metadata":{"name":"e","namespace":"default"},
    "involvedObject":{"kind":"Pod","name":"a","namespace":"default"},"reason":"x","message":"m"}"#;
const NEW_CONTENT: &str = r#"{"kind":"Event","apiVersion":"events.k8s.io/v1","eventTime":null,"reason":"x",
    "regarding":{"kind":"Pod","namespace":"default","name":"a"},"note":"m","deprecatedSource":{},
    "deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null}"#;
const OLD_CONTENT: &str = r#"{"kind":"Event","apiVersion":"v1","involvedObject":{"kind":"Pod","namespace":"default","name":"a"},
    "reason":"x","message":"m","source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,
    "reportingComponent":"","reportingInstance":""}"#;

#[test]
fn an_event_has_the_fields_of_the_type_of_each_group() {
    let server = validating();
    assert_eq!(send(&server, Method::Post, EVENTS, OLD_EVENT).code, 201);
    assert_eq!(content(&server, &format!("{NEW_EVENTS}/e")), read(NEW_CONTENT));
    assert_eq!(content(&server, &format!("{EVENTS}/e")), read(OLD_CONTENT));
}

#[test]
fn a_stored_event_is_that_of_the_core_group() {
    let server = validating();
    let mut event = read(NEW_CONTENT);
    event.insert_at(&["metadata", "name"], "e".into());
    server.seed("events.events.k8s.io", "default", event).unwrap();
    assert_eq!(content(&server, &format!("{EVENTS}/e")), read(OLD_CONTENT));
    assert_eq!(content(&server, &format!("{NEW_EVENTS}/e")), read(NEW_CONTENT));
}

#[test]
fn an_event_is_immutable_by_either_group() {
    let server = validating();
    assert_eq!(send(&server, Method::Post, EVENTS, OLD_EVENT).code, 201);
    let applied = r#"{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e","namespace":"default"},"note":"other"}"#;
    let refused = answer(&server, Method::Patch, &format!("{NEW_EVENTS}/e?fieldManager=m"), APPLY, applied);
    let expected = r#"Event "e" is invalid: message: Invalid value: "other": field is immutable"#;
    assert_eq!(message(&refused), (422, expected.to_owned()));
}

#[test]
fn a_stored_object_may_have_any_served_version() {
    let server = with_flow_control_of_two_versions();
    let level = |version: &str| {
        read(&format!(
            r#"{{"apiVersion":"flowcontrol.apiserver.k8s.io/{version}","kind":"PriorityLevelConfiguration",
            "metadata":{{"name":"a"}},"spec":{{"type":"Limited","limited":{{"limitResponse":{{"type":"Reject"}}}}}}}}"#
        ))
    };
    let definition = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io";
    for stored in ["v1", "v1beta3"] {
        server.seed(definition, "", level(stored)).unwrap();
        for version in ["v1", "v1beta3"] {
            let path = format!("/apis/flowcontrol.apiserver.k8s.io/{version}/prioritylevelconfigurations/a");
            let content = content(&server, &path);
            let api_version = format!("flowcontrol.apiserver.k8s.io/{version}");
            assert_eq!(content.str_at(&["apiVersion"]), Some(api_version.as_str()), "{stored}");
            let shares = content.at(&["spec", "limited", "nominalConcurrencyShares"]);
            assert_eq!(shares, Some(&Value::Int(30)), "{stored} as {version}");
        }
    }
    let refused = server.seed(definition, "", level("v1beta1")).unwrap_err();
    assert_eq!(refused, SeedError::NoVersion("flowcontrol.apiserver.k8s.io/v1beta1".to_owned()));
}

#[test]
fn zero_shares_of_the_old_version_have_an_annotation() {
    let server = with_flow_control_of_two_versions();
    let level = r#"{"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"PriorityLevelConfiguration","metadata":{"name":"a"},
        "spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0,"limitResponse":{"type":"Reject"}}}}"#;
    let path = |version: &str| format!("/apis/flowcontrol.apiserver.k8s.io/{version}/prioritylevelconfigurations");
    assert_eq!(send(&server, Method::Post, &path("v1"), level).code, 201);
    let shown = body(&send(&server, Method::Get, &format!("{}/a", path("v1beta3")), ""));
    let annotation = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
    assert_eq!(shown.str_at(&["metadata", "annotations", annotation]), Some(""));
    assert_eq!(shown.at(&["spec", "limited", "nominalConcurrencyShares"]), Some(&Value::Int(0)));
    // A write of the object as it is shown is accepted, although a write of the annotation in v1 is not.
    let written = send(&server, Method::Put, &format!("{}/a", path("v1beta3")), &crdx_value::json::to_string(&shown));
    assert_eq!(written.code, 200, "{}", message(&written).1);
    let with_annotation = level.replace(r#""name":"a""#, &format!(r#""name":"a","annotations":{{"{annotation}":""}}"#));
    assert_eq!(send(&server, Method::Put, &format!("{}/a", path("v1")), &with_annotation).code, 422);
}

#[test]
fn a_put_creates_an_object_of_some_kinds() {
    let server = validating();
    let service = |metadata: &str, spec: &str| {
        format!(r#"{{"apiVersion":"v1","kind":"Service","metadata":{{"name":"s"{metadata}}},"spec":{spec}}}"#)
    };
    let path = format!("{SERVICES}/s");
    let put = |text: &str| message(&send(&server, Method::Put, &path, text));
    let ports = r#"{"ports":[{"port":80}]}"#;
    let with_uid = put(&service(r#","uid":"abc""#, ports));
    assert_eq!(with_uid.0, 409);
    assert!(
        with_uid.1.ends_with("Precondition failed: UID in precondition: abc, UID in object meta: "),
        "{}",
        with_uid.1
    );
    let revision = "strconv.ParseUint: parsing \"abc\": invalid syntax".to_owned();
    assert_eq!(put(&service(r#","resourceVersion":"abc""#, ports)), (500, revision));
    let invalid = "Service \"s\" is invalid: spec.ports: Required value".to_owned();
    assert_eq!(put(&service("", "{}")), (422, invalid));
    assert_eq!(put(&service(r#","resourceVersion":"5""#, ports)).0, 201);
    assert_eq!(put(&service("", ports)).0, 200);
    let elsewhere = send(&server, Method::Put, "/api/v1/namespaces/nope/services/s", &service("", ports));
    assert_eq!(message(&elsewhere), (404, "namespaces \"nope\" not found".to_owned()));
    let map = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}}"#;
    assert_eq!(send(&server, Method::Put, "/api/v1/namespaces/default/configmaps/m", map).code, 404);
    // Only a PUT and an apply create.
    let merged = answer(&server, Method::Patch, &format!("{SERVICES}/z"), "application/merge-patch+json", "{}");
    assert_eq!(message(&merged), (404, "services \"z\" not found".to_owned()));
}

#[test]
fn a_write_of_the_status_creates_a_service_without_an_address() {
    let server = validating();
    let service = r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[{"port":80}]},
        "status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}"#;
    assert_eq!(send(&server, Method::Put, &format!("{SERVICES}/s/status"), service).code, 201);
    let expected = r#"{"kind":"Service","apiVersion":"v1","spec":{"ports":[{"protocol":"TCP","port":80,"targetPort":80}],
        "type":"ClusterIP","sessionAffinity":"None","internalTrafficPolicy":"Cluster"},"status":{"loadBalancer":{}}}"#;
    assert_eq!(content(&server, &format!("{SERVICES}/s")), read(expected));
    let applied = answer(
        &server,
        Method::Patch,
        &format!("{SERVICES}/t/status?fieldManager=m"),
        APPLY,
        &service.replace("\"s\"", "\"t\""),
    );
    assert_eq!(applied.code, 201);
    let headless = service.replace(r#"{"ports""#, r#"{"clusterIP":"None","ports""#);
    let refused = send(&server, Method::Put, &format!("{SERVICES}/h/status"), &headless.replace("\"s\"", "\"h\""));
    assert_eq!(message(&refused), (422, "Service \"h\" is invalid: spec.clusterIPs: Required value".to_owned()));
}

#[test]
fn owners_of_a_version_without_type_are_dropped() {
    for version in ["apps/v9", "v9", "apps/v1", ""] {
        let server = validating();
        let map = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"m","managedFields":[{{"manager":"x","operation":"Update",
            "apiVersion":"{version}","fieldsType":"FieldsV1","time":"2026-01-01T00:00:00Z","fieldsV1":{{"f:data":{{"f:a":{{}}}}}}}}]}},
            "data":{{"a":"b"}}}}"#
        );
        let path = "/api/v1/namespaces/default/configmaps";
        let created = send(&server, Method::Post, &format!("{path}?fieldManager=one"), &map);
        let created = body(&created);
        let owners = created.at(&["metadata", "managedFields"]).and_then(Value::as_array).unwrap();
        let names: Vec<_> = owners.iter().map(|owner| owner.str_at(&["manager"])).collect();
        assert_eq!(names, [Some("one")], "{version}");
        let applied = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"a":"c"}}"#;
        let refused = answer(&server, Method::Patch, &format!("{path}/m?fieldManager=two"), APPLY, applied);
        let conflict = "Apply failed with 1 conflict: conflict with \"one\" using v1: .data.a".to_owned();
        assert_eq!(message(&refused), (409, conflict), "{version}");
    }
}

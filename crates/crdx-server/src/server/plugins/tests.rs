use super::cluster::ClusterView;
use crate::cluster_state::{Lookup, NAMESPACES};
use crate::server::admission::*;
use crate::server::fixture::{CRDS, KITES, SUBRESOURCES, crd, install, send, v1};
use crate::server::http::status::Refusal;
use crate::server::scope::{GroupVersionKind, GroupVersionResource, RequestScope};
use crate::server::strategy::resources::Resources;
use crate::server::{Method, Request, Response, ResponseBody, Server, UserInfo};
use crdx_text::json;
use crdx_value::Value;
use crdx_value::object;
use std::sync::{Arc, Mutex};

const SCHEMA: &str = r#"{"type":"object","properties":{
    "spec":{"type":"object","properties":{"replicas":{"type":"integer"},"colour":{"type":"string","default":"red"},
    "length":{"type":"integer","maximum":9}}},
    "status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}"#;

/// The arguments of plugin calls, one line per call.
type Calls = Arc<Mutex<Vec<String>>>;

/// A plugin that records its calls and acts as the label `do` of the object requests.
#[derive(Debug)]
struct Recorder {
    calls: Calls,
    resources: Arc<Resources>,
}

impl Recorder {
    fn record(&self, phase: &str, attributes: &Attributes<'_>, object: Option<&Value>) {
        let Attributes { operation, resource, subresource, kind, namespace, name, old_object, .. } = attributes;
        let kind_of = |object: Option<&Value>| object.and_then(|o| o.str_at(&["kind"])).unwrap_or("-").to_owned();
        let line = format!(
            "{phase} {} {}/{subresource} {} {namespace}/{name} new {} old {} options {}",
            operation.as_str(),
            resource.resource,
            kind.kind,
            kind_of(object),
            kind_of(*old_object),
            attributes.options_value().str_at(&["kind"]).unwrap_or_default(),
        );
        self.calls.lock().unwrap().push(line);
    }
}

impl Plugin for Recorder {
    fn handles(&self, _: Operation, _: RequestScope<'_>) -> bool {
        true
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        _: &crate::server::http::calls::Calls,
        _: &mut AdmissionReport,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        self.record("mutate", attributes, Some(object));
        match object.str_at(&["metadata", "labels", "do"]) {
            Some("replace-spec") => {
                let spec = crdx_value::object([("length", Value::Int(3)), ("unknown", Value::Int(1))]);
                object.as_object_mut().unwrap().insert("spec".to_owned(), spec);
                Ok(Mutation::Changed)
            }
            Some("spoil-managed-fields") => {
                let entries = Value::Array(vec![crdx_value::object([("operation", "Sing")])]);
                crate::server::metadata::set(object, "managedFields", Some(entries));
                Ok(Mutation::Changed)
            }
            _ => Ok(Mutation::Unchanged),
        }
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        _: &crate::server::http::calls::Calls,
        report: &mut AdmissionReport,
    ) -> Result<(), Refusal> {
        self.record("validate", attributes, object);
        if object.and_then(|o| o.str_at(&["metadata", "labels", "do"])) == Some("refuse") {
            report.warnings.push("look out".to_owned());
            let calls = crate::server::http::calls::Calls::default();
            let cluster = ClusterView::new(&self.resources, attributes.given, &calls);
            let kites = cluster.resource_of_kind("toys.example.com", "v1", "Kite").unwrap();
            let count = cluster.list(&kites, "ns").unwrap().len();
            return Err(Refusal::bad_request(format!("there are {count} kites")));
        }
        Ok(())
    }
}

fn kites() -> String {
    crd("kites.toys.example.com", &v1(SCHEMA, SUBRESOURCES))
}

fn server() -> (Server, Calls) {
    let calls = Calls::default();
    let mut server = Server::new(crdx_value::release::Release::NEWEST, 1);
    let recorder = Recorder { calls: Arc::clone(&calls), resources: Arc::clone(server.resources()) };
    server.endpoints.backend.admission = Chain::new(vec![Box::new(recorder)]);
    install(&server, &kites());
    let definition = "customresourcedefinitions/ CustomResourceDefinition /kites.toys.example.com";
    let line = |phase| format!("{phase} CREATE {definition} new CustomResourceDefinition old - options CreateOptions");
    assert_eq!(seen(&calls), [line("mutate"), line("validate")]);
    (server, calls)
}

fn apply(server: &Server, path: &str, body: &str) -> u16 {
    let request = Request {
        content_type: Some("application/apply-patch+yaml".to_owned()),
        ..Request::new(Method::Patch, &format!("{path}?fieldManager=me"), body)
    };
    server.handle(&request).code
}

fn kite(name: &str, label: &str) -> String {
    format!(
        r#"{{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{{{name},"labels":{{"do":"{label}"}}}},"spec":{{"replicas":2}}}}"#
    )
}

fn body(response: &Response) -> &Value {
    match &response.body {
        ResponseBody::Json(value) => value,
        ResponseBody::Text(text) => panic!("{text}"),
    }
}

fn seen(calls: &Calls) -> Vec<String> {
    std::mem::take(&mut calls.lock().unwrap())
}

#[test]
fn plugins_are_called_before_and_after_validation() {
    let (server, calls) = server();
    let a = format!("{KITES}/a");
    let named = kite(r#""name":"a""#, "");
    assert_eq!(send(&server, Method::Post, KITES, &named).code, 201);
    let create = [
        "mutate CREATE kites/ Kite ns/a new Kite old - options CreateOptions",
        "validate CREATE kites/ Kite ns/a new Kite old - options CreateOptions",
    ];
    assert_eq!(seen(&calls), create);
    let update = [
        "mutate UPDATE kites/ Kite ns/a new Kite old Kite options UpdateOptions",
        "validate UPDATE kites/ Kite ns/a new Kite old Kite options UpdateOptions",
    ];
    let stored = json::read(named.as_bytes()).unwrap();
    let mut updated = stored.clone();
    let revision =
        body(&send(&server, Method::Get, &a, "")).str_at(&["metadata", "resourceVersion"]).unwrap().to_owned();
    crate::server::metadata::set_text(&mut updated, "resourceVersion", &revision);
    assert_eq!(server.handle(&Request::new(Method::Put, &a, updated)).code, 200);
    assert_eq!(seen(&calls), update);
    assert_eq!(send(&server, Method::Patch, &a, r#"{"spec":{"length":1}}"#).code, 200);
    assert_eq!(seen(&calls), update);
    assert_eq!(
        apply(&server, &a, r#"{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"a"}}"#),
        200
    );
    assert_eq!(seen(&calls), update);
    assert_eq!(apply(&server, &format!("{KITES}/b"), &kite(r#""name":"b""#, "")), 201);
    assert_eq!(seen(&calls), create.map(|line| line.replace("ns/a", "ns/b")));
    assert_eq!(send(&server, Method::Patch, &format!("{a}/status"), r#"{"status":{"replicas":1}}"#).code, 200);
    assert_eq!(seen(&calls), update.map(|line| line.replace("kites/", "kites/status")));
    assert_eq!(send(&server, Method::Patch, &format!("{a}/scale"), r#"{"spec":{"replicas":4}}"#).code, 200);
    assert_eq!(seen(&calls), update.map(|line| line.replace("kites/", "kites/scale").replace("Kite", "Scale")));
    assert_eq!(send(&server, Method::Get, &a, "").code, 200);
    assert_eq!(seen(&calls), [""; 0]);
    assert_eq!(send(&server, Method::Delete, &a, "").code, 200);
    assert_eq!(seen(&calls), ["validate DELETE kites/ Kite ns/a new - old Kite options DeleteOptions"]);
    assert_eq!(send(&server, Method::Delete, KITES, "").code, 200);
    assert_eq!(seen(&calls), ["validate DELETE kites/ Kite ns/ new - old Kite options DeleteOptions"]);
}

#[test]
fn a_generated_name_is_known_after_validation_only() {
    let (server, calls) = server();
    assert_eq!(send(&server, Method::Post, KITES, &kite(r#""generateName":"k-""#, "")).code, 201);
    let calls = seen(&calls);
    assert!(calls[0].contains(" ns/ new"), "{calls:?}");
    assert!(calls[1].contains(" ns/k-"), "{calls:?}");
}

#[test]
fn a_mutated_object_is_defaulted_and_pruned_when_it_is_stored() {
    let (server, _) = server();
    let created = send(&server, Method::Post, KITES, &kite(r#""name":"a""#, "replace-spec"));
    assert_eq!(created.code, 201);
    let stored = send(&server, Method::Get, &format!("{KITES}/a"), "");
    let spec = object([("colour", Value::from("red")), ("length", Value::Int(3))]);
    assert_eq!(body(&stored).at(&["spec"]), Some(&spec));
    assert_eq!(body(&created).at(&["spec"]), Some(&spec));
}

#[test]
fn a_schema_error_comes_before_a_refusal_and_a_refusal_before_a_taken_name() {
    let (server, _) = server();
    assert_eq!(send(&server, Method::Post, KITES, &kite(r#""name":"a""#, "")).code, 201);
    let refused = send(&server, Method::Post, KITES, &kite(r#""name":"a""#, "refuse"));
    assert_eq!((refused.code, body(&refused).str_at(&["message"])), (400, Some("there are 1 kites")));
    assert_eq!(refused.warnings, ["look out"]);
    let malformed = kite(r#""name":"a""#, "refuse").replace(r#""replicas":2"#, r#""length":10"#);
    let invalid = send(&server, Method::Post, KITES, &malformed);
    assert_eq!((invalid.code, invalid.warnings.len()), (422, 0));
}

#[test]
fn invalid_managed_fields_of_a_plugin_are_undone_with_a_warning() {
    let (server, _) = server();
    let created = send(&server, Method::Post, KITES, &kite(r#""name":"a""#, "spoil-managed-fields"));
    assert_eq!(created.code, 201);
    assert!(created.warnings[0].contains("invalid state after admission"), "{:?}", created.warnings);
    let managed = body(&created).at(&["metadata", "managedFields"]).and_then(Value::as_array).unwrap();
    assert_eq!(managed[0].str_at(&["operation"]), Some("Update"));
}

#[test]
fn nothing_is_created_in_a_namespace_that_does_not_exist() {
    let options = Server::builder(crdx_value::release::Release::NEWEST, 1);
    let server = options.with_namespaces(crate::server::Namespaces::Created, &[]).build();
    install(&server, &kites());
    let refused = send(&server, Method::Post, KITES, &kite(r#""name":"a""#, ""));
    assert_eq!((refused.code, body(&refused).str_at(&["message"])), (404, Some("namespaces \"ns\" not found")));
}

#[test]
fn options_are_those_of_the_request() {
    use crate::server::http::delete_options::{DeleteOptions, Propagation};
    let user = UserInfo::default();
    let gvr = GroupVersionResource { group: "g", version: "v1", resource: "rs" };
    let kind = GroupVersionKind { group: "g", version: "v1", kind: "R" };
    let options = DeleteOptions {
        dry_run: true,
        grace_period_seconds: Some(0),
        propagation: Some(Propagation::Orphan),
        uid: Some("u".to_owned()),
        ..DeleteOptions::default()
    };
    let given = crate::server::http::given_state::GivenState::default();
    let attributes = Attributes {
        operation: Operation::Delete,
        resource: gvr,
        subresource: "",
        kind,
        namespace: "",
        name: "",
        old_object: None,
        empties: None,
        given: &given,
        is_patched: false,
        options: OperationOptions::Delete(&options),
        dry_run: true,
        user: &user,
        now: crate::server::Timestamp::default(),
    };
    assert_eq!((attributes.user.username.as_str(), attributes.user.groups.len()), ("kubernetes-admin", 2));
    assert_eq!(
        crdx_value::json::to_string(&attributes.options_value()),
        r#"{"apiVersion":"meta.k8s.io/v1","dryRun":["All"],"gracePeriodSeconds":0,"kind":"DeleteOptions","preconditions":{"uid":"u"},"propagationPolicy":"Orphan"}"#
    );
}

#[test]
fn policies_in_files_are_enforced_and_not_shown() {
    let read = |text: &str| crdx_text::json::read(text.as_bytes()).unwrap();
    let policy = read(
        r#"{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"a.static.k8s.io"},
        "spec":{"failurePolicy":"Fail","matchConstraints":{"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"resourceRules":[
        {"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*"]}]},"validations":[{"expression":"object.metadata.name != 'denied'"}]}}"#,
    );
    let binding = read(
        r#"{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"a.static.k8s.io"},
        "spec":{"policyName":"a.static.k8s.io","validationActions":["Deny"]}}"#,
    );
    let allow = Arc::new(crate::policies::authorizer::Rules::allow_all());
    let builder = Server::builder(crdx_value::release::Release::NEWEST, 1).with_policies(allow);
    let server = builder.with_static_policies(vec![policy, binding]).build();
    let create = |path: &str, name: &str| {
        let object =
            format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{{"policyName":"p","validationActions":["Deny"]}}}}"#);
        send(&server, Method::Post, path, &object).code
    };
    let maps = "/api/v1/namespaces/default/configmaps";
    assert_eq!((create(maps, "allowed"), create(maps, "denied")), (201, 422));
    // They also apply to policies and bindings, unlike those of the API.
    let bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
    assert_eq!((create(bindings, "allowed"), create(bindings, "denied")), (201, 422));
    let list = send(&server, Method::Get, "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", "");
    let ResponseBody::Json(list) = list.body else { panic!("no list") };
    assert_eq!(list.get("items").and_then(Value::as_array).map(<[Value]>::len), Some(0));
    assert_eq!(create(maps, "denied"), 422, "a stored binding changes nothing");
}

#[test]
fn plugins_find_resources_and_objects() {
    let options = Server::builder(crdx_value::release::Release::NEWEST, 1);
    let server = options.with_namespaces(crate::server::Namespaces::Unchecked, &[]).build();
    install(&server, &kites());
    assert_eq!(send(&server, Method::Post, KITES, &kite(r#""name":"a""#, "")).code, 201);
    let calls = crate::server::http::calls::Calls::default();
    let given = crate::server::http::given_state::GivenState::default();
    let cluster = ClusterView::new(server.resources(), &given, &calls);
    let namespace = |name: &str| cluster.object(NAMESPACES, "", name).unwrap();
    assert_eq!(namespace("default").found().unwrap().str_at(&["metadata", "name"]), Some("default"));
    assert_eq!(namespace("ns"), Lookup::Absent);
    assert!(cluster.resource("", "v1", "namespaces").is_some_and(|namespaces| !namespaces.is_namespaced()));
    let [kites] = &cluster.versions("toys.example.com", "kites")[..] else { panic!("one version") };
    assert_eq!((kites.resource().resource, kites.kind().kind, kites.is_namespaced()), ("kites", "Kite", true));
    let mut found = Arc::unwrap_or_clone(kites.get("ns", "a", &calls).unwrap().unwrap());
    assert!(kites.get("other", "a", &calls).unwrap().is_none());
    found.as_object_mut().unwrap().insert("spec".to_owned(), object([("x", Value::Int(1))]));
    kites.default(&mut found).unwrap();
    assert_eq!(found.str_at(&["spec", "colour"]), Some("red"));
    assert_eq!(kites.convert(&found, &calls).unwrap(), found);
    assert!(kites.merge_type().resolve().map.is_some());
}

#[test]
fn invalid_policies_are_refused_if_validation_is_enabled() {
    let policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    let policy = |expression: &str| {
        format!(
            r#"{{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{{"name":"p"}},
            "spec":{{"matchConstraints":{{"resourceRules":[{{"operations":["*"],"apiGroups":["a"],"apiVersions":["a"],
            "resources":["a"]}}]}},"validations":[{{"expression":"{expression}"}}]}}}}"#
        )
    };
    let server = || {
        let allow = Arc::new(crate::policies::authorizer::Rules::allow_all());
        Server::builder(crdx_value::release::Release::NEWEST, 1).with_policies(allow)
    };
    let send = |server: &Server, body: &str| server.handle(&Request::new(Method::Post, policies, body));
    assert_eq!(send(&server().build(), &policy("1 +")).code, 201);
    let strict = server().with_policy_validation().build();
    let refused = send(&strict, &policy("object.a"));
    let ResponseBody::Json(status) = &refused.body else { panic!() };
    assert_eq!(
        (refused.code, status.str_at(&["message"]).unwrap()),
        (
            422,
            "ValidatingAdmissionPolicy.admissionregistration.k8s.io \"p\" is invalid: spec.validations[0].expression: Invalid value: \
         \"object.a\": must evaluate to bool but got dyn"
        )
    );
    let unnamed = policy("true").replace("\"p\"", "\"!!!!\"");
    let refused = send(&strict, &unnamed);
    let ResponseBody::Json(status) = &refused.body else { panic!() };
    assert!(status.str_at(&["message"]).unwrap().contains("metadata.name: Invalid value: \"!!!!\":"), "{status:?}");
    assert_eq!(send(&strict, &policy("true")).code, 201, "selectors and policies have defaults");
}

#[test]
fn a_mutating_policy_changes_a_crd() {
    let created = |expression: &str| {
        let allow = Arc::new(crate::policies::authorizer::Rules::allow_all());
        let server = Server::builder(crdx_value::release::Release::NEWEST, 1).with_policies(allow).build();
        let policy = format!(
            r#"{{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingAdmissionPolicy","metadata":{{"name":"p"}},
            "spec":{{"reinvocationPolicy":"Never","matchConstraints":{{"resourceRules":[{{"operations":["CREATE"],
            "apiGroups":["apiextensions.k8s.io"],"apiVersions":["*"],"resources":["*"]}}]}},"mutations":[{expression}]}}}}"#
        );
        let binding = r#"{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingAdmissionPolicyBinding",
            "metadata":{"name":"b"},"spec":{"policyName":"p"}}"#;
        for (resource, body) in [("policies", &*policy), ("policybindings", binding)] {
            let path = format!("/apis/admissionregistration.k8s.io/v1/mutatingadmission{resource}");
            assert_eq!(send(&server, Method::Post, &path, body).code, 201);
        }
        send(&server, Method::Post, CRDS, &kites())
    };
    let apply = |text: &str| {
        created(&format!(r#"{{"patchType":"ApplyConfiguration","applyConfiguration":{{"expression":"{text}"}}}}"#))
    };
    let patch = |text: &str| {
        created(&format!(r#"{{"patchType":"JSONPatch","jsonPatch":{{"expression":"[JSONPatch{{{text}}}]"}}}}"#))
    };
    let labelled = apply("Object{metadata: Object.metadata{labels: {'a': 'b'}}}");
    assert_eq!((labelled.code, body(&labelled).str_at(&["metadata", "labels", "a"])), (201, Some("b")));
    let cluster = patch("op: 'replace', path: '/spec/scope', value: 'Cluster'");
    assert_eq!((cluster.code, body(&cluster).str_at(&["spec", "scope"])), (201, Some("Cluster")));
    for (refused, code, message) in [
        (
            apply("Object{spec: Object.spec{versions: []}}"),
            403,
            "policy 'p' with binding 'b' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.versions",
        ),
        (
            patch("op: 'replace', path: '/spec/scope', value: 5"),
            500,
            "Internal error occurred: json: cannot unmarshal number into Go struct field CustomResourceDefinitionSpec.spec.scope of type v1.ResourceScope",
        ),
        (
            patch("op: 'add', path: '/spec/unknown', value: 1"),
            500,
            "Internal error occurred: strict decoding error: unknown field \"spec.unknown\"",
        ),
    ] {
        assert_eq!((refused.code, body(&refused).str_at(&["message"])), (code, Some(message)));
    }
}

/// A server with the CRD of kites and these expressions of mutations, one policy each.
fn with_patches(expressions: &[&str]) -> Server {
    let allow = Arc::new(crate::policies::authorizer::Rules::allow_all());
    let options = Server::builder(crdx_value::release::Release::NEWEST, 1).with_policies(allow);
    let server = options.with_namespaces(crate::server::Namespaces::Unchecked, &["ns".to_owned()]).build();
    install(&server, &kites());
    let policies = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
    for (index, expression) in expressions.iter().enumerate() {
        let policy = format!(
            r#"{{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingAdmissionPolicy","metadata":{{"name":"p{index}"}},"spec":{{
            "reinvocationPolicy":"IfNeeded","failurePolicy":"Fail","matchConstraints":{{"resourceRules":[{{"operations":["*"],
            "apiGroups":["toys.example.com"],"apiVersions":["*"],"resources":["*"]}}]}},
            "mutations":[{{"patchType":"JSONPatch","jsonPatch":{{"expression":"{expression}"}}}}]}}}}"#
        );
        assert_eq!(send(&server, Method::Post, policies, &policy).code, 201);
        let binding = format!(
            r#"{{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingAdmissionPolicyBinding","metadata":{{"name":"p{index}"}},"spec":{{"policyName":"p{index}"}}}}"#
        );
        assert_eq!(send(&server, Method::Post, &policies.replace("policies", "policybindings"), &binding).code, 201);
    }
    server
}

#[test]
fn mutations_that_need_too_much_are_not_finished() {
    let add = |value: &str| format!("[JSONPatch{{op: 'add', path: '/metadata/annotations', value: {value}}}]");
    let twins = add(&format!("{{'a': {}}}", "[[1]]".to_owned() + &".map(v, [v, v])".repeat(26)));
    let doubled = add(
        "{'a': (has(object.metadata.annotations) ? object.metadata.annotations['a'] : 'xxxxxxxx') + (has(object.metadata.annotations) ? object.metadata.annotations['a'] : 'xxxxxxxx')}",
    );
    for expressions in [vec![twins.as_str()], vec![doubled.as_str(); 60]] {
        let server = with_patches(&expressions);
        let answer = send(&server, Method::Post, KITES, &kite(r#""name":"a""#, ""));
        let status = (answer.code, body(&answer).str_at(&["reason"]), answer.trace.is_unfinished);
        assert_eq!(status, (504, Some("Timeout"), true), "{:?}", body(&answer));
        // Nothing was stored.
        assert_eq!(send(&server, Method::Get, &format!("{KITES}/a"), "").code, 404);
    }
}

#[test]
fn the_patches_of_policies_have_the_limit_on_copies() {
    let copy = |i: usize| format!("JSONPatch{{op: 'copy', from: '/metadata', path: '/metadata/labels/x{i}'}}");
    let expression = format!("[{}]", (0..40).map(copy).collect::<Vec<_>>().join(", "));
    let server = with_patches(&[&expression]);
    let answer = send(&server, Method::Post, KITES, &kite(r#""name":"a""#, ""));
    let message = answer.body.message().to_owned();
    assert!(message.contains("exceeding the limit 3145728"), "{} {message}", answer.code);
}

//! Any policy and any object, separated by a line `%%`: the policy is linted and stored with a binding, and the object is
//! admitted, changed or denied.

use crdx_engine::lint::policies::findings;
use crdx_server::policies::authorizer::Rules;
use crdx_server::policies::model::PolicyKind;
use crdx_server::server::{Body, Method, Request, Server};
use crdx_text::yaml;
use crdx_value::release::Release;
use crdx_value::{STACK_SIZE, Value};
use std::sync::Arc;
use std::thread;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";
const CRONTABS: &str = "/apis/stable.example.com/v1/namespaces/default/crontabs";
const CRONTAB: &[u8] = include_bytes!("../../examples/crds/crontab.yaml");

fn send(server: &Server, method: Method, path: &str, content_type: &str, body: Vec<u8>) -> u16 {
    let request =
        Request { content_type: Some(content_type.to_owned()), ..Request::new(method, path, Body::Bytes(body)) };
    let code = server.handle(&request).code;
    assert!((200..600).contains(&code), "{code}");
    code
}

fn admit(text: &str) {
    let (policy, object) = text.split_once("\n%%\n").unwrap_or((text, ""));
    let read = yaml::read(policy.as_bytes());
    let Ok(value @ Value::Object(_)) = &read else { return };
    findings(value, &[], Release::NEWEST);
    let kind = PolicyKind::of_kind(value.str_at(&["kind"]).unwrap_or_default());
    let name = value.str_at(&["metadata", "name"]).unwrap_or_default();
    let options = crdx_kinds::builder(Release::NEWEST, 1).with_policies(Arc::new(Rules::allow_all()));
    let server = options.build();
    assert_eq!(send(&server, Method::Post, DEFINITIONS, "application/yaml", CRONTAB.to_vec()), 201);
    let path = format!("{ADMISSION}/{}", kind.policies());
    send(&server, Method::Post, &path, "application/yaml", policy.as_bytes().to_vec());
    let actions = if kind.kind().starts_with("Validating") { ", validationActions: [Deny, Audit]" } else { "" };
    let binding = format!(
        "{{apiVersion: admissionregistration.k8s.io/v1, kind: {}Binding, metadata: {{name: b}}, spec: {{policyName: {name:?}{actions}}}}}",
        kind.kind()
    );
    let path = format!("{ADMISSION}/{}", kind.bindings());
    send(&server, Method::Post, &path, "application/yaml", binding.into_bytes());
    let object = object.as_bytes();
    send(&server, Method::Post, CRONTABS, "application/yaml", object.to_vec());
    let one = format!("{CRONTABS}/a");
    send(&server, Method::Patch, &format!("{one}?fieldManager=f"), "application/apply-patch+yaml", object.to_vec());
    send(&server, Method::Delete, &one, "application/json", Vec::new());
}

pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, || admit(text));
        worker.expect("a thread").join().expect("no panic");
    });
}

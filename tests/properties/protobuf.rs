//! CRDs in Protobuf: every body gets a response, and some get that of the real server.

use crdx_server::server::{Body, Method, Request, ResponseBody, Server};
use proptest::prelude::*;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// Encodes a bytes field.
fn field(number: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

/// Random fields; their numbers mostly exist in some message.
fn fields() -> impl Strategy<Value = Vec<u8>> {
    let tag = |wire: u64| (0u64..46).prop_map(move |number| varint(number << 3 | wire));
    let join = |(a, b): (Vec<u8>, Vec<u8>)| [a, b].concat();
    let leaf = prop_oneof![
        3 => (tag(0), any::<u64>().prop_map(varint)).prop_map(join),
        2 => (tag(1), any::<[u8; 8]>().prop_map(Vec::from)).prop_map(join),
        1 => (tag(5), any::<[u8; 4]>().prop_map(Vec::from)).prop_map(join),
        4 => (0u64..46, "[a-z{}\\[\\]\"0-9:,.]{0,8}").prop_map(|(number, text)| field(number, text.as_bytes())),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    leaf.prop_recursive(8, 64, 4, |inner| {
        (0u64..46, prop::collection::vec(inner, 0..4)).prop_map(|(number, below)| field(number, &below.concat()))
    })
}

fn post(raw: &[u8]) -> (u16, u16) {
    let types = [field(1, b"apiextensions.k8s.io/v1"), field(2, b"CustomResourceDefinition")].concat();
    let body = [b"k8s\0".to_vec(), field(1, &types), field(2, raw)].concat();
    let request = |method, path: &str, body| Request {
        content_type: Some("application/vnd.kubernetes.protobuf".to_owned()),
        ..Request::new(method, path, body)
    };
    let server = Server::new(crdx_value::release::Release::NEWEST, 1);
    let created = server.handle(&request(Method::Post, DEFINITIONS, Body::Bytes(body)));
    let listed = server.handle(&request(Method::Get, DEFINITIONS, Body::Empty));
    (created.code, listed.code)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_protobuf_crd_is_answered(raw in prop::collection::vec(fields(), 0..6)) {
        let (created, listed) = post(&raw.concat());
        prop_assert!(matches!(created, 201 | 400 | 422 | 500), "{}", created);
        prop_assert_eq!(listed, 200);
    }
}

/// The depth limit for nested messages applies before the stack overflows.
#[test]
fn depth_is_bounded() {
    let mut schema = Vec::new();
    for _ in 0..3000 {
        schema = field(28, &schema);
    }
    let version = field(7, &[field(1, b"v1"), field(4, &field(1, &schema))].concat());
    let deep = std::thread::Builder::new().stack_size(256 << 20).spawn(move || post(&field(2, &version)));
    let (created, _) = deep.unwrap().join().unwrap();
    assert_eq!(created, 422);
}

fn text(number: u64, text: &str) -> Vec<u8> {
    field(number, text.as_bytes())
}

/// A body with a CRD that has this schema of the field `a`.
fn definition(schema: &[u8]) -> Vec<u8> {
    let properties = field(29, &[text(1, "a"), field(2, schema)].concat());
    let root = field(1, &[text(5, "object"), properties].concat());
    let version = [text(1, "v1"), vec![2 << 3, 1, 3 << 3, 1], field(4, &root)].concat();
    let names = [text(1, "things"), text(4, "Thing")].concat();
    let spec = [text(1, "example.com"), field(3, &names), text(4, "Namespaced"), field(7, &version)].concat();
    [field(1, &text(1, "things.example.com")), field(2, &spec)].concat()
}

/// The answer to a POST of a CRD with this schema.
fn answer(server: &Server, query: &str, schema: &[u8]) -> (u16, String) {
    let types = [text(1, "apiextensions.k8s.io/v1"), text(2, "CustomResourceDefinition")].concat();
    let body = [b"k8s\0".to_vec(), field(1, &types), field(2, &definition(schema))].concat();
    let response = server.handle(&Request {
        content_type: Some("application/vnd.kubernetes.protobuf".to_owned()),
        ..Request::new(Method::Post, &format!("{DEFINITIONS}{query}"), Body::Bytes(body))
    });
    let ResponseBody::Json(body) = &response.body else { panic!() };
    (response.code, body.str_at(&["message"]).unwrap_or_default().to_owned())
}

/// Storage encodes CRDs as JSON: before it looks whether the name is taken, but after validation. A dry run first looks
/// for the name.
#[test]
fn numbers_that_json_cannot_represent_are_rejected_by_storage() {
    let server = Server::new(crdx_value::release::Release::NEWEST, 1);
    let maximum = |number: f64| [text(5, "number"), vec![9 << 3 | 1], number.to_le_bytes().to_vec()].concat();
    let unsupported = |number: &str| (500, format!("json: unsupported value: {number}"));
    assert_eq!(answer(&server, "", &maximum(f64::NAN)), unsupported("NaN"));
    assert_eq!(answer(&server, "?dryRun=All", &maximum(f64::NEG_INFINITY)), unsupported("-Inf"));
    let invalid = [maximum(f64::NAN), text(5, "decimal")].concat();
    assert_eq!(answer(&server, "", &invalid).0, 422);
    assert_eq!(answer(&server, "", &maximum(1.5)).0, 201);
    assert_eq!(answer(&server, "", &maximum(f64::INFINITY)), unsupported("+Inf"));
    assert_eq!(answer(&server, "?dryRun=All", &maximum(f64::INFINITY)).0, 409);
}

#[test]
fn items_without_a_schema_are_not_a_single_schema() {
    let server = Server::new(crdx_value::release::Release::NEWEST, 1);
    let list = [text(5, "array"), field(24, b""), text(41, "k"), text(42, "map")].concat();
    let (code, message) = answer(&server, "", &list);
    assert_eq!(code, 422);
    assert!(message.contains("must only have a single schema if x-kubernetes-list-type is map"), "{message}");
}

/// Go keeps bytes that are not UTF-8.
#[test]
fn patterns_that_are_not_utf8_are_rejected() {
    let server = Server::new(crdx_value::release::Release::NEWEST, 1);
    let pattern = [text(5, "string"), field(15, b"^\xc3\xff")].concat();
    let expected = concat!(
        r#"CustomResourceDefinition.apiextensions.k8s.io "things.example.com" is invalid: spec.validation."#,
        r#"openAPIV3Schema.properties[a].pattern: Invalid value: "^\xc3\xff": must be a valid regular expression, "#,
        "but isn't: error parsing regexp: invalid UTF-8: `\u{fffd}\u{fffd}`"
    );
    assert_eq!(answer(&server, "", &pattern), (422, expected.to_owned()));
    let description = [text(5, "string"), field(4, b"\xff")].concat();
    assert_eq!(answer(&server, "", &description).0, 201);
}

//! Every Protobuf body gets a response.

use crdx::server::{Body, Method, Request, Server};
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
    let server = Server::new(crdx::release::Release::NEWEST, 1);
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

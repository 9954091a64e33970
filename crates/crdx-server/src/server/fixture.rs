//! The CRD and the requests that the tests of the server share.

use super::http::address;
use super::{Method, Request, Response, ResponseBody, Server};
use crdx_value::Value;
use std::sync::Arc;

/// The path of CRDs.
pub const CRDS: &str = address::DEFINITIONS;
/// The path of the objects of `foos.example.com` in the namespace `ns`.
pub(crate) const FOOS: &str = "/apis/example.com/v1/namespaces/ns/foos";
/// The path of the objects of `kites.toys.example.com` in the namespace `ns`.
pub const KITES: &str = "/apis/toys.example.com/v1/namespaces/ns/kites";
/// A schema that allows every field of an object.
pub(crate) const ANY: &str = r#"{"type":"object","x-kubernetes-preserve-unknown-fields":true}"#;

/// The status and the Scale of a version whose objects have `replicas`.
pub(crate) const SUBRESOURCES: &str = r#""subresources":{"status":{},
    "scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},"#;

/// The kind that a plural name implies.
pub fn kind(plural: &str) -> String {
    let singular = plural.strip_suffix('s').unwrap();
    singular.get(..1).unwrap().to_uppercase() + singular.get(1..).unwrap()
}

/// A CRD for the namespaced kind that its name, such as `kites.toys.example.com`, implies.
pub fn crd(name: &str, versions: &str) -> String {
    let (plural, group) = name.split_once('.').unwrap();
    let kind = kind(plural);
    format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"{name}"}},
        "spec":{{"group":"{group}","scope":"Namespaced","names":{{"plural":"{plural}","kind":"{kind}"}},"versions":[{versions}]}}}}"#
    )
}

/// The storage version v1 of a CRD, with a schema and other members such as `"subresources":{},`.
pub fn v1(schema: &str, members: &str) -> String {
    format!(r#"{{"name":"v1","served":true,"storage":true,{members}"schema":{{"openAPIV3Schema":{schema}}}}}"#)
}

/// Sends a request.
pub fn send(server: &Server, method: Method, path: &str, body: &str) -> Response {
    server.handle(&Request::new(method, path, body))
}

/// The code and the body of a response.
pub fn json(response: Response) -> (u16, Value) {
    match response.body {
        ResponseBody::Json(body) => (response.code, Arc::unwrap_or_clone(body)),
        ResponseBody::Text(text) => panic!("{text}"),
    }
}

/// Creates a CRD.
pub fn install(server: &Server, crd: &str) {
    let created = send(server, Method::Post, CRDS, crd);
    assert_eq!(created.code, 201, "{}", created.body.message());
}

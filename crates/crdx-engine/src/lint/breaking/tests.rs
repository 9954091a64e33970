//! Verifies what `breaking` reports about ratcheting: an object that the old CRD accepts is stored, and then edited
//! under the new CRD.

use super::*;
use crdx_server::crd;
use crdx_server::server::{Method, Request, Server, Timestamp};
use crdx_text::json;
use crdx_value::release::Release;
use crdx_value::{Value, json::to_string};

const OBJECT: &str = "/apis/toys.example.com/v1/namespaces/ns/kites/k";

fn read(text: &str) -> Value {
    json::read(text.as_bytes()).unwrap()
}

fn definition(spec: &str) -> Value {
    read(&format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"kites.toys.example.com"}},
        "spec":{{"group":"toys.example.com","scope":"Namespaced","names":{{"plural":"kites","kind":"Kite"}},"versions":[{{
        "name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":
        {{"type":"object","properties":{{"spec":{spec}}}}}}}}}]}}}}"#
    ))
}

/// Returns the status code of a merge patch of the object `spec`, stored before the CRD became `new`.
fn patched(new: &Value, spec: &str, patch: &str) -> u16 {
    let server = Server::new(Release::NEWEST, 0);
    server.seed_definition(new, Timestamp::default()).unwrap();
    let object =
        format!(r#"{{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{{"name":"k"}},"spec":{spec}}}"#);
    server.seed("kites.toys.example.com", "ns", read(&object)).unwrap();
    server.handle(&Request::new(Method::Patch, OBJECT, read(patch))).code
}

/// A change: the schemas of `spec`; an object that only the old schema accepts; a patch of `spec` that changes the
/// value that must stay unchanged and leaves it equally invalid; and the expected report.
struct Case {
    old: &'static str,
    new: &'static str,
    stored: &'static str,
    other: &'static str,
    expected: Expected,
}

enum Expected {
    No,
    While(&'static str),
    Always,
}

const CASES: &[Case] = &[
    Case {
        old: r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
        new: r#"{"type":"object","properties":{"a":{"type":"string","maxLength":2}}}"#,
        stored: r#"{"a":"long"}"#,
        other: r#"{"a":"longer"}"#,
        expected: Expected::While("spec.a"),
    },
    Case {
        old: r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
        new: r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#,
        stored: r#"{"a":"long"}"#,
        other: r#"{"a":"longer"}"#,
        expected: Expected::While("spec.a"),
    },
    Case {
        old: r#"{"type":"object","properties":{"a":{"type":"string","nullable":true}}}"#,
        new: r#"{"type":"object","properties":{"a":{"type":"string","enum":["x"]}}}"#,
        stored: r#"{"a":"y"}"#,
        other: r#"{"a":"z"}"#,
        expected: Expected::While("spec.a"),
    },
    Case {
        old: r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}"#,
        new: r#"{"type":"object","required":["b"],"properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}"#,
        stored: r#"{"a":1}"#,
        other: r#"{"a":2}"#,
        expected: Expected::While("spec"),
    },
    Case {
        old: r#"{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"}}}}"#,
        new: r#"{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer","minimum":5}}}}"#,
        stored: r#"{"l":[1,6]}"#,
        other: r#"{"l":[1,7]}"#,
        expected: Expected::While("spec.l"),
    },
    Case {
        old: r#"{"type":"object","properties":{"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"integer"}}}}}}"#,
        new: r#"{"type":"object","properties":{"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"integer","minimum":5}}}}}}"#,
        stored: r#"{"l":[{"k":"a","v":1},{"k":"b","v":9}]}"#,
        other: r#"{"l":[{"k":"a","v":2},{"k":"b","v":9}]}"#,
        expected: Expected::While("spec.l[*].v"),
    },
    Case {
        old: r#"{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string"}}}}"#,
        new: r#"{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string","pattern":"^x"}}}}"#,
        stored: r#"{"m":{"a":"y"}}"#,
        other: r#"{"m":{"a":"z"}}"#,
        expected: Expected::While("spec.m.*"),
    },
    Case {
        old: r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#,
        new: r#"{"type":"object","properties":{"a":{"type":"integer"}},"x-kubernetes-validations":[{"rule":"self.a > 5"}]}"#,
        stored: r#"{"a":1}"#,
        other: r#"{"a":2}"#,
        expected: Expected::While("spec"),
    },
    Case {
        old: r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#,
        new: r#"{"type":"object","properties":{"a":{"type":"integer","anyOf":[{"minimum":5},{"maximum":-5}]}}}"#,
        stored: r#"{"a":1}"#,
        other: r#"{"a":2}"#,
        expected: Expected::While("spec.a"),
    },
    Case {
        old: r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#,
        new: r#"{"type":"object","properties":{"a":{"type":"integer","not":{"maximum":5}}}}"#,
        stored: r#"{"a":1}"#,
        other: r#"{"a":2}"#,
        expected: Expected::While("spec.a"),
    },
    Case {
        old: r#"{"type":"object","properties":{"l":{"type":"array","items":{"type":"string"}}}}"#,
        new: r#"{"type":"object","properties":{"l":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}}"#,
        stored: r#"{"l":["a","a"]}"#,
        other: r#"{"l":["b","b"]}"#,
        expected: Expected::Always,
    },
    Case {
        old: r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#,
        new: r#"{"type":"object","properties":{"a":{"type":"integer","x-kubernetes-validations":[{"rule":"self > oldSelf"}]}}}"#,
        stored: r#"{"a":1}"#,
        other: "",
        expected: Expected::No,
    },
    Case {
        old: r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
        new: r#"{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}"#,
        stored: r#"{"a":"x"}"#,
        other: r#"{"a":"y"}"#,
        expected: Expected::While("spec.a"),
    },
    Case {
        old: r#"{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}"#,
        new: r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
        stored: r#"{"a":{"b":"x"}}"#,
        other: r#"{"a":["y"]}"#,
        expected: Expected::While("spec.a"),
    },
    Case {
        old: r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}"#,
        new: r#"{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}"#,
        stored: r#"{"a":["x"]}"#,
        other: r#"{"a":["y"]}"#,
        expected: Expected::While("spec.a"),
    },
];

#[test]
fn changes_reported_as_tolerated_are_tolerated() {
    for Case { old, new, stored, other, expected } in CASES {
        let (before, after) = (definition(old), definition(new));
        let spec = |crd: &Value| crd::decode(crd).unwrap().crd.spec;
        let found = changes(&spec(&before), &spec(&after));
        let (ratcheting, label, touched) = match expected {
            Expected::No => (Ratcheting::No, 422, None),
            Expected::While(path) => (Ratcheting::While((*path).to_owned()), 200, Some(422)),
            Expected::Always => (Ratcheting::Always, 200, Some(200)),
        };
        assert!(found.iter().any(|change| change.ratcheting == ratcheting), "{new}: {found:?}");
        assert_eq!(patched(&after, stored, r#"{"metadata":{"labels":{"a":"b"}}}"#), label, "{new}: an edit of a label");
        if let Some(code) = touched {
            assert_eq!(patched(&after, stored, &format!(r#"{{"spec":{other}}}"#)), code, "{new}: {other}");
        }
    }
}

/// Makes each limit narrower, one at a time, and edits another field of an object that was valid before.
#[test]
fn narrower_limits_are_tolerated_where_reported() {
    for (type_, keyword, value, stored) in [
        ("string", "minLength", "9", r#""a""#),
        ("string", "pattern", r#""^x$""#, r#""a""#),
        ("string", "format", r#""uuid""#, r#""a""#),
        ("string", "enum", r#"["x"]"#, r#""a""#),
        ("integer", "minimum", "9", "1"),
        ("integer", "maximum", "0", "1"),
        ("integer", "multipleOf", "2", "1"),
        ("object", "maxProperties", "1", r#"{"x":1,"y":2}"#),
        ("object", "minProperties", "3", r#"{"x":1,"y":2}"#),
        ("array", "maxItems", "1", "[1,2]"),
        ("array", "minItems", "3", "[1,2]"),
    ] {
        let more = match type_ {
            "object" => r#","additionalProperties":{"type":"integer"}"#,
            "array" => r#","items":{"type":"integer"}"#,
            _ => "",
        };
        let schema = |limit: &str| {
            definition(&format!(r#"{{"type":"object","properties":{{"a":{{"type":"{type_}"{more}{limit}}}}}}}"#))
        };
        let (before, after) = (schema(""), schema(&format!(r#","{keyword}":{value}"#)));
        let spec = |crd: &Value| crd::decode(crd).unwrap().crd.spec;
        let found = changes(&spec(&before), &spec(&after));
        let [change] = found.as_slice() else { panic!("{keyword}: {found:?}") };
        let code = patched(&after, &format!(r#"{{"a":{stored}}}"#), r#"{"metadata":{"labels":{"a":"b"}}}"#);
        let forgiven = change.ratcheting == Ratcheting::While("spec.a".to_owned());
        assert_eq!(forgiven, code == 200, "{keyword}: {} {change:?}", to_string(&after));
    }
}

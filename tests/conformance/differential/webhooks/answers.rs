//! Random answers of an admission webhook: mostly well-formed, with one or two members changed.

use crate::conformance::differential::mutate::{Rng, any_value};
use crate::serve::webhooks::hook::Answer;
use crdx_value::base64::Encoding;
use serde_json::{Value, json};

const JSON: &str = "application/json";

/// The answer to a review.
pub fn admission(rng: &mut Rng, mutating: bool, review: &Value) -> Answer {
    let uid = match rng.below(24) {
        0 => json!("other"),
        1 => Value::Null,
        2 => json!(7),
        _ => review["request"]["uid"].clone(),
    };
    let mut response = json!({"uid": uid, "allowed": !rng.chance(5)});
    if mutating && !rng.chance(3) {
        response["patch"] = json!(Encoding::Standard.encode(patch(rng).as_bytes()));
        response["patchType"] = json!("JSONPatch");
    }
    if rng.chance(4) {
        response["status"] = status(rng);
    }
    if rng.chance(5) {
        response["warnings"] = warnings(rng);
    }
    if rng.chance(8) {
        response["auditAnnotations"] =
            rng.pick(&[json!({"key": "value"}), json!({"": "x"}), json!(["x"]), json!({"a": 1})]).clone();
    }
    let mut body = json!({"kind": "AdmissionReview", "apiVersion": review["apiVersion"], "response": response});
    for _ in 0..[0, 0, 0, 1, 1, 2][rng.below(6)] {
        change(rng, &mut body);
    }
    envelope(rng, &body)
}

/// Sends the body, sometimes with an unusual code or content type, or another body.
pub fn envelope(rng: &mut Rng, body: &Value) -> Answer {
    let (code, content_type, text) = match rng.below(30) {
        0 => (*rng.pick(&[201, 202, 206]), JSON, body.to_string()),
        1 => (
            *rng.pick(&[400, 403, 404, 409, 418, 500, 503]),
            JSON,
            rng.pick(&["", "{}", "no", "{\"message\":\"no\"}"]).to_string(),
        ),
        2 => (
            *rng.pick(&[400, 401, 422, 500, 502]),
            "text/plain",
            rng.pick(&["", "no\n", "line one\nline two", "é"]).to_string(),
        ),
        3 => (
            400,
            JSON,
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "no",
            "reason": "BadRequest", "code": 400})
            .to_string(),
        ),
        4 => (
            200,
            JSON,
            rng.pick(&[
                "",
                "null",
                "[]",
                "7",
                "\"x\"",
                "{",
                "{}",
                "{\"kind\":7}",
                "kind: AdmissionReview",
                "x",
                "{\"a\":1}{",
            ])
            .to_string(),
        ),
        5 => (
            200,
            *rng.pick(&["text/plain", "application/yaml", "application/vnd.kubernetes.protobuf"]),
            body.to_string(),
        ),
        _ => (200, JSON, body.to_string()),
    };
    Answer { code, content_type, body: text, headers: Vec::new() }
}

fn patch(rng: &mut Rng) -> String {
    let operation = |rng: &mut Rng| match rng.below(14) {
        0 => json!({"op": "remove", "path": "/spec/length"}),
        1 => json!({"op": "replace", "path": "/spec/length", "value": 0}),
        2 => json!({"op": "add", "path": "/metadata/labels", "value": {"mutated": "yes"}}),
        3 => json!({"op": "add", "path": "/metadata/labels/a", "value": "b"}),
        4 => json!({"op": "test", "path": "/spec/length", "value": 3}),
        5 => json!({"op": "replace", "path": "/spec/colour", "value": "blue"}),
        6 => json!({"op": "add", "path": "/spec/unknown", "value": 1}),
        7 => json!({"op": "replace", "path": "/metadata/name", "value": "other"}),
        8 => json!({"op": "move", "from": "/spec/colour", "path": "/spec/shade"}),
        9 => json!({"op": "add", "path": "", "value": any_value(rng)}),
        10 => json!({"op": "remove", "path": rng.pick(&["/spec", "/metadata", "/kind", "/apiVersion", "/nothing"])}),
        11 => {
            json!({"op": "replace", "path": rng.pick(&["/kind", "/apiVersion", "/metadata/namespace", "/metadata/uid"]), "value": "x"})
        }
        12 => {
            json!({"op": *rng.pick(&["add", "jump"]), "path": *rng.pick(&["spec", "/spec/-", "/spec/length/0"]), "value": 1})
        }
        _ => json!({"op": "add", "path": "/spec/length", "value": any_value(rng)}),
    };
    if rng.chance(16) {
        return rng.pick(&["", "{}", "null", "x", "[7]", "[null]", "[{}]", "[{\"op\":7}]"]).to_string();
    }
    let operations: Vec<Value> = (0..=rng.below(3)).map(|_| operation(rng)).collect();
    json!(operations).to_string()
}

fn status(rng: &mut Rng) -> Value {
    let mut status = json!({});
    for (key, values) in [
        (
            "code",
            vec![
                json!(403),
                json!(200),
                json!(422),
                json!(500),
                json!(0),
                json!(-1),
                json!(399),
                json!("x"),
                json!(1.5),
            ],
        ),
        ("message", vec![json!("no kites"), json!(""), json!("two\nlines"), json!(7)]),
        ("reason", vec![json!("Forbidden"), json!("Invalid"), json!("Custom"), json!("")]),
        ("status", vec![json!("Failure"), json!("Success"), json!("Other")]),
        (
            "details",
            vec![
                json!({"name": "n", "kind": "k", "causes": [{"reason": "r", "message": "m", "field": "f"}]}),
                json!([]),
            ],
        ),
        ("metadata", vec![json!({}), json!({"resourceVersion": "5"})]),
        ("kind", vec![json!("Status")]),
    ] {
        if rng.chance(2) {
            status[key] = rng.pick(&values).clone();
        }
    }
    if rng.chance(12) { any_value(rng) } else { status }
}

fn warnings(rng: &mut Rng) -> Value {
    match rng.below(8) {
        0 => any_value(rng),
        1 => json!(["a", 1]),
        2 => json!(["x".repeat(300), "y".repeat(5000)]),
        3 => json!(["", "quoted \"text\"", "é"]),
        4 => json!((0..40).map(|n| format!("warning {n} {}", "z".repeat(150))).collect::<Vec<_>>()),
        _ => json!(["fly low"]),
    }
}

/// Changes one member of the review.
fn change(rng: &mut Rng, body: &mut Value) {
    let pick = |rng: &mut Rng, values: &[Value]| rng.pick(values).clone();
    match rng.below(10) {
        0 => body["kind"] = pick(rng, &[json!("Other"), json!(null), json!(""), json!(7), json!("ConversionReview")]),
        1 => {
            let versions =
                ["admission.k8s.io/v1beta1", "admission.k8s.io/v1", "admission.k8s.io/v2", "v1", "", "example.com/v1"];
            body["apiVersion"] = json!(rng.pick(&versions));
        }
        2 => body["response"] = pick(rng, &[json!(null), json!({}), json!([]), json!("x")]),
        3 => body["request"] = any_value(rng),
        other => {
            let (member, value) = match other {
                4 => ("patchType", pick(rng, &[json!("JSONPatch"), json!("Full"), json!("")])),
                5 => ("patch", pick(rng, &[json!("!"), json!("W10"), json!("W10="), json!("")])),
                _ => {
                    let members =
                        ["uid", "allowed", "patch", "patchType", "status", "warnings", "auditAnnotations", "other"];
                    (*rng.pick(&members), if other == 6 { Value::Null } else { any_value(rng) })
                }
            };
            if let Some(response) = body["response"].as_object_mut() {
                response.insert(member.to_owned(), value);
            }
        }
    }
}

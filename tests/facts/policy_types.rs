//! Compares the type-checking warnings of policies on built-in kinds with those that the controller of Kubernetes 1.37 writes
//! (`tests/apiserver/builtin/policy_types`).

use crdx_server::policies::model::Policy;
use crdx_server::policies::type_checking;
use crdx_text::json::read;
use crdx_value::release::Release;
use crdx_value::{Value, json, object};

#[test]
fn warnings_about_types_are_those_of_the_controller() {
    let mut differences = Vec::new();
    for line in include_str!("policy-types-1.37.jsonl").lines() {
        let fact = read(line.as_bytes()).unwrap();
        let spec = fact.get("spec").unwrap().clone();
        let policy = object([("kind", Value::from("ValidatingAdmissionPolicy")), ("spec", spec)]);
        let policy = Policy::read(&policy, Release::new(37).unwrap());
        let own: Vec<Value> = type_checking::check(&policy, &[], Release::new(37).unwrap())
            .iter()
            .map(|warning| vec![Value::from(warning.field_ref.as_str()), warning.warning().into()].into())
            .collect();
        if fact.get("warnings").and_then(Value::as_array) != Some(&*own) {
            differences.push(format!("{}\n{}", json::to_string(&Value::Array(own)), line));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

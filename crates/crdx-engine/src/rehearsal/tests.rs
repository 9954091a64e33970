use super::*;
use crdx_text::json;

fn crd(properties: &str) -> Value {
    let text = format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"kites.toys.example.com"}},
        "spec":{{"group":"toys.example.com","scope":"Namespaced","names":{{"plural":"kites","kind":"Kite"}},"versions":[
        {{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"type":"object","properties":{{"spec":
        {{"type":"object","properties":{properties}}}}}}}}}}}]}}}}"#
    );
    json::read(text.as_bytes()).unwrap()
}

fn kite(spec: &str) -> Value {
    let text =
        format!(r#"{{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{{"name":"k"}},"spec":{spec}}}"#);
    json::read(text.as_bytes()).unwrap()
}

#[test]
fn an_object_loses_gains_and_breaks() {
    let old = crd(
        r#"{"length":{"type":"integer"},"tail":{"type":"string"},"knots":{"type":"array","items":{"type":"string"}}}"#,
    );
    let new = crd(r#"{"length":{"type":"integer","maximum":9},"colour":{"type":"string","default":"red"},
        "knots":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}}"#);
    let plan = Plan::new(Some(old), new, Releases::both(Release::NEWEST), Timestamp::default()).unwrap();
    assert!(plan.is_accepted(), "{:?}", plan.answer);
    let stage = plan.stage().unwrap();
    let outcome = |spec: &str| plan.rehearse(&stage, "ns", kite(spec)).unwrap();
    let fine = outcome(r#"{"length":3}"#);
    assert_eq!(fine.difference.defaulted, [("spec.colour".to_owned(), Value::from("red"))]);
    assert!(fine.errors.is_empty() && fine.difference.lost.is_empty());
    // A field that was pruned before the upgrade is not lost by it.
    assert!(outcome(r#"{"never":1}"#).difference.lost.is_empty());
    let long = outcome(r#"{"length":30,"tail":"blue"}"#);
    assert_eq!(long.difference.lost, [("spec.tail".to_owned(), Value::from("blue"))]);
    assert_eq!(long.errors.len(), 1);
    assert!(matches!(long.edit, Edit::Passes));
}

#[test]
fn an_object_that_was_invalid_does_not_become_so() {
    let old = crd(r#"{"length":{"type":"integer","maximum":50},"tail":{"type":"string"}}"#);
    let new = crd(r#"{"length":{"type":"integer","maximum":9},"tail":{"type":"string","maxLength":2}}"#);
    let plan = Plan::new(Some(old), new, Releases::both(Release::NEWEST), Timestamp::default()).unwrap();
    let stage = plan.stage().unwrap();
    let outcome = |spec: &str| {
        let outcome = plan.rehearse(&stage, "ns", kite(spec)).unwrap();
        (outcome.errors.len(), outcome.was_invalid)
    };
    assert_eq!(outcome(r#"{"length":60}"#), (1, true));
    assert_eq!(outcome(r#"{"length":30}"#), (1, false));
    assert_eq!(outcome(r#"{"length":60,"tail":"blue"}"#), (2, false), "the second error is new");
    assert_eq!(outcome(r#"{"length":1}"#), (0, false));
}

#[test]
fn a_field_that_was_pruned_appears() {
    let old = crd(r#"{"length":{"type":"integer"}}"#);
    let new = crd(r#"{"length":{"type":"integer"},"tail":{"type":"object","properties":{
        "colour":{"type":"string"},"knots":{"type":"integer","default":3}}}}"#);
    let plan = Plan::new(Some(old), new, Releases::both(Release::NEWEST), Timestamp::default()).unwrap();
    let stage = plan.stage().unwrap();
    let outcome = plan.rehearse(&stage, "ns", kite(r#"{"length":3,"tail":{"colour":"red"}}"#)).unwrap();
    let colour = json::read(br#"{"colour":"red"}"#).unwrap();
    assert_eq!(outcome.difference.appearing, [("spec.tail".to_owned(), colour)]);
    assert_eq!(outcome.difference.defaulted, [("spec.tail.knots".to_owned(), Value::Int(3))]);
}

#[test]
fn two_crds_of_different_names_are_no_upgrade() {
    let mut other = crd("{}");
    let metadata = other.get_mut("metadata").and_then(Value::as_object_mut).unwrap();
    metadata.insert("name".to_owned(), "others.toys.example.com".into());
    assert!(Plan::new(Some(other), crd("{}"), Releases::both(Release::NEWEST), Timestamp::default()).is_err());
}

#[test]
fn an_object_of_a_removed_version_cannot_be_read() {
    let plan = Plan::new(None, crd("{}"), Releases::both(Release::NEWEST), Timestamp::default()).unwrap();
    let stage = plan.stage().unwrap();
    let mut object = kite("{}");
    object.as_object_mut().unwrap().insert("apiVersion".to_owned(), "toys.example.com/v0".into());
    assert!(matches!(plan.rehearse(&stage, "ns", object), Err(RehearsalError::New(_))));
}

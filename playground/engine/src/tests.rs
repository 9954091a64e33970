//! Tests of the answers to the page.

use super::*;

const KITES: &str = include_str!("../../../crates/crdx/tests/kites.yaml");

/// A request for a kite, with more members.
fn ask(engine: &mut Engine, object: &str, more: &[(&str, Value)]) -> Value {
    let texts: [(&str, Value); 2] = [("crd", KITES.into()), ("object", object.into())];
    let request = crdx_value::object(texts.into_iter().chain(more.iter().cloned()));
    crdx_text::json::read(engine.answer(&crdx_value::json::to_string(&request)).as_bytes()).unwrap()
}

fn kite(spec: &str) -> String {
    format!("apiVersion: toys.example.com/v1\nkind: Kite\nmetadata:\n  name: dragon\n{spec}")
}

fn answer(object: &str, more: &[(&str, Value)]) -> Value {
    ask(&mut Engine::default(), object, more)
}

fn text<'a>(answer: &'a Value, path: &[&str]) -> &'a str {
    answer.str_at(path).unwrap_or_default()
}

fn items<'a>(answer: &'a Value, key: &str) -> &'a [Value] {
    answer.get(key).and_then(Value::as_array).unwrap()
}

/// Problems as `pane from-to message`.
fn problems(answer: &Value) -> Vec<String> {
    let place = |problem: &Value, key: &str| {
        let number = |name: &str| problem.at(&[key, name]).and_then(Value::as_int);
        number("line").zip(number("column")).map_or_else(|| "?".to_owned(), |(line, column)| format!("{line}:{column}"))
    };
    let one = |problem: &Value| {
        let (from, to) = (place(problem, "from"), place(problem, "to"));
        format!("{} {from}-{to} {}", text(problem, &["pane"]), text(problem, &["message"]))
    };
    items(answer, "problems").iter().map(one).collect()
}

/// The suggestions of the problems that have one.
fn helps(answer: &Value) -> Vec<String> {
    items(answer, "problems").iter().filter_map(|problem| Some(problem.str_at(&["help"])?.to_owned())).collect()
}

#[test]
fn errors_have_their_places() {
    let answer = answer(&kite("spec:\n  colour: grün\n  length: 500 # metres\n"), &[]);
    assert_eq!(text(&answer, &["verdict"]), "rejected");
    let problems = problems(&answer);
    assert_eq!(
        problems[0],
        r#"object 6:11-6:15 spec.colour: Unsupported value: "grün": supported values: "red", "blue""#
    );
    // The server adds an error of no field: it did not evaluate the rules.
    assert!(problems[1].starts_with("object ?-? <nil>: Invalid value: null: some validation rules were not checked"));
}

#[test]
fn columns_count_utf16() {
    let answer = answer(&kite("spec: {colour: '🪁', length: 0}\n"), &[]);
    let places: Vec<String> = problems(&answer).iter().map(|p| p.split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(places[..2], ["5:16-5:20", "5:30-5:31"]);
}

#[test]
fn defaulted_and_pruned_fields_are_marked() {
    let answer = answer(&kite("spec:\n  tail: long\n  length: 5\n"), &[("fieldValidation", "Warn".into())]);
    assert_eq!(text(&answer, &["verdict"]), "accepted");
    assert!(!text(&answer, &["stored", "yaml"]).contains("tail"));
    let shown: Vec<&str> = text(&answer, &["stored", "shown"]).lines().collect();
    let marks = items(answer.get("stored").unwrap(), "marks");
    let line = |mark: &Value| usize::try_from(mark.get("from").and_then(Value::as_int).unwrap()).unwrap() - 1;
    let marked: Vec<_> = marks.iter().map(|mark| (text(mark, &["kind"]), shown[line(mark)])).collect();
    assert_eq!(marked, [("pruned", "  tail: long"), ("defaulted", "  colour: blue")]);
    assert_eq!(problems(&answer), ["object 6:3-6:7 pruned: the schema has no field spec.tail"]);
    // The warning is a problem with a place, and not shown again.
    assert_eq!(items(&answer, "warnings"), [Value::from("unknown field \"spec.tail\"")]);
    assert_eq!(items(&answer, "otherWarnings"), []);
    let row: Vec<&str> = items(&answer, "row").iter().map(|cell| text(cell, &["text"])).collect();
    assert_eq!(row, ["dragon", "blue", "5"]);
}

#[test]
fn an_update_is_compared_with_the_stored_object() {
    let mut engine = Engine::default();
    let old: Value = kite("spec: {length: 500, colour: red}\n").into();
    let more = [("operation", "update".into()), ("oldObject", old)];
    // The error of the unchanged length is tolerated; a new one is not.
    let same = ask(&mut engine, &kite("spec: {length: 500, colour: blue}\n"), &more);
    assert_eq!(text(&same, &["verdict"]), "rejected", "{}", text(&same, &["message"]));
    let longer = ask(&mut engine, &kite("spec: {length: 50}\n"), &more);
    assert_eq!(text(&longer, &["verdict"]), "accepted", "{}", text(&longer, &["message"]));
    assert_eq!(items(&longer, "notes").len(), 1);
    // A create does not see the stored object.
    assert_eq!(text(&ask(&mut engine, &kite("spec: {}\n"), &[]), &["verdict"]), "accepted");
}

#[test]
fn status_and_scale_change_the_stored_object() {
    let old: Value = kite("spec: {length: 5, lines: 1}\n").into();
    let with = |operation: &str| [("operation", operation.into()), ("oldObject", old.clone())];
    let flying = answer(&kite("spec: {length: 6}\nstatus: {phase: Flying}\n"), &with("status"));
    let stored = text(&flying, &["stored", "yaml"]);
    assert!(stored.contains("phase: Flying") && stored.contains("length: 5"), "{stored}");
    // The stored object is valid, although its text has no namespace.
    assert_eq!(items(&flying, "notes"), []);
    let scaled = answer(&kite("spec: {lines: 3}\n"), &with("scale"));
    let stored = text(&scaled, &["stored", "yaml"]);
    assert!(stored.contains("lines: 3") && stored.contains("length: 5"), "{stored}");
}

#[test]
fn a_test_case_has_the_result_of_the_page() {
    let case = |object: &str, more: &[(&str, Value)]| {
        let action = ("action", "testCase".into());
        let answer = answer(object, &[&[action], more].concat());
        (text(&answer, &["text"]).to_owned(), text(&answer, &["error"]).to_owned())
    };
    let (accepted, _) = case(&kite("spec: {length: 5}\n"), &[]);
    assert!(accepted.contains("onCreate:") && accepted.contains("colour: blue"), "{accepted}");
    let (rejected, _) = case(&kite("spec: {length: 500}\n"), &[("version", "1.34".into())]);
    assert!(rejected.contains("expectedError: 'spec: Invalid value:"), "{rejected}");
    assert!(rejected.contains("kubernetesVersions:\n- \"1.34\""), "{rejected}");
    // The CRD would refuse the stored object: it is created under a CRD that accepts everything.
    let more = [("operation", "update".into()), ("oldObject", kite("spec: {length: 500}\n").into())];
    let (update, _) = case(&kite("spec: {length: 5}\n"), &more);
    assert!(update.contains("initialCRDPatches:"), "{update}");
    let (_, error) = case(&kite("spec: {}\n"), &[("crd", KITES.replace("self.length", "self.size").into())]);
    assert_eq!(error, "The server has to accept the CRDs and policies of a suite.");
    let (_, error) = case(&kite("spec: {lenght: 5}\n"), &[]);
    assert_eq!(error, "Suites accept unknown fields with a warning: choose Warn.");
    // The same status code for another reason.
    let (undecodable, error) = case(&kite("spec: {}\n").replace("name: dragon", "name: [dragon]"), &[]);
    assert!(undecodable.contains("expectedError:"), "{undecodable}{error}");
}

#[test]
fn dropped_files_go_to_the_panes_of_their_kinds() {
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\n";
    let files: Vec<Value> = vec![format!("{}---\n{policy}", kite("")).into(), KITES.into(), kite("").into()];
    let sorted = answer("", &[("action", "sort".into()), ("texts", Value::Array(files))]);
    assert_eq!((text(&sorted, &["crd"]), text(&sorted, &["policies"])), (KITES, policy));
    assert_eq!(text(&sorted, &["object"]), kite(""));
    assert_eq!(sorted.get("leftOut"), Some(&Value::Int(1)));
}

#[test]
fn unknown_fields_are_refused_unless_asked_otherwise() {
    let object = kite("spec:\n  colour: red\n  lenght: 5\n");
    let strict = answer(&object, &[]);
    assert_eq!(text(&strict, &["verdict"]), "rejected");
    assert_eq!(problems(&strict), [r#"object 7:3-7:9 unknown field "spec.lenght""#]);
    assert_eq!(helps(&strict), ["did you mean `length`?"]);
    let ignored = answer(&object, &[("fieldValidation", "Ignore".into())]);
    assert_eq!(problems(&ignored), ["object 7:3-7:9 pruned: the schema has no field spec.lenght"]);
    assert_eq!(helps(&ignored), ["did you mean `length`?"]);
}

#[test]
fn a_dropped_field_of_a_refused_object_is_shown_once() {
    let answer = answer(&kite("spec:\n  length: 500\n  lins: 1\n"), &[("fieldValidation", "Warn".into())]);
    assert_eq!(text(&answer, &["verdict"]), "rejected");
    let problems = problems(&answer);
    assert_eq!(problems.iter().filter(|problem| problem.contains("spec.lins")).count(), 1, "{problems:?}");
    assert_eq!(items(&answer, "otherWarnings"), []);
    assert!(helps(&answer).contains(&"did you mean `lines`?".to_owned()));
}

#[test]
fn similar_values_kinds_and_fields_of_crds_are_suggested() {
    assert_eq!(helps(&answer(&kite("spec: {colour: redd}\n"), &[]))[0], "did you mean `red`?");
    let kind = answer(&kite("spec: {}\n").replace("kind: Kite", "kind: Kit"), &[]);
    assert_eq!(text(&kind, &["verdict"]), "notSent");
    assert_eq!(helps(&kind), ["did you mean `Kite`?"]);
    let version = answer(&kite("spec: {}\n").replace("example.com/v1", "example.com/v2"), &[]);
    assert_eq!(helps(&version), ["did you mean `apiVersion: toys.example.com/v1`?"]);
    let crd = KITES.replace("additionalPrinterColumns", "additionalPrinterColums");
    let crd = answer(&kite("spec: {}\n"), &[("crd", crd.into())]);
    let warning = r#"crd 15:5-15:28 unknown field "spec.versions[0].additionalPrinterColums""#;
    assert_eq!(problems(&crd), [warning]);
    assert_eq!(helps(&crd), ["did you mean `additionalPrinterColumns`?"]);
}

#[test]
fn server_side_apply_suggests_fields() {
    let answer = answer(&kite("spec: {lenght: 5}\nstatus: {phas: Packed}\n"), &[("operation", "apply".into())]);
    assert_eq!(text(&answer, &["verdict"]), "rejected");
    assert!(text(&answer, &["message"]).contains("field not declared in schema"), "{}", text(&answer, &["message"]));
    let wanted = [".spec.lenght: field not declared in schema", ".status.phas: field not declared in schema"];
    let places = ["5:8-5:14", "6:10-6:14"];
    let wanted: Vec<_> =
        places.iter().zip(wanted).map(|(place, message)| format!("object {place} {message}")).collect();
    assert_eq!(problems(&answer), wanted);
    assert_eq!(helps(&answer), ["did you mean `length`?", "did you mean `phase`?"]);
}

#[test]
fn an_update_without_a_stored_object_asks_for_it() {
    for operation in ["update", "status", "scale"] {
        let answer = answer(&kite("spec: {lines: 1}\n"), &[("operation", operation.into())]);
        assert_eq!(text(&answer, &["verdict"]), "notSent", "{operation}");
        assert_eq!(text(&answer, &["message"]), "Enter the stored object, which this operation changes.");
    }
    let applied = answer(&kite("spec: {}\n"), &[("operation", "apply".into())]);
    assert_eq!(text(&applied, &["verdict"]), "accepted");
}

#[test]
fn built_in_kinds_are_not_simulated() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
    for crd in ["", KITES] {
        let answer = answer(pod, &[("crd", crd.into())]);
        assert_eq!(text(&answer, &["verdict"]), "cannotTell");
        let message = text(&answer, &["message"]);
        assert!(message.starts_with(
            "Cannot tell: Pod (v1) is built into Kubernetes, and this page simulates custom resources only"
        ));
        // The message is not shown twice.
        assert_eq!(problems(&answer), [""; 0]);
    }
    let answered = answer(&kite("spec: {}\n"), &[("policies", pod.into())]);
    assert!(text(&answered, &["message"]).starts_with("Cannot tell about the admission policies: Pod (v1) is built"));
    // A group that ends with `.k8s.io` can be that of CRDs.
    let gateway = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: a}\n";
    assert_eq!(text(&answer(gateway, &[]), &["verdict"]), "notSent");
}

#[test]
fn messages_name_the_pane() {
    let message = |more: &[(&str, Value)]| text(&answer(&kite("spec: {}\n"), more), &["message"]).to_owned();
    let unreadable: Value = "a: [".into();
    assert_eq!(message(&[("crd", unreadable.clone())]), "The CustomResourceDefinition cannot be read.");
    assert_eq!(message(&[("policies", unreadable.clone())]), "The admission policies cannot be read.");
    assert_eq!(message(&[("object", unreadable.clone())]), "The object cannot be read.");
    let more = [("operation", "update".into()), ("oldObject", unreadable)];
    assert_eq!(message(&more), "The stored object cannot be read.");
    let two: Value = format!("{}---\n{0}", kite("spec: {}\n")).into();
    assert_eq!(message(&[("object", two.clone())]), "The pane of the object has several objects: leave one of them.");
    let more = [("operation", "update".into()), ("oldObject", two)];
    assert_eq!(message(&more), "The pane of the stored object has several objects: leave one of them.");
    let other: Value = kite("").replace("kind: Kite", "kind: Kit").into();
    let more = [("operation", "update".into()), ("oldObject", other)];
    assert_eq!(message(&more), "The stored object cannot be stored.");
    assert_eq!(message(&[("crd", kite("spec: {}\n").into())]), "The CustomResourceDefinition cannot be created.");
    assert_eq!(message(&[("object", "kind: Kite\n".into())]), "The object cannot be sent.");
    let unknown: Value = kite("").replace("kind: Kite", "kind: Kit").into();
    let wanted = "No CRD in the CustomResourceDefinition pane defines Kit (toys.example.com/v1).";
    assert_eq!(message(&[("object", unknown)]), wanted);
}

#[test]
fn a_stored_object_with_another_name_is_mentioned() {
    let old = kite("spec: {}\n").replace("name: dragon", "name: dragonfly");
    let more = [("operation", "update".into()), ("oldObject", old.into())];
    let answer = answer(&kite("spec: {}\n"), &more);
    assert_eq!(answer.get("code"), Some(&Value::Int(404)));
    let wanted = "The stored object (Kite dragonfly) is not the object of the request (Kite dragon).";
    assert_eq!(items(&answer, "notes"), [Value::from(wanted)]);
}

#[test]
fn an_object_that_strict_validation_would_refuse_has_a_note() {
    let object = kite("spec: {lenght: 5}\n");
    for level in ["Warn", "Ignore"] {
        let answer = answer(&object, &[("fieldValidation", level.into())]);
        assert_eq!(text(&answer, &["verdict"]), "accepted");
        let wanted = "By default, kubectl asks for strict field validation: the server would reject this object because of its unknown fields.";
        assert_eq!(items(&answer, "notes"), [Value::from(wanted)]);
    }
    assert_eq!(items(&answer(&kite("spec: {}\n"), &[("fieldValidation", "Warn".into())]), "notes"), []);
}

#[test]
fn a_link_of_another_version_gets_the_nearest_one() {
    let nearest = |version: &str| {
        let about = answer("", &[("action", "about".into()), ("version", version.into())]);
        text(&about, &["release"]).to_owned()
    };
    let versions = ["1.12", "1.34", "1.34.2", "1.99", "", "latest"].map(nearest);
    assert_eq!(versions, ["1.30", "1.34", "1.34", "1.37", "1.37", "1.37"]);
}

#[test]
fn releases_with_the_same_result_are_grouped() {
    let crd = KITES.replace("self.length <= 100", "self.length <= 100 && isSemver('1.0.0')");
    let answer = answer(&kite("spec: {}\n"), &[("crd", crd.into()), ("action", "versions".into())]);
    // The message of 1.33 differs from those of older releases.
    let groups: Vec<_> = items(&answer, "groups").iter().map(|g| (text(g, &["name"]), text(g, &["verdict"]))).collect();
    assert_eq!(groups, [("1.30 to 1.32", "rejected"), ("1.33", "rejected"), ("1.34 to 1.38 (beta)", "accepted")]);
}

#[test]
fn a_text_that_is_not_sent_is_that_of_the_request_before() {
    let mut engine = Engine::default();
    ask(&mut engine, &kite("spec: {}\n"), &[]);
    let answer = crdx_text::json::read(engine.answer(r#"{"operation": "create"}"#).as_bytes()).unwrap();
    assert_eq!(text(&answer, &["verdict"]), "accepted");
}

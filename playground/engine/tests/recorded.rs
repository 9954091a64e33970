//! The examples of the page have the answers that a real kube-apiserver gave (`playground/tests/record.py`).

#![allow(clippy::unwrap_used, clippy::panic)]

use crdx_playground::Engine;
use crdx_value::{Value, json, object};
use std::fs;
use std::path::Path;

fn read(text: &str) -> Value {
    crdx_text::json::read(text.as_bytes()).unwrap()
}

/// The request of an example: the options before the first text, and the texts, each after a line `--- # PANE`.
fn request(example: &str) -> Value {
    let mut parts = example.split("--- # ");
    let options = parts.next().unwrap().lines().filter_map(|line| line.split_once(": "));
    let mut members: Vec<(&str, Value)> = Vec::new();
    for (key, value) in options {
        match key {
            "user" => members.push(("user", object([("name", value)]))),
            _ => members.push((key, value.into())),
        }
    }
    let empty = ["object", "oldObject", "policies"].map(|pane| (pane, "".into()));
    let panes = parts.map(|part| part.split_once('\n').unwrap()).map(|(pane, text)| (pane, text.into()));
    object(empty.into_iter().chain(members).chain(panes))
}

/// A list of texts, sorted.
fn sorted(list: Option<&Value>, text: impl Fn(&Value) -> String) -> Vec<String> {
    let mut texts: Vec<String> = list.and_then(Value::as_array).unwrap_or_default().iter().map(text).collect();
    texts.sort();
    texts
}

/// The part of the engine's answer that is compared: the problems, or the message if the server gave no causes.
fn answered(answer: &Value, has_causes: bool) -> Vec<String> {
    let text = |key: &str| answer.str_at(&[key]).unwrap_or_default();
    let mut all = vec![format!("{} {}", text("refused"), answer.get("code").and_then(Value::as_int).unwrap_or(201))];
    if !has_causes && answer.get("refused").is_some() {
        all.push(text("message").to_owned());
    }
    let errors = answer.get("problems").and_then(Value::as_array).unwrap_or_default();
    let is_error = |problem: &&Value| has_causes && problem.str_at(&["severity"]) == Some("error");
    let errors = errors.iter().filter(is_error).cloned().collect();
    all.extend(sorted(Some(&Value::Array(errors)), |problem| problem.str_at(&["message"]).unwrap().to_owned()));
    all.extend(sorted(answer.get("warnings"), |warning| format!("warning {}", warning.as_str().unwrap())));
    if let Some(yaml) = answer.str_at(&["stored", "yaml"]) {
        all.push(stored(crdx_text::yaml::read(yaml.as_bytes()).unwrap()));
    }
    all
}

/// The part of the recorded answer that is compared.
fn recorded(answer: &Value) -> Vec<String> {
    let text = |key: &str| answer.str_at(&[key]).unwrap_or_default();
    let mut all = vec![format!("{} {}", text("refused"), answer.get("code").and_then(Value::as_int).unwrap())];
    let causes = sorted(answer.get("causes"), |cause| {
        let [field, message] = cause.as_array().unwrap() else { panic!("{cause:?}") };
        let (field, message) = (field.as_str().unwrap(), message.as_str().unwrap());
        if field.is_empty() { message.to_owned() } else { format!("{field}: {message}") }
    });
    if causes.is_empty() && answer.get("refused").is_some() {
        all.push(text("message").to_owned());
    }
    all.extend(causes);
    all.extend(sorted(answer.get("warnings"), |warning| format!("warning {}", warning.as_str().unwrap())));
    all.extend(answer.get("stored").map(|object| stored(object.clone())));
    all
}

/// An object without what differs from run to run.
fn stored(mut object: Value) -> String {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut).unwrap();
    for key in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
        metadata.remove(key);
    }
    json::to_string(&object)
}

#[test]
fn examples_have_the_answers_of_a_real_server() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let answers = read(&fs::read_to_string(folder.join("tests/recorded.json")).unwrap());
    let mut engine = Engine::default();
    let (mut compared, mut differing) = (0, Vec::new());
    for (name, wanted) in answers.as_object().unwrap() {
        let example = fs::read_to_string(folder.join(format!("examples/{name}.yaml"))).unwrap();
        let answer = read(&engine.answer(&json::to_string(&request(&example))));
        if wanted.is_null() {
            // No server takes v1beta1 any more: kubectl does not send it.
            assert_eq!(answer.str_at(&["verdict"]), Some("notSent"), "{name}");
            continue;
        }
        compared += 1;
        let has_causes = wanted.get("causes").and_then(Value::as_array).is_some_and(|causes| !causes.is_empty());
        let (wanted, answered) = (recorded(wanted), answered(&answer, has_causes));
        if wanted != answered {
            differing.push(format!("{name}\n  real: {wanted:#?}\n  here: {answered:#?}"));
        }
    }
    let examples = fs::read_dir(folder.join("examples")).unwrap().count();
    assert_eq!(answers.as_object().unwrap().len(), examples, "record the answers again");
    assert!(compared > 80 && differing.is_empty(), "{compared} compared\n{}", differing.join("\n"));
}

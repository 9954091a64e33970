//! Replays a part of the larger collection of recorded answers (`collection/`, copied by `collection.py`): real CRDs, tables
//! of cases, admission policies, and built-in kinds on four releases.

use crate::conformance::exchange::{Client, Http, InProcess, normalise};
use crate::conformance::scenario::Scenario;
use crate::large_stack::on_large_stack;
use crate::serve::process::Serve;
use flate2::read::GzDecoder;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/collection").join(name)
}

pub fn unpack(path: &Path) -> String {
    let mut text = String::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// The recordings in a folder, by name.
fn recordings(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "gz"));
    found.sort();
    assert!(!found.is_empty(), "{} has recordings", folder.display());
    found
}

/// Sends all requests of a folder's scenarios, each scenario to a client of its own or all to the same, and compares the
/// answers.
fn replay(name: &str, new_client: &mut dyn FnMut() -> Box<dyn Client>) {
    let (mut count, mut differing) = (0, Vec::new());
    for path in recordings(&folder(name)) {
        let scenarios: Vec<Value> = serde_json::from_str(&unpack(&path)).unwrap();
        for scenario in scenarios {
            let mut client = new_client();
            let mut run = Scenario::new(client.as_mut());
            for exchange in scenario["exchanges"].as_array().unwrap() {
                let got = like_the_recorder(&exchange["request"], &run.send(&exchange["request"]));
                count += 1;
                let want = &exchange["response"];
                if !is_equal(want, got.clone()) {
                    differing.push(format!(
                        "{}\n  request {}\n  real {want}\n  here {got}",
                        path.display(),
                        exchange["request"]
                    ));
                }
            }
            run.clean_up();
        }
    }
    assert!(
        differing.is_empty(),
        "{} of {count} answers differ from the real server's:\n{}",
        differing.len(),
        differing.join("\n")
    );
}

/// The recorder sent no user agent, and replaced names that the server generated.
fn like_the_recorder(request: &Value, got: &Value) -> Value {
    static PREFIX: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""generateName": "([^"\\]+)""#).unwrap());
    let mut text = got.to_string();
    if text.contains("conformance") {
        text = text.replace(r#""conformance""#, r#""unknown""#).replace(r#"\"conformance\""#, r#"\"unknown\""#);
    }
    if let Some(prefix) = request["body"].as_str().and_then(|body| PREFIX.captures(body)) {
        let name = Regex::new(&format!("({})[bcdfghjklmnpqrstvwxz2456789]{{5}}", regex::escape(&prefix[1]))).unwrap();
        text = name.replace_all(&text, "${1}*****").into_owned();
    }
    serde_json::from_str(&text).unwrap()
}

/// Whether an answer is the recorded one: equal, or, for a CRD that is installed, with the members of `subset`.
fn is_equal(want: &Value, mut got: Value) -> bool {
    if got["code"] != want["code"] {
        return false;
    }
    if let Some(subset) = want.get("subset") {
        return contains(&got, subset);
    }
    let Some(body) = want.get("body") else { return true };
    // The order of managers depends on their names.
    got["body"] = normalise(got["body"].take(), true);
    forget_what_is_not_recorded(&mut got["body"]);
    let warnings = |answer: &Value| {
        let texts = answer.get("warnings").and_then(Value::as_array).into_iter().flatten();
        texts.map(Value::to_string).collect::<BTreeSet<_>>()
    };
    let mut body = normalise(body.clone(), true);
    forget_what_is_not_recorded(&mut body);
    got["body"] == body && warnings(&got) == warnings(want)
}

/// The recordings leave out the descriptions of columns and the objects of rows, and have an empty message where there is
/// none.
fn forget_what_is_not_recorded(body: &mut Value) {
    if body["kind"] == "Status" && body["message"] == "" {
        body.as_object_mut().unwrap().remove("message");
    }
    if body["kind"] != "Table" {
        return;
    }
    for column in body["columnDefinitions"].as_array_mut().into_iter().flatten() {
        column.as_object_mut().unwrap().remove("description");
    }
    for row in body["rows"].as_array_mut().into_iter().flatten() {
        row.as_object_mut().unwrap().remove("object");
    }
}

fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| contains(whole, part)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| contains(whole, part))
        }
        _ => whole == part,
    }
}

#[test]
fn tables_of_cases_have_the_recorded_answers() {
    on_large_stack(|| replay("tables", &mut || Box::new(InProcess::default())));
}

#[test]
fn real_crds_have_the_recorded_answers() {
    on_large_stack(|| replay("projects", &mut || Box::new(InProcess::default())));
}

/// The recorded server has the policies of all scenarios, which remove what they create.
#[test]
fn policies_have_the_recorded_answers() {
    let data = folder("policies");
    let arguments = fs::read_to_string(data.join("serve.args")).unwrap().replace("{data}", data.to_str().unwrap());
    let server = Serve::start(&arguments.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>());
    replay("policies", &mut || Box::new(Http::new(&server.url).settling_for(Duration::ZERO)));
}

#[test]
fn built_in_kinds_of_1_38_have_the_recorded_answers() {
    validate_built_in_kinds("1.38");
}

#[test]
fn built_in_kinds_of_1_37_have_the_recorded_answers() {
    validate_built_in_kinds("1.37");
}

#[test]
fn built_in_kinds_of_1_34_have_the_recorded_answers() {
    validate_built_in_kinds("1.34");
}

#[test]
fn built_in_kinds_of_1_31_have_the_recorded_answers() {
    validate_built_in_kinds("1.31");
}

fn validate_built_in_kinds(release: &str) {
    let text = unpack(&folder("builtin").join(format!("{release}.jsonl.gz")));
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for op in ["create", "update"] {
        // In one run, a second object of the same name would be an update.
        let mut names = BTreeSet::new();
        let records: Vec<&Value> = records
            .iter()
            .filter(|record| record["op"] == op)
            .filter(|record| names.insert(format!("{}{}", record["path"], record["body"]["metadata"]["name"])))
            .collect();
        // The requests that were sent to the beta of 1.38 create objects.
        if (release, op) == ("1.38", "update") && records.is_empty() {
            continue;
        }
        assert!(records.len() > 20, "{release} has records of {op}");
        compare(release, op, &records);
    }
}

/// Compares the verdicts and errors of one run of `validate` with records.
fn compare(release: &str, op: &str, records: &[&Value]) {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, member: &str| {
        let path = dir.path().join(name);
        let documents: Vec<String> = records.iter().map(|record| record[member].to_string()).collect();
        fs::write(&path, documents.join("\n---\n")).unwrap();
        path
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
    command.arg("validate").arg(write("new.yaml", "body")).args([
        "--offline",
        "--kubernetes-version",
        release,
        "-o",
        "json",
    ]);
    match op {
        "create" => command.arg("--create"),
        _ => command.arg("--replace").arg("--old").arg(write("old.yaml", "old")),
    };
    let report: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    let items = report["items"].as_array().unwrap();
    assert_eq!(items.len(), records.len());
    for (item, record) in items.iter().zip(records) {
        let accepted = record["code"].as_u64().unwrap() < 300;
        let verdict = if accepted { "accepted" } else { "rejected" };
        assert_eq!(item["verdict"], verdict, "{release} {op} {}\n{item}", record["body"]);
        if !accepted {
            let sorted = |errors: Vec<(String, String)>| errors.into_iter().collect::<BTreeSet<_>>();
            assert_eq!(
                sorted(errors_of_item(item, record)),
                sorted(errors_of_record(record)),
                "{release} {op} {}",
                record["body"]
            );
        }
    }
}

/// Field and message of each error; an answer without causes has its message only.
pub fn errors_of_record(record: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let causes = record["causes"].as_array().map_or(&[][..], Vec::as_slice);
    if causes.is_empty() {
        return vec![(String::new(), text(&record["message"]))];
    }
    causes.iter().map(|cause| (text(&cause["field"]), text(&cause["message"]))).collect()
}

/// The same of an item of a report.
pub fn errors_of_item(item: &Value, record: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if record["causes"].as_array().is_none_or(Vec::is_empty) {
        return vec![(String::new(), text(&item["answer"]["message"]))];
    }
    // The errors of an item name what is wrong with a patch; the answer has the server's words.
    if record["causes"][0]["field"] == "patch" {
        let message = text(&item["answer"]["message"]);
        let error = message.split_once(" is invalid: patch: ").map_or(message.as_str(), |(_, error)| error);
        return vec![("patch".to_owned(), error.to_owned())];
    }
    let errors = item["errors"].as_array().unwrap().iter().map(|error| {
        let (field, message) = (text(&error["field"]), text(&error["message"]));
        match message.strip_prefix(&format!("{field}: ")) {
            Some(rest) if !field.is_empty() => (field, rest.to_owned()),
            _ => (String::new(), message),
        }
    });
    errors.collect()
}

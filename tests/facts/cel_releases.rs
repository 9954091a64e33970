//! Facts about expressions in other releases than the newest: types, compile errors, estimates, results and costs
//! (`tests/facts/cel-releases.jsonl.gz`).
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use crate::facts::cel_cost::{at, lines};
use crate::facts::cel_runs::first;
use crate::facts::unpacked;
use crdx_cel::{
    cost::estimate,
    decl::DeclType,
    env::{BaseEnv, Env, Objects},
    eval::{PER_CALL_LIMIT, Program},
    types::Type,
    value::Value as Cel,
};
use crdx_server::rules::decl::Declarations;
use crdx_server::schema::Schema;
use crdx_value::Value as Json;
use crdx_value::release::Release;
use serde_json::{Value, json};
use std::{fmt::Write as _, sync::Arc};

struct Given {
    objects: Arc<Objects>,
    root: Arc<DeclType>,
    samples: Json,
}

impl Given {
    fn read(line: &Json, release: Release) -> Self {
        let schema = Schema::from_value(line.get("schema").unwrap()).unwrap();
        let mut declarations = Declarations::new(release);
        let root = declarations.declare(&schema, true, "self").unwrap();
        Self { objects: Arc::new(declarations.objects), root, samples: line.get("samples").unwrap().clone() }
    }

    /// The result in the form of the facts.
    fn answer(&self, release: Release, fact: &Value) -> Value {
        let expr = fact["expr"].as_str().unwrap();
        let place = fact["at"].as_str().unwrap_or("spec");
        let optional = !fact["optionalOldSelf"].is_null();
        let typed = place.replace("[]", ".@items").replace("{}", ".@values");
        let (path, node) = if place == "root" {
            ("self".to_owned(), &self.root)
        } else {
            let path = typed.replace("@items", "@idx").replace("@values", "@elem");
            (format!("self.{path}"), at(&self.root, &typed).unwrap())
        };
        let type_ = node.cel_type.clone();
        let old = if optional { Type::optional(type_.clone()) } else { type_.clone() };
        let base = if fact["env"] == "stored" { BaseEnv::for_stored } else { BaseEnv::for_new };
        let mut env = Env::new(base(release)).with_variable("self", type_).with_variable("oldSelf", old);
        env.objects = Arc::clone(&self.objects);
        env.rename = Some((path.as_str().into(), "selfTypeN"));
        let mut answer = json!({"expr": expr});
        for key in ["at", "optionalOldSelf", "env"] {
            if !fact[key].is_null() {
                answer[key] = fact[key].clone();
            }
        }
        let checked = match env.compile(expr) {
            Ok(checked) => checked,
            Err(issues) => {
                answer["compile_err"] = format!("compilation failed: {}", issues.display()).into();
                return answer;
            }
        };
        answer["type"] = env.type_name(checked.result_type()).into();
        let program = match Program::plan(&checked, &env) {
            Ok(program) => program,
            Err(error) => {
                answer["plan_err"] = error.as_str().into();
                return answer;
            }
        };
        let cost = estimate(&checked, Some(node));
        (answer["est_min"], answer["est_max"]) = (cost.min.into(), cost.max.into());
        let mut runs = Vec::new();
        for sample in ["a", "b", "c"] {
            let Some(now) = self.samples.get(sample).and_then(|sample| first(sample, place)) else { continue };
            let before = self.samples.get("old").and_then(|old| first(old, place));
            let before = match (before.map(|old| Cel::from_json(old, node)), optional) {
                (Some(old), true) => old.map(Cel::some),
                (None, true) => Ok(Cel::NONE),
                (Some(old), false) => old,
                (None, false) => Ok(Cel::Null),
            };
            let outcome = program.run(
                &[Cel::from_json(now, node), before],
                PER_CALL_LIMIT,
                &crdx_value::steps::Steps::of_request(),
            );
            let mut run = json!({"sample": sample, "cost": outcome.cost});
            match outcome.result {
                Err(error) => run["err"] = error.to_string().replace(path.as_str(), "selfTypeN").into(),
                Ok(value) => run["value"] = show(&value).into(),
            }
            runs.push(run);
        }
        answer["runs"] = runs.into();
        answer
    }
}

fn show(value: &Cel<'_>) -> String {
    match value {
        Cel::Bool(value) => value.to_string(),
        Cel::Int(value) => value.to_string(),
        Cel::Uint(value) => value.to_string(),
        Cel::String(text) => format!("text {}", json!(&**text)),
        other => format!("of type {}", other.type_name()),
    }
}

/// A recorded value; Go escapes more characters of a text than `serde_json`.
fn recorded(run: &Value) -> Value {
    match run["value"].as_str().and_then(|value| value.strip_prefix("text ")) {
        Some(text) => json!([serde_json::from_str::<Value>(text).unwrap()]),
        None => run["value"].clone(),
    }
}

/// The difference between two results. The cost of a failed evaluation and the type names of values are not compared.
fn differs(theirs: &Value, ours: &Value) -> bool {
    let runs = |answer: &Value| answer["runs"].as_array().cloned().unwrap_or_default();
    let rest = |answer: &Value| {
        let mut answer = answer.clone();
        answer["runs"] = Value::Null;
        answer["version"] = Value::Null;
        // Since 1.37, the recorder prints the long names.
        if let Some(name) = answer["type"].as_str() {
            let names = [("Duration", "duration"), ("Timestamp", "timestamp"), ("Any", "any")];
            let short = names.iter().fold(name.replace("null_type", "null"), |name, (long, short)| {
                name.replace(&format!("google.protobuf.{long}"), short)
            });
            answer["type"] = short.into();
        }
        answer
    };
    let runs_differ = runs(theirs).iter().zip(&runs(ours)).any(|(theirs, ours)| {
        let of_type = |run: &Value| run["value"].as_str().is_some_and(|value| value.starts_with("of type"));
        let values = recorded(theirs) != recorded(ours) && !(of_type(theirs) && of_type(ours));
        theirs["err"] != ours["err"] || values || theirs["cost"] != ours["cost"]
    });
    // The real server aborts a request whose expression panics.
    theirs["panic"].is_null() && (rest(theirs) != rest(ours) || runs(theirs).len() != runs(ours).len() || runs_differ)
}

fn compare(given: &Given, release: Release, facts: &[Value]) -> (usize, String) {
    let mut text = String::new();
    let mut count = 0;
    for fact in facts {
        let ours = given.answer(release, fact);
        if differs(fact, &ours) {
            count += 1;
            let _ = write!(text, "{release}: {}\n  server {fact}\n  ours   {ours}\n", fact["expr"]);
        }
    }
    (count, text)
}

/// All results of 1.30 to 1.34 and 1.38 for the expressions of `cel-cost.jsonl` that differ from those of 1.37, and those of 1.38 for other
/// expressions.
#[test]
fn answers_of_other_releases_are_those_of_the_servers() {
    crate::large_stack::on_large_stack(|| {
        let text = unpacked("cel-releases.jsonl.gz");
        let facts: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut differing = String::new();
        for release in Release::known() {
            let given = Given::read(&lines()[0], release);
            let of_release = |fact: &&Value| {
                fact["version"].as_str().unwrap().parse::<Release>().is_ok_and(|version| version == release)
            };
            let facts: Vec<Value> = facts.iter().filter(of_release).cloned().collect();
            let differs = release < Release::new(35).unwrap() || release > Release::NEWEST;
            assert_eq!(facts.len() > 70, differs, "{release}");
            differing += &compare(&given, release, &facts).1;
        }
        assert!(differing.is_empty(), "{differing}");
    });
}

/// Compares with the output of `tests/apiserver/facts/cel.go` for one release.
#[test]
#[ignore = "CRDX_FACTS names the recorder's input, CRDX_ANSWERS its output, CRDX_VERSION the release: tests/apiserver/README.md"]
fn answers_of_a_release() {
    crate::large_stack::on_large_stack(|| {
        let read = |name: &str| std::fs::read_to_string(std::env::var(name).unwrap()).unwrap();
        let release: Release = std::env::var("CRDX_VERSION").unwrap().parse().unwrap();
        let given = Given::read(
            &crdx_text::json::read(read("CRDX_FACTS").lines().next().unwrap().as_bytes()).unwrap(),
            release,
        );
        // The recorder declares the whole object, whose types have longer names.
        let answers = read("CRDX_ANSWERS").replace("selfTypeN.spec", "selfTypeN");
        let facts: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (count, text) = compare(&given, release, &facts);
        assert!(count == 0, "{count} of {} differ:\n{text}", facts.len());
    });
}

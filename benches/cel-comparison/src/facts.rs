//! Expressions with recorded answers of the API server (`tests/facts/cel-cost.jsonl`).

use crate::answer::Answer;
use crate::engines::{CEL, CRDX_CEL, Engine, Failure, KUBE_CEL, Question, Variable};
use crate::score::{Score, heading};
use crdx_cel::PER_CALL_LIMIT;
use crdx_cel::decl::{DeclType, Shape};
use crdx_cel::env::{BaseEnv, Env};
use crdx_cel::eval::Program;
use crdx_cel::types::Type;
use crdx_server::rules::decl::Declarations;
use crdx_server::schema::Schema;
use crdx_value::Value;
use crdx_value::release::Release;
use crdx_value::steps::Steps;
use std::sync::Arc;

pub fn compare(verbose: bool) {
    let text = include_str!("../../../tests/facts/cel-cost.jsonl");
    let mut lines = text.lines().map(|line| crdx_text::json::read(line.as_bytes()).expect("JSON"));
    let first = lines.next().expect("a schema");
    let schema = Schema::from_value(first.get("schema").expect("a schema")).expect("a schema");
    let mut declarations = Declarations::new(Release::NEWEST);
    let root = declarations.declare(&schema, true, "self").expect("a type");
    let objects = Arc::new(declarations.objects);
    let (mut values, mut errors) = (Score::default(), Score::default());
    for fact in lines {
        let source = fact.str_at(&["expr"]).expect("an expression");
        let place = fact.str_at(&["at"]).unwrap_or("spec");
        let node = if place == "root" { &root } else { at(&root, place) };
        let optional = fact.get("optionalOldSelf").is_some();
        let (type_, old) = (node.cel_type.clone(), node.cel_type.clone());
        let mut env = Env::new(BaseEnv::for_stored(Release::NEWEST));
        env =
            env.with_variable("self", type_).with_variable("oldSelf", if optional { Type::optional(old) } else { old });
        env.objects = Arc::clone(&objects);
        for run in fact.get("runs").and_then(Value::as_array).unwrap_or_default() {
            let part = |sample: &str| first.at(&["samples", sample]).and_then(|sample| part(sample, place));
            let (Some(now), old) = (part(run.str_at(&["sample"]).unwrap_or_default()), part("old")) else {
                continue;
            };
            let right = compare_run(source, run, &env, node, (now, old, optional), verbose);
            if run.get("err").is_some() { errors.add(right) } else { values.add(right) }
        }
    }
    heading("recorded answers of a server", [CEL, KUBE_CEL, CRDX_CEL]);
    values.print("values");
    errors.print("errors");
}

fn compare_run(
    source: &str,
    run: &Value,
    env: &Env,
    node: &DeclType,
    (now, old, optional): (&Value, Option<&Value>, bool),
    verbose: bool,
) -> [bool; 3] {
    let checked = env.compile(source).expect("compiles");
    let now = crdx_cel::Value::from_json(now, node).expect("has its type");
    let old = old.map(|old| crdx_cel::Value::from_json(old, node).expect("has its type"));
    let old = match old {
        Some(old) if optional => old.some(),
        None if optional => crdx_cel::Value::NONE,
        other => other.unwrap_or(crdx_cel::Value::Null),
    };
    let variable =
        |name: &str, value| Variable { name: name.to_owned(), type_: Type::Dyn, value: Some(Answer::from(value)) };
    let variables = [variable("self", &now), variable("oldSelf", &old)];
    let program = Program::plan(&checked, env);
    let ours = program.as_ref().map_err(ToString::to_string).and_then(|program| {
        program.run(&[Ok(now), Ok(old)], PER_CALL_LIMIT, &Steps::of_request()).result.map_err(|error| error.to_string())
    });
    let (text, wanted) = (ours.as_ref().map(ToString::to_string), run.str_at(&["value"]));
    // The record prints some Kubernetes types as their Go type, and control characters as in JSON.
    let same = |text: &String, wanted: &str| {
        text == wanted || text.replace("\\x0", "\\u000") == wanted || wanted.contains("<cel.")
    };
    let is_ours_right = match (&text, wanted) {
        (Ok(text), Some(wanted)) => same(text, wanted),
        (Err(text), None) => run.str_at(&["err"]) == Some(text),
        _ => false,
    };
    if verbose && !is_ours_right {
        println!("crdx-cel: {source}: {text:?}, not {run:?}");
    }
    let expected = ours.as_ref().map(Answer::from);
    let question = Question { source, container: "", variables: &variables };
    let is_right = |engine: Engine| {
        let found = engine.run(&question);
        let is_right = match (&found, &expected) {
            (Ok(found), Ok(expected)) => found == expected || found.is_other() && expected.is_other(),
            (Err(Failure::Evaluate(_)), Err(_)) => true,
            _ => false,
        };
        if verbose && !is_right {
            println!("{}: {source}: {found:?}, not {expected:?}", engine.name);
        }
        is_right
    };
    [is_right(CEL), is_right(KUBE_CEL), is_ours_right]
}

/// The declared type at a place such as `spec.lo[].tags`.
fn at<'d>(root: &'d Arc<DeclType>, place: &str) -> &'d Arc<DeclType> {
    let place = place.replace("[]", ".@items").replace("{}", ".@values");
    let found = place.split('.').try_fold(root, |at, part| match (&at.shape, part) {
        (Shape::List { items, .. }, _) => Some(items),
        (Shape::Map(values), _) => Some(values),
        (Shape::Object(fields), name) => fields.get(name).map(|field| &field.type_),
        (Shape::Scalar, _) => None,
    });
    found.expect("a type")
}

/// The first value of a sample at a place.
fn part<'v>(sample: &'v Value, place: &str) -> Option<&'v Value> {
    if place == "root" {
        return Some(sample);
    }
    place.replace("[]", ".[]").replace("{}", ".{}").split('.').try_fold(sample, |value, part| match part {
        "[]" => value.as_array()?.first(),
        "{}" => value.as_object()?.values().next(),
        name => value.get(name),
    })
}

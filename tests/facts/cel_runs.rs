//! Results and runtime costs of expressions (the member `runs` in `tests/facts/cel-cost.jsonl`).
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use crate::facts::cel_cost::{at, lines, number, root, text};
use crdx_cel::{
    decl::DeclType,
    env::{BaseEnv, Env},
    eval::{Outcome, PER_CALL_LIMIT, Program},
    types::Type,
    value::Value as Cel,
};
use crdx_value::Value;
use std::sync::Arc;

/// The first node of a sample at a path such as `spec.lo[].tags`.
pub fn first<'v>(sample: &'v Value, place: &str) -> Option<&'v Value> {
    if place == "root" {
        return Some(sample);
    }
    place.replace("[]", ".[]").replace("{}", ".{}").split('.').try_fold(sample, |value, part| match part {
        "[]" => value.as_array()?.first(),
        "{}" => value.as_object()?.values().next(),
        name => value.get(name),
    })
}

/// The recorded facts print some Kubernetes values as their Go type.
fn normal(value: &str) -> String {
    let mut text = value.to_owned();
    for (kind, go) in
        [("quantity", "kubernetes.Quantity<cel.Quantity>"), ("format", "kubernetes.NamedFormat<cel.Format>")]
    {
        if text.contains(go) {
            text = text.replace(go, kind);
        }
    }
    text
}

fn run<'a>(
    program: &'a Program,
    node: &'a DeclType,
    now: &'a Value,
    old: Option<&'a Value>,
    optional: bool,
) -> Outcome<'a> {
    let old = match (old.map(|old| Cel::from_json(old, node)), optional) {
        (Some(old), true) => old.map(Cel::some),
        (None, true) => Ok(Cel::NONE),
        (Some(old), false) => old,
        (None, false) => Ok(Cel::Null),
    };
    program.run(&[Cel::from_json(now, node), old], PER_CALL_LIMIT, &crdx_value::steps::Steps::of_request())
}

#[test]
fn values_and_run_time_costs_are_the_servers() {
    crate::large_stack::on_large_stack(|| {
        let (declarations, root) = root();
        let objects = Arc::new(declarations.objects);
        let lines = lines();
        let samples = lines[0].get("samples").unwrap();
        let mut differing = Vec::new();
        let mut count = 0;
        for fact in &lines[1..] {
            let Some(Value::Array(runs)) = fact.get("runs") else { continue };
            let expr = text(fact, "expr").unwrap();
            let place = text(fact, "at").unwrap_or("spec");
            let node = match place {
                "root" => &root,
                _ => at(&root, &place.replace("[]", ".@items").replace("{}", ".@values")).unwrap(),
            };
            let optional = fact.get("optionalOldSelf").is_some();
            let type_ = node.cel_type.clone();
            let old_type = if optional { Type::optional(type_.clone()) } else { type_.clone() };
            let mut env = Env::new(BaseEnv::for_stored(crdx_value::release::Release::NEWEST))
                .with_variable("self", type_)
                .with_variable("oldSelf", old_type);
            env.objects = Arc::clone(&objects);
            let checked = match env.compile(expr) {
                Ok(checked) => checked,
                Err(issues) => panic!("{expr}: {}", issues.display()),
            };
            let program = Program::plan(&checked, &env);
            for expected in runs {
                count += 1;
                let sample = text(expected, "sample").unwrap();
                let theirs = match (text(expected, "value"), text(expected, "err")) {
                    (Some(value), _) => normal(value),
                    (_, error) => format!("error: {}", error.unwrap()),
                };
                let cost = number(expected, "cost").unwrap();
                let most = number(expected, "cost_to").unwrap_or(cost);
                let now = first(samples.get(sample).unwrap(), place).unwrap();
                let (ours, our_cost) = match &program {
                    Err(error) => (format!("error: {error}"), 0),
                    Ok(program) => {
                        let outcome = run(program, node, now, first(samples.get("old").unwrap(), place), optional);
                        let value = outcome.result.map_or_else(|e| format!("error: {e}"), |v| v.to_string());
                        (value, outcome.cost)
                    }
                };
                // The recorded facts escape control characters as in JSON.
                let same = ours.replace("\\x0", "\\u000") == theirs || ours == theirs || shown_by_type(&theirs, &ours);
                if !same || !(cost..=most).contains(&our_cost) {
                    differing.push(format!(
                        "{expr} at {place} of {sample}\n  server {cost} {theirs}\n  ours   {our_cost} {ours}"
                    ));
                }
            }
        }
        assert_eq!(count, 2720);
        assert!(differing.is_empty(), "{} of {count} differ:\n{}", differing.len(), differing.join("\n"));
    });
}

/// Returns true if the recorded fact has only the Go type of the value.
fn shown_by_type(theirs: &str, ours: &str) -> bool {
    match theirs {
        "quantity" => ours.starts_with("quantity("),
        "optional.of(format)" => ours.starts_with("optional.of(format."),
        _ => false,
    }
}

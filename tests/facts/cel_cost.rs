//! Static facts about 951 expressions (`tests/facts/cel-cost.jsonl`): declared types, result types, compile errors and
//! cost estimates.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::format_collect)]

use crdx_cel::{
    cost::estimate,
    decl::{DeclType, Shape},
    env::{BaseEnv, Env},
    types::Type,
};
use crdx_server::rules::decl::Declarations;
use crdx_server::schema::Schema;
use crdx_value::Value;
use crdx_value::release::Release;
use std::sync::Arc;

pub fn lines() -> Vec<Value> {
    let text = include_str!("cel-cost.jsonl");
    text.lines().map(|line| crdx_text::json::read(line.as_bytes()).unwrap()).collect()
}

pub fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    match value.get(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

pub fn number(value: &Value, key: &str) -> Option<u64> {
    value.get(key)?.as_int().map(|number| number as u64)
}

/// The recorded estimates, parsed from the text because they exceed the range of JSON values here.
fn estimate_of(line: &str) -> Option<(u64, u64)> {
    let fact: serde_json::Value = serde_json::from_str(line).unwrap();
    let number = |key: &str| fact.get(key)?.to_string().parse().ok();
    Some((number("est_min")?, number("est_max")?))
}

pub fn root() -> (Declarations, Arc<DeclType>) {
    let lines = lines();
    let schema = Schema::from_value(lines[0].get("schema").unwrap()).unwrap();
    let mut declarations = Declarations::new(Release::NEWEST);
    let root = declarations.declare(&schema, true, "self").unwrap();
    (declarations, root)
}

/// The declared type at a path of JSON field names, `@items` and `@values`.
pub fn at<'d>(from: &'d Arc<DeclType>, path: &str) -> Option<&'d Arc<DeclType>> {
    path.split('.').try_fold(from, |at, part| match (&at.shape, part) {
        (Shape::List { items, .. }, _) => Some(items),
        (Shape::Map(values), _) => Some(values),
        (Shape::Object(fields), name) => fields.get(name).map(|field| &field.type_),
        (Shape::Scalar, _) => None,
    })
}

#[test]
fn declared_types_are_the_servers() {
    let (_, root) = root();
    let spec = at(&root, "spec").unwrap();
    let lines = lines();
    let Some(Value::Array(facts)) = lines[0].get("decl_types_at_spec") else { panic!("no facts") };
    assert!(facts.len() > 80);
    let mut differing = Vec::new();
    for fact in facts {
        let path = text(fact, "path").unwrap();
        if path.contains("@keys") {
            continue;
        }
        let found = match path.strip_prefix("self.") {
            None => Some(spec),
            Some(rest) => at(spec, rest),
        };
        let ours = found.map(|found| {
            let name = object_names_erased(&found.cel_type);
            (name, found.max_elements, found.min_serialized_size)
        });
        let theirs = (
            text(fact, "cel_type").unwrap().to_owned(),
            number(fact, "max_elements").unwrap(),
            number(fact, "min_serialized_size").unwrap(),
        );
        if ours.as_ref() != Some(&theirs) {
            differing.push(format!("{path}: {theirs:?}, ours {ours:?}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

fn object_names_erased(type_: &Type) -> String {
    match type_ {
        Type::Object(_) => "object".to_owned(),
        Type::List(item) => format!("list({})", object_names_erased(item)),
        Type::Map(key, value) => format!("map({key}, {})", object_names_erased(value)),
        other => other.to_string(),
    }
}

#[test]
fn estimates_and_compile_errors_are_the_servers() {
    crate::large_stack::on_large_stack(|| {
        let (declarations, root) = root();
        let objects = Arc::new(declarations.objects);
        let mut differing = Vec::new();
        let mut count = 0;
        for (fact, line) in lines().iter().zip(include_str!("cel-cost.jsonl").lines()).skip(1) {
            count += 1;
            let expr = text(fact, "expr").unwrap();
            let place = text(fact, "at").unwrap_or("spec").replace("[]", ".@items").replace("{}", ".@values");
            let place = place.as_str();
            let (path, node) = match place {
                "root" => ("self".to_owned(), Some(&root)),
                _ => {
                    (format!("self.{}", place.replace("@items", "@idx").replace("@values", "@elem")), at(&root, place))
                }
            };
            let node = node.unwrap_or_else(|| panic!("no type at {place}"));
            let type_ = node.cel_type.clone();
            let old = match fact.get("optionalOldSelf") {
                Some(_) => Type::optional(type_.clone()),
                None => type_.clone(),
            };
            let env = |base| {
                let mut env = Env::new(base).with_variable("self", type_.clone()).with_variable("oldSelf", old.clone());
                env.objects = Arc::clone(&objects);
                env.rename = Some((path.as_str().into(), "selfTypeN"));
                env
            };
            if let Some(error) = text(fact, "compile_err") {
                let ours = match env(BaseEnv::for_new(Release::NEWEST)).compile(expr) {
                    Ok(_) => "compiles".to_owned(),
                    Err(issues) => format!("compilation failed: {}", issues.display()),
                };
                if ours != error {
                    differing.push(format!("{expr}\n  server {error}\n  ours   {ours}"));
                }
            }
            let Some(type_) = text(fact, "type") else { continue };
            let base = if text(fact, "env") == Some("stored") { BaseEnv::for_stored } else { BaseEnv::for_new };
            match env(base(Release::NEWEST)).compile(expr) {
                Err(issues) => differing.push(format!("{expr}\n  server {type_}\n  ours   {}", issues.display())),
                Ok(checked) => {
                    let cost = estimate(&checked, Some(node));
                    let theirs = estimate_of(line).unwrap();
                    let found = checked.result_type().to_string().replace(path.as_str(), "selfTypeN");
                    if (cost.min, cost.max) != theirs || found != type_ {
                        let ours = (cost.min, cost.max);
                        differing
                            .push(format!("{expr} at {place}\n  server {theirs:?} {type_}\n  ours   {ours:?} {found}"));
                    }
                }
            }
        }
        assert_eq!(count, 951);
        assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
    });
}

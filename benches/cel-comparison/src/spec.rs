//! The conformance tests of cel-spec (`tests/simple/testdata`).

use crate::answer::Answer;
use crate::engines::{CEL, CRDX_CEL, KUBE_CEL, Question, Result, Variable, check};
use crate::score::{Score, heading};
use crate::textproto::{Field, Message, read};
use crdx_cel::types::Type;
use std::path::Path;

/// The expectation of a test.
enum Expected {
    Value(Answer),
    /// Only the type that the checker deduces.
    Type(String),
    Error,
}

/// Runs the tests of each file and prints the table.
pub fn compare(folder: &Path, verbose: bool) {
    let engines = [CEL, KUBE_CEL, CRDX_CEL];
    heading("cel-spec: file", engines);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the tests of cel-spec").map(|file| file.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "textproto"));
    files.sort();
    let (mut all, mut values, mut errors) = (Score::default(), Score::default(), Score::default());
    for file in files {
        let suite = read(&std::fs::read_to_string(&file).expect("can be read"));
        let mut score = Score::default();
        for section in suite.messages("section") {
            for test in section.messages("test") {
                let Some(expected) = expected(test) else { continue };
                let right = engines.map(|engine| {
                    let (is_right, found) =
                        answer(test, &expected, |question| engine.run(question), engine.name == CRDX_CEL.name);
                    if verbose && !is_right {
                        println!(
                            "{}: {}/{}: {}: {found}",
                            engine.name,
                            suite.text("name"),
                            test.text("name"),
                            test.text("expr")
                        );
                    }
                    is_right
                });
                score.add(right);
                if matches!(expected, Expected::Error) { errors.add(right) } else { values.add(right) }
            }
        }
        score.print(&suite.text("name"));
        all.plus(&score);
    }
    values.print("**expect a value or a type**");
    errors.print("**expect an error**");
    all.print("**all**");
}

fn answer(test: &Message, expected: &Expected, run: impl Fn(&Question) -> Result, has_checker: bool) -> (bool, String) {
    let (source, container) = (test.text("expr"), test.text("container"));
    let variables = variables(test);
    let question = Question { source: &source, container: &container, variables: &variables };
    if let Expected::Type(type_) = expected {
        let found = check(&question).map(|(checked, _)| checked.result_type().to_string());
        return (has_checker && found.as_ref() == Ok(type_), format!("{found:?}, not {type_}"));
    }
    let found = run(&question);
    let is_right = match expected {
        Expected::Value(value) => found.as_ref() == Ok(value),
        _ => found.is_err(),
    };
    (is_right, format!("{found:?}"))
}

/// The expectation of a test; `None` for an unknown value, which these engines do not have.
fn expected(test: &Message) -> Option<Expected> {
    if test.get("unknown").is_some() || test.get("any_unknowns").is_some() {
        return None;
    }
    if test.get("eval_error").is_some() || test.get("any_eval_errors").is_some() {
        return Some(Expected::Error);
    }
    if let Some(typed) = test.message("typed_result") {
        return Some(match typed.message("result") {
            Some(result) if test.word("check_only") != "true" => Expected::Value(value(result)),
            _ => Expected::Type(type_name(&type_of(typed.message("deduced_type")?))),
        });
    }
    Some(Expected::Value(test.message("value").map_or(Answer::Bool(true), value)))
}

/// The declared variables and those that have values only.
fn variables(test: &Message) -> Vec<Variable> {
    let bound = |name: &str| {
        let binding = test.messages("bindings").find(|binding| binding.text("key") == name)?;
        binding.message("value")?.message("value").map(value)
    };
    let declared = test.messages("type_env").filter_map(|decl| {
        let type_ = decl.message("ident")?.message("type")?;
        Some((decl.text("name"), type_of(type_)))
    });
    let mut all: Vec<Variable> = declared.map(|(name, type_)| Variable { value: bound(&name), name, type_ }).collect();
    for binding in test.messages("bindings") {
        let name = binding.text("key");
        if all.iter().all(|variable| variable.name != name) {
            all.push(Variable { value: bound(&name), name, type_: Type::Dyn });
        }
    }
    all
}

/// A `cel.expr.Value`.
fn value(message: &Message) -> Answer {
    let Some((kind, field)) = message.fields().next() else {
        return Answer::Other("empty".to_owned());
    };
    match (kind, field) {
        ("null_value", _) => Answer::Null,
        ("bool_value", Field::Word(word)) => Answer::Bool(word == "true"),
        ("int64_value", Field::Word(word)) => Answer::Int(int(word)),
        ("uint64_value", Field::Word(word)) => Answer::Uint(word.parse().expect("a number")),
        ("double_value", Field::Word(word)) => Answer::Double(double(word)),
        ("string_value", Field::Text(text)) => Answer::String(String::from_utf8(text.clone()).expect("UTF-8")),
        ("bytes_value", Field::Text(text)) => Answer::Bytes(text.clone()),
        ("type_value", Field::Text(text)) => Answer::Type(String::from_utf8_lossy(text).into_owned()),
        ("list_value", Field::Message(list)) => Answer::List(list.messages("values").map(value).collect()),
        ("map_value", Field::Message(map)) => {
            let part = |entry: &Message, name: &str| entry.message(name).map_or(Answer::Null, value);
            Answer::Map(map.messages("entries").map(|entry| (part(entry, "key"), part(entry, "value"))).collect())
        }
        ("object_value", Field::Message(any)) => match any.fields().next() {
            Some((url, Field::Message(message))) => well_known(url, message),
            _ => Answer::Other(format!("{any:?}")),
        },
        _ => Answer::Other(format!("{message:?}")),
    }
}

/// A message of a well-known type, which is a value of CEL; other messages are not values of these engines.
fn well_known(url: &str, message: &Message) -> Answer {
    let number = |name: &str| message.word(name).parse::<i128>().unwrap_or(0);
    let nanos = || number("seconds") * 1_000_000_000 + number("nanos");
    match url.trim_end_matches(']').rsplit_once("google.protobuf.").map(|(_, name)| name) {
        Some("Duration") => Answer::Duration(nanos()),
        Some("Timestamp") => Answer::Timestamp(nanos()),
        Some("BoolValue") => Answer::Bool(message.word("value") == "true"),
        Some("Int32Value" | "Int64Value") => Answer::Int(number("value") as i64),
        Some("UInt32Value" | "UInt64Value") => Answer::Uint(number("value") as u64),
        Some("DoubleValue" | "FloatValue") => Answer::Double(message.word("value").parse().unwrap_or(0.0)),
        Some("StringValue") => Answer::String(message.text("value")),
        Some("BytesValue") => Answer::Bytes(message.bytes("value")),
        _ => Answer::Other(url.to_owned()),
    }
}

fn int(word: &str) -> i64 {
    match word.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).expect("a number"),
        None => word.parse().expect("a number"),
    }
}

fn double(word: &str) -> f64 {
    match word.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => f64::INFINITY,
        "-inf" | "-infinity" => f64::NEG_INFINITY,
        "nan" => f64::NAN,
        number => number.trim_end_matches('f').parse().expect("a number"),
    }
}

/// A `cel.expr.Type`.
fn type_of(message: &Message) -> Type {
    let Some((kind, field)) = message.fields().next() else {
        return Type::Dyn;
    };
    let part = |message: &Message, name: &str| message.message(name).map_or(Type::Dyn, type_of);
    let scalar = |word: &str| match word {
        "BOOL" => Type::Bool,
        "INT64" => Type::Int,
        "UINT64" => Type::Uint,
        "DOUBLE" => Type::Double,
        "STRING" => Type::String,
        "BYTES" => Type::Bytes,
        "TIMESTAMP" => Type::Timestamp,
        "DURATION" => Type::Duration,
        "ANY" => Type::Any,
        _ => Type::Dyn,
    };
    match (kind, field) {
        ("null", _) => Type::Null,
        ("primitive" | "well_known", Field::Word(word)) => scalar(word),
        ("wrapper", Field::Word(word)) => Type::Wrapper(scalar(word).into()),
        ("list_type", Field::Message(list)) => Type::list(part(list, "elem_type")),
        ("map_type", Field::Message(map)) => Type::map(part(map, "key_type"), part(map, "value_type")),
        ("type", Field::Message(inner)) => Type::type_of(type_of(inner)),
        ("message_type", Field::Text(name)) => message_type(&String::from_utf8_lossy(name)),
        ("abstract_type", Field::Message(named)) if named.text("name") == "optional_type" => {
            Type::optional(named.message("parameter_types").map_or(Type::Dyn, type_of))
        }
        ("type_param", Field::Text(name)) => Type::Param(String::from_utf8_lossy(name).as_ref().into()),
        _ => Type::Dyn,
    }
}

fn message_type(name: &str) -> Type {
    let wrapper = |of: Type| Type::Wrapper(of.into());
    match name.strip_prefix("google.protobuf.") {
        Some("Any") => Type::Any,
        Some("Duration") => Type::Duration,
        Some("Timestamp") => Type::Timestamp,
        Some("Value") => Type::Dyn,
        Some("ListValue") => Type::list(Type::Dyn),
        Some("Struct") => Type::map(Type::String, Type::Dyn),
        Some("BoolValue") => wrapper(Type::Bool),
        Some("BytesValue") => wrapper(Type::Bytes),
        Some("DoubleValue" | "FloatValue") => wrapper(Type::Double),
        Some("Int32Value" | "Int64Value") => wrapper(Type::Int),
        Some("UInt32Value" | "UInt64Value") => wrapper(Type::Uint),
        Some("StringValue") => wrapper(Type::String),
        _ => Type::Object(name.into()),
    }
}

fn type_name(type_: &Type) -> String {
    type_.to_string()
}

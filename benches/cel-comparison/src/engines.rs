//! The engines: each evaluates an expression with variables.

use crate::answer::Answer;
use crdx_cel::env::{BaseEnv, Env};
use crdx_cel::eval::Program;
use crdx_cel::types::Type;
use crdx_cel::{PER_CALL_LIMIT, Release};
use crdx_value::steps::Steps;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why there is no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    Compile(String),
    Evaluate(String),
    Panic,
}

pub type Result = std::result::Result<Answer, Failure>;

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub type_: Type,
    pub value: Option<Answer>,
}

/// An expression with its variables.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    pub source: &'a str,
    pub container: &'a str,
    pub variables: &'a [Variable],
}

/// An engine that takes values in the common form.
#[derive(Clone, Copy)]
pub struct Engine {
    pub name: &'static str,
    run: fn(&Question) -> Result,
}

pub const CEL: Engine = Engine { name: "cel", run: cel_alone::run };
pub const KUBE_CEL: Engine = Engine { name: "kube-cel", run: cel_with_kubernetes::run };
pub const CRDX_CEL: Engine = Engine { name: "crdx-cel", run: ours };

impl Engine {
    pub fn run(self, question: &Question) -> Result {
        catch_unwind(AssertUnwindSafe(|| (self.run)(question))).unwrap_or(Err(Failure::Panic))
    }
}

fn ours(question: &Question) -> Result {
    let (checked, program) = check(question)?;
    drop(checked);
    let json: Vec<_> = question.variables.iter().map(|variable| variable.value.as_ref().map(value_of)).collect();
    let absent = |name: &str| Err(crdx_cel::Error::new(format!("no such attribute(s): {name}")));
    let values: Vec<_> = json
        .into_iter()
        .zip(question.variables)
        .map(|(value, variable)| value.map_or_else(|| absent(&variable.name), Ok))
        .collect();
    let outcome = program.run(&values, PER_CALL_LIMIT, &Steps::of_request());
    outcome.result.map(|value| Answer::from(&value)).map_err(|error| Failure::Evaluate(error.to_string()))
}

/// Compiles with crdx-cel.
pub fn check(question: &Question) -> std::result::Result<(crdx_cel::ast::CheckedAst, Program), Failure> {
    let mut env = Env::new(BaseEnv::for_stored(Release::NEWEST));
    for variable in question.variables {
        env = env.with_variable(&variable.name, variable.type_.clone());
    }
    let checked = env.compile(question.source).map_err(|issues| Failure::Compile(issues.to_string()))?;
    let program = Program::plan(&checked, &env).map_err(|error| Failure::Compile(error.to_string()))?;
    Ok((checked, program))
}

fn value_of(answer: &Answer) -> crdx_cel::Value<'static> {
    use crdx_cel::Value;
    use crdx_cel::value::{Duration, MapKey, Map, Timestamp};
    match answer {
        Answer::Null => Value::Null,
        Answer::Bool(b) => Value::Bool(*b),
        Answer::Int(i) => Value::Int(*i),
        Answer::Uint(u) => Value::Uint(*u),
        Answer::Double(d) => Value::Double(*d),
        Answer::String(s) => Value::string(s.clone()),
        Answer::Bytes(b) => Value::Bytes(b.as_slice().into()),
        Answer::List(items) => Value::list(items.iter().map(value_of).collect()),
        Answer::Map(entries) => {
            let entry =
                |(key, value): &(Answer, Answer)| (Key::from_value(&value_of(key)).expect("a key"), value_of(value));
            Value::Map(Map::Shared(std::sync::Arc::new(entries.iter().map(entry).collect())))
        }
        Answer::Type(name) => Value::Type(name.clone().into()),
        Answer::Timestamp(nanos) => {
            let (seconds, nanos) = (nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000));
            Value::Timestamp(Timestamp::of_message(seconds as i64, nanos as i64))
        }
        Answer::Duration(nanos) => Value::Duration(Duration(*nanos as i64)),
        Answer::Optional(None) => Value::NONE,
        Answer::Optional(Some(inner)) => value_of(inner).some(),
        Answer::Other(text) => Value::string(text.clone()),
    }
}

fn time(nanos: i128) -> chrono::DateTime<chrono::FixedOffset> {
    let seconds = nanos.div_euclid(1_000_000_000) as i64;
    let time = chrono::DateTime::from_timestamp(seconds, nanos.rem_euclid(1_000_000_000) as u32);
    time.unwrap_or_default().fixed_offset()
}

/// The same code for the two versions of the crate `cel`: kube-cel has one of its own.
macro_rules! with_cel {
    ($module:ident, $cel:path, |$question:ident| $prepare:block) => {
        mod $module {
            use super::{Answer, Failure, Question, time};
            use cel::objects::{Key, Map, OptionalValue, Value};
            use std::cell::RefCell;
            use std::collections::HashMap;
            use std::rc::Rc;
            use std::sync::Arc;

            // Parsing takes long.
            type Programs = HashMap<(String, String), std::result::Result<Rc<cel::Program>, Failure>>;
            thread_local!(static PROGRAMS: RefCell<Programs> = RefCell::default());
            use $cel as cel;

            pub fn run(question: &Question) -> super::Result {
                let $question = question;
                let (compile, mut context) = $prepare;
                let key = (question.source.to_owned(), question.container.to_owned());
                let known = PROGRAMS.with_borrow(|programs| programs.get(&key).cloned());
                let program = known.unwrap_or_else(|| {
                    let program = compile().map(Rc::new).map_err(|error| Failure::Compile(error.to_string()));
                    PROGRAMS.with_borrow_mut(|programs| programs.insert(key, program.clone()));
                    program
                })?;
                for variable in question.variables {
                    if let Some(value) = &variable.value {
                        context.add_variable_from_value(variable.name.as_str(), value_of(value));
                    }
                }
                match program.execute(&context) {
                    Ok(value) => Ok(answer_of(&value)),
                    Err(error) => Err(Failure::Evaluate(error.to_string())),
                }
            }

            fn value_of(answer: &Answer) -> Value {
                match answer {
                    Answer::Null => Value::Null,
                    Answer::Bool(b) => Value::Bool(*b),
                    Answer::Int(i) => Value::Int(*i),
                    Answer::Uint(u) => Value::UInt(*u),
                    Answer::Double(d) => Value::Float(*d),
                    Answer::String(s) | Answer::Type(s) | Answer::Other(s) => Value::String(Arc::new(s.clone())),
                    Answer::Bytes(b) => Value::Bytes(Arc::new(b.clone())),
                    Answer::List(items) => Value::List(Arc::new(items.iter().map(value_of).collect())),
                    Answer::Map(entries) => {
                        let entry = |(key, value): &(Answer, Answer)| (key_of(key), value_of(value));
                        Value::Map(Map {
                            map: Arc::new(entries.iter().map(entry).collect()),
                        })
                    }
                    Answer::Timestamp(nanos) => Value::Timestamp(time(*nanos)),
                    Answer::Duration(nanos) => Value::Duration(chrono::Duration::nanoseconds(*nanos as i64)),
                    Answer::Optional(None) => Value::Opaque(Arc::new(OptionalValue::none())),
                    Answer::Optional(Some(inner)) => Value::Opaque(Arc::new(OptionalValue::of(value_of(inner)))),
                }
            }

            fn key_of(answer: &Answer) -> Key {
                match answer {
                    Answer::Bool(b) => Key::Bool(*b),
                    Answer::Int(i) => Key::Int(*i),
                    Answer::Uint(u) => Key::Uint(*u),
                    Answer::String(s) => Key::String(Arc::new(s.clone())),
                    other => panic!("no key: {other:?}"),
                }
            }

            fn answer_of(value: &Value) -> Answer {
                match value {
                    Value::Null => Answer::Null,
                    Value::Bool(b) => Answer::Bool(*b),
                    Value::Int(i) => Answer::Int(*i),
                    Value::UInt(u) => Answer::Uint(*u),
                    Value::Float(d) => Answer::Double(*d),
                    Value::String(s) => Answer::String(s.to_string()),
                    Value::Bytes(b) => Answer::Bytes(b.to_vec()),
                    Value::List(items) => Answer::List(items.iter().map(answer_of).collect()),
                    Value::Map(map) => {
                        let key = |key: &Key| match key {
                            Key::Bool(b) => Answer::Bool(*b),
                            Key::Int(i) => Answer::Int(*i),
                            Key::Uint(u) => Answer::Uint(*u),
                            Key::String(s) => Answer::String(s.to_string()),
                        };
                        Answer::Map(map.map.iter().map(|(k, v)| (key(k), answer_of(v))).collect())
                    }
                    Value::Duration(d) => {
                        Answer::Duration(i128::from(d.num_seconds()) * 1_000_000_000 + i128::from(d.subsec_nanos()))
                    }
                    Value::Timestamp(t) => Answer::Timestamp(
                        i128::from(t.timestamp()) * 1_000_000_000 + i128::from(t.timestamp_subsec_nanos()),
                    ),
                    Value::Opaque(_) => match <&OptionalValue>::try_from(value) {
                        Ok(optional) => Answer::Optional(optional.value().map(|inner| Box::new(answer_of(inner)))),
                        Err(_) => Answer::Other(format!("{value:?}")),
                    },
                    other => Answer::Other(format!("{other:?}")),
                }
            }
        }
    };
}

with_cel!(cel_alone, ::cel, |question| {
    use cel::extensions::{encoders, lists, math, strings};
    thread_local!(static ENVIRONMENTS: RefCell<HashMap<String, Arc<cel::Env>>> = RefCell::default());
    let known = ENVIRONMENTS.with_borrow(|known| known.get(question.container).cloned());
    let env = known.unwrap_or_else(|| {
        let mut env = cel::Env::stdlib();
        env.add_extension(encoders).expect("an extension");
        env.add_extension(lists).expect("an extension");
        env.add_extension(math).expect("an extension");
        env.add_extension(strings).expect("an extension");
        if !question.container.is_empty() {
            env.set_container(question.container).expect("a container");
        }
        let env = Arc::new(env);
        ENVIRONMENTS.with_borrow_mut(|known| known.insert(question.container.to_owned(), Arc::clone(&env)));
        env
    });
    let context = cel::Context::with_env(Arc::clone(&env));
    (move || env.compile(question.source), context)
});

with_cel!(cel_with_kubernetes, ::kube_cel::cel, |question| {
    use kube_cel::KubeCelExt;
    (|| cel::Program::compile(question.source), cel::Context::default().with_all())
});

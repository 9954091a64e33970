//! The defaults of built-in kinds: those that the table of types has (`+default`), and those of `defaults.txt`, which
//! API servers set by hand-written functions.
//!
//! `defaults.txt` has a line for each type, and an indented line for each default, in the order in which they are set:
//!
//! ```text
//! apps/v1.DeploymentSpec
//!  replicas 1                                          a value as JSON
//!  strategy.rollingUpdate.maxSurge "25%" if strategy.type="RollingUpdate"
//!  serviceAccountName =serviceAccount                  the value of another field
//!  imagePullPolicy :pullPolicy image                   a function with its argument
//!  pullPolicy :pullPolicy reference if gate ImageVolume
//! ```
//!
//! A default is set if the field is absent or an empty string or list; an empty string behind a pointer is kept. `PATH?` is also set if it is zero, and `PATH!` always;
//! null removes the field. `if PATH`, `if PATH="VALUE"`, `if gate NAME` and `unless PATH` are conditions, which `&` joins; `only PATH`
//! means that there is no other field. Some lines are conversions, which the server makes between decoding and storage.
//! A line may end with the releases to which it applies, as in [`super::table`].

mod functions;
mod image;

use super::releases::{Releases, split_releases};
use super::table::table;
use super::types::{Struct, Type, TypeDefinition, TypeId, Types};
use crdx_text::json;
use crdx_value::Value;
use crdx_value::release::{Gate, Release, all_gates};
use functions::Function;
pub use functions::TEMPLATE_GENERATION;
use std::sync::OnceLock;

const TEXT: &str = include_str!("defaults.txt");

/// The maximum depth of values in which defaults are set.
const MAX_DEPTH: usize = 500;

/// Sets the defaults of an object of a struct type.
pub fn set(types: &'static Types, id: TypeId, object: &mut Value, release: Release) {
    Defaulter { types, release, rules: Rules::get() }.named(id, object, 0);
}

/// A line of the table.
#[derive(Debug)]
struct DefaultingRule {
    path: Vec<&'static str>,
    /// When the default replaces a value.
    replaces: Replaces,
    source: DefaultSource,
    conditions: Vec<Condition>,
    releases: Releases,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Replaces {
    /// If the value is absent or empty.
    Empty,
    /// Also if it is zero.
    Zero,
    Always,
}

#[derive(Debug)]
enum DefaultSource {
    Json(Value),
    Field(Vec<&'static str>),
    Function(Function, Vec<&'static str>),
}

#[derive(Debug)]
enum Condition {
    Present(Vec<&'static str>),
    Absent(Vec<&'static str>),
    Equal(Vec<&'static str>, &'static str),
    Only(&'static str),
    Gate(Gate),
}

/// The rules of every type, by its index in the table of types.
#[derive(Debug)]
struct Rules(Vec<Vec<DefaultingRule>>);

impl Rules {
    /// Reads the table on first use.
    fn get() -> &'static Self {
        static RULES: OnceLock<Rules> = OnceLock::new();
        RULES.get_or_init(|| Self::read(TEXT))
    }

    fn read(text: &'static str) -> Self {
        let all = table().releases();
        let mut rules: Vec<Vec<DefaultingRule>> = table().types().iter().map(|_| Vec::new()).collect();
        let mut of_type = None;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix(' ') {
                None => of_type = table().type_id(line),
                Some(rule) => {
                    let (rule, releases) = split_releases(rule, &all);
                    if let Some(rules) = of_type.and_then(|at| rules.get_mut(at)) {
                        rules.extend(DefaultingRule::read(rule, releases));
                    }
                }
            }
        }
        Self(rules)
    }

    fn of(&self, id: TypeId) -> &[DefaultingRule] {
        self.0.get(id.index()).map_or(&[], Vec::as_slice)
    }
}

fn path(text: &'static str) -> Vec<&'static str> {
    text.split('.').collect()
}

impl DefaultingRule {
    /// Reads a line; `None` if it is malformed, which a test excludes.
    fn read(line: &'static str, releases: Releases) -> Option<Self> {
        let (target, rest) = line.split_once(' ')?;
        let (rest, conditions) = if let Some((rest, conditions)) = rest.split_once(" if ") {
            (rest, conditions.split(" & ").map(Condition::read).collect::<Option<_>>()?)
        } else if let Some((rest, at)) = rest.split_once(" unless ") {
            (rest, vec![Condition::Absent(path(at))])
        } else if let Some((rest, name)) = rest.split_once(" only ") {
            (rest, vec![Condition::Only(name)])
        } else {
            (rest, Vec::new())
        };
        let (target, replaces) = match (target.strip_suffix('?'), target.strip_suffix('!')) {
            (Some(target), _) => (target, Replaces::Zero),
            (_, Some(target)) => (target, Replaces::Always),
            _ => (target, Replaces::Empty),
        };
        let source = if let Some(at) = rest.strip_prefix('=') {
            DefaultSource::Field(path(at))
        } else if let Some(call) = rest.strip_prefix(':') {
            let (name, argument) = call.split_once(' ').unwrap_or((call, ""));
            DefaultSource::Function(Function::named(name)?, path(argument))
        } else {
            DefaultSource::Json(json::read(rest.as_bytes()).ok()?)
        };
        Some(Self { path: path(target), replaces, source, conditions, releases })
    }

    /// Sets the default; `is_pointer` returns true if the field is a pointer, for which only nil counts as absent.
    fn apply(&self, object: &mut Value, release: Release, is_pointer: impl FnOnce() -> bool) {
        if !self.conditions.iter().all(|condition| condition.holds(object, release)) {
            return;
        }
        if let DefaultSource::Function(function, argument) = &self.source {
            return function.call(object, &self.path, argument, release.minor());
        }
        let replaced = match find(object, &self.path) {
            _ if self.replaces == Replaces::Always => true,
            Some(Value::Int(0)) => self.replaces == Replaces::Zero,
            Some(Value::String(text)) => text.is_empty() && !is_pointer(),
            found => is_empty(found),
        };
        if !replaced {
            return;
        }
        let value = match &self.source {
            DefaultSource::Json(value) => Some(value.clone()),
            DefaultSource::Field(path) => find(object, path).filter(|value| !is_empty(Some(value))).cloned(),
            DefaultSource::Function(..) => None,
        };
        if let Some(value) = value {
            put(object, &self.path, value);
        }
    }
}

impl Condition {
    /// Reads a condition; `None` for a gate that is unknown, which a test excludes.
    fn read(text: &'static str) -> Option<Self> {
        if let Some(name) = text.strip_prefix("gate ") {
            return all_gates().find_map(|row| row.gate.filter(|_| row.name == name)).map(Self::Gate);
        }
        Some(match text.split_once('=') {
            Some((at, value)) => Self::Equal(path(at), value.trim_matches('"')),
            None => Self::Present(path(text)),
        })
    }

    fn holds(&self, object: &Value, release: Release) -> bool {
        match self {
            Self::Gate(gate) => release.enables(*gate),
            Self::Present(path) => {
                !matches!(find(object, path), None | Some(Value::Null | Value::Bool(false)))
                    && !find(object, path).and_then(Value::as_array).is_some_and(<[Value]>::is_empty)
            }
            Self::Absent(path) => is_empty(find(object, path)),
            Self::Equal(path, value) => find(object, path).and_then(Value::as_str) == Some(value),
            Self::Only(name) => object.as_object().is_some_and(|members| members.keys().all(|key| key == name)),
        }
    }
}

/// The largest number of defaults that the rules of a type set.
pub(crate) fn most_set(id: TypeId) -> usize {
    Rules::get().of(id).len()
}

/// Returns true for a value that counts as absent.
fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(_) | Value::Bool(_) | Value::Int(_) | Value::Float(_)) => false,
    }
}

fn is_zero(value: &Value) -> bool {
    matches!(value, Value::Bool(false) | Value::Int(0)) || is_empty(Some(value))
}

/// The value at a path; a number is an index.
fn find<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}

fn put(object: &mut Value, path: &[&str], value: Value) {
    let Some((last, parents)) = path.split_last() else { return };
    if !value.is_null() {
        return object.insert_at(path, value);
    }
    let parent = parents.iter().try_fold(object, |value, key| value.get_mut(key));
    if let Some(members) = parent.and_then(Value::as_object_mut) {
        members.remove(last);
    }
}

struct Defaulter {
    types: &'static Types,
    release: Release,
    rules: &'static Rules,
}

impl Defaulter {
    fn value(&self, type_: &'static Type, value: &mut Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match (type_.target(), value) {
            (Type::Named(id), value) => self.named(*id, value, depth),
            (Type::List(item), Value::Array(items)) if matches!(item.target(), Type::Named(_)) => {
                for value in items {
                    self.value(item, value, depth + 1);
                }
            }
            (Type::Map(_, of), Value::Object(members)) if matches!(of.target(), Type::Named(_)) => {
                for value in members.values_mut() {
                    self.value(of, value, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn named(&self, id: TypeId, value: &mut Value, depth: usize) {
        match self.types.definition(id) {
            Some(TypeDefinition::Struct(s)) if matches!(value, Value::Object(_)) => {
                self.fields(id, s, value);
                let Value::Object(members) = value else { return };
                for (key, member) in members {
                    if matches!(member, Value::Object(_) | Value::Array(_))
                        && let Some((_, field)) = s.field(key)
                    {
                        self.value(&field.type_, member, depth + 1);
                    }
                }
            }
            Some(TypeDefinition::Named { of, .. }) => self.value(of, value, depth),
            _ => {}
        }
    }

    /// Returns true if the field at a path of a struct is a pointer.
    fn is_pointer(&self, s: &'static Struct, path: &[&str]) -> bool {
        let Some((name, rest)) = path.split_first() else { return false };
        let Some((_, field)) = s.field(name) else { return false };
        if rest.is_empty() {
            return matches!(field.type_, Type::Pointer(_));
        }
        match field.type_.target() {
            Type::Named(id) => match self.types.definition(*id) {
                Some(TypeDefinition::Struct(inner)) => self.is_pointer(inner, rest),
                _ => false,
            },
            _ => false,
        }
    }

    /// Sets the defaults of the fields of a struct.
    fn fields(&self, id: TypeId, s: &'static Struct, value: &mut Value) {
        for rule in self.rules.of(id) {
            if rule.releases.contains(&self.types.release()) {
                rule.apply(value, self.release, || self.is_pointer(s, &rule.path));
            }
        }
        for (field, default) in s.defaulted() {
            let is_pointer = matches!(field.type_, Type::Pointer(_));
            let found = value.get(field.name);
            if is_empty(found)
                && !(is_pointer && matches!(found, Some(Value::String(_))))
                && let Value::Object(members) = &mut *value
                // A zero value is encoded only behind a pointer, or without `omitempty`.
                && (!is_zero(default) || !field.omit_empty || is_pointer)
            {
                members.insert(field.name.to_owned(), default.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::json::to_string;
    use crdx_value::release::FeatureGates;

    #[test]
    fn every_line_is_well_formed() {
        let lines = TEXT.lines().filter(|line| line.starts_with(' ')).count();
        assert_eq!(Rules::get().0.iter().flatten().count(), lines);
    }

    #[test]
    fn defaults_are_set_in_nested_values() {
        let types = Types::for_release(37);
        let release = "1.37".parse().unwrap();
        let mut object =
            json::read(br#"{"template":{"spec":{"containers":[{"name":"a","image":"x:1","ports":[{}]}]}}}"#).unwrap();
        set(types, types.id("apps/v1.DeploymentSpec").unwrap(), &mut object, release);
        assert_eq!(
            object.at(&["strategy", "rollingUpdate"]).map(to_string).as_deref(),
            Some(r#"{"maxSurge":"25%","maxUnavailable":"25%"}"#)
        );
        let spec = object.at(&["template", "spec"]).unwrap();
        assert_eq!(spec.str_at(&["dnsPolicy"]), Some("ClusterFirst"));
        let container = spec.get("containers").and_then(Value::as_array).unwrap().first().unwrap();
        assert_eq!(container.str_at(&["imagePullPolicy"]), Some("IfNotPresent"));
        assert_eq!(container.get("ports").map(to_string).as_deref(), Some(r#"[{"protocol":"TCP"}]"#));
    }
    #[test]
    fn the_default_policy_of_image_volumes_has_a_gate() {
        let policy = |release: Release| {
            let types = Types::for_release(release.minor().number().into());
            let mut volume = json::read(br#"{"name":"v","image":{"reference":"a:latest"}}"#).unwrap();
            set(types, types.id("core/v1.Volume").unwrap(), &mut volume, release);
            volume.str_at(&["image", "pullPolicy"]).map(str::to_owned)
        };
        let release = |text: &str| text.parse::<Release>().unwrap();
        let mut gates = FeatureGates::default();
        gates.set("ImageVolume", true);
        assert_eq!((policy(release("1.34")), policy(release("1.35")).as_deref()), (None, Some("Always")));
        assert_eq!(policy(release("1.34").with_gates(&gates).unwrap()).as_deref(), Some("Always"));
    }

    #[test]
    fn the_selector_of_a_job_is_not_manual() {
        let types = Types::for_release(30);
        let mut job = json::read(b"{}").unwrap();
        set(types, types.id("batch/v1.Job").unwrap(), &mut job, "1.30".parse().unwrap());
        assert_eq!(job.at(&["spec", "manualSelector"]), Some(&Value::Bool(false)));
    }
}

//! The values of a `HelmRelease`: those of the `ConfigMap`s that `valuesFrom` names, and its own, which take precedence
//! (`fluxcd/pkg/chartutil`).

use crdx_text::yaml;
use crdx_value::{Map, Value};

/// The key of a `ConfigMap` with values.
const KEY: &str = "values.yaml";

/// The reason why the values are not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValuesError {
    #[error("some of its values are in the {0}")]
    Elsewhere(String),
    #[error("this input has several ConfigMaps {0} that differ, which its valuesFrom names")]
    Several(String),
    #[error("the ConfigMap {0} of its valuesFrom has no key {1}")]
    NoKey(String, String),
    #[error("the key {1} of the ConfigMap {0} of its valuesFrom is not a YAML object")]
    NotAnObject(String, String),
    #[error("the targetPath {0} of its valuesFrom is not understood by this program")]
    TargetPath(String),
}

/// Returns the values of a `spec`. `data` returns the data of the `ConfigMap` with a name.
///
/// # Errors
/// A part of them is not known.
pub fn values<'a>(spec: &Value, data: impl Fn(&str) -> Result<&'a Value, ValuesError>) -> Result<Value, ValuesError> {
    let mut values = Value::Object(Map::new());
    for source in spec.get("valuesFrom").and_then(Value::as_array).unwrap_or_default() {
        let text = |member: &str| source.str_at(&[member]).filter(|text| !text.is_empty());
        let name = text("name").unwrap_or_default();
        if text("kind") != Some("ConfigMap") {
            return Err(ValuesError::Elsewhere(format!("{} {name}", text("kind").unwrap_or("object"))));
        }
        let key = text("valuesKey").unwrap_or(KEY);
        let Some(found) = data(name)?.str_at(&[key]) else {
            if source.get("optional").and_then(Value::as_bool) == Some(true) {
                continue;
            }
            return Err(ValuesError::NoKey(name.to_owned(), key.to_owned()));
        };
        if let Some(path) = text("targetPath") {
            set(&mut values, path, found).ok_or_else(|| ValuesError::TargetPath(path.to_owned()))?;
            continue;
        }
        match yaml::read(found.as_bytes()) {
            Ok(more) if more.as_object().is_some() => merge(&mut values, more),
            Ok(Value::Null) => {}
            _ => return Err(ValuesError::NotAnObject(name.to_owned(), key.to_owned())),
        }
    }
    merge(&mut values, spec.get("values").cloned().unwrap_or_default());
    Ok(values)
}

/// Merges `more` into the values. `more` takes precedence.
pub fn merge(values: &mut Value, more: Value) {
    let Value::Object(more) = more else { return };
    let Some(members) = values.as_object_mut() else { return };
    for (name, value) in more {
        match members.get_mut(&name) {
            Some(known) if known.as_object().is_some() && value.as_object().is_some() => merge(known, value),
            _ => {
                members.insert(name, value);
            }
        }
    }
}

/// Sets a value at a path as `helm --set` does; `None` for a path or a value with more of its syntax than names.
fn set(values: &mut Value, path: &str, text: &str) -> Option<()> {
    let is_name = |part: &&str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    let parts: Vec<&str> = path.split('.').collect();
    let value = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    let is_plain = |text: &str| !text.contains([',', '\\', '{', '[']);
    if !parts.iter().all(is_name) || !is_plain(text) {
        return None;
    }
    let value = value.map_or_else(|| typed(text), Value::from);
    let mut nested = value;
    for part in parts.into_iter().rev() {
        nested = Value::Object([(part.to_owned(), nested)].into_iter().collect());
    }
    merge(values, nested);
    Some(())
}

/// Returns the value of an unquoted text (`typedVal` of `helm.sh/helm/v3/pkg/strvals`).
fn typed(text: &str) -> Value {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    match text {
        _ if is("true") => Value::Bool(true),
        _ if is("false") => Value::Bool(false),
        _ if is("null") => Value::Null,
        "0" => Value::Int(0),
        _ if text.starts_with('0') => text.into(),
        _ => text.parse().map_or_else(|_| text.into(), Value::Int),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::json::to_string;

    const DATA: &str = "values.yaml: |\n  a: {b: 1, c: 2}\nmore: |\n  a: {c: 3}\nlist: '[1]'\nport: '080'\nquoted: '\"7\"'\nnumber: '7'\nbraces: '{a}'\n";

    fn of(spec: &str) -> Result<String, ValuesError> {
        let data = yaml::read(DATA.as_bytes()).unwrap();
        let find = |name: &str| {
            if name == "vars" { Ok(&data) } else { Err(ValuesError::Elsewhere(format!("ConfigMap {name}"))) }
        };
        let spec = yaml::read(spec.as_bytes()).unwrap();
        values(&spec, find).map(|values| to_string(&values))
    }

    fn from(entry: &str) -> Result<String, ValuesError> {
        of(&format!("valuesFrom: [{{kind: ConfigMap, name: vars, {entry}}}]"))
    }

    #[test]
    fn later_values_take_precedence() {
        let spec = "valuesFrom: [{kind: ConfigMap, name: vars}, {kind: ConfigMap, name: vars, valuesKey: more}]\nvalues: {a: {b: null}}";
        assert_eq!(of(spec).unwrap(), r#"{"a":{"b":null,"c":3}}"#);
        assert_eq!(of("{}").unwrap(), "{}");
    }

    #[test]
    fn a_target_path_has_one_value() {
        assert_eq!(from("valuesKey: number, targetPath: a.b").unwrap(), r#"{"a":{"b":7}}"#);
        assert_eq!(from("valuesKey: quoted, targetPath: a").unwrap(), r#"{"a":"7"}"#);
        assert_eq!(from("valuesKey: port, targetPath: a").unwrap(), r#"{"a":"080"}"#);
        for entry in ["valuesKey: braces, targetPath: a", "valuesKey: port, targetPath: 'a[0]'"] {
            assert!(from(entry).unwrap_err().to_string().contains("is not understood"), "{entry}");
        }
    }

    #[test]
    fn values_elsewhere_are_not_known() {
        assert_eq!(
            of("valuesFrom: [{kind: Secret, name: s}]").unwrap_err().to_string(),
            "some of its values are in the Secret s"
        );
        assert!(of("valuesFrom: [{kind: ConfigMap, name: other, optional: true}]").is_err(), "the cluster may have it");
        assert!(from("valuesKey: none").unwrap_err().to_string().ends_with("has no key none"));
        assert_eq!(from("valuesKey: none, optional: true").unwrap(), "{}");
        assert!(from("valuesKey: list").unwrap_err().to_string().ends_with("is not a YAML object"));
    }
}

//! Suggestions for errors of the server: names in the schema that are similar to the name in the error.

use crdx_server::crd;
use crdx_value::Value;
use crdx_value::field::{BadValue, ErrorType, FieldError};
use crdx_value::suggest;
use std::cell::Cell;
use std::collections::BTreeMap;

/// The pairs of characters that are compared for the suggestions of one response. Responses have many unknown fields,
/// and schemas many names; after that there are no suggestions.
const COMPARISONS: usize = 20_000_000;

/// Suggestions for one object.
#[derive(Clone, Debug)]
pub struct Hints<'a> {
    source: Source<'a>,
    /// The comparisons that are left.
    left: Cell<usize>,
}

/// The source of suggestions.
#[derive(Clone, Debug)]
enum Source<'a> {
    /// The schema of an object: its CRD, if it is known, and the version.
    Schema(Option<&'a Value>, &'a str),
    /// The unknown fields of a CRD, by path.
    Definition(BTreeMap<String, crd::Unknown>),
    /// A known name similar to each unknown field, by path.
    Names(BTreeMap<String, String>),
}

impl<'a> Hints<'a> {
    /// Suggestions from the schema of an object: its CRD, if it is known, and the version.
    pub fn of_schema(definition: Option<&'a Value>, version: &'a str) -> Self {
        Self { source: Source::Schema(definition, version), left: Cell::new(COMPARISONS) }
    }

    /// Suggestions for the unknown fields of a CRD, by path.
    pub fn of_definition(unknown: BTreeMap<String, crd::Unknown>) -> Self {
        Self { source: Source::Definition(unknown), left: Cell::new(COMPARISONS) }
    }

    /// A known name similar to each unknown field, by path.
    pub fn of_names(names: BTreeMap<String, String>) -> Self {
        Self { source: Source::Names(names), left: Cell::new(COMPARISONS) }
    }

    /// Returns a field with a name similar to the unknown field at `path`.
    pub fn for_unknown_field(&self, path: &str) -> Option<&str> {
        match &self.source {
            Source::Schema(definition, version) => {
                for_unknown_field(schema((*definition)?, version)?, path, &self.left)
            }
            Source::Definition(unknown) => {
                let crd::Unknown { name, known } = unknown.get(path)?;
                closest(name, known.iter().copied(), &self.left)
            }
            Source::Names(names) => names.get(path).map(String::as_str),
        }
    }

    /// Returns an enum value similar to the value of the error.
    pub fn for_value(&self, error: &FieldError) -> Option<&str> {
        match &self.source {
            Source::Schema(definition, version) => for_value(schema((*definition)?, version)?, error, &self.left),
            Source::Definition(_) | Source::Names(_) => None,
        }
    }
}

/// Returns the schema of a version of a stored CRD.
pub fn schema<'a>(definition: &'a Value, version: &str) -> Option<&'a Value> {
    let versions = definition.at(&["spec", "versions"])?.as_array()?;
    let version = versions.iter().find(|known| known.str_at(&["name"]) == Some(version))?;
    version.at(&["schema", "openAPIV3Schema"])
}

/// Returns a field with a name similar to the unknown field at `path`.
fn for_unknown_field<'a>(schema: &'a Value, path: &str, left: &Cell<usize>) -> Option<&'a str> {
    let (node, rest) = descend(schema, path, left)?;
    // The remaining path begins with the unknown name.
    let name = rest.strip_prefix('.').unwrap_or(rest).split(['.', '[']).next().filter(|name| !name.is_empty())?;
    let mut names: Vec<&str> = keys(node).collect();
    if std::ptr::eq(node, schema) {
        names.extend(["apiVersion", "kind", "metadata"]);
    }
    closest(name, names, left)
}

/// Returns an enum value similar to the value of the error.
fn for_value<'a>(schema: &'a Value, error: &FieldError, left: &Cell<usize>) -> Option<&'a str> {
    if error.kind != ErrorType::NotSupported {
        return None;
    }
    let (node, rest) = descend(schema, &error.field, left)?;
    let allowed = node.get("enum").filter(|_| rest.is_empty())?.as_array()?;
    let BadValue::Value(Value::String(value)) = &error.bad_value else { return None };
    closest(value, allowed.iter().filter_map(Value::as_str), left)
}

/// Returns the candidate closest to a word, unless that needs more comparisons than are left.
fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, left: &Cell<usize>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let letters: usize = candidates.iter().map(|candidate| candidate.len() + 1).sum();
    take(left, letters.saturating_mul(word.len() + 1))?;
    suggest::closest(word, candidates)
}

fn take(left: &Cell<usize>, comparisons: usize) -> Option<()> {
    left.set(left.get().checked_sub(comparisons)?);
    Some(())
}

/// Returns the deepest node of the schema on `path`, and the remaining path; `None` if that needs more comparisons than
/// are left.
fn descend<'a, 'p>(schema: &'a Value, path: &'p str, left: &Cell<usize>) -> Option<(&'a Value, &'p str)> {
    let (mut node, mut rest) = (schema, path);
    loop {
        take(left, keys(node).count() + 1)?;
        let Some((below, remaining)) = step(node, rest) else { return Some((node, rest)) };
        (node, rest) = (below, remaining);
    }
}

fn step<'a, 'p>(node: &'a Value, rest: &'p str) -> Option<(&'a Value, &'p str)> {
    if let Some(index) = rest.strip_prefix('[') {
        let (_, tail) = index.split_once(']')?;
        let below = node.get("items").or_else(|| node.get("additionalProperties"))?;
        return Some((below, tail));
    }
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    // Names may contain dots, so the longest matching name is used.
    let fits =
        |name: &&str| rest.strip_prefix(*name).is_some_and(|tail| tail.is_empty() || tail.starts_with(['.', '[']));
    if let Some(name) = keys(node).filter(fits).max_by_key(|name| name.len()) {
        return Some((node.at(&["properties", name])?, rest.strip_prefix(name)?));
    }
    let below = node.get("additionalProperties").filter(|below| below.as_object().is_some())?;
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, tail) = rest.split_at_checked(end)?;
    (!name.is_empty()).then_some((below, tail))
}

fn keys(node: &Value) -> impl Iterator<Item = &str> {
    node.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn sample() -> Value {
        json::read(
            br#"{"properties":{"spec":{"properties":{
                "secretName":{"type":"string"},
                "policy":{"type":"string","enum":["Allow","Forbid"]},
                "list":{"items":{"properties":{"image":{}}}},
                "map":{"additionalProperties":{"properties":{"weight":{}}}}}}}}"#,
        )
        .unwrap()
    }

    #[test]
    fn an_unknown_field_is_compared_with_its_siblings() {
        let schema = sample();
        let hint = |path| for_unknown_field(&schema, path, &Cell::new(COMPARISONS));
        assert_eq!(hint("spec.secretNme"), Some("secretName"));
        assert_eq!(hint("spec.list[3].imge"), Some("image"));
        assert_eq!(hint("spec.map.some.wieght"), Some("weight"));
        assert_eq!(hint("spce"), Some("spec"));
        assert_eq!(hint("metdata"), Some("metadata"));
        assert_eq!(hint("spec.secretNme.deep[0].x"), Some("secretName"));
        assert_eq!(hint("spec.colour"), None);
        assert_eq!(hint(""), None);
    }

    #[test]
    fn the_comparisons_of_a_response_are_limited() {
        let names: Vec<String> = (0..1000).map(|i| format!(r#""secretName{i}":{{}},"#)).collect();
        let names = names.concat();
        let schema = json::read(format!(r#"{{"properties":{{{names}"x":{{}}}}}}"#).as_bytes()).unwrap();
        let crd = format!(
            r#"{{"spec":{{"versions":[{{"name":"v1","schema":{{"openAPIV3Schema":{}}}}}]}}}}"#,
            crdx_value::json::to_string(&schema)
        );
        let crd = json::read(crd.as_bytes()).unwrap();
        let hints = Hints::of_schema(Some(&crd), "v1");
        let found = (0..1000).map_while(|_| hints.for_unknown_field("secretNme7")).count();
        assert!(found > 50 && found < 500, "{found}");
    }
}

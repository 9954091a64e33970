//! Hints for errors of the server and for dropped fields: where an unknown field exists, and names in the schema that are
//! similar to the name in the error.

use crate::report::FieldHint;
use crdx_server::crd;
use crdx_types::types::Types;
use crdx_types::{Endpoint, Strict, decode};
use crdx_value::field::{BadValue, ErrorType, FieldError};
use crdx_value::release::Release;
use crdx_value::suggest;
use crdx_value::{Value, group_version, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The pairs of characters that are compared for the suggestions of one response. Responses have many unknown fields,
/// and schemas many names; after that there are no suggestions.
const COMPARISONS: usize = 20_000_000;

/// Hints for one object.
#[derive(Clone, Debug)]
pub struct Hints<'a> {
    source: HintSource<'a>,
    /// The comparisons that are left.
    left: Cell<usize>,
}

#[derive(Clone, Debug)]
enum HintSource<'a> {
    /// The schema of an object: its CRD and the version.
    Schema(&'a Value, &'a str, Release),
    /// The hints for the unknown fields of an object of a built-in kind, by path, and its field that cannot be decoded.
    Fields(BTreeMap<String, FieldHint>, Option<String>),
}

impl<'a> Hints<'a> {
    /// Hints from the schema of an object: its CRD and the version.
    pub fn of_schema(definition: &'a Value, version: &'a str, release: Release) -> Self {
        Self::of(HintSource::Schema(definition, version, release))
    }

    /// Hints for the unknown fields of a CRD.
    pub fn of_definition(crd: &Value, release: Release) -> Self {
        let left = Cell::new(COMPARISONS);
        let hint = |(path, unknown): (String, crd::Unknown)| {
            let crd::Unknown { name, known, releases } = unknown;
            let similar = || Some(FieldHint::SimilarName(closest(&name, known.iter().copied(), &left)?.to_owned()));
            let hint = of_releases(&name, releases, release.minor().number().into()).or_else(similar)?;
            Some((path, hint))
        };
        let fields = crd::unknown_fields(crd, release).into_iter().filter_map(hint).collect();
        Self::of(HintSource::Fields(fields, None))
    }

    /// Hints for the unknown fields of an object of a built-in kind.
    pub fn of_built_in(object: &Value, release: Release) -> Self {
        let types = Types::for_release(release.minor().number().into());
        let text = |key: &str| object.str_at(&[key]).unwrap_or_default();
        let (group, version) = group_version::split(text("apiVersion"));
        let endpoint = Endpoint { group: group.to_owned(), version: version.to_owned(), kind: text("kind").to_owned() };
        let (strict, undecodable) = match decode::decode(types, &endpoint, json::to_string(object).as_bytes()) {
            Ok(decoded) => (decoded.strict, None),
            Err(refusal) => (Vec::new(), refusal.path),
        };
        let fields = strict.into_iter().filter_map(|strict| Some((strict.path.clone(), of_go_field(types, &strict)?)));
        Self::of(HintSource::Fields(fields.collect(), undecodable))
    }

    /// No hints.
    pub fn none() -> Self {
        Self::of(HintSource::Fields(BTreeMap::new(), None))
    }

    /// Returns the field of an object of a built-in kind that cannot be decoded.
    pub(crate) fn undecodable(&self) -> Option<&str> {
        match &self.source {
            HintSource::Schema(..) => None,
            HintSource::Fields(_, undecodable) => undecodable.as_deref(),
        }
    }

    fn of(source: HintSource<'a>) -> Self {
        Self { source, left: Cell::new(COMPARISONS) }
    }

    /// Returns where the unknown field at `path` exists, or a field with a similar name.
    pub fn for_unknown_field(&self, path: &str) -> Option<FieldHint> {
        let (definition, version, release) = match &self.source {
            HintSource::Schema(definition, version, release) => (*definition, *version, *release),
            HintSource::Fields(fields, _) => return fields.get(path).cloned(),
        };
        if let Some(path) = path.strip_prefix("metadata.") {
            return for_metadata(path, release);
        }
        served_versions(definition, version, path, &self.left).or_else(|| {
            let name = for_unknown_field(schema(definition, version)?, path, &self.left)?;
            Some(FieldHint::SimilarName(name.to_owned()))
        })
    }

    /// Returns the hint for a field that the storage version drops.
    pub(crate) fn for_field_that_is_not_stored(&self) -> Option<FieldHint> {
        let HintSource::Schema(definition, ..) = &self.source else { return None };
        let storage = versions(definition).find(|version| is_true(version, "storage"))?;
        Some(FieldHint::StorageVersion(storage.str_at(&["name"])?.to_owned()))
    }

    /// Returns an enum value similar to the value of the error.
    pub fn for_value(&self, error: &FieldError) -> Option<&str> {
        match &self.source {
            HintSource::Schema(definition, version, _) => for_value(schema(definition, version)?, error, &self.left),
            HintSource::Fields(..) => None,
        }
    }
}

/// Returns the releases that have an unknown field of a Go type, or a similar name.
pub(crate) fn of_go_field(types: &'static Types, strict: &Strict) -> Option<FieldHint> {
    let id = strict.type_.filter(|_| !strict.duplicate)?;
    let similar = || {
        let name = suggest::closest(&strict.field, types.field_names(id))?;
        Some(FieldHint::SimilarName(name.to_owned()))
    };
    of_releases(&strict.field, types.releases_with(id, &strict.field), types.release()).or_else(similar)
}

/// Returns the hint for a field that exists only in other releases than `release`.
fn of_releases(field: &str, releases: Option<RangeInclusive<u32>>, release: u32) -> Option<FieldHint> {
    let (first, last) = releases?.into_inner();
    let field = field.to_owned();
    Some(if first > release { FieldHint::Since(field, first) } else { FieldHint::Until(field, last) })
}

/// Returns a name similar to an unknown field below `metadata`.
fn for_metadata(path: &str, release: Release) -> Option<FieldHint> {
    let (list, name) = path.rsplit_once("].").unwrap_or(("", path));
    let type_name = match list.split('[').next() {
        Some("ownerReferences") => "meta/v1.OwnerReference",
        Some("managedFields") => "meta/v1.ManagedFieldsEntry",
        _ => "meta/v1.ObjectMeta",
    };
    let types = Types::of_definitions(release);
    let name = suggest::closest(name, types.field_names(types.id(type_name)?))?;
    Some(FieldHint::SimilarName(name.to_owned()))
}

/// Returns the other served versions of the CRD that have the field at `path`.
fn served_versions(definition: &Value, version: &str, path: &str, left: &Cell<usize>) -> Option<FieldHint> {
    let mut names = Vec::new();
    let mut dropped_by = None;
    for other in versions(definition) {
        let name = other.str_at(&["name"])?;
        let schema = other.at(&["schema", "openAPIV3Schema"]);
        let has_field = name != version && schema.is_some_and(|schema| has_field(schema, path, left));
        if has_field && is_true(other, "served") {
            names.push(name.to_owned());
        }
        if !has_field && is_true(other, "storage") {
            dropped_by = Some(name.to_owned());
        }
    }
    let webhook = definition.str_at(&["spec", "conversion", "strategy"]) == Some("Webhook");
    let dropped_by = dropped_by.filter(|_| !webhook);
    (!names.is_empty()).then_some(FieldHint::ServedVersions { versions: names, dropped_by })
}

fn has_field(schema: &Value, path: &str, left: &Cell<usize>) -> bool {
    descend(schema, path, left).is_some_and(|(_, rest)| rest.is_empty())
}

/// Returns the versions of a CRD.
fn versions(definition: &Value) -> impl Iterator<Item = &Value> {
    definition.at(&["spec", "versions"]).and_then(Value::as_array).into_iter().flatten()
}

fn is_true(version: &Value, key: &str) -> bool {
    version.get(key) == Some(&Value::Bool(true))
}

/// Returns the schema of a version of a stored CRD.
pub fn schema<'a>(definition: &'a Value, version: &str) -> Option<&'a Value> {
    let version = versions(definition).find(|known| known.str_at(&["name"]) == Some(version))?;
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
        let hints = Hints::of_schema(&crd, "v1", Release::NEWEST);
        let found = (0..1000).map_while(|_| hints.for_unknown_field("secretNme7")).count();
        assert!(found > 50 && found < 500, "{found}");
    }

    const VERSIONS: &str = r#"[
        {"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"properties":{"spec":{"properties":{"a":{}}}}}}},
        {"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"properties":{"spec":{"properties":{"a":{},"size":{}}}}}}},
        {"name":"v3","served":false,"storage":false,"schema":{"openAPIV3Schema":{"properties":{"spec":{"properties":{"size":{},"old":{}}}}}}}]"#;

    fn of_versions(versions: &str, conversion: &str, path: &str) -> Option<FieldHint> {
        let crd = json::read(format!(r#"{{"spec":{{{conversion}"versions":{versions}}}}}"#).as_bytes()).unwrap();
        Hints::of_schema(&crd, "v1", Release::NEWEST).for_unknown_field(path)
    }

    #[test]
    fn a_field_of_another_served_version_is_found() {
        let served = |dropped_by: Option<&str>| FieldHint::ServedVersions {
            versions: vec!["v2".to_owned()],
            dropped_by: dropped_by.map(str::to_owned),
        };
        assert_eq!(of_versions(VERSIONS, "", "spec.size"), Some(served(Some("v1"))));
        assert_eq!(of_versions(VERSIONS, "", "spec.old"), None, "v3 is not served");
        assert_eq!(of_versions(VERSIONS, "", "spec.siz"), None);
        let webhook = r#""conversion":{"strategy":"Webhook"},"#;
        assert_eq!(of_versions(VERSIONS, webhook, "spec.size"), Some(served(None)));
        let stored_in_v2 = VERSIONS.replace(r#""storage":true"#, r#""storage":0"#).replacen("false", "true", 1);
        assert_eq!(of_versions(&stored_in_v2, "", "spec.size"), Some(served(None)));
    }

    #[test]
    fn unknown_metadata_is_compared_with_the_fields_of_its_go_type() {
        let similar = |name: &str| Some(FieldHint::SimilarName(name.to_owned()));
        assert_eq!(of_versions(VERSIONS, "", "metadata.labls"), similar("labels"));
        assert_eq!(of_versions(VERSIONS, "", "metadata.ownerReferences[0].contoller"), similar("controller"));
        assert_eq!(of_versions(VERSIONS, "", "metadata.colour"), None);
    }

    #[test]
    fn a_field_of_a_later_release_is_found_in_crds() {
        let crd = json::read(
            br#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
            "status":{"conditions":[{"observedGeneration":1,"reson":"x"}]}}"#,
        )
        .unwrap();
        let hints = Hints::of_definition(&crd, Release::new(30).unwrap());
        let since = FieldHint::Since("observedGeneration".to_owned(), 35);
        assert_eq!(hints.for_unknown_field("status.conditions[0].observedGeneration"), Some(since));
        let similar = FieldHint::SimilarName("reason".to_owned());
        assert_eq!(hints.for_unknown_field("status.conditions[0].reson"), Some(similar));
    }
}

//! The kinds of the CRDs and of Kubernetes itself.

use super::check::Checker;
use super::served_kind::ServedKind;
use crdx_types::resources::{self, resources};
use crdx_value::Value;
use crdx_value::group_version::{self, api_version};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The kinds of all CRDs.
pub fn custom(checker: &Checker) -> BTreeSet<ServedKind> {
    let of_definition = |definition: &Value| {
        let group = definition.str_at(&["spec", "group"])?.to_owned();
        let kind = definition.str_at(&["spec", "names", "kind"])?.to_owned();
        let versions = versions(definition).into_iter().filter(|version| is(version, "served"));
        let names = versions.filter_map(|version| Some(version.str_at(&["name"])?.to_owned()));
        let names: Vec<String> = names.collect();
        Some(
            names
                .into_iter()
                .map(move |name| ServedKind { kind: kind.clone(), api_version: api_version(&group, &name) }),
        )
    };
    checker.definitions().filter_map(|definition| of_definition(definition)).flatten().collect()
}

/// The kinds of Kubernetes whose objects can be written.
pub fn built_in(checker: &Checker) -> impl Iterator<Item = ServedKind> {
    let release = checker.releases().newest().minor().number().into();
    resources(release).filter(|resource| resource.writable).map(|resource| ServedKind {
        kind: resource.kind.to_owned(),
        api_version: api_version(resource.group, resource.version),
    })
}

/// The hover text for the `apiVersion` or the `kind` of an object.
pub fn hover(checker: &Checker, object: &Value) -> Option<String> {
    let (version, kind) = (object.str_at(&["apiVersion"])?, object.str_at(&["kind"])?);
    let mut text = format!("**{kind}** `{version}`");
    let lines = match checker.definition(object) {
        Some(definition) => {
            if let Some(description) =
                super::schema::of_object(definition, object).and_then(|schema| schema.str_at(&["description"]))
            {
                // Writing to a String cannot fail.
                let _ = write!(text, "\n\n{description}");
            }
            of_definition(checker, definition)
        }
        None => of_built_in(checker, version, kind)?,
    };
    let _ = write!(text, "\n\n- {}", lines.join("\n- "));
    Some(text)
}

fn of_definition(checker: &Checker, definition: &Value) -> Vec<String> {
    let name = |key: &str| definition.str_at(&["spec", "names", key]).unwrap_or_default();
    let short = definition.at(&["spec", "names", "shortNames"]).and_then(Value::as_array).unwrap_or_default();
    let short: Vec<&str> = short.iter().filter_map(Value::as_str).collect();
    let version = |version: &Value| {
        let mut text = format!("`{}`", version.str_at(&["name"]).unwrap_or_default());
        let marks = [
            (is(version, "storage"), "stored"),
            (!is(version, "served"), "not served"),
            (is(version, "deprecated"), "deprecated"),
        ];
        let marks: Vec<&str> = marks.into_iter().filter_map(|(has, mark)| has.then_some(mark)).collect();
        if !marks.is_empty() {
            let _ = write!(text, " ({})", marks.join(", "));
        }
        text
    };
    let versions: Vec<String> = versions(definition).into_iter().map(version).collect();
    let scope = definition.str_at(&["spec", "scope"]).unwrap_or_default();
    let mut lines = lines(scope, name("plural"), &short, &versions);
    lines.extend(checker.definition_file(definition).map(|file| format!("CRD: {file}")));
    lines
}

fn of_built_in(checker: &Checker, version: &str, kind: &str) -> Option<Vec<String>> {
    let release = checker.releases().newest();
    let minor = release.minor().number().into();
    let resource = resources::of_kind(version, kind, minor)?;
    let (group, _) = group_version::split(version);
    let versions: Vec<String> =
        resources::versions_of_kind(group, kind, minor).into_iter().map(|version| format!("`{version}`")).collect();
    let scope = if resource.namespaced { "Namespaced" } else { "Cluster" };
    let mut lines = lines(scope, resource.plural, &resource.short_names, &versions);
    lines.push(format!("a built-in kind of Kubernetes {release}"));
    Some(lines)
}

fn lines(scope: &str, plural: &str, short: &[&str], versions: &[String]) -> Vec<String> {
    let short: Vec<String> = short.iter().map(|name| format!("`{name}`")).collect();
    let short = if short.is_empty() { String::new() } else { format!(", short {}", short.join(", ")) };
    vec![
        format!("scope: {scope}"),
        format!("resource: `{plural}`{short}"),
        format!("versions: {}", versions.join(", ")),
    ]
}

fn versions(definition: &Value) -> Vec<&Value> {
    definition.at(&["spec", "versions"]).and_then(Value::as_array).unwrap_or_default().iter().collect()
}

fn is(version: &Value, key: &str) -> bool {
    version.get(key).and_then(Value::as_bool) == Some(true)
}

//! Whole objects for an empty document: an example of each kind.

use super::check::Checker;
use super::kinds;
use super::served_kind::ServedKind;
use super::suggestion::{Insertion, Suggestion};
use crdx_engine::examples::{self, Checker as ExampleChecker, ExampleFields};
use crdx_text::yaml::write::to_string;
use crdx_value::Value;

/// With more kinds, only the first lines of an object are offered: an example takes the time of several validations.
const MAX_EXAMPLES: usize = 30;

/// An example of each kind of the CRDs.
pub fn skeletons(checker: &Checker) -> Vec<Suggestion> {
    let kinds = kinds::custom(checker);
    let with_examples = kinds.len() <= MAX_EXAMPLES;
    let skeleton = |kind: &ServedKind| Suggestion {
        label: kind.kind.clone(),
        insert: if with_examples { checker.example(kind, || example(checker, kind)) } else { first_lines(kind) },
        detail: kind.api_version.clone(),
        documentation: None,
        required: false,
        what: Insertion::Object,
    };
    kinds.iter().map(skeleton).collect()
}

/// The required fields of an object that the server accepts; its first lines if none is found.
fn example(checker: &Checker, kind: &ServedKind) -> String {
    let found = || {
        let definition = checker.definition(&kind.object())?;
        let (_, version) = crdx_value::group_version::split(&kind.api_version);
        let server = ExampleChecker::new(definition, Some(version), checker.releases().newest()).ok()?;
        let example = examples::example(&server, ExampleFields::Minimal).ok()?;
        Some(text(&example.object)).filter(|_| example.rejection.is_none())
    };
    found().unwrap_or_else(|| first_lines(kind))
}

fn first_lines(kind: &ServedKind) -> String {
    format!("apiVersion: {}\nkind: {}\nmetadata:\n  name: ", kind.api_version, kind.kind)
}

fn text(object: &Value) -> String {
    to_string(object).trim_end().to_owned()
}

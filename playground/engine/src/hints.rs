//! Suggestions for problems: fields, values and kinds with similar names.

use crate::documents::{Document, Problem};
use crdx::Release;
use crdx_engine::simulation::hints::Hints;
use crdx_value::field::{ErrorType, FieldError};
use crdx_value::{group_version, suggest};

/// Adds suggestions to the problem of a kind that no CRD defines: a similar kind, or the version in which the kind is defined.
pub fn of_kind(problems: &mut [Problem], api_version: &str, kind: &str, defined: &[(String, &str)]) {
    let versions = || defined.iter().filter(|(_, defined)| *defined == kind).map(|(version, _)| version.as_str());
    let version = suggest::closest(api_version, versions()).or_else(|| versions().next());
    let similar = version.map(|version| suggest::did_you_mean(&format!("apiVersion: {version}")));
    let similar = similar
        .or_else(|| suggest::closest(kind, defined.iter().map(|(_, defined)| *defined)).map(suggest::did_you_mean));
    let similar = similar.unwrap_or_default();
    for problem in problems.iter_mut().filter(|problem| problem.field == "kind") {
        problem.help.clone_from(&similar);
    }
}

/// Adds suggestions to the problems of a custom resource.
pub fn of_object(problems: &mut [Problem], document: &Document, definition: &Document, release: Release) {
    let api_version = document.value.str_at(&["apiVersion"]).unwrap_or_default();
    let hints = Hints::of_schema(&definition.value, group_version::split(api_version).1, release);
    for problem in problems {
        problem.help = if problem.is_dropped {
            hints.for_unknown_field(&problem.field).map(|hint| hint.help())
        } else {
            for_value(problem, document, &hints)
        }
        .unwrap_or_default();
    }
}

/// Adds suggestions to the problems of a CRD.
pub fn of_definition(problems: &mut [Problem], document: &Document, release: Release) {
    if !problems.iter().any(|problem| problem.is_dropped) {
        return;
    }
    let hints = Hints::of_definition(&document.value, release);
    for problem in problems.iter_mut().filter(|problem| problem.is_dropped) {
        problem.help = hints.for_unknown_field(&problem.field).map(|hint| hint.help()).unwrap_or_default();
    }
}

/// Suggests a value of an enumeration.
fn for_value(problem: &Problem, document: &Document, hints: &Hints<'_>) -> Option<String> {
    let kind = Some(ErrorType::NotSupported).filter(|_| problem.message.contains(": Unsupported value: "))?;
    let value = document.field(&problem.field)?.as_str()?;
    let error = FieldError {
        kind,
        field: problem.field.clone(),
        bad_value: value.into(),
        detail: String::new(),
        detail_path: None,
    };
    hints.for_value(&error).map(suggest::did_you_mean)
}

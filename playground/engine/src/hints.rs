//! Suggestions for problems: fields, values and kinds with similar names.

use crate::documents::{Document, Problem};
use crate::session::Session;
use crdx::Release;
use crdx_engine::simulation::hints::Hints;
use crdx_value::field::{ErrorType, FieldError};
use crdx_value::{group_version, suggest};

/// Returns the path of the field that a warning or an error of field validation does not know.
pub fn unknown_field(message: &str) -> Option<&str> {
    message.strip_prefix("unknown field \"")?.strip_suffix('"')
}

/// Returns the paths of the fields that an error of server-side apply does not know. Only its message names them.
pub fn undeclared_fields(message: &str) -> impl Iterator<Item = &str> {
    let path = |line| -> Option<&str> {
        let (before, _) = str::split_once(line, ": field not declared in schema")?;
        before.rsplit(' ').next()?.strip_prefix('.')
    };
    message.lines().filter_map(path)
}

/// Adds suggestions to the problems of a custom resource.
pub fn of_object(problems: &mut [Problem], document: &Document, session: &Session) {
    let text = |key: &str| document.value.str_at(&[key]).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let Some(definition) = session.definition(api_version, kind) else {
        let similar = suggest::closest(kind, session.kinds());
        for problem in problems.iter_mut().filter(|problem| problem.field == "kind") {
            problem.help = similar.map(suggest::did_you_mean).unwrap_or_default();
        }
        return;
    };
    let version = group_version::split(api_version).1;
    let hints = Hints::of_schema(&definition.value, version, session.server.release());
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

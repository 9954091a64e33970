//! Converts a response of the server into an item with source locations.

use super::hints::Hints;
use super::identity::FieldLocator;
use crate::report::{Diagnostic, FieldHint, Identity, ObjectReport, PrunedField, ServerResponse, Verdict};
use crdx_server::apply::typed::TypeError;
use crdx_server::server::{Response, ResponseBody, Trace};
use crdx_text::strict::StrictError;
use crdx_value::Value;
use crdx_value::field::{ErrorType, FieldError};
use crdx_value::release::Release;
use std::collections::HashMap;
use std::sync::Arc;

/// The type of an error in an apply configuration, for which the server's answer has no reason.
const TYPED_PATCH: &str = "TypedPatch";

/// Reads the response of a release to an object of a built-in kind.
#[cfg(feature = "policies")]
pub(crate) fn read_built_in_response(
    response: Response,
    identity: Identity,
    locator: &dyn FieldLocator,
    release: Release,
) -> ObjectReport {
    read_with_hints(response, identity, locator, |object| Hints::of_built_in(object, release))
}

/// Reads the response of a release to a CRD.
pub fn read_definition_response(
    response: Response,
    identity: Identity,
    locator: &dyn FieldLocator,
    release: Release,
) -> ObjectReport {
    read_with_hints(response, identity, locator, |crd| Hints::of_definition(crd, release))
}

/// Reads a response with hints from the object as it was sent, which is parsed again only if fields are pruned.
fn read_with_hints(
    response: Response,
    identity: Identity,
    locator: &dyn FieldLocator,
    hints: impl FnOnce(&Value) -> Hints<'static>,
) -> ObjectReport {
    let Trace { pruned, type_errors, errors, .. } = &response.trace;
    let is_plain =
        pruned.is_empty() && type_errors.is_empty() && !errors.iter().any(|error| is_of_patch(error, locator));
    let object = if is_plain { None } else { locator.object() };
    let hints = object.as_ref().map_or_else(Hints::none, hints);
    read_response(response, identity, locator, &hints)
}

/// Reads a response, with suggestions from `hints`.
pub(crate) fn read_response(
    response: Response,
    identity: Identity,
    locator: &dyn FieldLocator,
    hints: &Hints<'_>,
) -> ObjectReport {
    let accepted = matches!(response.code, 200 | 201);
    if response.trace.size_depends {
        return of_uncertain_size(identity, locator);
    }
    let mut item = ObjectReport::new(locator.start(), if accepted { Verdict::Accepted } else { Verdict::Rejected }, "");
    item.identity = identity;
    let (mut message, mut reason) = (String::new(), String::new());
    match response.body {
        ResponseBody::Json(body) if accepted => take_result(&mut item, body),
        // The causes of the status repeat the errors of the trace. They are dropped here, because a hostile object has
        // hundreds of thousands.
        ResponseBody::Json(body) => {
            let mut status = Arc::unwrap_or_clone(body);
            let mut text_of = |key: &str| match status.as_object_mut().and_then(|members| members.remove(key)) {
                Some(Value::String(text)) => text,
                _ => String::new(),
            };
            (message, reason) = (text_of("message"), text_of("reason"));
        }
        ResponseBody::Text(text) if !accepted => text.trim().clone_into(&mut message),
        ResponseBody::Text(_) => {}
    }
    item.pruned = pruned_fields(&response.trace, locator, hints);
    item.defaulted = response.trace.defaulted.into_iter().map(|d| (d.path, d.value)).collect();
    if !response.warnings.is_empty() {
        let known = item.pruned.iter().filter_map(|field| Some((field.path.as_str(), field.hint.as_ref()?))).collect();
        item.warnings = response.warnings.iter().map(|text| warning(text, locator, &known)).collect();
    }
    if !accepted {
        let rejection = Rejection {
            errors: response.trace.errors,
            types: response.trace.type_errors,
            unknown: if response.trace.failed_strict_decoding { &item.pruned } else { &[] },
            undecodable: response.trace.undecodable_field.map(String::from),
            message: &message,
            reason: &reason,
        };
        item.errors = rejection.problems(locator, hints);
        item.errors.iter_mut().for_each(explain_boolean);
    }
    item.answer = Some(ServerResponse { code: response.code, reason, message });
    if response.trace.is_unfinished {
        item.set_unfinished();
    }
    item
}

/// Returns the fields that would be dropped.
fn pruned_fields(trace: &Trace, locator: &dyn FieldLocator, hints: &Hints<'_>) -> Vec<PrunedField> {
    let field = |path: &String, hint: Option<FieldHint>| PrunedField::new(path, locator.name(path), hint);
    let unknown = trace.pruned.iter().map(|path| field(path, hints.for_unknown_field(path)));
    unknown.chain(trace.not_stored.iter().map(|path| field(path, hints.for_field_that_is_not_stored()))).collect()
}

/// The item of an object that some clusters store and others do not.
fn of_uncertain_size(identity: Identity, locator: &dyn FieldLocator) -> ObjectReport {
    let message = "the object is so near to etcd's limit of 1572864 bytes for a request that the cluster decides: the request has a few bytes more or less, depending on the IDs of etcd's members and on the revision";
    let mut item = ObjectReport::new(locator.start(), Verdict::CannotTell, message);
    item.identity = identity;
    item.help = Some("make the object smaller, for example by removing descriptions or annotations".to_owned());
    item
}

/// Stores the object of a response in the item, and the Table if it was requested.
fn take_result(item: &mut ObjectReport, body: Arc<Value>) {
    if body.str_at(&["kind"]) == Some("Table") && body.str_at(&["apiVersion"]) == Some("meta.k8s.io/v1") {
        let row = body.get("rows").and_then(Value::as_array).and_then(<[Value]>::first);
        item.object = row.and_then(|row| row.get("object")).cloned();
        item.table = Some(Arc::unwrap_or_clone(body));
    } else {
        item.object = Some(Arc::unwrap_or_clone(body));
    }
}

/// The parts of a rejection.
struct Rejection<'a> {
    errors: Vec<FieldError>,
    /// The fields of an apply configuration that do not have the type of the resource.
    types: Vec<TypeError>,
    /// The unknown fields that strict decoding reported.
    unknown: &'a [PrunedField],
    /// The path of a field that cannot be decoded.
    undecodable: Option<String>,
    message: &'a str,
    reason: &'a str,
}

impl Rejection<'_> {
    fn problems(self, locator: &dyn FieldLocator, hints: &Hints<'_>) -> Vec<Diagnostic> {
        // Strict decoding reports all unknown fields in one message, which for a patch has the whole object. They become
        // separate errors with their own locations, as do wrong types of an apply configuration.
        if !self.unknown.is_empty() {
            return self.unknown.iter().map(|unknown| self.unknown_field(unknown)).collect();
        }
        if !self.types.is_empty() {
            return self.types.iter().map(|error| type_problem(error, locator, hints)).collect();
        }
        if let [error] = self.errors.as_slice()
            && is_of_patch(error, locator)
        {
            return vec![patch_problem(error, locator, hints)];
        }
        if !self.errors.is_empty() {
            return self.errors.into_iter().map(|error| field_problem(error, locator, hints)).collect();
        }
        let location = self.undecodable.as_deref().map_or_else(|| locator.start(), |path| locator.field(path));
        vec![Diagnostic {
            kind: self.reason.to_owned(),
            field: self.undecodable,
            message: self.message.to_owned(),
            location: Some(location),
            ..Diagnostic::default()
        }]
    }

    fn unknown_field(&self, unknown: &PrunedField) -> Diagnostic {
        let problem = Diagnostic {
            kind: self.reason.to_owned(),
            field: Some(unknown.path.clone()),
            message: StrictError::DroppedField(unknown.path.clone()).to_string(),
            location: unknown.location.clone(),
            ..Diagnostic::default()
        };
        problem.with_hint(unknown.hint.as_ref())
    }
}

/// Returns true for the error about a patched object that cannot be decoded. Its field is `patch`, and its value the whole object.
fn is_of_patch(error: &FieldError, locator: &dyn FieldLocator) -> bool {
    error.field == "patch"
        && error.kind == ErrorType::Invalid
        && locator.object().is_some_and(|object| object.get("patch").is_none())
}

/// Returns the error about a patched object without the object, at the field that cannot be decoded if the object of the input
/// has it.
fn patch_problem(error: &FieldError, locator: &dyn FieldLocator, hints: &Hints<'_>) -> Diagnostic {
    let field = hints.undecodable().map(str::to_owned);
    Diagnostic {
        kind: error.kind.reason().to_owned(),
        message: format!("patch: Invalid value: {}", error.detail),
        location: Some(field.as_deref().map_or_else(|| locator.start(), |path| locator.field(path))),
        field: Some(field.unwrap_or_else(|| error.field.clone())),
        detail: Some(error.detail.clone()),
        ..Diagnostic::default()
    }
}

fn type_problem(error: &TypeError, locator: &dyn FieldLocator, hints: &Hints<'_>) -> Diagnostic {
    let TypeError { path, value_path, message, is_undeclared } = error;
    let field = value_path.strip_prefix('.').unwrap_or(value_path);
    let hint = is_undeclared.then(|| hints.for_unknown_field(field)).flatten();
    let problem = Diagnostic {
        kind: TYPED_PATCH.to_owned(),
        field: (!field.is_empty()).then(|| field.to_owned()),
        message: if path.is_empty() { message.clone() } else { format!("{path}: {message}") },
        location: Some(if *is_undeclared { locator.name(field) } else { locator.field(field) }),
        ..Diagnostic::default()
    };
    problem.with_hint(hint.as_ref())
}

fn field_problem(error: FieldError, locator: &dyn FieldLocator, hints: &Hints<'_>) -> Diagnostic {
    let location = error.value_path().map_or_else(|| locator.start(), |path| locator.field(path));
    let replacement = hints.for_value(&error);
    let problem = Diagnostic {
        kind: error.kind.reason().to_owned(),
        message: error.to_string(),
        field: Some(error.field),
        location: Some(location),
        detail: Some(error.detail),
        ..Diagnostic::default()
    };
    problem.with_replacement(replacement)
}

/// Explains a value that is a boolean in YAML although no word of it says so, such as `on`.
pub fn explain_boolean(problem: &mut Diagnostic) {
    /// Without `true` and `false`, which are booleans in every version of YAML.
    const WORDS: [&str; 6] = ["y", "n", "yes", "no", "on", "off"];
    let is_about_type = problem.kind == ErrorType::TypeInvalid.reason() || problem.kind == "BadRequest";
    let excerpt = problem.location.as_ref().and_then(|location| location.excerpt.as_ref());
    let word = excerpt.and_then(|excerpt| excerpt.line.get(excerpt.part.clone())).unwrap_or_default();
    if is_about_type && problem.help.is_none() && WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)) {
        problem.help = Some(format!("YAML reads `{word}` as a boolean: write it in quotes"));
        problem.replacement = Some(format!("\"{word}\""));
    }
}

/// Returns a warning of the server, with a location if it names a field.
fn warning(text: &str, locator: &dyn FieldLocator, hints: &HashMap<&str, &FieldHint>) -> Diagnostic {
    let unknown = text.strip_prefix("unknown field \"").and_then(|rest| rest.strip_suffix('"'));
    let known = || text.split_once(": ").map(|(path, _)| path).filter(|p| !p.contains(' '));
    let (path, location) = match (unknown, known()) {
        (Some(path), _) => (Some(path), locator.name(path)),
        (None, Some(path)) => (Some(path), locator.field(path)),
        (None, None) => (None, locator.start()),
    };
    let field = path.map(str::to_owned);
    let problem = Diagnostic {
        kind: "Warning".to_owned(),
        field,
        message: text.to_owned(),
        location: Some(location),
        ..Diagnostic::default()
    };
    problem.with_hint(unknown.and_then(|path| hints.get(path).copied()))
}

//! Reports the findings of decoding an object into its Go type.

use crate::kubectl::FieldValidation;
use crate::report::{Diagnostic, ObjectReport, PrunedField, ServerResponse, Verdict};
use crate::simulation::answer::explain_boolean;
use crate::simulation::hints::of_go_field;
use crate::simulation::identity::FieldLocator;
use crdx_types::types::Types;
use crdx_types::{BadRequest, Decoded, Missing, Strict};
use crdx_value::quote;
use crdx_value::suggest;

/// The hint after a requirement of the published schema.
const NOT_SIMULATED: &str = "the schema published by the server requires it; its own validation is not simulated";

/// The kind of an unmet requirement of the published schema.
pub(crate) const PUBLISHED_SCHEMA: &str = "PublishedSchema";

/// The kind of an error of decoding.
pub const BAD_REQUEST: &str = "BadRequest";

fn reject(item: &mut ObjectReport, message: String, errors: Vec<Diagnostic>) {
    item.verdict = Verdict::Rejected;
    item.answer = Some(ServerResponse { code: 400, reason: BAD_REQUEST.to_owned(), message });
    item.errors = errors;
}

/// Completes the item of an object that cannot be decoded.
pub(crate) fn undecodable_item(item: &mut ObjectReport, refusal: BadRequest, locator: &dyn FieldLocator) {
    let location = refusal.path.as_deref().map_or_else(|| locator.start(), |path| locator.field(path));
    let BadRequest { message, path: field, .. } = refusal;
    let kind = BAD_REQUEST.to_owned();
    let mut problem =
        Diagnostic { kind, field, message: message.clone(), location: Some(location), ..Diagnostic::default() };
    explain_boolean(&mut problem);
    reject(item, message, vec![problem]);
}

/// Completes the item of a decoded object, with or without strict errors.
pub(crate) fn decoded_item(
    item: &mut ObjectReport,
    decoded: &Decoded,
    level: FieldValidation,
    types: &'static Types,
    locator: &dyn FieldLocator,
) {
    let unknown = decoded.strict.iter().filter(|strict| !strict.duplicate);
    item.pruned = unknown.map(|s| PrunedField::new(&s.path, locator.name(&s.path), of_go_field(types, s))).collect();
    let problems = |kind: &str| -> Vec<Diagnostic> {
        let problem = |strict: &Strict| Diagnostic {
            kind: kind.to_owned(),
            field: Some(strict.path.clone()),
            message: strict.error().to_string(),
            location: Some(locator.name(&strict.path)),
            ..Diagnostic::default()
        };
        decoded.strict.iter().map(|strict| problem(strict).with_hint(of_go_field(types, strict).as_ref())).collect()
    };
    let refusal = match level {
        FieldValidation::Strict => decoded.strictly(),
        FieldValidation::Warn | FieldValidation::Ignore => decoded.leniently(),
    };
    match (refusal, level) {
        (Some(refusal), FieldValidation::Strict) if !decoded.strict.is_empty() => {
            return reject(item, refusal.message, problems(BAD_REQUEST));
        }
        (Some(refusal), _) => {
            let (message, field) = (refusal.message.clone(), refusal.path);
            let location = field.as_deref().map(|path| locator.field(path));
            return reject(
                item,
                refusal.message,
                vec![Diagnostic { kind: BAD_REQUEST.to_owned(), field, message, location, ..Diagnostic::default() }],
            );
        }
        (None, FieldValidation::Warn) => item.warnings.extend(problems("Warning")),
        (None, _) => {}
    }
    // The server resets the status on create and update.
    let in_status = |missing: &&Missing| path_of(missing).split(['.', '[']).next() == Some("status");
    let missing: Vec<_> = decoded.missing.iter().filter(|m| !in_status(m)).map(|m| requirement(m, locator)).collect();
    item.warnings.extend(missing);
}

fn path_of(missing: &Missing) -> &str {
    match missing {
        Missing::Field { object, .. } => object,
        Missing::Value { path, .. } => path,
    }
}

/// A requirement of the published schema that an object does not meet.
fn requirement(missing: &Missing, locator: &dyn FieldLocator) -> Diagnostic {
    let (path, message, location, help) = match missing {
        Missing::Field { object, field } => {
            let path = if object.is_empty() { (*field).to_owned() } else { format!("{object}.{field}") };
            let location = locator.field(&path);
            let message = format!("{path}: Required value: {NOT_SIMULATED}");
            (path, message, location, None)
        }
        Missing::Value { path, value, allowed } => {
            let help = suggest::closest(value, allowed.iter().copied()).map(suggest::did_you_mean);
            let allowed: Vec<_> = allowed.iter().map(|one| quote::go_quote(one)).collect();
            let (value, allowed) = (quote::go_quote(value), allowed.join(", "));
            let message = format!("{path}: Unsupported value: {value}: supported values: {allowed}: {NOT_SIMULATED}");
            (path.clone(), message, locator.field(path), help)
        }
    };
    Diagnostic {
        kind: PUBLISHED_SCHEMA.to_owned(),
        field: Some(path),
        message,
        location: Some(location),
        help,
        ..Diagnostic::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_types::{Endpoint, decode};

    #[test]
    fn fields_of_other_releases_and_misspelt_ones_are_explained() {
        let body = br#"{"apiVersion":"v1","kind":"Pod","spec":{"replics":1,"containers":[
            {"restartPolicyRules":[],"imagee":"x","image":"x","image":"y"}]}}"#;
        let endpoint = Endpoint { group: String::new(), version: "v1".to_owned(), kind: "Pod".to_owned() };
        let types = Types::for_release(31);
        let decoded = decode::decode(types, &endpoint, body).unwrap();
        let hints: Vec<_> = decoded.strict.iter().map(|strict| Some(of_go_field(types, strict)?.help())).collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            hints,
            [None, text("`restartPolicyRules` exists since Kubernetes 1.34"), text("did you mean `image`?"), None]
        );
    }
}

//! `ValidatingAdmissionPolicy` (`validateValidatingAdmissionPolicySpec`).

use super::conditions::{validate_conditions, validate_variables};
use super::expressions::{Compiler, ExpressionParameters, StoredExpressions, check};
use super::values::{Spec, list, present, text, typed};
use super::{params, resources};
use crate::policies::environment::Declarations;
use crdx_cel::types::Type;
use crdx_value::field::{BadValue, ErrorList, FieldError, names};
use crdx_value::release::{Release, V1_34, V1_35};
use crdx_value::{Value, object, quote};
use std::collections::HashSet;

/// The values of `failurePolicy`.
pub(crate) const FAILURE_POLICIES: [&str; 2] = ["Fail", "Ignore"];
const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const MAX_ANNOTATIONS: usize = 20;
/// The maximum length of an expression of an audit annotation, in bytes.
const MAX_VALUE_LENGTH: usize = 5 * 1024;

/// Validates the policy `name`.
pub fn validate(name: &str, spec: Spec<'_>, old: Option<&Value>, errors: &mut ErrorList) {
    let param_kind = present(spec.value, "paramKind");
    let stored = StoredExpressions::from_spec(old);
    let composed = !list(spec.value, "variables").is_empty();
    let mut compiler = Compiler::new(composed, param_kind.is_some(), spec.release);
    spec.one_of("failurePolicy", &FAILURE_POLICIES, errors);
    if let Some(value) = param_kind {
        params::validate_kind(Spec { value, path: &spec.path.child("paramKind"), ..spec }, errors);
    }
    resources::validate_constraints(spec, errors);
    validate_conditions(spec, old, &compiler, &stored, errors);
    validate_variables(spec, &mut compiler, &stored, errors);
    let validations = list(spec.value, "validations");
    let annotations = list(spec.value, "auditAnnotations");
    if validations.is_empty() && annotations.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        errors.push(FieldError::required(&spec.path.child("validations"), detail));
        errors.push(FieldError::required(&spec.path.child("auditAnnotations"), detail));
        return;
    }
    let path = spec.path.child("validations");
    for (index, value) in validations.iter().enumerate() {
        validate_validation(Spec { value, path: &path.index(index), ..spec }, &compiler, &stored, errors);
    }
    let path = spec.path.child("auditAnnotations");
    if annotations.len() > MAX_ANNOTATIONS {
        let detail = format!("must not have more than {MAX_ANNOTATIONS} auditAnnotations");
        errors.push(FieldError::invalid(&path, annotations_value(annotations, spec.release), detail));
    }
    let mut seen = HashSet::new();
    for (index, value) in annotations.iter().enumerate() {
        let path = path.index(index);
        validate_annotation(name, Spec { value, path: &path, ..spec }, &compiler, &stored, errors);
        let key = text(value, "key");
        if !seen.insert(key) {
            errors.push(FieldError::duplicate(&path.child("key"), key));
        }
    }
}

fn validate_validation(
    validation: Spec<'_>,
    compiler: &Compiler,
    stored: &StoredExpressions<'_>,
    errors: &mut ErrorList,
) {
    let Spec { value, path, release } = validation;
    let source = text(value, "expression");
    let expression_path = path.child("expression");
    if source.trim().is_empty() {
        errors.push(FieldError::required(&expression_path, "expression is not specified"));
    } else {
        let expression = ExpressionParameters {
            source,
            shown: source,
            stored: stored.validations.contains(source),
            declarations: compiler.declarations(),
            types: &[Type::Bool],
        };
        check(&compiler.environments, &expression_path, &expression, errors);
    }
    let source = text(value, "messageExpression");
    let message_path = path.child("messageExpression");
    if !source.is_empty() && source.trim().is_empty() {
        errors.push(FieldError::invalid(&message_path, source, "must be non-empty if specified"));
    } else if !source.is_empty() {
        let expression = ExpressionParameters {
            source,
            shown: source,
            stored: stored.messages.contains(source),
            declarations: Declarations { authorizer: false, ..compiler.declarations() },
            types: &[Type::String],
        };
        check(&compiler.environments, &message_path, &expression, errors);
    }
    let message = text(value, "message");
    let subject = if release.since(V1_35) { "" } else { "message " };
    if !message.is_empty() && message.trim().is_empty() {
        let detail = format!("{subject}must be non-empty if specified");
        errors.push(FieldError::invalid(&path.child("message"), message, detail));
    } else if message.trim().contains(['\n', '\r']) {
        let detail = format!("{subject}must not contain line breaks");
        errors.push(FieldError::invalid(&path.child("message"), message, detail));
    }
    if let Some(reason) = present(value, "reason").and_then(Value::as_str)
        && !REASONS.contains(&reason)
    {
        errors.push(FieldError::not_supported(&path.child("reason"), typed(reason, release), &REASONS));
    }
}

fn validate_annotation(
    policy: &str,
    annotation: Spec<'_>,
    compiler: &Compiler,
    stored: &StoredExpressions<'_>,
    errors: &mut ErrorList,
) {
    let Spec { value, path, release } = annotation;
    let key = text(value, "key");
    let key_path = path.child("key");
    if policy.is_empty() {
        errors.push(FieldError::invalid(&key_path, key, "requires metadata.name be non-empty"));
    } else {
        let name = format!("{policy}/{key}");
        let problems = names::qualified_name(&name, release);
        errors.extend(problems.into_iter().map(|detail| FieldError::invalid(&key_path, name.as_str(), detail)));
    }
    let source = text(value, "valueExpression");
    let path = path.child("valueExpression");
    let trimmed = source.trim();
    if trimmed.is_empty() {
        errors.push(FieldError::required(&path, "valueExpression is not specified"));
    } else if trimmed.len() > MAX_VALUE_LENGTH {
        errors.push(FieldError::required(&path, format!("must not exceed {MAX_VALUE_LENGTH} bytes in length")));
    } else {
        let expression = ExpressionParameters {
            source: trimmed,
            shown: source,
            stored: stored.audit_annotations.contains(source),
            declarations: compiler.declarations(),
            types: &[Type::String, Type::Null],
        };
        check(&compiler.environments, &path, &expression, errors);
    }
}

/// Formats annotations as the server does: its internal type has no JSON names.
fn annotations_value(annotations: &[Value], release: Release) -> BadValue {
    let fields =
        |annotation: &Value| (text(annotation, "key").to_owned(), text(annotation, "valueExpression").to_owned());
    if release.since(V1_34) {
        let one = |annotation| {
            let (key, value) = fields(annotation);
            object([("Key", key), ("ValueExpression", value)])
        };
        return BadValue::Value(annotations.iter().map(one).collect::<Vec<_>>().into());
    }
    let one = |annotation| {
        let (key, value) = fields(annotation);
        let (key, value) = (quote::go_quote(&key), quote::go_quote(&value));
        format!("admissionregistration.AuditAnnotation{{Key:{key}, ValueExpression:{value}}}")
    };
    let all: Vec<String> = annotations.iter().map(one).collect();
    BadValue::Raw(format!("[]admissionregistration.AuditAnnotation{{{}}}", all.join(", ")))
}

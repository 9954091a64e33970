//! Statuses of `ValidatingAdmissionPolicy`s (`pkg/apis/admissionregistration/validation`).

use super::conditions;
use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::jsonpath::JsonPath;

/// `ValidateValidatingAdmissionPolicyStatusUpdate`
pub(super) fn validating_policy(errors: &mut Errors, object: &FieldValue<'_, '_>, _: &FieldValue<'_, '_>) {
    let status = object.child("status");
    let checking = status.child("typeChecking");
    for warning in checking.child("expressionWarnings").items() {
        errors.require_text(&warning.child("warning"));
        field_reference(errors, &warning.child("fieldRef"));
    }
    conditions::conditions(errors, &status.child("conditions"));
}

/// `validateFieldRef`
fn field_reference(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    let path = field.text().trim();
    if path.is_empty() {
        errors.required(field, "");
    } else if let Err(reason) = JsonPath::parse(&format!("{{{path}}}")) {
        errors.invalid_value(&field.path, path, format!("invalid JSONPath: {reason}"));
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::statuses::tests::errors;

    const POLICY: (&str, &str) = ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy");

    fn warning(members: &str) -> Vec<String> {
        let status = format!(r#"{{"status":{{"typeChecking":{{"expressionWarnings":[{{{members}}}]}}}}}}"#);
        errors(POLICY, "{}", &status, "1.37")
    }

    #[test]
    fn warnings_name_a_field_and_have_a_text() {
        assert_eq!(warning(r#""fieldRef":" spec.validations[0].expression ","warning":"w""#), [""; 0]);
        assert_eq!(
            warning(r#""fieldRef":" ""#),
            [
                "status.typeChecking.expressionWarnings[0].warning: Required value",
                "status.typeChecking.expressionWarnings[0].fieldRef: Required value",
            ]
        );
        let found = warning(r#""fieldRef":"spec.a[","warning":"w""#);
        let start =
            r#"status.typeChecking.expressionWarnings[0].fieldRef: Invalid value: "spec.a[": invalid JSONPath: "#;
        assert!(found.len() == 1 && found[0].starts_with(start), "{found:?}");
    }

    #[test]
    fn conditions_of_policies_are_complete() {
        let status = r#"{"status":{"conditions":[{"type":"A","status":"True"}]}}"#;
        assert_eq!(errors(POLICY, "{}", status, "1.30").len(), 2);
    }
}

//! `RuntimeClass`es.

use crate::validation::core::{resources, tolerations};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{formats, immutable};
use crdx_value::Value;
use crdx_value::field::{
    FieldError, ROOT,
    names::{self, NameForm},
};
use crdx_value::release::{Release, V1_35, V1_36, V1_37, V1_38};
use std::collections::HashSet;

/// `ValidateRuntimeClass` and `ValidateRuntimeClassUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let handler = object.child("handler");
    let changes = old.is_some_and(|old| old.str_at(&["handler"]).unwrap_or_default() != handler.text());
    if let Some(old) = old {
        immutable::declared(errors, &handler, &FieldValue::new(old.get("handler"), ROOT), "string");
    }
    if handler.text().is_empty() && errors.release.since(V1_36) {
        errors.required(&handler, "");
    } else if !(changes && errors.release.since(V1_38)) {
        // Since 1.38, the handler is only validated by generated code, which stops at an error about a changed value.
        errors.messages(&handler, handler_errors(handler.text(), changes, errors.release));
    }
    let overhead = object.child("overhead");
    if overhead.is_set() {
        resources::overhead(errors, &overhead, overhead.child("podFixed").value, false);
    }
    let scheduling = object.child("scheduling");
    formats::labels(errors, &scheduling.child("nodeSelector"));
    let list = scheduling.child("tolerations");
    // Before 1.35, the errors of tolerations had the name of the list twice.
    let path = if errors.release.since(V1_35) { list.path } else { list.path.child("tolerations") };
    tolerations::validate(errors, &FieldValue { path, ..list });
    let mut seen = HashSet::new();
    for toleration in list.items() {
        let key = ["key", "operator", "value", "effect"]
            .map(|name| toleration.child(name).value.as_str().unwrap_or_default().to_owned());
        if !seen.insert(key) {
            let bad = errors.typed(&toleration, "core.Toleration");
            errors.list.push(FieldError::duplicate(&toleration.path, bad));
        }
    }
}

/// The errors of a handler. Since 1.37, generated code validates it (`ShortName`), which measures the length in bytes; it
/// stops after the error about a handler that `changes`.
fn handler_errors(handler: &str, changes: bool, release: Release) -> Vec<String> {
    let messages = names::name_is_label(handler, NameForm::Whole);
    if changes || !release.since(V1_37) {
        return messages;
    }
    messages.into_iter().map(|message| message.replace("63 characters", "63 bytes")).collect()
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    #[test]
    fn handlers_are_validated_by_generated_code_since_1_37() {
        let class = |handler: &str| format!(r#"{{"handler":"{handler}"}}"#);
        let create = |handler: &str, release| created("node.k8s.io/v1", "RuntimeClass", &class(handler), release);
        let long = "a".repeat(64);
        assert_eq!(
            create(&long, "1.37"),
            [format!("handler: Invalid value: \"{long}\": must be no more than 63 bytes")]
        );
        assert_eq!(
            create(&long, "1.36"),
            [format!("handler: Invalid value: \"{long}\": must be no more than 63 characters")]
        );
        assert_eq!(create("", "1.36"), ["handler: Required value"]);
        assert!(create("", "1.35")[0].starts_with("handler: Invalid value: \"\": a lowercase RFC 1123 label"));
        let update = |new: &str, release| updated("node.k8s.io/v1", "RuntimeClass", &class("a"), &class(new), release);
        assert_eq!(update("", "1.37"), ["handler: Invalid value: null: field is immutable", "handler: Required value"]);
        assert_eq!(update("b", "1.36"), ["handler: Invalid value: \"b\": field is immutable"]);
        assert_eq!(update("A", "1.31").len(), 2);
        assert_eq!(
            update(&long, "1.37"),
            [
                "handler: Invalid value: null: field is immutable".to_owned(),
                format!("handler: Invalid value: \"{long}\": must be no more than 63 characters")
            ]
        );
    }

    #[test]
    fn the_path_of_tolerations_depends_on_the_release() {
        let class = r#"{"handler":"h","scheduling":{"tolerations":[{"key":"a b","operator":"Exists"}]}}"#;
        let errors = |release| created("node.k8s.io/v1", "RuntimeClass", class, release);
        assert!(errors("1.34")[0].starts_with("scheduling.tolerations.tolerations[0].key: Invalid value"));
        assert!(errors("1.35")[0].starts_with("scheduling.tolerations[0].key: Invalid value"));
    }

    #[test]
    fn since_1_38_a_changed_handler_is_the_only_error() {
        let class = |handler: &str| format!(r#"{{"handler":"{handler}"}}"#);
        let update = |new: &str| updated("node.k8s.io/v1", "RuntimeClass", &class("a"), &class(new), "1.38");
        assert_eq!(update("{{x}}"), ["handler: Invalid value: null: field is immutable"]);
        assert_eq!(update("").len(), 2);
    }
}

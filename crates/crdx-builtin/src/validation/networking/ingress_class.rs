//! `IngressClass`es.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::networking::ingress::typed_reference;
use crate::validation::{formats, immutable};
use crdx_value::Value;
use crdx_value::field::{
    FieldError, ROOT,
    names::{self, NameForm},
};

const MAX_CONTROLLER: usize = 250;

/// `ValidateIngressClass` and `ValidateIngressClassUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let (controller, parameters) = (spec.child("controller"), spec.child("parameters"));
    if let Some(old) = old {
        let old_controller = FieldValue::new(old.at(&["spec", "controller"]), ROOT);
        immutable::typed(errors, &controller, &old_controller, "string");
    }
    if controller.text().len() > MAX_CONTROLLER {
        errors.too_long(&controller, MAX_CONTROLLER as i64);
    }
    formats::domain_prefixed_path(errors, &controller);
    if !parameters.is_set() {
        return;
    }
    typed_reference(errors, &parameters);
    let (scope, namespace) = (parameters.child("scope"), parameters.child("namespace"));
    match scope.text() {
        _ if !scope.is_set() => errors.required(&scope, ""),
        "Namespace" if !namespace.is_set() => {
            errors.required(&namespace, "`parameters.scope` is set to 'Namespace'");
        }
        "Namespace" => errors.messages(&namespace, names::name_is_label(namespace.text(), NameForm::Whole)),
        "Cluster" => errors.forbid_if_set(&namespace, "`parameters.scope` is set to 'Cluster'"),
        text => errors.list.push(FieldError::not_supported(&scope.path, text, &["Cluster", "Namespace"])),
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    #[test]
    fn a_removed_controller_is_shown_as_an_empty_string() {
        let update = |release| {
            updated(
                "networking.k8s.io/v1",
                "IngressClass",
                r#"{"spec":{"controller":"a.b/c"}}"#,
                r#"{"spec":{}}"#,
                release,
            )
            .remove(0)
        };
        for release in ["1.31", "1.37"] {
            assert_eq!(update(release), "spec.controller: Invalid value: \"\": field is immutable");
        }
    }

    #[test]
    fn missing_parameters_are_explained_before_1_34() {
        let class = r#"{"spec":{"controller":"a.b/c","parameters":{"name":"n","scope":"Cluster"}}}"#;
        let errors = |release| created("networking.k8s.io/v1", "IngressClass", class, release);
        assert_eq!(errors("1.33"), ["spec.parameters.kind: Required value: kind is required"]);
        assert_eq!(errors("1.34"), ["spec.parameters.kind: Required value"]);
    }
}

//! The selectors of `resourceAttributes` in access reviews, since 1.32 (`AuthorizeWithSelectors`).

use crate::policies::validation::{Spec, requirement_with_any_operator, values_of_operator};
use crate::server::http::selector::{FieldSelector, LabelSelector};
use crdx_value::Value;
use crdx_value::field::{ErrorList, FieldError, FieldPath};
use crdx_value::release::Release;

/// The fields of `resourceAttributes`.
pub(super) const SELECTORS: [&str; 2] = ["fieldSelector", "labelSelector"];

/// `validateResourceAttributes`
pub(super) fn validate(attributes: Option<&Value>, release: Release, errors: &mut ErrorList) {
    let spec = FieldPath::new("spec");
    let path = spec.child("resourceAttributes");
    for name in SELECTORS {
        let Some(selector) = attributes.and_then(|own| own.get(name)).filter(|own| !own.is_null()) else { continue };
        let path = path.child(name);
        let (raw, requirements) = parts(selector);
        match (raw, requirements) {
            ("", []) => {
                let detail = format!("when {path} is specified, requirements or rawSelector is required");
                errors.push(FieldError::required(&path.child("requirements"), &detail));
            }
            (raw, [_, ..]) if !raw.is_empty() => {
                let detail = "may not specified at the same time as requirements";
                errors.push(FieldError::invalid(&path.child("rawSelector"), raw, detail));
            }
            _ => {}
        }
        let list = path.child("requirements");
        for (index, value) in requirements.iter().enumerate() {
            requirement(name, Spec { value, path: &list.index(index), release }, errors);
        }
    }
}

fn requirement(selector: &str, requirement: Spec<'_>, errors: &mut ErrorList) {
    if selector == "labelSelector" {
        return requirement_with_any_operator(requirement, errors);
    }
    if requirement.value.str_at(&["key"]).unwrap_or_default().is_empty() {
        errors.push(FieldError::required(&requirement.path.child("key"), "must be specified"));
    }
    values_of_operator(requirement, errors);
}

/// The text and the requirements of a selector.
fn parts(selector: &Value) -> (&str, &[Value]) {
    let requirements = selector.get("requirements").and_then(Value::as_array).unwrap_or_default();
    (selector.str_at(&["rawSelector"]).unwrap_or_default(), requirements)
}

/// The parts of the selectors of a valid review that the authorizer ignores (`BuildEvaluationError`).
pub(super) fn evaluation_error(review: &Value, release: Release) -> Option<String> {
    let ignored = SELECTORS.into_iter().filter_map(|name| {
        let selector = review.at(&["spec", "resourceAttributes", name]).filter(|own| !own.is_null())?;
        let part = match parts(selector) {
            (raw, []) => (!is_readable(name, raw, release)).then_some("")?,
            (_, requirements) => match requirements.iter().filter(|one| is_evaluated(name, one)).count() {
                0 => "",
                evaluated if evaluated < requirements.len() => "partially ",
                _ => return None,
            },
        };
        Some(format!("spec.resourceAttributes.{name} {part}ignored due to parse error"))
    });
    let ignored: Vec<String> = ignored.collect();
    (!ignored.is_empty()).then(|| ignored.join("; "))
}

fn is_readable(selector: &str, raw: &str, release: Release) -> bool {
    if selector == "labelSelector" {
        LabelSelector::parse(raw, release).is_ok()
    } else {
        FieldSelector::parse(raw).is_ok()
    }
}

/// Returns true if the authorizer takes a valid requirement into account (`labelSelectorAsSelector`,
/// `fieldSelectorAsSelector`).
fn is_evaluated(selector: &str, requirement: &Value) -> bool {
    let values = requirement.get("values").and_then(Value::as_array).unwrap_or_default();
    match requirement.str_at(&["operator"]).unwrap_or_default() {
        "In" | "NotIn" => selector == "labelSelector" || values.len() == 1,
        "Exists" | "DoesNotExist" => selector == "labelSelector",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn review(attributes: &str) -> Value {
        json::read(format!(r#"{{"spec":{{"resourceAttributes":{attributes}}}}}"#).as_bytes()).unwrap()
    }

    fn errors(attributes: &str) -> Vec<String> {
        let (review, mut errors) = (review(attributes), ErrorList::new());
        validate(review.at(&["spec", "resourceAttributes"]), Release::NEWEST, &mut errors);
        errors.iter().map(ToString::to_string).collect()
    }

    /// Answers of real servers of 1.37 and 1.38.
    #[test]
    fn a_selector_has_a_text_or_requirements() {
        let path = "spec.resourceAttributes.fieldSelector";
        let missing = format!(
            "{path}.requirements: Required value: when {path} is specified, requirements or rawSelector is required"
        );
        assert_eq!(errors(r#"{"fieldSelector":{}}"#), [missing]);
        let both =
            r#"{"fieldSelector":{"rawSelector":"a=b","requirements":[{"key":"a","operator":"In","values":["b"]}]}}"#;
        let error = r#"rawSelector: Invalid value: "a=b": may not specified at the same time as requirements"#;
        assert_eq!(errors(both), [format!("{path}.{error}")]);
        assert_eq!(errors(r#"{"labelSelector":{"rawSelector":"a in ("}}"#), [""; 0]);
    }

    /// Answers of real servers of 1.37 and 1.38.
    #[test]
    fn requirements_are_validated_except_for_their_operators() {
        let requirements = r#"[{"key":"","operator":"In"},{"key":"a","operator":"Exists","values":["x"]},{"key":"a","operator":"Foo"}]"#;
        let found = errors(&format!(r#"{{"fieldSelector":{{"requirements":{requirements}}}}}"#));
        let path = "spec.resourceAttributes.fieldSelector.requirements";
        let expected = [
            "[0].key: Required value: must be specified",
            "[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
            "[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ];
        assert_eq!(found, expected.map(|text| format!("{path}{text}")));
        let found = errors(&format!(r#"{{"labelSelector":{{"requirements":{requirements}}}}}"#));
        assert_eq!(found.len(), 4, "{found:?}");
    }

    /// Answers of real servers of 1.37 and 1.38.
    #[test]
    fn selectors_that_the_authorizer_ignores_are_reported() {
        let error = |attributes: &str| evaluation_error(&review(attributes), Release::NEWEST).unwrap_or_default();
        let ignored = "spec.resourceAttributes.fieldSelector ignored due to parse error";
        assert_eq!(error(r#"{"fieldSelector":{"rawSelector":"a"}}"#), ignored);
        assert_eq!(error(r#"{"fieldSelector":{"requirements":[{"key":"a","operator":"Exists"}]}}"#), ignored);
        let both = r#"{"fieldSelector":{"requirements":[{"key":"a","operator":"In","values":["b","c"]},{"key":"a","operator":"In","values":["b"]}]},"labelSelector":{"requirements":[{"key":"a","operator":"Foo"}]}}"#;
        let expected = "spec.resourceAttributes.fieldSelector partially ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error";
        assert_eq!(error(both), expected);
        assert_eq!(error(r#"{"fieldSelector":{"rawSelector":"a=b"},"labelSelector":{"rawSelector":"a in (b)"}}"#), "");
    }
}

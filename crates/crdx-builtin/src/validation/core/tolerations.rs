//! Tolerations (`ValidateTolerations`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::field::names;
use crdx_value::quote::go_quote;
use crdx_value::release::{Gate, V1_32, V1_35};

const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Validates the tolerations.
pub fn validate(errors: &mut Errors, list: &FieldValue<'_, '_>) {
    for toleration in list.items() {
        let (key, operator, value, effect) = (
            toleration.child("key"),
            toleration.child("operator"),
            toleration.child("value"),
            toleration.child("effect"),
        );
        if !key.text().is_empty() {
            formats::qualified_name(errors, &key);
        } else if operator.text() != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.invalid_value(&operator.path, operator.text(), detail);
        }
        if toleration.child("tolerationSeconds").is_set() && effect.text() != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.invalid_value(&effect.path, effect.text(), detail);
        }
        match operator.text() {
            "" | "Equal" => {
                let messages = names::label_value(value.text(), errors.release);
                if !messages.is_empty() {
                    errors.invalid_value(&operator.path, value.text(), messages.join(";"));
                }
            }
            "Exists" => {
                if !value.text().is_empty() {
                    let detail = "value must be empty when `operator` is 'Exists'";
                    // Before 1.32, the server shows the toleration.
                    let shown = if errors.release.since(V1_32) {
                        value.text().into()
                    } else {
                        errors.typed(&toleration, "core.Toleration")
                    };
                    errors.invalid_value(&operator.path, shown, detail);
                }
            }
            "Lt" | "Gt" if errors.release.enables(Gate::TaintTolerationComparisonOperators) => {
                decimal_integer(errors, &value);
            }
            "Lt" | "Gt" if errors.release.since(V1_35) => {
                errors.not_supported(&operator, &["Equal", "Exists", "Lt", "Gt"]);
            }
            _ => errors.not_supported(&operator, &["Equal", "Exists"]),
        }
        if !effect.text().is_empty() {
            errors.supported(&effect, EFFECTS);
        }
    }
}

/// Validates a value that is compared as a number: `IsDecimalInteger`, then `strconv.ParseInt`.
fn decimal_integer(errors: &mut Errors, value: &FieldValue<'_, '_>) {
    const NO_INTEGER: &str = "must be a valid decimal integer in canonical form";
    let text = value.text();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if text.is_empty() {
        errors.invalid(value, "must be non-empty");
    } else if !is_number || digits.starts_with('0') && text != "0" {
        errors.invalid(value, NO_INTEGER);
    }
    if text.parse::<i64>().is_err() {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let is_large = !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit());
        let reason = if is_large { "value out of range" } else { "invalid syntax" };
        errors.invalid(value, format!("strconv.ParseInt: parsing {}: {reason}", go_quote(text)));
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    #[test]
    fn a_value_that_must_be_empty_is_shown_with_its_toleration_before_1_32() {
        let pod = r#"{"metadata":{"name":"p"},"spec":{"tolerations":[{"operator":"Exists","value":"b"}]}}"#;
        let start = "spec.tolerations[0].operator: Invalid value: ";
        let shown = |release| {
            let errors = created("v1", "Pod", pod, release);
            let error = errors.iter().find_map(|error| error.strip_prefix(start)).map(str::to_owned);
            error.unwrap().replace(": value must be empty when `operator` is 'Exists'", "")
        };
        assert_eq!(
            shown("1.31"),
            r#"core.Toleration{Key:"", Operator:"Exists", Value:"b", Effect:"", TolerationSeconds:(*int64)(nil)}"#
        );
        assert_eq!(shown("1.32"), r#""b""#);
    }
}

//! Tolerations (`ValidateTolerations`).

use super::field_value::{Errors, FieldValue};
use super::formats;
use crdx_value::field::names;
use crdx_value::release::V1_35;

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
                    errors.invalid_value(&operator.path, value.text(), detail);
                }
            }
            // The comparisons are disabled by default.
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

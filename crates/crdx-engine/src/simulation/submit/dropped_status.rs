//! The status that the server drops: of a new object, and of an update that is not one of the subresource.

use crate::report::{Action, FieldHint, ObjectReport, PrunedField, Verdict};
use crate::simulation::identity::FieldLocator;
use crate::simulation::resource::SimulatedResource;
use crdx_value::Value;

const STATUS: &str = "status";

/// Returns the status of an object, if it says anything.
pub fn given_status(object: &Value) -> Option<Value> {
    object.get(STATUS).filter(|status| has_content(status)).cloned()
}

/// Adds the status to the dropped fields of an accepted object, if the server stores another one.
pub fn report(
    item: &mut ObjectReport,
    given: Option<&Value>,
    resource: &SimulatedResource,
    locator: &dyn FieldLocator,
) {
    let Some(given) = given.filter(|_| item.verdict == Verdict::Accepted) else { return };
    let Some(object) = item.object.as_ref().filter(|_| item.action != Action::Unchanged) else { return };
    // Without a status in its type, it is an unknown field.
    let is_unknown = item.pruned.iter().any(|field| field.path == STATUS);
    let is_dropped = !is_unknown
        && resource.has_status_subresource(&item.identity.api_version)
        && object.get(STATUS).is_none_or(|stored| !contains(stored, given));
    if is_dropped {
        item.pruned.push(PrunedField::new(STATUS, locator.name(STATUS), Some(FieldHint::StatusSubresource)));
    }
}

/// Returns false for a status without values, such as the `loadBalancer: {}` that programs write.
fn has_content(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => members.iter().any(|(_, value)| has_content(value)),
        _ => true,
    }
}

/// Returns true if a stored status has every value of the one that was sent.
fn contains(stored: &Value, sent: &Value) -> bool {
    match (stored, sent) {
        (Value::Object(stored), Value::Object(sent)) => sent
            .iter()
            .filter(|(_, value)| has_content(value))
            .all(|(key, value)| stored.get(key).is_some_and(|stored| contains(stored, value))),
        _ => stored == sent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        crdx_text::json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_status_without_values_is_no_loss() {
        for (status, is_given) in [
            ("{}", false),
            (r#"{"loadBalancer":{}}"#, false),
            (r#"{"conditions":[],"phase":"","a":null}"#, false),
            (r#"{"replicas":0}"#, true),
            (r#"{"conditions":[{}]}"#, true),
        ] {
            assert_eq!(given_status(&json(&format!("{{\"status\":{status}}}"))).is_some(), is_given, "{status}");
        }
    }

    #[test]
    fn a_stored_status_may_have_more() {
        let contains = |stored: &str, sent: &str| super::contains(&json(stored), &json(sent));
        assert!(contains(r#"{"phase":"Pending","qosClass":"Burstable"}"#, r#"{"phase":"Pending","a":[]}"#));
        assert!(!contains(r#"{"phase":"Pending"}"#, r#"{"phase":"Running"}"#));
        assert!(!contains("{}", r#"{"list":[1]}"#));
    }
}

//! The effect of admission policies and webhooks on an object, in a JSON report.

use super::members::{location_object, present};
use crdx_engine::report::admission::{Admission, FieldChange, PolicyChange, PolicyFailure, UndecidedPart, Webhook};
use crdx_server::webhooks::model::configuration_kind;
use crdx_value::{Map, Value};

/// Returns the members `mutated`, `policies` and `webhooks` of an item in a JSON report.
pub fn members(admission: &Admission) -> Map {
    let mut members = Map::new();
    let Admission { denied, warned, audited, annotations, mutated, undecided, webhooks } = admission;
    if !mutated.is_empty() {
        members.insert("mutated".to_owned(), mutated.iter().map(change).collect::<Vec<_>>().into());
    }
    let mut policies = Map::new();
    for (key, failures) in [("denied", denied), ("warned", warned), ("audited", audited)] {
        if !failures.is_empty() {
            policies.insert(key.to_owned(), failures.iter().map(failure).collect::<Vec<_>>().into());
        }
    }
    if !annotations.is_empty() {
        let texts = |values: &Vec<String>| values.iter().map(|v| Value::from(v.as_str())).collect::<Vec<_>>().into();
        let annotations: Map = annotations.iter().map(|(key, values)| (key.clone(), texts(values))).collect();
        policies.insert("auditAnnotations".to_owned(), annotations.into());
    }
    if !undecided.is_empty() {
        policies.insert("undecided".to_owned(), undecided.iter().map(undecided_part).collect::<Vec<_>>().into());
    }
    if !policies.is_empty() {
        members.insert("policies".to_owned(), policies.into());
    }
    if !webhooks.is_empty() {
        members.insert("webhooks".to_owned(), webhooks.iter().map(webhook).collect::<Vec<_>>().into());
    }
    members
}

fn failure(failure: &PolicyFailure) -> Value {
    let PolicyFailure { policy, binding, validation, expression, message, location } = failure;
    let mut members =
        present(&[("policy", policy), ("binding", binding), ("expression", expression), ("message", message)]);
    if let Some(index) = validation {
        members.insert("validation".to_owned(), Value::Int(*index as i64));
    }
    if let Some(location) = location {
        members.insert("location".to_owned(), location_object(location));
    }
    members.into()
}

fn change(change: &PolicyChange) -> Value {
    let mut members = present(&[("policy", &change.policy), ("binding", &change.binding)]);
    let field = |field: &FieldChange| {
        let mut members = present(&[("path", &field.path)]);
        let values = [("before", &field.before), ("after", &field.after)];
        members.extend(values.iter().filter_map(|(key, value)| Some(((*key).to_owned(), (*value).clone()?))));
        Value::from(members)
    };
    members.insert("changes".to_owned(), change.fields.iter().map(field).collect::<Vec<_>>().into());
    members.into()
}

fn webhook(webhook: &Webhook) -> Value {
    let Webhook { policy_kind, configuration, name, depends_on, help } = webhook;
    let mut members = present(&[("configuration", configuration), ("name", name)]);
    members.insert("kind".to_owned(), configuration_kind(*policy_kind).into());
    for (key, text) in [("dependsOn", depends_on), ("help", help)] {
        members.extend(text.iter().map(|text| (key.to_owned(), Value::from(text.as_str()))));
    }
    members.into()
}

fn undecided_part(undecided_part: &UndecidedPart) -> Value {
    let UndecidedPart { policy, binding, message, help, decides } = undecided_part;
    let mut members = present(&[("policy", policy), ("binding", binding), ("message", message), ("help", help)]);
    members.insert("decides".to_owned(), (*decides).into());
    members.into()
}

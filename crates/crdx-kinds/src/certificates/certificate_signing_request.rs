//! `CertificateSigningRequest`s: who sent a request, and its conditions (`pkg/registry/certificates/certificates` and
//! `pkg/apis/certificates/validation`). Neither the request itself nor the certificate is parsed.

use crdx_server::apply::set::Set;
use crdx_server::pipeline::metadata::NameRule;
use crdx_server::server::behaviour::text;
use crdx_server::server::{Behaviour, KindRequest, KindStrategy, Subresource, UserInfo};
use crdx_value::field::{ErrorList, FieldError, FieldPath};
use crdx_value::release::{Minor, Release, V1_34};
use crdx_value::time;
use crdx_value::{Map, Value};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The strategy.
#[derive(Debug)]
pub(crate) struct CertificateSigningRequest;

static BEHAVIOUR: Behaviour = Behaviour {
    name: NameRule::PathSegment,
    names_user: true,
    subresources: &[(Subresource::Approval, Minor::ALWAYS)],
    fields: Some(&[text("spec.signerName", &[&["spec", "signerName"]])]),
    relaxes_prefix_since: Minor::ALWAYS,
    prepares_updates_alone: true,
    ..Behaviour::MOST
};

impl KindStrategy for CertificateSigningRequest {
    fn behaviour(&self) -> &Behaviour {
        &BEHAVIOUR
    }

    fn prepare_create(&self, object: &mut Value, request: &KindRequest<'_>) {
        if let Some(user) = request.user {
            name_user(object, user);
        }
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        prepare_update(object, old, request.subresource, &time::format(request.now));
    }

    fn validate(&self, object: &Value, old: Option<&Value>, request: &KindRequest<'_>) -> ErrorList {
        old.map(|old| validate_update(object, old, request.subresource, request.release)).unwrap_or_default()
    }

    fn reset_fields(&self, subresource: Subresource) -> Option<&'static Set> {
        Some(reset_fields(subresource))
    }
}

/// The types of conditions that only the subresource `approval` may set.
const DECISIONS: [&str; 2] = ["Approved", "Denied"];
/// The types of conditions whose status is `True`.
const ALWAYS_TRUE: [&str; 3] = ["Approved", "Denied", "Failed"];

fn conditions(object: &Value) -> &[Value] {
    object.at(&["status", "conditions"]).and_then(Value::as_array).unwrap_or_default()
}

fn type_of(condition: &Value) -> &str {
    condition.str_at(&["type"]).unwrap_or_default()
}

fn count(object: &Value, type_: &str) -> usize {
    conditions(object).iter().filter(|condition| type_of(condition) == type_).count()
}

/// The fields that a write of a subresource never owns (`GetResetFields`).
fn reset_fields(subresource: Subresource) -> &'static Set {
    static OBJECT: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec"], &["status"]]));
    static STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec"], &["status", "conditions"]]));
    static APPROVAL: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec"], &["status", "certificate"]]));
    match subresource {
        Subresource::Status => &STATUS,
        Subresource::Approval => &APPROVAL,
        _ => &OBJECT,
    }
}

/// Names the user in a new request (`PrepareForCreate`).
fn name_user(object: &mut Value, user: &UserInfo) {
    let Some(spec) = object.as_object_mut().map(|members| members.entry("spec".to_owned()).or_default()) else {
        return;
    };
    if spec.is_null() {
        *spec = Value::Object(Map::new());
    }
    let Some(spec) = spec.as_object_mut() else { return };
    let texts = |items: &[String]| Value::Array(items.iter().map(|item| item.as_str().into()).collect());
    let extra = user.extra.iter().map(|(key, items)| (key.clone(), texts(items))).collect::<Map>();
    for (key, value) in [
        ("username", user.username.as_str().into()),
        ("uid", user.uid.as_str().into()),
        ("groups", texts(&user.groups)),
        ("extra", Value::Object(extra)),
    ] {
        spec.remove(key);
        let empty = match &value {
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => true,
        };
        if !empty {
            spec.insert(key.to_owned(), value);
        }
    }
}

/// Restores what the write of a part leaves unchanged, and sets the times of conditions (`PrepareForUpdate`).
fn prepare_update(object: &mut Value, old: &Value, subresource: Subresource, now: &str) {
    let mut new_conditions = conditions(object).to_vec();
    match subresource {
        Subresource::Status => {
            for type_ in DECISIONS {
                keep_instances(&mut new_conditions, old, type_);
            }
            set_times(&mut new_conditions, old, now);
            set_conditions(object, new_conditions);
        }
        Subresource::Approval => {
            set_times(&mut new_conditions, old, now);
            object.copy_at(old, &["status"]);
            set_conditions(object, new_conditions);
        }
        _ => object.copy_at(old, &["status"]),
    }
    object.copy_at(old, &["spec"]);
}

fn set_conditions(object: &mut Value, conditions: Vec<Value>) {
    let Some(members) = object.as_object_mut() else { return };
    let status = members.entry("status".to_owned()).or_insert_with(|| Value::Object(Map::new()));
    let Some(status) = status.as_object_mut() else { return };
    if conditions.is_empty() {
        status.remove("conditions");
    } else {
        status.insert("conditions".to_owned(), Value::Array(conditions));
    }
}

/// Restores the conditions of a type unless some were added or removed (`preserveConditionInstances`).
fn keep_instances(new: &mut [Value], old: &Value, type_: &str) {
    let of_type = |condition: &&Value| type_of(condition) == type_;
    let old: Vec<&Value> = conditions(old).iter().filter(of_type).collect();
    if new.iter().filter(of_type).count() == old.len() {
        let same = new.iter_mut().filter(|condition| type_of(condition) == type_);
        same.zip(old).for_each(|(new, old)| *new = old.clone());
    }
}

/// `populateConditionTimestamps`
fn set_times(new: &mut [Value], old: &Value, now: &str) {
    for condition in new {
        let known = conditions(old).iter().find(|known| {
            type_of(known) == type_of(condition)
                && known.get("status") == condition.get("status")
                && known.str_at(&["lastTransitionTime"]).is_some()
        });
        let since = known.and_then(|known| known.str_at(&["lastTransitionTime"])).unwrap_or(now).to_owned();
        let Some(members) = condition.as_object_mut() else { continue };
        for (key, time) in [("lastUpdateTime", now), ("lastTransitionTime", &since)] {
            let time_of = members.entry(key.to_owned()).or_insert(Value::Null);
            if time_of.is_null() {
                *time_of = time.into();
            }
        }
    }
}

/// Validates an update (`validateConditions` and `validateCertificateSigningRequestUpdate`). Errors that the old
/// object has as well are tolerated.
fn validate_update(object: &Value, old: &Value, subresource: Subresource, release: Release) -> ErrorList {
    let status = FieldPath::new("status");
    let path = status.child("conditions");
    let mut errors = validate_conditions(object, old, &path, release);
    for type_ in ALWAYS_TRUE {
        if count(object, type_) < count(old, type_) {
            let detail = format!("updates may not remove a condition of type \"{type_}\"");
            errors.push(FieldError::forbidden(&path, detail));
        }
    }
    for type_ in DECISIONS.into_iter().filter(|_| subresource != Subresource::Approval) {
        if count(object, type_) > count(old, type_) {
            errors.push(FieldError::forbidden(&path, format!("updates may not add a condition of type \"{type_}\"")));
        }
    }
    let certificate = |object: &Value| object.str_at(&["status", "certificate"]).unwrap_or_default().to_owned();
    let (new, before) = (certificate(object), certificate(old));
    if new != before {
        let path = status.child("certificate");
        if subresource != Subresource::Status {
            errors.push(FieldError::forbidden(&path, "updates may not set certificate content"));
        } else if !before.is_empty() {
            errors.push(FieldError::forbidden(&path, "updates may not modify existing certificate content"));
        }
    }
    errors
}

fn validate_conditions(object: &Value, old: &Value, path: &FieldPath<'_>, release: Release) -> ErrorList {
    let mut errors = ErrorList::new();
    let old_types: Vec<&str> = conditions(old).iter().map(type_of).collect();
    let allows_empty = old_types.contains(&"");
    let allows_both = DECISIONS.iter().all(|type_| old_types.contains(type_));
    let allows_duplicates = old_types.iter().collect::<BTreeSet<_>>().len() < old_types.len();
    let mut seen = BTreeSet::new();
    for (at, condition) in conditions(object).iter().enumerate() {
        let (item, type_) = (path.index(at), type_of(condition));
        if type_.is_empty() && !allows_empty {
            errors.push(FieldError::required(&item.child("type"), ""));
        }
        let allowed: &[&str] = if ALWAYS_TRUE.contains(&type_) { &["True"] } else { &["False", "True", "Unknown"] };
        match condition.str_at(&["status"]).unwrap_or_default() {
            "" => errors.push(FieldError::required(&item.child("status"), "")),
            status if !allowed.contains(&status) => {
                errors.push(FieldError::not_supported(&item.child("status"), status, allowed));
            }
            _ => {}
        }
        let other = match type_ {
            "Approved" => "Denied",
            "Denied" => "Approved",
            _ => "",
        };
        if !other.is_empty() && seen.contains(other) && !allows_both {
            let type_path = item.child("type");
            let at = if release.since(V1_34) { path } else { &type_path };
            errors.push(FieldError::invalid(at, type_, "Approved and Denied conditions are mutually exclusive"));
        }
        if !seen.insert(type_) && !allows_duplicates {
            errors.push(FieldError::duplicate(&item.child("type"), type_));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_is_approved_and_denied_is_an_error_at_the_condition_before_1_34() {
        let text =
            br#"{"status":{"conditions":[{"type":"Approved","status":"True"},{"type":"Denied","status":"True"}]}}"#;
        let object = crdx_text::json::read(text).unwrap();
        let (old, subresource) = (Value::Object(Map::new()), Subresource::Approval);
        let fields = |release: &str| -> Vec<String> {
            let errors = validate_update(&object, &old, subresource, release.parse().unwrap());
            errors.iter().map(|error| error.field.clone()).collect()
        };
        assert_eq!(fields("1.33"), ["status.conditions[1].type"]);
        assert_eq!(fields("1.34"), ["status.conditions"]);
    }
}

//! Fields of a status that the server keeps, sets or drops when a client writes the status (`PrepareForUpdate` in
//! `pkg/registry/core/{pod,persistentvolume}/strategy.go`, `pkg/registry/apps/{deployment,replicaset}/strategy.go` and
//! `pkg/registry/resource/resourceclaim/strategy.go`).

mod devices;

use super::copy::copy;
use super::disabled_fields;
use crate::server::strategy::built_in_kind::BuiltInKind;
use crdx_types::empties::Empties;
use crdx_value::Value;
use crdx_value::release::{Release, V1_32, V1_34, V1_35, V1_37};
use crdx_value::time::{self, Timestamp};
use std::collections::{HashMap, VecDeque};

/// Prepares the status of a kind with such fields. `empties` are the empty lists and maps of the request.
pub(super) fn prepare(
    kind: &BuiltInKind,
    new: &mut Value,
    old: &Value,
    (release, now): (Release, Timestamp),
    empties: Option<&Empties>,
) {
    match (kind.endpoint.group.as_str(), kind.endpoint.kind.as_str()) {
        ("", "Pod") => pod(new, old, release, empties),
        ("", "PersistentVolume") => set_phase_time(new, old, now),
        // The fields of disabled features were dropped last in 1.34.
        ("resource.k8s.io", "ResourceClaim") if !release.since(V1_35) => devices::drop_deallocated(new, old),
        _ => {}
    }
    disabled_fields::drop_disabled_of_status(&kind.endpoint.kind, new, old, release);
    if kind.endpoint.kind == "ResourceClaim" && release.since(V1_35) {
        devices::drop_deallocated(new, old);
    }
}

/// The claims of a Pod, which clients of older releases do not know
const CLAIMS: &[&str] =
    &["resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses"];

/// Keeps the class of a Pod, which old kubelets dropped, since 1.32, the observed generations that a client leaves out,
/// since 1.34, and the claims that it leaves out, since 1.37. An empty list removes claims.
fn pod(new: &mut Value, old: &Value, release: Release, empties: Option<&Empties>) {
    let class = ["status", "qosClass"];
    if release.since(V1_32) && new.str_at(&class).is_none_or(str::is_empty) {
        copy(new, old, &class);
    }
    if release.since(V1_37) {
        let empties = empties.and_then(|empties| empties.child("status"));
        for name in CLAIMS {
            let path = ["status", name];
            let is_emptied =
                empties.and_then(|empties| empties.child(name)).is_some_and(|one| one.text() == Some("[]"));
            if new.at(&path).is_none_or(Value::is_null) && !is_emptied {
                copy(new, old, &path);
            }
        }
    }
    if !release.since(V1_34) {
        return;
    }
    let generation = ["status", "observedGeneration"];
    if new.at(&generation).and_then(Value::as_int).unwrap_or_default() == 0 {
        copy(new, old, &generation);
    }
    let old = old.at(&["status", "conditions"]).and_then(Value::as_array).unwrap_or_default();
    // There may be several conditions of a type.
    let mut of_type: HashMap<&str, VecDeque<&Value>> = HashMap::new();
    for condition in old {
        of_type.entry(condition.str_at(&["type"]).unwrap_or_default()).or_default().push_back(condition);
    }
    let conditions = new.get_mut("status").and_then(|status| status.get_mut("conditions"));
    let Some(Value::Array(conditions)) = conditions else { return };
    for condition in conditions {
        let type_ = condition.str_at(&["type"]).unwrap_or_default();
        let Some(old) = of_type.get_mut(type_).and_then(VecDeque::pop_front) else { continue };
        if condition.get("observedGeneration").and_then(Value::as_int).unwrap_or_default() == 0 {
            copy(condition, old, &["observedGeneration"]);
        }
    }
}

/// Sets the time of the last change of a volume's phase, unless the client does.
fn set_phase_time(new: &mut Value, old: &Value, now: Timestamp) {
    let (phase, time) = (["status", "phase"], ["status", "lastPhaseTransitionTime"]);
    let is_given = new.at(&time).is_some_and(|time| !time.is_null());
    let changes = new.str_at(&phase).unwrap_or_default() != old.str_at(&phase).unwrap_or_default();
    if !changes && !is_given {
        copy(new, old, &time);
    } else if changes
        && (!is_given || new.at(&time) == old.at(&time))
        && let Some(status) = new.get_mut("status").and_then(Value::as_object_mut)
    {
        status.insert("lastPhaseTransitionTime".to_owned(), time::format(now).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn generations_that_are_left_out_are_kept() {
        let old = r#"{"status":{"qosClass":"Burstable","observedGeneration":2,
            "conditions":[{"type":"a","observedGeneration":1},{"type":"a","observedGeneration":2}]}}"#;
        let mut new =
            read(r#"{"status":{"conditions":[{"type":"a"},{"type":"b"},{"type":"a","observedGeneration":3}]}}"#);
        let mut older = new.clone();
        pod(&mut new, &read(old), Release::NEWEST, None);
        assert_eq!(
            new,
            read(
                r#"{"status":{"qosClass":"Burstable","observedGeneration":2,"conditions":[
                {"type":"a","observedGeneration":1},{"type":"b"},{"type":"a","observedGeneration":3}]}}"#
            )
        );
        pod(&mut older, &read(old), "1.32".parse().unwrap(), None);
        assert_eq!(older.at(&["status", "observedGeneration"]), None);
    }

    #[test]
    fn claims_that_are_left_out_are_kept() {
        let old = read(r#"{"status":{"resourceClaimStatuses":[{"name":"a"}]}}"#);
        let removal = read(r#"{"status":{"resourceClaimStatuses":[]}}"#);
        let empties = Empties::from_value(&removal);
        let prepared = |release: &str, empties: Option<&Empties>| {
            let mut new = read(r#"{"status":{}}"#);
            pod(&mut new, &old, release.parse().unwrap(), empties);
            new.at(&["status", "resourceClaimStatuses"]).is_some()
        };
        assert!(prepared("1.37", None) && !prepared("1.37", empties.as_ref()) && !prepared("1.36", None));
    }

    #[test]
    fn a_new_phase_has_the_time_of_the_request() {
        let phase = |phase: &str, time: &str| read(&format!(r#"{{"status":{{"phase":"{phase}"{time}}}}}"#));
        let before = r#","lastPhaseTransitionTime":"2026-01-02T03:04:05Z""#;
        let mut new = phase("Bound", "");
        set_phase_time(&mut new, &phase("Bound", before), Timestamp::default());
        assert_eq!(new, phase("Bound", before));
        set_phase_time(&mut new, &phase("Pending", before), Timestamp::default());
        assert_ne!(new, phase("Bound", before));
    }
}

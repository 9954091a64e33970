//! Fields of a status that the server keeps or drops when a client writes the status (`PrepareForUpdate` of
//! `podStatusStrategy` in `pkg/registry/core/pod/strategy.go`, `dropDisabledPodStatusFields` in `pkg/api/pod/util.go`).

use crate::features::drop_features;
use crate::features::{Feature, feature, pod_spec};
use crdx_server::server::KindRequest;
use crdx_types::empties::Empties;
use crdx_value::Value;
use crdx_value::release::{Gate, Release, V1_32, V1_33, V1_34, V1_37};
use std::collections::{HashMap, VecDeque};

/// Prepares the status.
pub(super) fn prepare(new: &mut Value, old: &Value, request: &KindRequest<'_>) {
    let release = request.release;
    keep_absent(new, old, release, request.empties);
    pod_spec::drop_annotations(new);
    // Before 1.33, a write of the status keeps all fields.
    if release.since(V1_33) {
        drop_features(FEATURES, new, Some(old), release);
    }
}

/// The lists of the statuses of all containers.
const STATUSES: &str = "containerStatuses|initContainerStatuses|ephemeralContainerStatuses";

pub(super) const FEATURES: &[Feature] = &[
    feature(&[Gate::InPlacePodLevelResourcesVerticalScaling], &[&["status", "resources|allocatedResources"]]),
    Feature {
        used: &[&["spec", "containers|initContainers", "*", "resizePolicy"]],
        ..feature(
            &[Gate::InPlacePodVerticalScaling],
            &[&["status", "resize"], &["status", STATUSES, "*", "resources|allocatedResources"]],
        )
    },
    Feature {
        used: &[&["spec", "resourceClaims"]],
        ..feature(&[Gate::DynamicResourceAllocation], &[&["status", "resourceClaimStatuses"]])
    },
    feature(&[Gate::DRAExtendedResource], &[&["status", "extendedResourceClaimStatus"]]),
    Feature {
        used: &[&[
            "spec",
            "containers|initContainers|ephemeralContainers",
            "*",
            "volumeMounts",
            "*",
            "recursiveReadOnly",
        ]],
        ..feature(&[Gate::RecursiveReadOnlyMounts], &[&["status", STATUSES, "*", "volumeMounts"]])
    },
    Feature {
        used: &[],
        ..feature(&[Gate::ResourceHealthStatus], &[&["status", STATUSES, "*", "allocatedResourcesStatus"]])
    },
    Feature {
        used: &[&["spec", "securityContext", "supplementalGroupsPolicy"]],
        ..feature(&[Gate::SupplementalGroupsPolicy], &[&["status", STATUSES, "*", "user"]])
    },
    feature(
        &[Gate::PodObservedGenerationTracking],
        &[&["status", "observedGeneration"], &["status", "conditions", "*", "observedGeneration"]],
    ),
    feature(&[Gate::ImageVolumeWithDigest], &[&["status", STATUSES, "*", "volumeMounts", "*", "volumeStatus"]]),
    feature(&[Gate::DRANodeAllocatableResources], &[&["status", "nodeAllocatableResourceClaimStatuses"]]),
    feature(&[Gate::CSIVolumeHealth], &[&["status", "volumeHealth"]]),
];

/// The claims of a Pod, which clients of older releases do not know
const CLAIMS: &[&str] =
    &["resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses"];

/// Keeps the class of a Pod, which old kubelets dropped, since 1.32, the observed generations that a client leaves out,
/// since 1.34, and the claims that it leaves out, since 1.37. An empty list removes claims.
fn keep_absent(new: &mut Value, old: &Value, release: Release, empties: Option<&Empties>) {
    let class = ["status", "qosClass"];
    if release.since(V1_32) && new.str_at(&class).is_none_or(str::is_empty) {
        new.copy_at(old, &class);
    }
    if release.since(V1_37) {
        let empties = empties.and_then(|empties| empties.child("status"));
        for name in CLAIMS {
            let path = ["status", name];
            let is_emptied =
                empties.and_then(|empties| empties.child(name)).is_some_and(|one| one.text() == Some("[]"));
            if new.at(&path).is_none_or(Value::is_null) && !is_emptied {
                new.copy_at(old, &path);
            }
        }
    }
    if !release.since(V1_34) {
        return;
    }
    let generation = ["status", "observedGeneration"];
    if new.at(&generation).and_then(Value::as_int).unwrap_or_default() == 0 {
        new.copy_at(old, &generation);
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
            condition.copy_at(old, &["observedGeneration"]);
        }
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
        keep_absent(&mut new, &read(old), Release::NEWEST, None);
        assert_eq!(
            new,
            read(
                r#"{"status":{"qosClass":"Burstable","observedGeneration":2,"conditions":[
                {"type":"a","observedGeneration":1},{"type":"b"},{"type":"a","observedGeneration":3}]}}"#
            )
        );
        keep_absent(&mut older, &read(old), "1.32".parse().unwrap(), None);
        assert_eq!(older.at(&["status", "observedGeneration"]), None);
    }

    #[test]
    fn claims_that_are_left_out_are_kept() {
        let old = read(r#"{"status":{"resourceClaimStatuses":[{"name":"a"}]}}"#);
        let removal = read(r#"{"status":{"resourceClaimStatuses":[]}}"#);
        let empties = Empties::from_value(&removal);
        let prepared = |release: &str, empties: Option<&Empties>| {
            let mut new = read(r#"{"status":{}}"#);
            keep_absent(&mut new, &old, release.parse().unwrap(), empties);
            new.at(&["status", "resourceClaimStatuses"]).is_some()
        };
        assert!(prepared("1.37", None) && !prepared("1.37", empties.as_ref()) && !prepared("1.36", None));
    }
}

//! The fields of statuses that clients write (`dropDisabledPodStatusFields` and its counterparts).

use super::{Feature, feature};
use crdx_value::release::{Minor, V1_31, V1_32, V1_33, V1_34, V1_35, V1_36};

/// The lists of the statuses of all containers.
const STATUSES: &str = "containerStatuses|initContainerStatuses|ephemeralContainerStatuses";

/// The features of a kind's status.
pub(super) fn features(kind: &str) -> &'static [Feature] {
    match kind {
        "CSINode" => OF_CSI_NODES,
        "Deployment" | "ReplicaSet" => OF_WORKLOADS,
        "Node" => OF_NODES,
        "PersistentVolumeClaim" => OF_VOLUME_CLAIMS,
        "Pod" => OF_PODS,
        "ResourceClaim" => OF_RESOURCE_CLAIMS,
        "VolumeAttachment" => OF_ATTACHMENTS,
        _ => &[],
    }
}

const OF_CSI_NODES: &[Feature] = &[feature(Minor::NEVER, &[&["status", "storageHealth"]])];

const OF_WORKLOADS: &[Feature] = &[feature(V1_35, &[&["status", "terminatingReplicas"]])];

const OF_NODES: &[Feature] = &[feature(Minor::NEVER, &[&["status", "config"]])];

const OF_VOLUME_CLAIMS: &[Feature] = &[
    feature(V1_32, &[&["status", "allocatedResources"]]),
    feature(V1_32, &[&["status", "allocatedResourceStatuses"]]),
    feature(V1_34, &[&["status", "currentVolumeAttributesClassName"]]),
    feature(V1_34, &[&["status", "modifyVolumeStatus"]]),
    feature(Minor::NEVER, &[&["status", "healthStatus"]]),
];

const OF_PODS: &[Feature] = &[
    feature(V1_36, &[&["status", "resources|allocatedResources"]]),
    Feature {
        used: &[&["spec", "containers|initContainers", "*", "resizePolicy"]],
        ..feature(V1_33, &[&["status", "resize"], &["status", STATUSES, "*", "resources|allocatedResources"]])
    },
    Feature { used: &[&["spec", "resourceClaims"]], ..feature(V1_34, &[&["status", "resourceClaimStatuses"]]) },
    feature(V1_36, &[&["status", "extendedResourceClaimStatus"]]),
    Feature {
        used: &[&[
            "spec",
            "containers|initContainers|ephemeralContainers",
            "*",
            "volumeMounts",
            "*",
            "recursiveReadOnly",
        ]],
        ..feature(V1_31, &[&["status", STATUSES, "*", "volumeMounts"]])
    },
    Feature { used: &[], ..feature(V1_36, &[&["status", STATUSES, "*", "allocatedResourcesStatus"]]) },
    Feature {
        used: &[&["spec", "securityContext", "supplementalGroupsPolicy"]],
        ..feature(V1_33, &[&["status", STATUSES, "*", "user"]])
    },
    feature(V1_34, &[&["status", "observedGeneration"], &["status", "conditions", "*", "observedGeneration"]]),
    feature(Minor::NEVER, &[&["status", STATUSES, "*", "volumeMounts", "*", "volumeStatus"]]),
    feature(Minor::NEVER, &[&["status", "nodeAllocatableResourceClaimStatuses"]]),
    feature(Minor::NEVER, &[&["status", "volumeHealth"]]),
];

const OF_RESOURCE_CLAIMS: &[Feature] = &[
    Feature {
        used: &[
            &["spec", "devices", "constraints", "*", "distinctAttribute"],
            &["spec", "devices", "requests", "*", "exactly", "capacity"],
            &["spec", "devices", "requests", "*", "firstAvailable", "*", "capacity"],
            &["status", "allocation", "devices", "results", "*", "shareID|consumedCapacity"],
            &["status", "devices", "*", "shareID"],
        ],
        ..feature(
            V1_36,
            &[
                &["status", "allocation", "devices", "results", "*", "shareID|consumedCapacity"],
                &["status", "devices", "*", "shareID"],
            ],
        )
    },
    // Only 1.34 drops the time.
    feature(V1_35, &[&["status", "allocation", "allocationTimestamp"]]),
    feature(
        V1_36,
        &[&["status", "allocation", "devices", "results", "*", "bindingConditions|bindingFailureConditions"]],
    ),
    feature(Minor::NEVER, &[&["status", "allocation", "devices", "results", "*", "skipNodeOperations"]]),
];

const OF_ATTACHMENTS: &[Feature] = &[
    feature(V1_35, &[&["status", "attachError", "errorCode"]]),
    feature(V1_35, &[&["status", "detachError", "errorCode"]]),
];

#[cfg(test)]
mod tests {
    use super::super::drop_disabled_of_status;
    use super::super::tests::read;
    use crdx_value::json;

    fn dropped(kind: &str, status: &str, old: &str, release: &str) -> String {
        let mut object = read(&format!(r#"{{"status":{status}}}"#));
        drop_disabled_of_status(kind, &mut object, &read(old), release.parse().unwrap());
        json::to_string(object.get("status").unwrap())
    }

    #[test]
    fn fields_of_containers_depend_on_the_release() {
        let status = r#"{"containerStatuses":[{"name":"a","allocatedResourcesStatus":[],"volumeMounts":[{"name":"v","volumeStatus":{}}]}]}"#;
        let containers = |members: &str| {
            format!(r#"{{"containerStatuses":[{{{members}"name":"a"{}}}]}}"#, r#","volumeMounts":[{"name":"v"}]"#)
        };
        assert_eq!(dropped("Pod", status, "{}", "1.33"), containers(""));
        assert_eq!(dropped("Pod", status, "{}", "1.37"), containers(r#""allocatedResourcesStatus":[],"#));
    }

    #[test]
    fn the_status_of_a_pod_is_kept_before_1_33() {
        let status = r#"{"containerStatuses":[{"user":{}}],"observedGeneration":1,"resize":"Proposed"}"#;
        assert_eq!(dropped("Pod", status, "{}", "1.32"), status);
        assert_ne!(dropped("Pod", status, "{}", "1.33"), status);
    }

    #[test]
    fn claims_of_a_pod_need_claims_in_its_specification() {
        let status = r#"{"resourceClaimStatuses":[{"name":"a"}]}"#;
        assert_eq!(dropped("Pod", status, r#"{"spec":{"resourceClaims":[{"name":"a"}]}}"#, "1.33"), status);
        assert_eq!(dropped("Pod", status, &format!(r#"{{"status":{status}}}"#), "1.33"), "{}");
    }

    #[test]
    fn shares_of_devices_are_dropped_before_1_36() {
        let status = r#"{"allocation":{"devices":{"results":[{"shareID":"a"}]}},"devices":[{"shareID":"a"}]}"#;
        let without = r#"{"allocation":{"devices":{"results":[{}]}},"devices":[{}]}"#;
        assert_eq!(dropped("ResourceClaim", status, "{}", "1.35"), without);
        assert_eq!(dropped("ResourceClaim", status, "{}", "1.36"), status);
        let used = r#"{"status":{"devices":[{"shareID":"b"}]}}"#;
        assert_eq!(dropped("ResourceClaim", status, used, "1.35"), status);
    }

    #[test]
    fn other_kinds_keep_their_fields() {
        assert_eq!(dropped("StatefulSet", r#"{"resources":{}}"#, "{}", "1.30"), r#"{"resources":{}}"#);
        assert_eq!(dropped("CSINode", r#"{"storageHealth":[]}"#, "{}", "1.37"), "{}");
    }
}

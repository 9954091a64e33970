//! The fields of each kind, except those of Pod specifications and of statuses that clients write.

use super::{Feature, Path, feature};
use crdx_value::release::{Minor, V1_31, V1_32, V1_33, V1_34, V1_35, V1_36, V1_37};

/// The features of a kind, and the path to which those of their fields are relative.
pub(super) fn features(kind: &str) -> (Path, &'static [Feature]) {
    match kind {
        "CronJob" => (&[], OF_CRON_JOBS),
        "CSIDriver" => (&[], OF_DRIVERS),
        "DeviceClass" => (&[], OF_DEVICE_CLASSES),
        "EndpointSlice" => (&[], OF_ENDPOINT_SLICES),
        "HorizontalPodAutoscaler" => (&[], OF_AUTOSCALERS),
        "Job" => (&[], OF_JOBS),
        "Lease" => (&[], OF_LEASES),
        "Node" => (&[], OF_NODES),
        "PersistentVolume" | "PersistentVolumeClaim" => (&[], OF_VOLUMES),
        "ResourceClaim" => (&["spec"], OF_RESOURCE_CLAIMS),
        "ResourceClaimTemplate" => (&["spec", "spec"], OF_RESOURCE_CLAIMS),
        "ResourceSlice" => (&[], OF_RESOURCE_SLICES),
        "Service" => (&[], OF_SERVICES),
        "StatefulSet" => (&[], OF_STATEFUL_SETS),
        _ => (&[], &[]),
    }
}

/// The features of a kind whose fields are dropped from new objects only.
pub(super) fn features_on_create(kind: &str) -> &'static [Feature] {
    if kind == "Job" { OF_NEW_JOBS } else { &[] }
}

const OF_CRON_JOBS: &[Feature] = &[feature(Minor::NEVER, &[&["spec", "jobTemplate", "spec", "scheduling"]])];

const OF_DRIVERS: &[Feature] = &[
    feature(V1_35, &[&["spec", "nodeAllocatableUpdatePeriodSeconds"]]),
    feature(V1_37, &[&["spec", "preventPodSchedulingIfMissing"]]),
];

const OF_DEVICE_CLASSES: &[Feature] = &[feature(V1_36, &[&["spec", "extendedResourceName"]])];

const OF_ENDPOINT_SLICES: &[Feature] = &[feature(V1_34, &[&["endpoints", "*", "hints", "forNodes"]])];

const OF_AUTOSCALERS: &[Feature] = &[feature(V1_35, &[&["spec", "behavior", "scaleDown|scaleUp", "tolerance"]])];

const OF_JOBS: &[Feature] =
    &[feature(V1_31, &[&["spec", "successPolicy"]]), feature(Minor::NEVER, &[&["spec", "scheduling"]])];

const OF_NEW_JOBS: &[Feature] = &[feature(V1_32, &[&["spec", "managedBy"]])];

const OF_LEASES: &[Feature] =
    &[feature(Minor::NEVER, &[&["spec", "strategy"]]), feature(Minor::NEVER, &[&["spec", "preferredHolder"]])];

const OF_NODES: &[Feature] = &[
    feature(Minor::NEVER, &[&["spec", "configSource"]]),
    feature(Minor::NEVER, &[&["status", "config"]]),
    Feature { used: &[], ..feature(V1_31, &[&["status", "runtimeHandlers"]]) },
    feature(V1_33, &[&["status", "features"]]),
    feature(V1_36, &[&["status", "declaredFeatures"]]),
    feature(Minor::NEVER, &[&["spec", "podPreemptionPolicy"]]),
];

const OF_VOLUMES: &[Feature] = &[feature(V1_34, &[&["spec", "volumeAttributesClassName"]])];

/// The fields of a claim's specification that use consumable capacity.
const USED_CAPACITY: &[Path] = &[
    &["devices", "constraints", "*", "distinctAttribute"],
    &["devices", "requests", "*", "exactly", "capacity"],
    &["devices", "requests", "*", "firstAvailable", "*", "capacity"],
];

/// The features of the specification of a claim.
const OF_RESOURCE_CLAIMS: &[Feature] = &[
    // 1.34 does not drop them.
    Feature {
        disabled_again: Some(V1_35),
        ..feature(
            Minor::ALWAYS,
            &[
                &["devices", "requests", "*", "exactly", "tolerations"],
                &["devices", "requests", "*", "firstAvailable", "*", "tolerations"],
            ],
        )
    },
    Feature {
        used: USED_CAPACITY,
        ..feature(
            V1_36,
            &[
                &["devices", "requests", "*", "exactly", "capacity"],
                &["devices", "requests", "*", "firstAvailable", "*", "capacity"],
            ],
        )
    },
    // 1.34 changes a copy of each constraint only.
    Feature {
        disabled_again: Some(V1_35),
        used: USED_CAPACITY,
        ..feature(Minor::ALWAYS, &[&["devices", "constraints", "*", "distinctAttribute"]])
    },
    feature(
        Minor::NEVER,
        &[
            &["devices", "requests", "*", "exactly", "derivedAttributes"],
            &["devices", "requests", "*", "firstAvailable", "*", "derivedAttributes"],
        ],
    ),
];

const OF_RESOURCE_SLICES: &[Feature] = &[
    feature(V1_36, &[&["spec", "devices", "*", "taints"]]),
    feature(
        V1_36,
        &[
            &["spec", "sharedCounters|perDeviceNodeSelection"],
            &["spec", "devices", "*", "consumesCounters|nodeName|nodeSelector|allNodes"],
        ],
    ),
    feature(V1_36, &[&["spec", "devices", "*", "bindingConditions|bindingFailureConditions|bindsToNode"]]),
    feature(
        V1_36,
        &[
            &["spec", "devices", "*", "allowMultipleAllocations"],
            &["spec", "devices", "*", "capacity", "*", "requestPolicy"],
        ],
    ),
    feature(Minor::NEVER, &[&["spec", "devices", "*", "consumesCounters", "*", "compatibilityGroups"]]),
    feature(Minor::NEVER, &[&["spec", "devices", "*", "nodeAllocatableResources"]]),
    // Only 1.36 has the field.
    feature(Minor::NEVER, &[&["spec", "devices", "*", "nodeAllocatableResourceMappings"]]),
    feature(Minor::NEVER, &[&["spec", "devices", "*", "attributes", "*", "bools|ints|strings|versions"]]),
    feature(Minor::NEVER, &[&["spec", "partitionTypeAttribute"]]),
    feature(Minor::NEVER, &[&["spec", "skipNodeOperations"]]),
];

const OF_SERVICES: &[Feature] = &[feature(V1_31, &[&["spec", "trafficDistribution"]])];

const OF_STATEFUL_SETS: &[Feature] = &[Feature {
    disabled_again: Some(V1_36),
    ..feature(V1_35, &[&["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]])
}];

#[cfg(test)]
mod tests {
    use super::super::drop_disabled;
    use super::super::tests::read;

    #[test]
    fn the_mappings_of_a_device_are_dropped() {
        let mut slice = read(r#"{"spec":{"devices":[{"name":"d","nodeAllocatableResourceMappings":{"cpu":{}}}]}}"#);
        drop_disabled("ResourceSlice", &mut slice, None, "1.36".parse().unwrap());
        assert_eq!(slice, read(r#"{"spec":{"devices":[{"name":"d"}]}}"#));
    }
}

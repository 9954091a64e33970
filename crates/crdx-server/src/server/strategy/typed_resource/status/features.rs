//! Fields of a status that need a feature. The server drops them unless the feature is enabled
//! (`dropDisabledPodStatusFields` and its counterparts).

use crdx_value::Value;
use crdx_value::release::{Minor, Release, V1_31, V1_32, V1_33, V1_34, V1_35, V1_36};

/// A field below the status, with `*` for every item, and the first release that enables its feature by default
type Row = (&'static [&'static str], Minor);

const OF_PODS: &[Row] = &[
    (&["resize"], V1_33),
    (&["resourceClaimStatuses"], V1_34),
    (&["observedGeneration"], V1_34),
    (&["conditions", "*", "observedGeneration"], V1_34),
    (&["extendedResourceClaimStatus"], V1_36),
    (&["resources"], V1_36),
    (&["allocatedResources"], V1_36),
    (&["nodeAllocatableResourceClaimStatuses"], Minor::NEVER),
    (&["volumeHealth"], Minor::NEVER),
];
const OF_CONTAINERS: &[Row] = &[
    (&["volumeMounts"], V1_31),
    (&["resources"], V1_33),
    (&["allocatedResources"], V1_33),
    (&["user"], V1_33),
    (&["allocatedResourcesStatus"], V1_36),
    (&["volumeMounts", "*", "volumeStatus"], Minor::NEVER),
];
const OF_VOLUME_CLAIMS: &[Row] = &[
    (&["allocatedResources"], V1_32),
    (&["allocatedResourceStatuses"], V1_32),
    (&["currentVolumeAttributesClassName"], V1_34),
    (&["modifyVolumeStatus"], V1_34),
    (&["healthStatus"], Minor::NEVER),
];
const OF_RESOURCE_CLAIMS: &[Row] = &[
    (&["allocation", "allocationTimestamp"], V1_35),
    (&["allocation", "devices", "results", "*", "bindingConditions"], V1_36),
    (&["allocation", "devices", "results", "*", "bindingFailureConditions"], V1_36),
    (&["allocation", "devices", "results", "*", "shareID"], V1_36),
    (&["allocation", "devices", "results", "*", "consumedCapacity"], V1_36),
    (&["allocation", "devices", "results", "*", "skipNodeOperations"], Minor::NEVER),
    (&["devices", "*", "shareID"], V1_36),
];
const OF_ATTACHMENTS: &[Row] = &[(&["attachError", "errorCode"], V1_35), (&["detachError", "errorCode"], V1_35)];
const OF_CSI_NODES: &[Row] = &[(&["storageHealth"], Minor::NEVER)];

/// Drops the fields of features that the release does not enable.
pub(super) fn drop_disabled(kind: &str, object: &mut Value, release: Release) {
    let Some(status) = object.get_mut("status") else { return };
    let rows = match kind {
        "Pod" => OF_PODS,
        "PersistentVolumeClaim" => OF_VOLUME_CLAIMS,
        "ResourceClaim" => OF_RESOURCE_CLAIMS,
        "VolumeAttachment" => OF_ATTACHMENTS,
        "CSINode" => OF_CSI_NODES,
        _ => return,
    };
    drop_rows(rows, status, release);
    if kind == "Pod" {
        for list in ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] {
            let Some(Value::Array(items)) = status.get_mut(list) else { continue };
            for item in items.iter_mut() {
                drop_rows(OF_CONTAINERS, item, release);
            }
        }
    }
}

fn drop_rows(rows: &[Row], value: &mut Value, release: Release) {
    for (path, _) in rows.iter().filter(|(_, since)| !release.since(*since)) {
        remove(value, path);
    }
}

fn remove(value: &mut Value, path: &[&str]) {
    match (path, value) {
        ([name], Value::Object(members)) => {
            members.remove(name);
        }
        (["*", rest @ ..], Value::Array(items)) => items.iter_mut().for_each(|item| remove(item, rest)),
        ([name, rest @ ..], value) => {
            if let Some(inner) = value.get_mut(name) {
                remove(inner, rest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn dropped(kind: &str, status: &str, release: &str) -> String {
        let mut object = json::read(format!(r#"{{"status":{status}}}"#).as_bytes()).unwrap();
        drop_disabled(kind, &mut object, release.parse().unwrap());
        crdx_value::json::to_string(object.get("status").unwrap())
    }

    #[test]
    fn fields_of_containers_depend_on_the_release() {
        let status = r#"{"containerStatuses":[{"name":"a","user":{},"allocatedResourcesStatus":[],"volumeMounts":[{"name":"v","volumeStatus":{}}]}]}"#;
        let containers = |members: &str| format!(r#"{{"containerStatuses":[{{"name":"a"{members}}}]}}"#);
        let mounts = r#","volumeMounts":[{"name":"v"}]"#;
        assert_eq!(dropped("Pod", status, "1.30"), containers(""));
        assert_eq!(dropped("Pod", status, "1.32"), containers(mounts));
        assert_eq!(dropped("Pod", status, "1.34"), containers(&format!(r#","user":{{}}{mounts}"#)));
        let newest =
            format!(r#"{{"containerStatuses":[{{"allocatedResourcesStatus":[],"name":"a","user":{{}}{mounts}}}]}}"#);
        assert_eq!(dropped("Pod", status, "1.37"), newest);
    }

    #[test]
    fn shares_of_devices_are_dropped_before_1_36() {
        let status = r#"{"allocation":{"devices":{"results":[{"shareID":"a"}]}},"devices":[{"shareID":"a"}]}"#;
        let without = r#"{"allocation":{"devices":{"results":[{}]}},"devices":[{}]}"#;
        assert_eq!(dropped("ResourceClaim", status, "1.35"), without);
        assert_eq!(dropped("ResourceClaim", status, "1.36"), status);
    }

    #[test]
    fn other_kinds_keep_their_fields() {
        assert_eq!(dropped("Deployment", r#"{"resources":{}}"#, "1.30"), r#"{"resources":{}}"#);
        assert_eq!(dropped("CSINode", r#"{"storageHealth":[]}"#, "1.37"), "{}");
    }
}

//! The fields of Pod specifications (`dropDisabledFields` in `pkg/api/pod/util.go` of Kubernetes 1.30 to 1.38).

use super::paths::names;
use super::{Feature, drop_features, feature, is_set, remove};
use crdx_value::release::{Gate, Release, V1_34};
use crdx_value::{Map, Value};
use std::collections::HashSet;

/// The lists of all containers.
const CONTAINERS: &str = "containers|initContainers|ephemeralContainers";
const PROBES: &str = "livenessProbe|readinessProbe|startupProbe";
const AFFINITIES: &str = "podAffinity|podAntiAffinity";
const LABEL_KEYS: &str = "matchLabelKeys|mismatchLabelKeys";

const FEATURES: &[Feature] = &[
    feature(&[Gate::UserNamespacesSupport], &[&["hostUsers"]]),
    feature(&[Gate::SupplementalGroupsPolicy], &[&["securityContext", "supplementalGroupsPolicy"]]),
    Feature { used: &[&["resources", "requests|limits"]], ..feature(&[Gate::PodLevelResources], &[&["resources"]]) },
    feature(
        &[Gate::MatchLabelKeysInPodAffinity],
        &[
            &["affinity", AFFINITIES, "requiredDuringSchedulingIgnoredDuringExecution", "*", LABEL_KEYS],
            &[
                "affinity",
                AFFINITIES,
                "preferredDuringSchedulingIgnoredDuringExecution",
                "*",
                "podAffinityTerm",
                LABEL_KEYS,
            ],
        ],
    ),
    Feature {
        used: &[&["resourceClaims"]],
        ..feature(&[Gate::DynamicResourceAllocation], &[&["resourceClaims"], &[CONTAINERS, "*", "resources", "claims"]])
    },
    feature(
        &[Gate::ClusterTrustBundleProjection],
        &[&["volumes", "*", "projected", "sources", "*", "clusterTrustBundle"]],
    ),
    feature(&[Gate::PodCertificateRequest], &[&["volumes", "*", "projected", "sources", "*", "podCertificate"]]),
    feature(
        &[Gate::AtomicWriteVolumeUserFields],
        &[
            &["volumes", "*", "secret|configMap|downwardAPI|projected", "defaultUser"],
            &["volumes", "*", "secret|configMap|downwardAPI", "items", "*", "user"],
            &["volumes", "*", "projected", "sources", "*", "secret|configMap|downwardAPI", "items", "*", "user"],
            &[
                "volumes",
                "*",
                "projected",
                "sources",
                "*",
                "serviceAccountToken|clusterTrustBundle|podCertificate",
                "user",
            ],
        ],
    ),
    feature(&[Gate::GenericWorkload], &[&["schedulingGroup"]]),
    // Only 1.35 has the field.
    feature(&[Gate::GenericWorkload], &[&["workloadRef"]]),
    feature(&[Gate::GRPCContainerProbeTLS], &[&[CONTAINERS, "*", PROBES, "grpc", "mode"]]),
    feature(&[Gate::EvictionRequestAPI], &[&["evictionResponders"]]),
    Feature {
        used: &[&["containers|initContainers", "*", "resizePolicy"]],
        ..feature(&[Gate::InPlacePodVerticalScaling], &[&[CONTAINERS, "*", "resizePolicy"]])
    },
    feature(&[Gate::RecursiveReadOnlyMounts], &[&[CONTAINERS, "*", "volumeMounts", "*", "recursiveReadOnly"]]),
    feature(&[Gate::EmptyDirVolumeMode], &[&["volumes", "*", "emptyDir", "mode"]]),
    feature(&[Gate::VolumeBindMountOptions], &[&[CONTAINERS, "*", "volumeMounts", "*", "bindMountOptions"]]),
    feature(&[Gate::MatchLabelKeysInPodTopologySpread], &[&["topologySpreadConstraints", "*", "matchLabelKeys"]]),
    feature(
        &[Gate::NodeInclusionPolicyInPodTopologySpread],
        &[&["topologySpreadConstraints", "*", "nodeTaintsPolicy"]],
    ),
    feature(
        &[Gate::NodeInclusionPolicyInPodTopologySpread],
        &[&["topologySpreadConstraints", "*", "nodeAffinityPolicy"]],
    ),
    feature(&[Gate::HostnameOverride], &[&["hostnameOverride"]]),
    feature(&[Gate::EnvFiles], &[&[CONTAINERS, "*", "env", "*", "valueFrom", "fileKeyRef"]]),
    feature(&[Gate::SELinuxChangePolicy], &[&["securityContext", "seLinuxChangePolicy"]]),
    feature(
        &[Gate::H2CContainerProbe],
        &[
            &[CONTAINERS, "*", PROBES, "httpGet", "protocol"],
            &[CONTAINERS, "*", "lifecycle", "postStart|preStop", "httpGet", "protocol"],
        ],
    ),
];

/// The annotations that named init containers before Kubernetes 1.8 (`DropInitContainerAnnotations`).
const OLD_ANNOTATIONS: [&str; 4] = [
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-containers",
    "pod.alpha.kubernetes.io/init-container-statuses",
    "pod.beta.kubernetes.io/init-container-statuses",
];

/// Drops the disabled fields of a Pod or a Pod template.
pub(crate) fn drop_disabled(template: &mut Value, old: Option<&Value>, release: Release) {
    drop_annotations(template);
    if let Some(spec) = template.get_mut("spec") {
        drop_from_spec(spec, old.and_then(|old| old.get("spec")), release);
    }
}

/// Drops the annotations of a Pod or a Pod template that have no meaning.
pub(crate) fn drop_annotations(template: &mut Value) {
    let Some(metadata) = template.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    for name in OLD_ANNOTATIONS {
        annotations.remove(name);
    }
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}

fn drop_from_spec(new: &mut Value, old: Option<&Value>, release: Release) {
    drop_features(FEATURES, new, old, release);
    if !release.enables(Gate::ProcMountType) {
        reset_proc_mounts(new, old);
    }
    // Older releases do not know the rules, but the policy of an init container.
    if release.since(V1_34) && !release.enables(Gate::ContainerRestartRules) {
        drop_restart_rules(new, old);
    }
    if !release.enables(Gate::ImageVolume) {
        drop_image_volumes(new, old);
    }
    if !release.enables(Gate::ContainerStopSignals) {
        drop_stop_signals(new, old);
    }
}

/// The containers of a list, or of several lists `a|b`.
fn containers<'v>(spec: &'v mut Value, lists: &'static str) -> impl Iterator<Item = &'v mut Value> {
    let members = spec.as_object_mut().into_iter().flat_map(|members| members.iter_mut());
    let lists = members.filter(move |(name, _)| names(lists).any(|list| list == *name));
    lists.filter_map(|(_, list)| if let Value::Array(items) = list { Some(items) } else { None }).flatten()
}

/// Sets the default in place of another type of `/proc`, unless the old object has another (`dropDisabledProcMountField`).
fn reset_proc_mounts(new: &mut Value, old: Option<&Value>) {
    const DEFAULT: &str = "Default";
    let lists = names(CONTAINERS).filter_map(|list| old?.get(list)?.as_array());
    let path = ["securityContext", "procMount"];
    if lists.flatten().any(|container| container.str_at(&path).is_some_and(|mount| mount != DEFAULT)) {
        return;
    }
    for container in containers(new, CONTAINERS).filter(|container| container.str_at(&path).is_some()) {
        container.insert_at(&path, DEFAULT.into());
    }
}

/// Drops the rules and policies of restarts (`dropContainerRestartRules`). The policy `Always` of an init container belongs to
/// another feature.
fn drop_restart_rules(new: &mut Value, old: Option<&Value>) {
    let is_sidecar = |container: &Value| container.str_at(&["restartPolicy"]) == Some("Always");
    let uses = |old: &Value| {
        let init = old.get("initContainers").and_then(Value::as_array).unwrap_or_default();
        init.iter().any(|container| is_set(container, &["restartPolicy"]) && !is_sidecar(container))
            || is_set(old, &["initContainers", "*", "restartPolicyRules"])
            || is_set(old, &["containers", "*", "restartPolicy"])
    };
    if old.is_some_and(uses) {
        return;
    }
    remove(new, &[CONTAINERS, "*", "restartPolicyRules"]);
    remove(new, &["containers|ephemeralContainers", "*", "restartPolicy"]);
    for container in containers(new, "initContainers").filter(|container| !is_sidecar(container)) {
        remove(container, &["restartPolicy"]);
    }
}

/// Drops image volumes and their mounts (`dropImageVolumes`).
fn drop_image_volumes(new: &mut Value, old: Option<&Value>) {
    let path = ["volumes", "*", "image"];
    if old.is_some_and(|old| is_set(old, &path)) || !is_set(new, &path) {
        return;
    }
    let mut names = HashSet::new();
    let Some(spec) = new.as_object_mut() else { return };
    retain(spec, "volumes", |volume| {
        let is_image = is_set(volume, &["image"]);
        if is_image {
            names.insert(volume.str_at(&["name"]).unwrap_or_default().to_owned());
        }
        !is_image
    });
    for container in containers(new, CONTAINERS).filter_map(Value::as_object_mut) {
        retain(container, "volumeMounts", |mount| !names.contains(mount.str_at(&["name"]).unwrap_or_default()));
    }
}

/// Keeps some items of a list, and no empty list.
fn retain(members: &mut Map, name: &str, keeps: impl FnMut(&Value) -> bool) {
    let Some(Value::Array(items)) = members.get_mut(name) else { return };
    items.retain(keeps);
    if items.is_empty() {
        members.remove(name);
    }
}

/// Drops the signals that stop containers, and a `lifecycle` without another field (`dropContainerStopSignals`).
fn drop_stop_signals(new: &mut Value, old: Option<&Value>) {
    if old.is_some_and(|old| is_set(old, &[CONTAINERS, "*", "lifecycle", "stopSignal"])) {
        return;
    }
    for container in containers(new, CONTAINERS).filter_map(Value::as_object_mut) {
        let Some(lifecycle) = container.get_mut("lifecycle").and_then(Value::as_object_mut) else { continue };
        if lifecycle.remove("stopSignal").is_some() && lifecycle.is_empty() {
            container.remove("lifecycle");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    fn dropped(spec: &str, old: &str, release: &str) -> Value {
        let mut new = read(spec);
        drop_from_spec(&mut new, Some(&read(old)), release.parse().unwrap());
        new
    }

    #[test]
    fn annotations_of_old_init_containers_are_dropped() {
        let old = r#""pod.beta.kubernetes.io/init-containers":"x""#;
        let dropped = |annotations: &str| {
            let mut pod = read(&format!(r#"{{"metadata":{{"annotations":{{{annotations}}}}}}}"#));
            drop_annotations(&mut pod);
            pod
        };
        assert_eq!(dropped(&format!(r#"{old},"a":"b""#)), read(r#"{"metadata":{"annotations":{"a":"b"}}}"#));
        assert_eq!(dropped(old), read(r#"{"metadata":{}}"#));
    }

    #[test]
    fn fields_of_containers_are_dropped_from_all_lists() {
        let container = r#"{"volumeMounts":[{"bindMountOptions":["noexec"]}],"livenessProbe":{"grpc":{"mode":"TLS"}}}"#;
        let spec = format!(r#"{{"containers":[{container}],"initContainers":[{container}]}}"#);
        let without = r#"{"volumeMounts":[{}],"livenessProbe":{"grpc":{}}}"#;
        let expected = read(&format!(r#"{{"containers":[{without}],"initContainers":[{without}]}}"#));
        assert_eq!(dropped(&spec, "{}", "1.37"), expected);
        let used = r#"{"containers":[{"volumeMounts":[{"bindMountOptions":["noexec"]}]}]}"#;
        assert_ne!(dropped(&spec, used, "1.37"), expected);
    }

    #[test]
    fn a_resize_policy_of_an_ephemeral_container_is_no_use() {
        let spec = r#"{"containers":[{"resizePolicy":[{}]}]}"#;
        assert_eq!(
            dropped(spec, r#"{"ephemeralContainers":[{"resizePolicy":[{}]}]}"#, "1.32"),
            read(r#"{"containers":[{}]}"#)
        );
        assert_eq!(dropped(spec, r#"{"initContainers":[{"resizePolicy":[{}]}]}"#, "1.32"), read(spec));
        assert_eq!(dropped(spec, "{}", "1.33"), read(spec));
    }

    #[test]
    fn a_stop_signal_leaves_no_empty_lifecycle() {
        let spec = r#"{"containers":[{"lifecycle":{"stopSignal":"SIGTERM"}},{"lifecycle":{"stopSignal":"SIGTERM","preStop":{}}}]}"#;
        assert_eq!(dropped(spec, "{}", "1.37"), read(r#"{"containers":[{},{"lifecycle":{"preStop":{}}}]}"#));
        assert_eq!(dropped(spec, spec, "1.37"), read(spec));
    }

    #[test]
    fn an_image_volume_takes_its_mounts_along() {
        let spec = r#"{"volumes":[{"name":"i","image":{}},{"name":"e"}],
            "containers":[{"volumeMounts":[{"name":"i"}]},{"volumeMounts":[{"name":"e"},{"name":"i"}]}]}"#;
        let without = r#"{"volumes":[{"name":"e"}],"containers":[{},{"volumeMounts":[{"name":"e"}]}]}"#;
        assert_eq!(dropped(spec, "{}", "1.34"), read(without));
        assert_eq!(dropped(spec, r#"{"volumes":[{"image":{}}]}"#, "1.34"), read(spec));
        assert_eq!(dropped(spec, "{}", "1.35"), read(spec));
    }

    #[test]
    fn a_mount_of_proc_becomes_the_default_before_1_33() {
        let spec = |mount: &str| format!(r#"{{"containers":[{{"securityContext":{{"procMount":"{mount}"}}}}]}}"#);
        assert_eq!(dropped(&spec("Unmasked"), "{}", "1.32"), read(&spec("Default")));
        assert_eq!(dropped(&spec("Unmasked"), &spec("Default"), "1.32"), read(&spec("Default")));
        assert_eq!(dropped(&spec("Unmasked"), &spec("Unmasked"), "1.32"), read(&spec("Unmasked")));
        assert_eq!(dropped(&spec("Unmasked"), "{}", "1.33"), read(&spec("Unmasked")));
    }

    #[test]
    fn a_sidecar_keeps_its_restart_policy() {
        let spec = r#"{"initContainers":[{"restartPolicy":"Always"},{"restartPolicy":"Never"}],
            "containers":[{"restartPolicy":"Never","restartPolicyRules":[{}]}]}"#;
        let without = r#"{"initContainers":[{"restartPolicy":"Always"},{}],"containers":[{}]}"#;
        assert_eq!(dropped(spec, r#"{"initContainers":[{"restartPolicy":"Always"}]}"#, "1.34"), read(without));
        assert_eq!(dropped(spec, r#"{"initContainers":[{"restartPolicy":"Never"}]}"#, "1.34"), read(spec));
        assert_eq!(dropped(spec, "{}", "1.35"), read(spec));
    }
}

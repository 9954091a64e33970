//! Kinds with few warnings.

use super::{Warnings, addresses, node_labels, removed_plugins};
use crate::validation::field_value::FieldValue;
use crate::validation::immutable;
use crate::validation::selectors::LabelValues;
use crate::volume_resize::CLASS_ANNOTATION;
use crdx_value::Value;
use crdx_value::quote::go_quote;
use crdx_value::release::{Gate, V1_31, V1_32, V1_33, V1_34, V1_35, V1_36, V1_38};
use std::cmp::Ordering;

const STORAGE_CLASS_NAME: &str = r#"deprecated since v1.8; use "storageClassName" attribute instead"#;
const TOKENS: &str = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes";

/// The volume sources of removed plugins for which the server warns.
const VOLUMES: &[&str] = &["cephfs", "photonPersistentDisk", "scaleIO", "storageos", "glusterfs", "rbd"];

/// `GetWarningsForService`
pub(super) fn service(warnings: &mut Warnings, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    let spec = object.child("spec");
    let annotations = object.value.at(&["metadata", "annotations"]);
    if annotations.is_some_and(|all| all.get("service.kubernetes.io/topology-aware-hints").is_some()) {
        warnings.add("annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead");
    }
    let (type_, address, externals) =
        (spec.child("type").text(), spec.child("clusterIP").text(), spec.child("externalIPs"));
    let is_headless = type_ == "ClusterIP" && address == "None";
    let is_external_name = type_ == "ExternalName";
    if !matches!(address, "" | "None") {
        spec.child("clusterIPs").items().for_each(|address| addresses::of_service(warnings, &address));
    }
    if is_headless && warnings.release.since(V1_34) {
        if !spec.child("loadBalancerIP").text().is_empty() {
            warnings.add("spec.loadBalancerIP is ignored for headless services");
        }
        if externals.len() > 0 {
            warnings.add("spec.externalIPs is ignored for headless services");
        }
        if spec.child("sessionAffinity").text() != "None" {
            warnings.add("spec.SessionAffinity is ignored for headless services");
        }
    }
    externals.items().for_each(|address| addresses::of_service(warnings, &address));
    if externals.len() > 0 && !is_headless && !is_external_name && warnings.release.since(V1_36) {
        warnings.add("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
    }
    let balancer = spec.child("loadBalancerIP");
    if !balancer.text().is_empty() {
        addresses::of_service(warnings, &balancer);
    }
    spec.child("loadBalancerSourceRanges").items().for_each(|range| addresses::range_of_service(warnings, &range));
    if is_external_name && externals.len() > 0 {
        warnings.add(r#"spec.externalIPs is ignored when spec.type is "ExternalName""#);
    }
    if !is_external_name && !spec.child("externalName").text().is_empty() {
        warnings.add(r#"spec.externalName is ignored when spec.type is not "ExternalName""#);
    }
    if spec.child("trafficDistribution").text() == "PreferClose" && warnings.release.since(V1_35) {
        warnings.add(r#"spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone""#);
    }
}

/// `WarningsOnCreate` of an Ingress
pub(super) fn ingress(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let annotation =
        object.value.at(&["metadata", "annotations"]).and_then(|all| all.get("kubernetes.io/ingress.class"));
    if old.is_none() && annotation.is_some() && !object.child("spec").child("ingressClassName").is_set() {
        warnings.add(
            r#"annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead"#,
        );
    }
}

/// `GetWarningsForPersistentVolume`
pub(super) fn persistent_volume(warnings: &mut Warnings, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    let (metadata, spec) = (object.child("metadata"), object.child("spec"));
    warnings.annotation(&metadata, CLASS_ANNOTATION, STORAGE_CLASS_NAME);
    if warnings.release.since(V1_31) {
        let text = r#"deprecated since v1.31; use "mountOptions" attribute instead"#;
        warnings.annotation(&metadata, "volume.beta.kubernetes.io/mount-options", text);
    }
    let policy = spec.child("persistentVolumeReclaimPolicy");
    if policy.text() == "Recycle" {
        let text = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";
        warnings.at(&policy.path, text);
    }
    let affinity = spec.child("nodeAffinity");
    for term in affinity.child("required").child("nodeSelectorTerms").items() {
        node_labels::term(warnings, &term, LabelValues::AllowInvalid);
    }
    for (field, message) in removed_plugins::SOURCES.iter().filter(|(field, _)| VOLUMES.contains(field)) {
        let source = spec.child(field);
        if source.is_set() {
            // The name of the field in Go's source.
            let name = if *field == "storageos" { "storageOS" } else { field };
            warnings.at(&spec.path.child(name), message);
        }
    }
}

/// `GetWarningsForPersistentVolumeClaim`
pub(super) fn persistent_volume_claim(warnings: &mut Warnings, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    warnings.annotation(&object.child("metadata"), CLASS_ANNOTATION, STORAGE_CLASS_NAME);
    warnings.claim_amounts(&object.child("spec"));
}

/// `nodeWarnings`
pub(super) fn node(warnings: &mut Warnings, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    let spec = object.child("spec");
    if spec.child("configSource").is_set() {
        warnings.add("spec.configSource: the feature is removed");
    }
    if !spec.child("externalID").text().is_empty() {
        warnings.add("spec.externalID: this field is deprecated, and is unused by Kubernetes");
    }
    if !warnings.release.since(V1_33) {
        return;
    }
    spec.child("podCIDRs").items().for_each(|cidr| addresses::cidr(warnings, &cidr));
}

/// `WarningsOnCreate` of a `ResourceQuota`
pub(super) fn resource_quota(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    if old.is_some() || !warnings.release.since(V1_35) {
        return;
    }
    let spec = object.child("spec");
    let hard = spec.child("hard");
    for name in ["cpu", "memory", "storage", "ephemeral-storage"] {
        let (mut request, limit) = (format!("requests.{name}"), format!("limits.{name}"));
        if hard.value.get(&request).is_none() && matches!(name, "cpu" | "memory") {
            name.clone_into(&mut request);
        }
        let [requested, limited] = [&request, &limit].map(|name| FieldValue::new(hard.value.get(name), hard.path));
        let (Some(a), Some(b)) = (requested.quantity(warnings.release), limited.quantity(warnings.release)) else {
            continue;
        };
        if a.compare(&b) == Ordering::Greater {
            let (a, b) = (requested.text(), limited.text());
            warnings.add(format!("ResourceQuota {request} ({a}) should be less than {limit} ({b})"));
        }
    }
}

/// `warnIfHasEnforceMountableSecretsAnnotation`
pub(super) fn service_account(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    const ANNOTATION: &str = "kubernetes.io/enforce-mountable-secrets";
    let had = old.and_then(|old| old.at(&["metadata", "annotations"])).and_then(|all| all.get(ANNOTATION));
    if had.is_none() && warnings.release.since(V1_32) {
        let text = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
        warnings.annotation(&object.child("metadata"), ANNOTATION, text);
    }
}

/// `WarningsOnCreate` and `WarningsOnUpdate` of a `ResourceSlice`
pub(super) fn resource_slice(warnings: &mut Warnings, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    let spec = object.child("spec");
    let driver = spec.child("driver").text();
    if driver != driver.to_lowercase() && warnings.release.since(V1_35) {
        let driver = go_quote(driver);
        let text = format!("spec.driver: driver names should be lowercase; {driver} contains uppercase characters");
        warnings.add(text);
    }
}

/// `warningsForDeviceTaintRule`, since 1.38
pub(super) fn device_taint_rule(warnings: &mut Warnings, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    let spec = object.child("spec");
    let selector = spec.child("deviceSelector");
    let is_empty = ["driver", "pool", "device"].iter().all(|name| !selector.child(name).is_set());
    if selector.is_set() && is_empty && warnings.release.since(V1_38) {
        warnings.at(&selector.path, "an empty selector matches every device from every driver in the cluster");
    }
}

/// `WarningsOnCreate` and `WarningsOnUpdate` of a `CSIDriver`
pub(super) fn csi_driver(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let (requests, is_set) = (spec.child("tokenRequests"), spec.child("serviceAccountTokenInSecrets").is_set());
    let before = old.map(|old| old.at(&["spec", "tokenRequests"]).unwrap_or(&Value::Null));
    let is_changed = before.is_none_or(|before| !immutable::is_equal(before, requests.value));
    if requests.len() > 0 && !is_set && is_changed && warnings.release.enables(Gate::CSIServiceAccountTokenSecrets) {
        warnings.add(TOKENS);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::created;

    #[test]
    fn an_empty_selector_of_devices_has_a_warning_since_1_38() {
        let of = |selector: &str, release| {
            created(
                "resource.k8s.io",
                "DeviceTaintRule",
                &format!(r#"{{"spec":{{"deviceSelector":{selector}}}}}"#),
                release,
            )
        };
        let text = "spec.deviceSelector: an empty selector matches every device from every driver in the cluster";
        assert_eq!((of("{}", "1.38"), of("{}", "1.37")), (vec![text.to_owned()], Vec::new()));
        assert_eq!(of(r#"{"driver":"d"}"#, "1.38"), [""; 0]);
    }

    #[test]
    fn a_headless_service_ignores_fields() {
        let service = r#"{"spec":{"type":"ClusterIP","clusterIP":"None","externalIPs":["1.2.3.4"],"sessionAffinity":"ClientIP","externalName":"x"}}"#;
        assert_eq!(
            created("", "Service", service, "1.37"),
            [
                "spec.externalIPs is ignored for headless services",
                "spec.SessionAffinity is ignored for headless services",
                r#"spec.externalName is ignored when spec.type is not "ExternalName""#,
            ]
        );
    }

    #[test]
    fn an_ingress_has_a_field_for_its_class() {
        let ingress = |spec: &str| {
            let metadata = r#"{"annotations":{"kubernetes.io/ingress.class":"a"}}"#;
            created("networking.k8s.io", "Ingress", &format!(r#"{{"metadata":{metadata},"spec":{spec}}}"#), "1.37")
                .len()
        };
        assert_eq!((ingress("{}"), ingress(r#"{"ingressClassName":"a"}"#)), (1, 0));
    }

    #[test]
    fn volumes_of_removed_plugins_are_named() {
        assert_eq!(
            created(
                "",
                "PersistentVolume",
                r#"{"spec":{"storageos":{},"persistentVolumeReclaimPolicy":"Recycle"}}"#,
                "1.37"
            ),
            [
                "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
                "spec.storageOS: deprecated in v1.22, non-functional in v1.25+",
            ]
        );
    }

    #[test]
    fn a_quota_has_larger_limits_than_requests() {
        assert_eq!(
            created(
                "",
                "ResourceQuota",
                r#"{"spec":{"hard":{"cpu":"2","limits.cpu":"1","requests.memory":"1","limits.memory":"2"}}}"#,
                "1.37"
            ),
            ["ResourceQuota cpu (2) should be less than limits.cpu (1)"]
        );
    }
}

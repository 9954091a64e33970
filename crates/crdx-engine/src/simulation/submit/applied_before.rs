//! The part of an object that a client may have applied: without what only the server, its controllers and kubelets write.

use crate::kubectl::written_metadata::without_written_metadata;
use crdx_value::{Value, group_version};

/// The prefixes of labels and annotations that controllers and the scheduler write.
const WRITTEN_KEYS: [&str; 13] = [
    "autoscaling.alpha.kubernetes.io/",
    "batch.kubernetes.io/",
    "control-plane.alpha.kubernetes.io/",
    "controller-uid",
    "deployment.kubernetes.io/",
    "deprecated.daemonset.template.generation",
    "job-name",
    "kubernetes.io/metadata.name",
    "node.kubernetes.io/",
    "pod-template-",
    "pv.kubernetes.io/",
    "volume.beta.kubernetes.io/",
    "volume.kubernetes.io/",
];

/// The fields that other components write, or the server when an object is created, by group and kind.
const WRITTEN_FIELDS: &[(&str, &str, &[&[&str]])] = &[
    ("", "Namespace", &[&["spec", "finalizers"]]),
    ("", "Node", &[&["spec", "podCIDR"], &["spec", "podCIDRs"], &["spec", "providerID"], &["spec", "taints"]]),
    ("", "PersistentVolume", &[&["spec", "claimRef"]]),
    ("", "PersistentVolumeClaim", &[&["spec", "storageClassName"], &["spec", "volumeName"]]),
    (
        "",
        "Pod",
        &[
            &["spec", "imagePullSecrets"],
            &["spec", "nodeName"],
            &["spec", "overhead"],
            &["spec", "preemptionPolicy"],
            &["spec", "priority"],
            &["spec", "serviceAccount"],
            &["spec", "serviceAccountName"],
            &["spec", "tolerations"],
        ],
    ),
    (
        "",
        "Service",
        &[
            &["spec", "clusterIP"],
            &["spec", "clusterIPs"],
            &["spec", "healthCheckNodePort"],
            &["spec", "ipFamilies"],
            &["spec", "ipFamilyPolicy"],
        ],
    ),
    ("", "ServiceAccount", &[&["secrets"]]),
    ("batch", "Job", &[&["spec", "selector"]]),
    (
        "certificates.k8s.io",
        "CertificateSigningRequest",
        &[&["spec", "extra"], &["spec", "groups"], &["spec", "uid"], &["spec", "username"]],
    ),
    ("networking.k8s.io", "Ingress", &[&["spec", "ingressClassName"]]),
];

/// The name of the volume with the token of a Pod's service account begins with this.
const TOKEN_VOLUME: &str = "kube-api-access-";

/// Returns the part of an existing object that a client may have applied.
pub fn applied_before(existing: &Value) -> Value {
    let mut object = without_written_metadata(existing.clone());
    object.as_object_mut().map(|members| members.remove("status"));
    let group = object.str_at(&["apiVersion"]).map(group_version::group).unwrap_or_default().to_owned();
    let kind = object.str_at(&["kind"]).unwrap_or_default().to_owned();
    for metadata in [&["metadata"][..], &["spec", "template", "metadata"]] {
        remove_written_metadata(&mut object, metadata);
    }
    let of_kind = WRITTEN_FIELDS.iter().find(|(of, name, _)| (*of, *name) == (group.as_str(), kind.as_str()));
    for path in of_kind.map(|(.., paths)| *paths).unwrap_or_default() {
        remove(&mut object, path);
    }
    if group.is_empty() && kind == "Pod" {
        remove_token(&mut object);
    }
    object
}

fn remove(object: &mut Value, path: &[&str]) {
    let Some((last, above)) = path.split_last() else { return };
    if let Some(members) = at(object, above).and_then(Value::as_object_mut) {
        members.remove(last);
    }
}

fn at<'v>(object: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    path.iter().try_fold(object, |value, name| value.get_mut(name))
}

/// Removes owners, and the labels, annotations and finalizers of controllers.
fn remove_written_metadata(object: &mut Value, path: &[&str]) {
    let Some(metadata) = at(object, path) else { return };
    remove(metadata, &["ownerReferences"]);
    let is_written = |key: &str| WRITTEN_KEYS.iter().any(|prefix| key.starts_with(prefix));
    for name in ["labels", "annotations"] {
        if let Some(members) = metadata.get_mut(name).and_then(Value::as_object_mut) {
            members.retain(|key, _| !is_written(key));
        }
    }
    if let Some(Value::Array(finalizers)) = metadata.get_mut("finalizers") {
        let is_of_controller = |name: &str| {
            ["foregroundDeletion", "orphan"].contains(&name)
                || name.split_once('/').is_some_and(|(domain, _)| domain.ends_with("kubernetes.io"))
        };
        finalizers.retain(|name| !name.as_str().is_some_and(is_of_controller));
    }
}

/// Removes the volume with the token of the service account, and its mounts, which the server adds to a Pod.
fn remove_token(pod: &mut Value) {
    let is_kept = |item: &Value| !item.str_at(&["name"]).is_some_and(|name| name.starts_with(TOKEN_VOLUME));
    let Some(spec) = pod.get_mut("spec") else { return };
    if let Some(Value::Array(volumes)) = spec.get_mut("volumes") {
        volumes.retain(is_kept);
    }
    for containers in ["containers", "initContainers", "ephemeralContainers"] {
        let Some(Value::Array(containers)) = spec.get_mut(containers) else { continue };
        for container in containers {
            if let Some(Value::Array(mounts)) = container.get_mut("volumeMounts") {
                mounts.retain(is_kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::json;

    fn applied(object: &str) -> String {
        let object = crdx_text::yaml::read(object.as_bytes()).unwrap();
        json::to_string(&applied_before(&object))
    }

    #[test]
    fn what_components_write_to_a_pod_is_left_out() {
        let pod = "{apiVersion: v1, kind: Pod, metadata: {name: a, uid: u, labels: {app: a, pod-template-hash: x}, \
                   ownerReferences: [{name: r}]}, spec: {nodeName: n, priority: 0, volumes: [{name: kube-api-access-1}, \
                   {name: data}], containers: [{name: c, volumeMounts: [{name: kube-api-access-1}, {name: data}]}]}, \
                   status: {phase: Running}}";
        let left = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":"a"},"name":"a"},"spec":{"containers":[{"name":"c","volumeMounts":[{"name":"data"}]}],"volumes":[{"name":"data"}]}}"#;
        assert_eq!(applied(pod), left);
    }

    #[test]
    fn fields_of_other_kinds_and_keys_of_users_are_kept() {
        let claim = "{apiVersion: x.y/v1, kind: Pod, metadata: {name: a, annotations: {app.kubernetes.io/a: b, \
                     deployment.kubernetes.io/revision: '1'}, finalizers: [kubernetes.io/pvc-protection, x.y/z]}, \
                     spec: {nodeName: node}}";
        let left = r#"{"apiVersion":"x.y/v1","kind":"Pod","metadata":{"annotations":{"app.kubernetes.io/a":"b"},"finalizers":["x.y/z"],"name":"a"},"spec":{"nodeName":"node"}}"#;
        assert_eq!(applied(claim), left);
    }
}

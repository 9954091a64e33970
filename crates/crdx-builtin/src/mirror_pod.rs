//! Mirror Pods, with which kubelets show static Pods: the plugin `ServiceAccount` limits what they name
//! (`plugin/pkg/admission/serviceaccount` in `k8s.io/kubernetes`).

use crate::CONTAINER_LISTS;
use crdx_types::amounts::containers;
use crdx_value::Value;

const MIRROR: &str = "kubernetes.io/config.mirror";

/// The volume sources that may name a secret, in the order of `VisitPodSecretNames`, with the path of its name. The first
/// source that a volume has is the one that counts.
const SOURCES: [(&str, &[&str]); 11] = [
    ("azureFile", &["secretName"]),
    ("cephfs", &["secretRef", "name"]),
    ("cinder", &["secretRef", "name"]),
    ("flexVolume", &["secretRef", "name"]),
    ("projected", &[]),
    ("rbd", &["secretRef", "name"]),
    ("secret", &["secretName"]),
    ("scaleIO", &["secretRef", "name"]),
    ("iscsi", &["secretRef", "name"]),
    ("storageos", &["secretRef", "name"]),
    ("csi", &["nodePublishSecretRef", "name"]),
];

/// Returns true for a mirror Pod.
pub fn is_mirror(pod: &Value) -> bool {
    pod.at(&["metadata", "annotations", MIRROR]).is_some_and(|mark| !mark.is_null())
}

/// Returns the reason why a new mirror Pod is refused (`Validate`).
pub fn refusal(pod: &Value) -> Option<&'static str> {
    if !is_mirror(pod) {
        return None;
    }
    // `serviceAccount` is an alias.
    let names = |field| !is_empty(pod.at(&["spec", field]));
    if names("serviceAccountName") || names("serviceAccount") {
        return Some("a mirror pod may not reference service accounts");
    }
    if names_secret(pod) {
        return Some("a mirror pod may not reference secrets");
    }
    let projects_token = volumes(pod).any(|volume| projected(volume).any(|source| has(source, "serviceAccountToken")));
    projects_token.then_some("a mirror pod may not use ServiceAccountToken volume projections")
}

/// `VisitPodSecretNames`, which skips empty names
fn names_secret(pod: &Value) -> bool {
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    let pulls = spec.get("imagePullSecrets").and_then(Value::as_array).unwrap_or_default();
    pulls.iter().any(|secret| !is_empty(secret.get("name")))
        || CONTAINER_LISTS.into_iter().flat_map(|list| containers(spec, list)).any(container_names_secret)
        || volumes(pod).any(volume_names_secret)
}

fn container_names_secret(container: &Value) -> bool {
    let items = |field| container.get(field).and_then(Value::as_array).unwrap_or_default();
    items("envFrom").iter().any(|source| !is_empty(source.at(&["secretRef", "name"])))
        || items("env").iter().any(|variable| !is_empty(variable.at(&["valueFrom", "secretKeyRef", "name"])))
}

fn volume_names_secret(volume: &Value) -> bool {
    let Some((source, path)) = SOURCES.into_iter().find(|(source, _)| has(volume, source)) else { return false };
    match source {
        "projected" => projected(volume).any(|source| !is_empty(source.at(&["secret", "name"]))),
        _ => !is_empty(volume.get(source).and_then(|source| source.at(path))),
    }
}

fn volumes(pod: &Value) -> impl Iterator<Item = &Value> {
    pod.at(&["spec", "volumes"]).and_then(Value::as_array).unwrap_or_default().iter()
}

fn projected(volume: &Value) -> impl Iterator<Item = &Value> {
    volume.at(&["projected", "sources"]).and_then(Value::as_array).unwrap_or_default().iter()
}

fn has(value: &Value, field: &str) -> bool {
    value.get(field).is_some_and(|value| !value.is_null())
}

fn is_empty(text: Option<&Value>) -> bool {
    text.and_then(Value::as_str).is_none_or(str::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn refused(spec: &str) -> Option<&'static str> {
        let metadata = r#"{"annotations":{"kubernetes.io/config.mirror":""}}"#;
        refusal(&json::read(format!(r#"{{"metadata":{metadata},"spec":{spec}}}"#).as_bytes()).unwrap())
    }

    #[test]
    fn a_mirror_pod_names_no_service_account() {
        for field in ["serviceAccountName", "serviceAccount"] {
            let reason = refused(&format!(r#"{{"{field}":"default"}}"#));
            assert_eq!(reason, Some("a mirror pod may not reference service accounts"), "{field}");
        }
        assert_eq!(refused(r#"{"containers":[{"name":"c"}]}"#), None);
    }

    #[test]
    fn a_mirror_pod_names_no_secret() {
        for spec in [
            r#"{"imagePullSecrets":[{"name":"s"}]}"#,
            r#"{"initContainers":[{"envFrom":[{"secretRef":{"name":"s"}}]}]}"#,
            r#"{"containers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"s"}}}]}]}"#,
            r#"{"volumes":[{"secret":{"secretName":"s"}}]}"#,
            r#"{"volumes":[{"projected":{"sources":[{"secret":{"name":"s"}}]}}]}"#,
            r#"{"volumes":[{"csi":{"nodePublishSecretRef":{"name":"s"}}}]}"#,
        ] {
            assert_eq!(refused(spec), Some("a mirror pod may not reference secrets"), "{spec}");
        }
        assert_eq!(refused(r#"{"imagePullSecrets":[{}],"volumes":[{"secret":{}}]}"#), None);
    }

    #[test]
    fn a_mirror_pod_projects_no_token() {
        let spec = r#"{"volumes":[{"projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}]}"#;
        assert_eq!(refused(spec), Some("a mirror pod may not use ServiceAccountToken volume projections"));
    }

    #[test]
    fn other_pods_are_not_limited() {
        let pod = json::read(br#"{"spec":{"serviceAccountName":"a"}}"#).unwrap();
        assert_eq!(refusal(&pod), None);
    }
}

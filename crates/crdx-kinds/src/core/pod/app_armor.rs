//! The `AppArmor` profiles of a new Pod, which annotations of older clients and fields may name (`applyAppArmorVersionSkew` in
//! `pkg/registry/core/pod/strategy.go`).

use crdx_builtin::CONTAINER_LISTS;
use crdx_value::release::Release;
use crdx_value::{Map, Value, object};

const ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";
const LOCALHOST: &str = "localhost/";
/// The length of the longest path of a profile in bytes.
const MAX_PATH: usize = 4095;

/// Copies the profiles that annotations name to the fields of the containers; before 1.34, also from fields to annotations.
pub(super) fn synchronize(pod: &mut Value, release: Release) {
    if pod.str_at(&["spec", "os", "name"]) == Some("windows") {
        return;
    }
    let mut annotations = pod.at(&["metadata", "annotations"]).and_then(Value::as_object).cloned().unwrap_or_default();
    let annotates = release.minor().number() < 34;
    let pod_profile = pod.at(&["spec", "securityContext", "appArmorProfile"]).cloned();
    if !annotates && !annotations.keys().any(|key| key.starts_with(ANNOTATION)) {
        return;
    }
    for list in CONTAINER_LISTS {
        let containers = pod.get_mut("spec").and_then(|spec| spec.get_mut(list));
        let Some(Value::Array(containers)) = containers else { continue };
        for container in containers {
            synchronize_container(container, pod_profile.as_ref(), &mut annotations, annotates);
        }
    }
    if annotates && !annotations.is_empty() {
        pod.insert_at(&["metadata", "annotations"], Value::Object(annotations));
    }
}

fn synchronize_container(container: &mut Value, pod_profile: Option<&Value>, annotations: &mut Map, annotates: bool) {
    let key = format!("{ANNOTATION}{}", container.str_at(&["name"]).unwrap_or_default());
    let own = container.at(&["securityContext", "appArmorProfile"]);
    let annotation = annotations.get(&key).map(|text| text.as_str().unwrap_or_default().to_owned());
    match annotation {
        Some(annotation) if own.is_none() => {
            if let Some(profile) = profile_of(&annotation).filter(|profile| Some(profile) != pod_profile) {
                container.insert_at(&["securityContext", "appArmorProfile"], profile);
            }
        }
        None if annotates => {
            let text = own.or(pod_profile).and_then(annotation_of);
            annotations.extend(text.map(|text| (key, text.into())));
        }
        _ => {}
    }
}

/// `ApparmorFieldForAnnotation`; `None` if the annotation is invalid.
fn profile_of(annotation: &str) -> Option<Value> {
    let of_type = |name: &'static str| object([("type", Value::from(name))]);
    match annotation {
        "unconfined" => Some(of_type("Unconfined")),
        "runtime/default" => Some(of_type("RuntimeDefault")),
        text => {
            let path = text.strip_prefix(LOCALHOST)?;
            let is_valid = !path.is_empty() && path.trim() == path && path.len() <= MAX_PATH;
            is_valid.then(|| object([("localhostProfile", Value::from(path)), ("type", "Localhost".into())]))
        }
    }
}

/// `appArmorAnnotationForField`
fn annotation_of(profile: &Value) -> Option<String> {
    match profile.str_at(&["type"])? {
        "Unconfined" => Some("unconfined".to_owned()),
        "RuntimeDefault" => Some("runtime/default".to_owned()),
        "Localhost" => Some(format!("{LOCALHOST}{}", profile.str_at(&["localhostProfile"])?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;
    use crdx_value::json;

    fn synchronized(annotations: &str, spec: &str, release: &str) -> String {
        let text = format!(r#"{{"metadata":{{"annotations":{annotations}}},"spec":{spec}}}"#);
        let mut pod = read(text.as_bytes()).unwrap();
        synchronize(&mut pod, release.parse().unwrap());
        json::to_string(&pod)
    }

    #[test]
    fn an_annotation_sets_the_field_of_its_container() {
        let annotations = r#"{"container.apparmor.security.beta.kubernetes.io/a":"localhost/p"}"#;
        let pod = r#"{"securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"a"},{"name":"b"}]}"#;
        let set = synchronized(annotations, pod, "1.37");
        let expected = r#"{"name":"a","securityContext":{"appArmorProfile":{"localhostProfile":"p","type":"Localhost"}}},{"name":"b"}]"#;
        assert!(set.contains(expected), "{set}");
        let same = annotations.replace("localhost/p", "runtime/default");
        assert!(synchronized(&same, pod, "1.37").contains(r#"[{"name":"a"},{"name":"b"}]"#));
        let invalid = annotations.replace("localhost/p", "localhost/ p");
        assert!(synchronized(&invalid, pod, "1.37").contains(r#"[{"name":"a"},{"name":"b"}]"#));
        let windows = pod.replacen('{', r#"{"os":{"name":"windows"},"#, 1);
        assert!(synchronized(annotations, &windows, "1.37").contains(r#"[{"name":"a"},{"name":"b"}]"#));
    }

    #[test]
    fn fields_set_annotations_before_1_34() {
        let pod = r#"{"securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"a"}]}"#;
        let expected = r#"{"container.apparmor.security.beta.kubernetes.io/a":"runtime/default"}"#;
        assert!(synchronized("{}", pod, "1.33").contains(expected));
        assert!(!synchronized("{}", pod, "1.34").contains(expected));
    }
}

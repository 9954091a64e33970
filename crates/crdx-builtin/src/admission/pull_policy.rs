//! `AlwaysPullImages` (`plugin/pkg/admission/alwayspullimages`).

use crate::CONTAINER_LISTS;
use crdx_value::Value;
use crdx_value::field::{FieldError, FieldPath};

const ALWAYS: &str = "Always";

/// Returns true for an update that adds no image, which the plugin ignores.
pub fn is_ignored(pod: &Value, old: &Value) -> bool {
    let known: Vec<&str> = images(old).collect();
    images(pod).all(|image| known.contains(&image))
}

fn images(pod: &Value) -> impl Iterator<Item = &str> {
    let lists = CONTAINER_LISTS.into_iter().filter_map(|list| pod.at(&["spec", list])?.as_array());
    lists.flatten().map(|container| container.str_at(&["image"]).unwrap_or_default())
}

/// Sets the policies of all images.
pub fn set(pod: &mut Value) {
    for list in CONTAINER_LISTS {
        for container in items(pod, list) {
            container.insert_at(&["imagePullPolicy"], ALWAYS.into());
        }
    }
    for volume in items(pod, "volumes").filter(|volume| volume.get("image").is_some_and(|image| !image.is_null())) {
        volume.insert_at(&["image", "pullPolicy"], ALWAYS.into());
    }
}

fn items<'v>(pod: &'v mut Value, list: &str) -> impl Iterator<Item = &'v mut Value> {
    let list = pod.get_mut("spec").and_then(|spec| spec.get_mut(list));
    list.and_then(|list| if let Value::Array(items) = list { Some(items) } else { None }).into_iter().flatten()
}

/// The policies that another plugin has changed.
pub fn errors(pod: &Value) -> Vec<FieldError> {
    let spec = FieldPath::new("spec");
    let list = |name: &str| pod.at(&["spec", name]).and_then(Value::as_array).unwrap_or_default().iter().enumerate();
    let mut errors = Vec::new();
    for name in CONTAINER_LISTS {
        for (at, container) in list(name) {
            let policy = container.str_at(&["imagePullPolicy"]).unwrap_or_default();
            if policy != ALWAYS {
                let path = spec.child(name);
                errors.push(FieldError::not_supported(&path.index(at).child("imagePullPolicy"), policy, &[ALWAYS]));
            }
        }
    }
    for (at, image) in list("volumes").filter_map(|(at, volume)| Some((at, volume.get("image")?))) {
        let policy = image.str_at(&["pullPolicy"]).unwrap_or_default();
        if !image.is_null() && policy != ALWAYS {
            let (volumes, image) = (spec.child("volumes"), "image");
            let path = volumes.index(at);
            errors.push(FieldError::not_supported(&path.child(image).child("pullPolicy"), policy, &[ALWAYS]));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn images_of_containers_and_volumes_are_always_pulled() {
        let text =
            br#"{"spec":{"containers":[{"image":"a"}],"volumes":[{"image":{"pullPolicy":"Never"}},{"emptyDir":{}}]}}"#;
        let mut pod = read(text).unwrap();
        let messages: Vec<String> = errors(&pod).iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                r#"spec.containers[0].imagePullPolicy: Unsupported value: "": supported values: "Always""#,
                r#"spec.volumes[0].image.pullPolicy: Unsupported value: "Never": supported values: "Always""#,
            ]
        );
        set(&mut pod);
        assert!(errors(&pod).is_empty());
    }

    #[test]
    fn an_update_without_a_new_image_is_ignored() {
        let pod =
            |image: &str| read(format!(r#"{{"spec":{{"containers":[{{"image":"{image}"}}]}}}}"#).as_bytes()).unwrap();
        assert!(is_ignored(&pod("a"), &pod("a")) && !is_ignored(&pod("b"), &pod("a")));
    }
}

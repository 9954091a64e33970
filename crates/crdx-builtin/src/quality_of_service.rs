//! The quality of service of Pods (`pkg/apis/core/helper/qos`).

use crdx_cel::value::Quantity;
use crdx_value::Value;
use crdx_value::release::{Gate, Release};

const BEST_EFFORT: &str = "BestEffort";
const BURSTABLE: &str = "Burstable";
const GUARANTEED: &str = "Guaranteed";

/// The class of a Pod by its resources (`ComputePodQOS`). The resources of the whole Pod decide; since 1.37 only if there are
/// any, and otherwise those of its containers. Before 1.34, the server drops them.
pub fn of(pod: &Value, release: Release) -> &'static str {
    let class_of = |resources: &Value| class(resources, release);
    let own = pod.at(&["spec", "resources"]).filter(|resources| !resources.is_null()).map(class_of);
    if let Some(class) =
        own.filter(|class| *class != BEST_EFFORT || !release.enables(Gate::PodLevelResourcesFixKubeletQOSClass))
    {
        return class;
    }
    let list = |name| pod.at(&["spec", name]).and_then(Value::as_array).unwrap_or_default();
    let classes = list("initContainers")
        .iter()
        .chain(list("containers"))
        .map(|container| container.get("resources").map_or(BEST_EFFORT, class_of));
    common(classes).unwrap_or(BEST_EFFORT)
}

/// The class of one container.
fn class(resources: &Value, release: Release) -> &'static str {
    let classes = ["cpu", "memory"].into_iter().map(|resource| {
        let given = |of| Quantity::parse(resources.str_at(&[of, resource])?, release.minor()).ok();
        let quantity = |of| given(of).unwrap_or_else(|| Quantity::from_int(0));
        match (quantity("requests"), quantity("limits")) {
            (request, limit) if request != limit => BURSTABLE,
            (request, _) if request.sign() == 0 => BEST_EFFORT,
            _ => GUARANTEED,
        }
    });
    common(classes).unwrap_or(BEST_EFFORT)
}

/// The class that all have; `Burstable` if they differ.
fn common(mut classes: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let first = classes.next()?;
    Some(if classes.all(|class| class == first) { first } else { BURSTABLE })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn quality(containers: &str) -> &'static str {
        of(&pod(&format!(r#""containers":[{containers}]"#)), Release::NEWEST)
    }

    fn pod(spec: &str) -> Value {
        json::read(format!(r#"{{"spec":{{{spec}}}}}"#).as_bytes()).unwrap()
    }

    #[test]
    fn empty_resources_of_the_whole_pod_decide_before_1_37() {
        let pod = pod(r#""resources":{},"containers":[{"resources":{"requests":{"cpu":"1"}}}]"#);
        let class = |release: &str| of(&pod, release.parse().unwrap());
        assert_eq!((class("1.36"), class("1.37")), (BEST_EFFORT, BURSTABLE));
    }

    #[test]
    fn quality_follows_the_resources() {
        let full = r#"{"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}}}"#;
        let half = r#"{"resources":{"limits":{"cpu":"1"},"requests":{"cpu":"1"}}}"#;
        let less = r#"{"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Mi"}}}"#;
        assert_eq!(quality("{}"), BEST_EFFORT);
        assert_eq!(quality(r#"{"resources":{"requests":{"cpu":"0"}}}"#), BEST_EFFORT);
        assert_eq!(quality(full), GUARANTEED);
        assert_eq!(quality(&full.replace(r#""requests":{"cpu":"1""#, r#""requests":{"cpu":"+1""#)), GUARANTEED);
        assert_eq!(quality(&format!("{full},{full}")), GUARANTEED);
        for burstable in [half, less, &format!("{full},{{}}")] {
            assert_eq!(quality(burstable), BURSTABLE, "{burstable}");
        }
    }
}

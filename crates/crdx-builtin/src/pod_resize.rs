//! Resizes of Pods that run on a Node, which must support them and have the resources (`plugin/pkg/admission/podresize` and
//! `nodedeclaredfeatures` in `k8s.io/kubernetes`).

use crate::amounts::of_pod;
use crdx_types::amounts::{add, amounts, containers, is_of_pods};
use crdx_value::Value;
use crdx_value::quote::go_quote;
use crdx_value::release::{Minor, Release};

/// The reason why a resize is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResizeRefusal {
    /// The text.
    pub reason: String,
    /// The type of the cause in the details; empty if there is none.
    pub cause: &'static str,
}

impl ResizeRefusal {
    fn new(reason: String, cause: &'static str) -> Self {
        Self { reason, cause }
    }
}

/// The Node on which a Pod runs, if the Pod changed.
pub fn node_name<'v>(pod: &'v Value, old: &Value) -> Option<&'v str> {
    let generation = |pod: &Value| pod.at(&["metadata", "generation"]).cloned();
    let name = pod.str_at(&["spec", "nodeName"]).filter(|name| !name.is_empty())?;
    (generation(pod) != generation(old)).then_some(name)
}

/// The reason why a Node refuses a resize; `node` is `None` if there is no Node with this name.
pub fn refusal(
    (pod, old): (&Value, &Value),
    name: &str,
    node: Option<&Value>,
    release: Release,
) -> Option<ResizeRefusal> {
    let Some(node) = node else { return Some(ResizeRefusal::new(format!("node {} not found", go_quote(name)), "")) };
    let declared = node.at(&["status", "declaredFeatures"]).and_then(Value::as_array).unwrap_or_default();
    let is_missing = |feature: &&str| !declared.iter().any(|declared| declared.as_str() == Some(*feature));
    let missing: Vec<&str> = required_features(pod, old, release).into_iter().filter(is_missing).collect();
    if !missing.is_empty() {
        let (missing, name) = (missing.join(", "), go_quote(name));
        let reason = format!("pod update requires features {missing} which are not available on node {name}");
        return Some(ResizeRefusal::new(reason, ""));
    }
    let system = node.str_at(&["metadata", "labels", "kubernetes.io/os"]).unwrap_or("linux");
    if system != "linux" {
        let (name, system) = (go_quote(name), go_quote(system));
        let reason = format!("pod resize is only supported on linux nodes, node {name} is {system}");
        return Some(ResizeRefusal::new(reason, "UnsupportedPlatform"));
    }
    let excess = excess(pod, node, release.minor());
    (!excess.is_empty()).then(|| {
        let reason = format!("node didn't have enough allocatable resources: {}", excess.join("; "));
        ResizeRefusal::new(reason, "NodeCapacity")
    })
}

/// The features that a Node must declare for a change, sorted (`InferForPodUpdate` in
/// `component-helpers/nodedeclaredfeatures`).
fn required_features(pod: &Value, old: &Value, release: Release) -> Vec<&'static str> {
    let own = |pod: &Value| pod.at(&["spec", "resources"]).filter(|resources| !resources.is_null()).cloned();
    let mut required = Vec::new();
    let is_same = match (own(pod), own(old)) {
        (Some(new), Some(old)) => has_same_amounts(&new, &old, release),
        (new, old) => new == old,
    };
    if !is_same {
        required.push("InPlacePodLevelResourcesVerticalScaling");
    }
    let of = |pod: &Value| pod.get("spec").map(|spec| containers(spec, "initContainers").to_vec()).unwrap_or_default();
    let resizes = of(old).iter().zip(&of(pod)).any(|(old, new)| {
        let resources = |container: &Value| container.get("resources").cloned().unwrap_or_default();
        old.str_at(&["restartPolicy"]) != Some("Always") && resources(old) != resources(new)
    });
    if resizes {
        required.push("InPlacePodVerticalScalingInitContainers");
    }
    required
}

fn has_same_amounts(one: &Value, other: &Value, release: Release) -> bool {
    let of = |resources, key| amounts(resources, &[key], release.minor());
    ["limits", "requests"].iter().all(|key| of(one, key) == of(other, key)) && one.get("claims") == other.get("claims")
}

/// The resources that a Pod requests and that its Node does not have in this amount (`validateRequestsWithinAllocatable`).
fn excess(pod: &Value, node: &Value, release: Minor) -> Vec<String> {
    let mut requests = of_pod(pod, "requests", release, is_of_pods);
    add(&mut requests, &amounts(pod, &["spec", "overhead"], release));
    let allocatable = amounts(node, &["status", "allocatable"], release);
    let mut excess = Vec::new();
    for name in ["cpu", "memory"] {
        let Some(requested) = requests.get(name).filter(|requested| requested.sign() > 0) else { continue };
        let available = allocatable.get(name);
        if available.is_some_and(|available| requested.compare(available).is_le()) {
            continue;
        }
        let in_units = |quantity: &crdx_cel::value::Quantity| match name {
            "cpu" => quantity.milli_value(),
            _ => quantity.value(),
        };
        let (requested, available) = (in_units(requested), available.map_or(0, in_units));
        excess.push(format!("{name}, requested: {requested}, allocatable: {available}"));
    }
    excess
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    fn pod(spec: &str) -> Value {
        read(&format!(r#"{{"spec":{{"nodeName":"n",{spec}}}}}"#))
    }

    fn reason(old: &str, new: &str, node: &str) -> Option<String> {
        refusal((&pod(new), &pod(old)), "n", Some(&read(node)), Release::NEWEST).map(|refusal| refusal.reason)
    }

    fn requesting(cpu: &str) -> String {
        format!(r#""containers":[{{"resources":{{"requests":{{"cpu":"{cpu}","memory":"1Ki"}}}}}}]"#)
    }

    #[test]
    fn a_node_has_the_requested_resources() {
        let node = r#"{"status":{"allocatable":{"cpu":"2","memory":"1Gi"}}}"#;
        assert_eq!(reason(&requesting("1"), &requesting("2"), node), None);
        let start = "node didn't have enough allocatable resources: cpu, requested: 2500, allocatable:";
        assert_eq!(reason(&requesting("1"), &requesting("2500m"), node), Some(format!("{start} 2000")));
        let all = format!("{start} 0; memory, requested: 1024, allocatable: 0");
        assert_eq!(reason(&requesting("1"), &requesting("2500m"), "{}"), Some(all));
    }

    #[test]
    fn a_node_declares_the_features_that_a_resize_needs() {
        let init = |cpu: &str| format!(r#""initContainers":[{{"resources":{{"requests":{{"cpu":"{cpu}"}}}}}}]"#);
        let whole = |cpu: &str| format!(r#""resources":{{"requests":{{"cpu":"{cpu}"}}}},{}"#, init(cpu));
        let allocatable = r#""allocatable":{"cpu":"9","memory":"1Gi"}"#;
        let declaring = |features: &str| format!(r#"{{"status":{{{allocatable},"declaredFeatures":[{features}]}}}}"#);
        let text = |missing: &str| {
            Some(format!("pod update requires features {missing} which are not available on node \"n\""))
        };
        let (first, second) = ("InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers");
        assert_eq!(reason(&init("1"), &init("2"), &declaring("")), text(second));
        assert_eq!(reason(&whole("1"), &whole("2"), &declaring("")), text(&format!("{first}, {second}")));
        let declared = declaring(&format!("\"{first}\",\"{second}\""));
        assert_eq!(reason(&whole("1"), &whole("2"), &declared), None);
    }

    #[test]
    fn nodes_without_linux_refuse_every_resize() {
        let windows = r#"{"metadata":{"labels":{"kubernetes.io/os":"windows"}}}"#;
        let text = "pod resize is only supported on linux nodes, node \"n\" is \"windows\"";
        assert_eq!(reason(&requesting("1"), &requesting("2"), windows).as_deref(), Some(text));
    }

    #[test]
    fn only_changes_of_a_pod_on_a_node_are_checked() {
        let pod = |generation: u8, node: &str| {
            read(&format!(r#"{{"metadata":{{"generation":{generation}}},"spec":{{"nodeName":"{node}"}}}}"#))
        };
        assert_eq!(node_name(&pod(2, "n"), &pod(1, "n")), Some("n"));
        assert_eq!(node_name(&pod(1, "n"), &pod(1, "n")), None);
        assert_eq!(node_name(&pod(2, ""), &pod(1, "")), None);
    }
}

//! `LimitPodHardAntiAffinityTopology` (`plugin/pkg/admission/antiaffinity`).

use crdx_value::Value;

const HOSTNAME: &str = "kubernetes.io/hostname";

/// The reason to refuse a Pod whose required anti-affinity has another topology than single nodes.
pub fn refusal(pod: &Value) -> Option<String> {
    const PATH: [&str; 4] = ["spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    let terms = pod.at(&PATH).and_then(Value::as_array).unwrap_or_default();
    let key =
        terms.iter().map(|term| term.str_at(&["topologyKey"]).unwrap_or_default()).find(|key| *key != HOSTNAME)?;
    Some(format!(
        "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key} but only key {HOSTNAME} is allowed"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn required_terms_are_limited_to_nodes() {
        let pod = |rule: &str, key: &str| {
            let term = format!(r#"{{"topologyKey":"{key}"}}"#);
            let text = format!(r#"{{"spec":{{"affinity":{{"podAntiAffinity":{{"{rule}":[{term}]}}}}}}}}"#);
            refusal(&read(text.as_bytes()).unwrap())
        };
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        assert_eq!(pod(required, HOSTNAME), None);
        assert!(pod(required, "zone").unwrap().contains("TopologyKey zone but only key kubernetes.io/hostname"));
        assert_eq!(pod("preferredDuringSchedulingIgnoredDuringExecution", "zone"), None);
    }
}

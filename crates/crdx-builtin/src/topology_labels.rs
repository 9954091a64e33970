//! The labels that a new or bound Pod gets from its Node (`plugin/pkg/admission/podtopologylabels` in `k8s.io/kubernetes`).

use crdx_value::Value;

const LABELS: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// Copies the topology labels of a Node to a Pod or Binding.
pub fn copy(object: &mut Value, node: &Value) {
    for label in LABELS {
        let path = ["metadata", "labels", label];
        if let Some(value) = node.at(&path) {
            object.insert_at(&path, value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    #[test]
    fn the_labels_of_the_node_replace_those_of_the_pod() {
        let read = |text: &str| json::read(text.as_bytes()).unwrap();
        let node = read(r#"{"metadata":{"labels":{"topology.kubernetes.io/zone":"a","other":"x"}}}"#);
        let mut pod = read(r#"{"metadata":{"labels":{"topology.kubernetes.io/zone":"b","app":"c"}}}"#);
        copy(&mut pod, &node);
        assert_eq!(pod, read(r#"{"metadata":{"labels":{"topology.kubernetes.io/zone":"a","app":"c"}}}"#));
    }

    #[test]
    fn a_node_without_topology_labels_changes_nothing() {
        let mut pod = Value::default();
        copy(&mut pod, &json::read(br#"{"metadata":{"labels":{"other":"x"}}}"#).unwrap());
        assert_eq!(pod, Value::default());
    }
}

//! The labels that a new or bound Pod gets from its Node (`plugin/pkg/admission/podtopologylabels` in `k8s.io/kubernetes`).

use crdx_value::Value;

const LABELS: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// Copies the labels of a Node about its place to a Pod or Binding. Returns true if the Node has any.
pub fn copy(object: &mut Value, node: &Value) -> bool {
    let labels = LABELS.map(|label| (label, node.at(&["metadata", "labels", label])));
    let mut has_any = false;
    for (label, value) in labels.into_iter().filter_map(|(label, value)| Some((label, value?))) {
        object.insert_at(&["metadata", "labels", label], value.clone());
        has_any = true;
    }
    has_any
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
        assert!(copy(&mut pod, &node));
        assert_eq!(pod, read(r#"{"metadata":{"labels":{"topology.kubernetes.io/zone":"a","app":"c"}}}"#));
        assert!(!copy(&mut pod, &read("{}")));
    }
}

//! Updates of a Pod with scheduling gates, which may narrow down where it runs (`validateNodeSelectorMutation` and
//! `validateNodeAffinityMutation`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable;
use crate::validation::immutable::copy;
use crate::validation::internal;
use crdx_value::Value;

const NODE_AFFINITY: [&str; 2] = ["affinity", "nodeAffinity"];

/// Validates changes of the node selector and the node affinity, and undoes them in `merged`.
pub fn validate(errors: &mut Errors, spec: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>, merged: &mut Value) {
    let selector = spec.child("nodeSelector");
    if !immutable::is_equal(selector.value, old.child("nodeSelector").value) {
        let is_kept = |(key, value): (&str, FieldValue<'_, '_>)| selector.value.get(key) == Some(value.value);
        if !old.child("nodeSelector").entries().all(is_kept) {
            let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
            errors.invalid_typed(&selector, "map[string]string", detail);
        }
        copy(old.value, merged, &["nodeSelector"]);
    }
    let (affinity, old_affinity) = (spec.child("affinity"), old.child("affinity"));
    let (new_nodes, old_nodes) = (affinity.child("nodeAffinity"), old_affinity.child("nodeAffinity"));
    if internal::is_equal("*core.NodeAffinity", new_nodes.value, old_nodes.value, errors.release) {
        return;
    }
    node_affinity(errors, &new_nodes, &old_nodes);
    let has_others = affinity.child("podAffinity").is_set() || affinity.child("podAntiAffinity").is_set();
    if affinity.is_set() && !old_affinity.is_set() && !has_others {
        copy(old.value, merged, &["affinity"]);
    } else {
        copy(old.value, merged, &NODE_AFFINITY);
    }
}

fn node_affinity(errors: &mut Errors, new: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    let (new_required, old_required) = (new.child(REQUIRED), old.child(REQUIRED));
    let (terms, old_terms) = (new_required.child("nodeSelectorTerms"), old_required.child("nodeSelectorTerms"));
    if old_terms.len() > 0 && old_terms.len() != terms.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        return errors.invalid_typed(&terms, "[]core.NodeSelectorTerm", detail);
    }
    for (term, old) in terms.items().zip(old_terms.items()) {
        if !has_only_additions(&term, &old) {
            let detail = "only additions are allowed (no mutations or deletions)";
            errors.invalid_typed(&term, "core.NodeSelectorTerm", detail);
        }
    }
}

/// `validateNodeSelectorTermHasOnlyAdditions`
fn has_only_additions(new: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) -> bool {
    const LISTS: [&str; 2] = ["matchExpressions", "matchFields"];
    let is_empty = |term: &FieldValue<'_, '_>| LISTS.iter().all(|list| term.child(list).len() == 0);
    let begins_with_old = |list: &&str| {
        let (new, old) = (new.child(list), old.child(list));
        new.len() >= old.len()
            && old.items().zip(new.items()).all(|(old, new)| immutable::is_equal(old.value, new.value))
    };
    // A term without requirements selects nothing.
    (is_empty(new) || !is_empty(old)) && LISTS.iter().all(begins_with_old)
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::updated;

    fn update(old: &str, new: &str) -> Vec<String> {
        let pod = |fields: &str| {
            format!(
                r#"{{"spec":{{"schedulingGates":[{{"name":"g"}}],"containers":[{{"name":"c","image":"i"}}]{fields}}}}}"#
            )
        };
        updated("v1", "Pod", &pod(old), &pod(new), "1.37")
    }

    fn terms(terms: &str) -> String {
        format!(
            r#","affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":[{terms}]}}}}}}"#
        )
    }

    #[test]
    fn labels_may_be_added_to_the_node_selector() {
        let (old, more) = (r#","nodeSelector":{"a":"b"}"#, r#","nodeSelector":{"a":"b","c":"d"}"#);
        assert_eq!(update(old, more), Vec::<String>::new());
        assert_eq!(update("", old), Vec::<String>::new());
        let text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        assert_eq!(update(more, old), [format!(r#"spec.nodeSelector: Invalid value: {{"a":"b"}}: {text}"#)]);
        assert_eq!(update(old, ""), [format!("spec.nodeSelector: Invalid value: null: {text}")]);
    }

    #[test]
    fn requirements_may_be_added_to_terms() {
        let expression = |key: &str| format!(r#"{{"key":"{key}","operator":"Exists"}}"#);
        let term = |expressions: &str| format!(r#"{{"matchExpressions":[{expressions}]}}"#);
        let (a, ab) = (term(&expression("a")), term(&format!("{},{}", expression("a"), expression("b"))));
        assert_eq!(update("", &terms(&a)), Vec::<String>::new());
        assert_eq!(update(&terms(&a), &terms(&ab)), Vec::<String>::new());
        let path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
        let removed = update(&terms(&ab), &terms(&a));
        let text = r#"{"MatchExpressions":[{"Key":"a","Operator":"Exists","Values":null}],"MatchFields":null}"#;
        assert_eq!(
            removed,
            [format!("{path}[0]: Invalid value: {text}: only additions are allowed (no mutations or deletions)")]
        );
        let added = update(&terms(&a), &terms(&format!("{a},{a}")));
        assert_eq!(added.len(), 1);
        assert!(
            added[0].ends_with("no additions/deletions to non-empty NodeSelectorTerms list are allowed"),
            "{added:?}"
        );
        assert!(update(&terms(&a), "")[0].starts_with(&format!("{path}: Invalid value: null: no additions")));
    }
}

//! Empty lists and maps that count as changes: some strategies compare objects with `reflect.DeepEqual`, which tells an empty
//! list or map from an absent one. Stored objects have none.

use super::field_paths::{Path, names};
use crdx_types::empties::Empties;
use crdx_value::Value;

const OF_NETWORK_POLICIES: &[Path] = &[
    &["spec", "podSelector", "matchLabels|matchExpressions"],
    &["spec", "podSelector", "matchExpressions", "*", "values"],
    &["spec", "ingress|egress"],
    &["spec", "ingress|egress", "*", "ports|from|to"],
    &["spec", "ingress|egress", "*", "from|to", "*", "podSelector|namespaceSelector", "matchLabels|matchExpressions"],
    &[
        "spec",
        "ingress|egress",
        "*",
        "from|to",
        "*",
        "podSelector|namespaceSelector",
        "matchExpressions",
        "*",
        "values",
    ],
    &["spec", "ingress|egress", "*", "from|to", "*", "ipBlock", "except"],
];

const OF_WEBHOOKS: &[Path] = &[
    &["webhooks"],
    &["webhooks", "*", "rules|admissionReviewVersions|matchConditions"],
    &["webhooks", "*", "rules", "*", "operations|apiGroups|apiVersions|resources"],
    &["webhooks", "*", "namespaceSelector|objectSelector", "matchLabels|matchExpressions"],
    &["webhooks", "*", "namespaceSelector|objectSelector", "matchExpressions", "*", "values"],
];

/// Returns true if an object of a kind whose strategy sees them has empty lists or maps.
pub(super) fn has_emptied(kind: &str, object: &Value, empties: &Empties) -> bool {
    let paths = match kind {
        "NetworkPolicy" => OF_NETWORK_POLICIES,
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => OF_WEBHOOKS,
        _ => return false,
    };
    paths.iter().any(|path| is_emptied(object, empties, path))
}

fn is_emptied(value: &Value, empties: &Empties, path: &[&'static str]) -> bool {
    let Some((step, rest)) = path.split_first() else { return empties.text().is_some() };
    if *step == "*" {
        let items = value.as_array().unwrap_or_default().iter().enumerate();
        let mut found = items.filter_map(|(at, item)| Some((item, empties.index(at)?)));
        return found.any(|(item, empties)| is_emptied(item, empties, rest));
    }
    let mut found =
        names(step).filter_map(|name| Some((value.get(name).unwrap_or(&Value::Null), empties.child(name)?)));
    found.any(|(member, empties)| is_emptied(member, empties, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn emptied(kind: &str, object: &str) -> bool {
        let object = json::read(object.as_bytes()).unwrap();
        Empties::from_value(&object).is_some_and(|empties| has_emptied(kind, &object, &empties))
    }

    #[test]
    fn an_empty_list_differs_from_an_absent_one() {
        let peer =
            |selector: &str| format!(r#"{{"spec":{{"ingress":[{{}},{{"from":[{{"podSelector":{selector}}}]}}]}}}}"#);
        assert!(emptied("NetworkPolicy", &peer(r#"{"matchLabels":{}}"#)));
        assert!(emptied("NetworkPolicy", &peer(r#"{"matchExpressions":[{"key":"a","values":[]}]}"#)));
        assert!(!emptied("NetworkPolicy", &peer("{}")), "the selector is a struct");
        assert!(!emptied("NetworkPolicy", r#"{"spec":{"policyTypes":[]}}"#), "it has a default");
    }

    #[test]
    fn only_some_strategies_see_empty_lists() {
        let webhooks = r#"{"webhooks":[{"matchConditions":[]}]}"#;
        assert!(emptied("ValidatingWebhookConfiguration", webhooks));
        assert!(!emptied("Deployment", webhooks));
    }
}

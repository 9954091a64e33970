//! `NetworkPolicy` objects.

use crate::declared_kind::DeclaredKind;
use crate::features::paths::Path;
use crate::printer::{AGE, NAMED, column, label_selector};
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::release::V1_36;

/// The strategy.
pub(crate) static NETWORK_POLICY: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { relaxes_prefix_since: V1_36, ..Behaviour::GENERATION },
    columns: Some(COLUMNS),
    counts_empty: EMPTY,
    ..DeclaredKind::MOST
};

static COLUMNS: &[PrinterColumn] =
    &[NAMED, column("Pod-Selector", "", |o, _| label_selector(o, &["spec", "podSelector"]).into()), AGE];

/// The lists and maps that differ from absent ones if they are empty.
const EMPTY: &[Path] = &[
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

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_server::server::KindStrategy;
    use crdx_text::json;
    use crdx_types::empties::Empties;

    fn emptied(object: &str) -> bool {
        let object = json::read(object.as_bytes()).unwrap();
        Empties::from_value(&object).is_some_and(|empties| NETWORK_POLICY.has_emptied(&object, &empties))
    }

    #[test]
    fn an_empty_list_differs_from_an_absent_one() {
        let peer =
            |selector: &str| format!(r#"{{"spec":{{"ingress":[{{}},{{"from":[{{"podSelector":{selector}}}]}}]}}}}"#);
        assert!(emptied(&peer(r#"{"matchLabels":{}}"#)));
        assert!(emptied(&peer(r#"{"matchExpressions":[{"key":"a","values":[]}]}"#)));
        assert!(!emptied(&peer("{}")), "the selector is a struct");
        assert!(!emptied(r#"{"spec":{"policyTypes":[]}}"#), "it has a default");
    }
}

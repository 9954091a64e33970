//! `PodDisruptionBudget`s.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED, column, int};
use crdx_server::pipeline::metadata::NameRule;
use crdx_server::server::{Behaviour, KindRequest, KindStrategy, PrinterColumn};
use crdx_value::release::Minor;
use crdx_value::{Value, json, object};

/// The strategy.
#[derive(Debug)]
pub(crate) struct PodDisruptionBudget;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        name: NameRule::PathSegment,
        qualifies_finalizers: false,
        needs_revision: true,
        relaxes_prefix_since: Minor::ALWAYS,
        validates_metadata_last: true,
        compares_before_preparation: true,
        ..Behaviour::GENERATION
    },
    columns: Some(COLUMNS),
    ..DeclaredKind::MOST
};

impl KindStrategy for PodDisruptionBudget {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn prepare_create(&self, object: &mut Value, request: &KindRequest<'_>) {
        if request.generates_fields {
            drop_old_requirement(object, None);
        }
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        if request.generates_fields {
            drop_old_requirement(object, Some(old));
        }
    }
}

/// The key of a requirement that selectors of `policy/v1beta1` have (`PDBV1beta1Label`).
const OLD_SELECTOR_KEY: &str = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

/// Removes the requirement of `policy/v1beta1` from the selector of a `PodDisruptionBudget`, unless it is the only one or the
/// selector does not change (`dropDisabledFields` in `pkg/registry/policy/poddisruptionbudget/strategy.go`).
fn drop_old_requirement(new: &mut Value, old: Option<&Value>) {
    let path = ["spec", "selector"];
    if old.is_some_and(|old| old.at(&path) == new.at(&path)) {
        return;
    }
    let matches_none =
        object([("matchExpressions", vec![object([("key", OLD_SELECTOR_KEY), ("operator", "Exists")])])]);
    let selector = new.get_mut("spec").and_then(|spec| spec.get_mut("selector"));
    let Some(selector) = selector.filter(|selector| **selector != matches_none).and_then(Value::as_object_mut) else {
        return;
    };
    let Some(Value::Array(requirements)) = selector.get_mut("matchExpressions") else { return };
    requirements.retain(|requirement| requirement.str_at(&["key"]) != Some(OLD_SELECTOR_KEY));
    if requirements.is_empty() {
        selector.remove("matchExpressions");
    }
}

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Min Available", "The minimum number of pods that must be available.", |o, _| {
        int_or_string(o, &["spec", "minAvailable"]).into()
    }),
    column("Max Unavailable", "The maximum number of pods that may be unavailable.", |o, _| {
        int_or_string(o, &["spec", "maxUnavailable"]).into()
    }),
    column("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time.", |o, _| {
        int(o, &["status", "disruptionsAllowed"]).into()
    }),
    AGE,
];

fn int_or_string(object: &Value, path: &[&str]) -> String {
    match object.at(path) {
        None => "N/A".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(number) => json::to_string(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn the_old_requirement_is_removed_from_others() {
        let selector = |requirements: &str| read(&format!(r#"{{"spec":{{"selector":{requirements}}}}}"#));
        let old = format!(r#"{{"key":"{OLD_SELECTOR_KEY}","operator":"Exists"}}"#);
        let other = r#"{"key":"a","operator":"Exists"}"#;
        let both = selector(&format!(r#"{{"matchExpressions":[{old},{other}]}}"#));
        let prepared = |mut new: Value, old: Option<&Value>| {
            drop_old_requirement(&mut new, old);
            new
        };
        assert_eq!(prepared(both.clone(), None), selector(&format!(r#"{{"matchExpressions":[{other}]}}"#)));
        assert_eq!(prepared(both.clone(), Some(&both)), both);
        let only = selector(&format!(r#"{{"matchExpressions":[{old}]}}"#));
        assert_eq!(prepared(only.clone(), None), only);
        let labels = selector(&format!(r#"{{"matchLabels":{{"a":"b"}},"matchExpressions":[{old}]}}"#));
        assert_eq!(prepared(labels, None), selector(r#"{"matchLabels":{"a":"b"}}"#));
    }
}

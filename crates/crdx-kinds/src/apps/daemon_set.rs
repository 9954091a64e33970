//! `DaemonSet`s.

use crate::declared_kind::DeclaredKind;
use crate::features::Features;
use crate::printer::{AGE, CONTAINERS, IMAGES, NAMED, column, int, label_selector, labels_or_none, wide};
use crdx_server::server::{Behaviour, KindRequest, KindStrategy, PrinterColumn};
use crdx_types::defaults::TEMPLATE_GENERATION;
use crdx_value::Value;
use crdx_value::quote::go_quote;
use crdx_value::release::V1_34;
use std::num::{IntErrorKind, ParseIntError};

/// The strategy.
#[derive(Debug)]
pub(crate) struct DaemonSet;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { relaxes_prefix_since: V1_34, ..Behaviour::GENERATION },
    columns: Some(COLUMNS),
    features: Features::TEMPLATE,
    ..DeclaredKind::MOST
};

impl KindStrategy for DaemonSet {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    /// The generation of the template is a number (`Convert_v1_DaemonSet_To_apps_DaemonSet`).
    fn conversion_error(&self, object: &Value) -> Option<String> {
        // Null is the empty text in Go.
        let text = object.at(&["metadata", "annotations"])?.get(TEMPLATE_GENERATION)?.as_str().unwrap_or_default();
        let error = text.parse::<i64>().err()?;
        Some(format!("strconv.ParseInt: parsing {}: {}", go_quote(text), reason(&error)))
    }

    fn prepare_create(&self, object: &mut Value, request: &KindRequest<'_>) {
        FACTS.prepare_create(object, request);
        let given = template_generation(object).and_then(|text| text.parse::<i64>().ok()).unwrap_or_default();
        set_template_generation(object, given.max(1));
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        FACTS.prepare_update(object, old, request);
        if let Some(before) = old_template_generation(old) {
            let path = ["spec", "template"];
            let changed = i64::from(object.at(&path) != old.at(&path));
            set_template_generation(object, before.wrapping_add(changed));
        }
    }

    fn prepare_status(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        // The annotation is a field of the specification in the stored form.
        if let Some(before) = old_template_generation(old) {
            set_template_generation(object, before);
        }
        FACTS.prepare_status(object, old, request);
    }
}

/// The generation of the template, which an annotation has.
fn template_generation(object: &Value) -> Option<&str> {
    object.str_at(&["metadata", "annotations", TEMPLATE_GENERATION])
}

fn set_template_generation(object: &mut Value, generation: i64) {
    object.insert_at(&["metadata", "annotations", TEMPLATE_GENERATION], generation.to_string().into());
}

fn old_template_generation(old: &Value) -> Option<i64> {
    Some(template_generation(old)?.parse().unwrap_or_default())
}

fn reason(error: &ParseIntError) -> &'static str {
    match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
        _ => "invalid syntax",
    }
}

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Desired", "", |o, _| int(o, &["status", "desiredNumberScheduled"]).into()),
    column("Current", "", |o, _| int(o, &["status", "currentNumberScheduled"]).into()),
    column("Ready", "", |o, _| int(o, &["status", "numberReady"]).into()),
    column("Up-to-date", "", |o, _| int(o, &["status", "updatedNumberScheduled"]).into()),
    column("Available", "", |o, _| int(o, &["status", "numberAvailable"]).into()),
    column("Node Selector", "", |o, _| labels_or_none(o, &["spec", "template", "spec", "nodeSelector"]).into()),
    AGE,
    CONTAINERS,
    IMAGES,
    wide("Selector", "", |o, _| label_selector(o, &["spec", "selector"]).into()),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    #[test]
    fn the_generation_of_a_template_is_a_number() {
        let error_of = |generation: &str| {
            let text = format!(r#"{{"metadata":{{"annotations":{{"{TEMPLATE_GENERATION}":{generation}}}}}}}"#);
            DaemonSet.conversion_error(&json::read(text.as_bytes()).unwrap())
        };
        assert_eq!(error_of(r#""+7""#), None);
        assert_eq!(error_of(r#""x""#).as_deref(), Some(r#"strconv.ParseInt: parsing "x": invalid syntax"#));
        assert_eq!(error_of("null").as_deref(), Some(r#"strconv.ParseInt: parsing "": invalid syntax"#));
        let long = error_of(r#""99999999999999999999""#).unwrap();
        assert!(long.ends_with(": value out of range"), "{long}");
    }
}

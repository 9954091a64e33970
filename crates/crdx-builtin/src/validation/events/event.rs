//! Events (`pkg/apis/core/validation/events.go`). The paths are those of the core group, also for `events.k8s.io`.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{formats, immutable};
use crdx_value::Value;
use crdx_value::field::{FieldPath, names};
use crdx_value::release::V1_33;

const MAX_TEXT: usize = 128;
const MAX_NOTE: usize = 1024;
const NAMESPACE: &str = "does not match event.namespace";
/// The fields of `events.k8s.io` with another name than in the core group.
const NAMES: &[(&str, &str)] = &[
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];
/// The fields of `events.k8s.io` that an update may not change.
const FIXED: &[&str] = &[
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingController",
    "reportingInstance",
];

/// Validates an event of the core group.
pub(crate) fn validate_core(errors: &mut Errors, object: &FieldValue<'_, '_>) {
    EventObject { object, is_core: true }.validate(errors);
}

/// Validates an event of `events.k8s.io` (`ValidateEventCreate` and `ValidateEventUpdate`).
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let event = EventObject { object, is_core: false };
    event.validate(errors);
    let series = event.field("series");
    let Some(old) = old else {
        validate_series(errors, &series);
        return event.validate_new(errors);
    };
    let old = FieldValue::new(Some(old), crdx_value::field::ROOT);
    let old = EventObject { object: &old, is_core: false };
    if series.value != old.field("series").value {
        validate_series(errors, &series);
    }
    for name in FIXED {
        let (new, old) = (event.field(name), old.field(name));
        match *name {
            "involvedObject" => immutable::typed(errors, &new, &old, "core.ObjectReference"),
            "related" => immutable::typed(errors, &new, &old, "*core.ObjectReference"),
            "source" => immutable::typed(errors, &new, &old, "core.EventSource"),
            "reason" | "message" | "type" | "action" | "reportingController" | "reportingInstance" => {
                immutable::text(errors, &new, &old);
            }
            "firstTimestamp" | "lastTimestamp" | "eventTime" => {
                if new.time() != old.time() {
                    let shown = errors.time(&new);
                    errors.invalid_value(&new.path, shown, immutable::IMMUTABLE);
                }
            }
            _ => immutable::field(errors, &new, &old),
        }
    }
}

/// An event of one of the two groups.
struct EventObject<'e, 'v, 'p> {
    object: &'e FieldValue<'v, 'p>,
    is_core: bool,
}

impl<'v> EventObject<'_, 'v, '_> {
    /// The field with a name of the core group.
    fn field(&self, name: &'static str) -> FieldValue<'v, 'static> {
        let renamed = NAMES.iter().find(|(core, _)| *core == name).filter(|_| !self.is_core);
        let key = renamed.map_or(name, |(_, renamed)| renamed);
        let empties = self.object.empties.and_then(|empties| empties.child(key));
        FieldValue::with_empties(self.object.value.get(key), FieldPath::new(name), empties)
    }

    /// `legacyValidateEvent`
    fn validate(&self, errors: &mut Errors) {
        let namespace = self.object.value.str_at(&["metadata", "namespace"]).unwrap_or_default();
        let involved = self.field("involvedObject");
        let involved = involved.child("namespace");
        let is_new = self.field("eventTime").is_set();
        let matches = match involved.text() {
            "" if is_new => matches!(namespace, "default" | "kube-system"),
            "" => matches!(namespace, "" | "default"),
            // A new event may be about an object in another namespace.
            text => is_new || text == namespace,
        };
        if !matches {
            errors.invalid_value(&involved.path, involved.text(), NAMESPACE);
        }
        if is_new {
            self.validate_texts(errors);
        }
        if !errors.release.since(V1_33) {
            let messages = names::dns1123_subdomain(namespace.as_bytes());
            errors.messages_at(&FieldPath::new("namespace"), namespace, messages);
        }
    }

    fn validate_texts(&self, errors: &mut Errors) {
        let name = if self.is_core { "reportingComponent" } else { "reportingController" };
        let controller = self.field(name);
        errors.require_text(&controller);
        formats::qualified_name(errors, &controller);
        for (name, max) in
            [("reportingInstance", MAX_TEXT), ("action", MAX_TEXT), ("reason", MAX_TEXT), ("message", MAX_NOTE)]
        {
            let field = self.field(name);
            if name != "message" {
                errors.require_text(&field);
            }
            if field.text().len() > max {
                errors.invalid_value(&field.path, "", format!("can have at most {max} characters"));
            }
        }
    }

    /// Validates what only `events.k8s.io` requires of a new event.
    fn validate_new(&self, errors: &mut Errors) {
        let (time, type_) = (self.field("eventTime"), self.field("type"));
        if !time.is_set() {
            errors.required(&time, "");
        }
        if !matches!(type_.text(), "Normal" | "Warning") {
            errors.invalid_value(&type_.path, "", format!("has invalid value: {}", type_.text()));
        }
        for name in ["firstTimestamp", "lastTimestamp", "count", "source"] {
            let field = self.field(name);
            let is_empty = match field.value {
                Value::Int(count) => *count == 0,
                Value::Object(members) => members.values().all(|text| text.as_str().is_none_or(str::is_empty)),
                _ => !field.is_set(),
            };
            if !is_empty {
                errors.invalid_value(&field.path, "", "needs to be unset");
            }
        }
    }
}

/// `validateV1EventSeries`
fn validate_series(errors: &mut Errors, series: &FieldValue<'_, '_>) {
    if !series.is_set() {
        return;
    }
    if series.child("count").int().unwrap_or_default() < 2 {
        errors.invalid_value(&FieldPath::new("series.count"), "", "should be at least 2");
    }
    let time = FieldValue::new(series.value.get("lastObservedTime"), FieldPath::new("series.lastObservedTime"));
    if !time.is_set() {
        errors.required(&time, "");
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    fn event(members: &str) -> String {
        format!(r#"{{"metadata":{{"name":"e","namespace":"default"}},{members}}}"#)
    }

    const TEXTS: &str =
        r#""eventTime":"2026-01-02T03:04:05.000000Z","reportingInstance":"i","action":"a","reason":"r""#;

    #[test]
    fn an_old_event_is_in_the_namespace_of_its_object() {
        let create = |members: &str| created("v1", "Event", &event(members), "1.37");
        assert_eq!(create(r#""involvedObject":{"namespace":"default"}"#), [""; 0]);
        assert_eq!(create(r#""involvedObject":{}"#), [""; 0]);
        assert_eq!(
            create(r#""involvedObject":{"namespace":"other"}"#),
            [r#"involvedObject.namespace: Invalid value: "other": does not match event.namespace"#]
        );
    }

    #[test]
    fn an_event_with_a_time_has_its_reporter() {
        let create = |members: &str| created("v1", "Event", &event(members), "1.37");
        assert_eq!(create(&format!(r#"{TEXTS},"reportingComponent":"a.b/c","involvedObject":{{}}"#)), [""; 0]);
        let found = create(r#""eventTime":"2026-01-02T03:04:05.000000Z","involvedObject":{}"#);
        assert_eq!(found[0], "reportingComponent: Required value");
        assert_eq!(
            found[3..],
            ["reportingInstance: Required value", "action: Required value", "reason: Required value"]
        );
        let long = "x".repeat(1025);
        assert_eq!(
            create(&format!(r#"{TEXTS},"reportingComponent":"c","involvedObject":{{}},"message":"{long}""#)),
            [r#"message: Invalid value: "": can have at most 1024 characters"#]
        );
    }

    #[test]
    fn new_events_of_their_own_group_are_strict() {
        let create = |members: &str| created("events.k8s.io/v1", "Event", &event(members), "1.37");
        let valid = format!(r#"{TEXTS},"reportingController":"c","type":"Normal""#);
        assert_eq!(create(&valid), [""; 0]);
        assert_eq!(
            create(
                r#""deprecatedCount":1,"deprecatedSource":{"host":"h"},"series":{"count":1,"lastObservedTime":null}"#
            ),
            [
                r#"series.count: Invalid value: "": should be at least 2"#,
                "series.lastObservedTime: Required value",
                "eventTime: Required value",
                r#"type: Invalid value: "": has invalid value: "#,
                r#"count: Invalid value: "": needs to be unset"#,
                r#"source: Invalid value: "": needs to be unset"#,
            ]
        );
    }

    #[test]
    fn events_of_their_own_group_change_only_their_series() {
        let with = |rest: &str| event(&format!(r#"{TEXTS},"reportingController":"c","type":"Normal"{rest}"#));
        let update = |new: &str| updated("events.k8s.io/v1", "Event", &with(""), &with(new), "1.37");
        assert_eq!(update(r#","series":{"count":2,"lastObservedTime":"2026-01-02T03:04:05.000000Z"}"#), [""; 0]);
        assert_eq!(update(r#","note":"n""#), [r#"message: Invalid value: "n": field is immutable"#]);
    }

    #[test]
    fn times_are_shown_as_go_prints_them_before_1_34() {
        let with = |time: &str| event(&format!(r#"{TEXTS},"reportingController":"c","type":"Normal"{time}"#));
        let (time, old) = (r#","deprecatedFirstTimestamp":"2026-01-02T03:04:05Z""#, with(""));
        let update = |old: &str, new: &str, release| updated("events.k8s.io/v1", "Event", old, new, release);
        assert_eq!(
            update(&old, &with(time), "1.33"),
            ["firstTimestamp: Invalid value: 2026-01-02 03:04:05 +0000 UTC: field is immutable"]
        );
        assert_eq!(
            update(&old, &old.replace("05.000000Z", "05.120000Z"), "1.33"),
            ["eventTime: Invalid value: 2026-01-02 03:04:05.12 +0000 UTC: field is immutable"]
        );
        assert_eq!(
            update(&with(time), &old, "1.33"),
            ["firstTimestamp: Invalid value: 0001-01-01 00:00:00 +0000 UTC: field is immutable"]
        );
        assert_eq!(
            update(&old, &with(time), "1.34"),
            [r#"firstTimestamp: Invalid value: "2026-01-02T03:04:05Z": field is immutable"#]
        );
    }
}

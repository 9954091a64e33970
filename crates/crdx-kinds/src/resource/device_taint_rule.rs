//! `DeviceTaintRule`s.

use crate::declared_kind::DeclaredKind;
use crdx_server::server::behaviour::ALL_BUT_STATUS;
use crdx_server::server::{Behaviour, KindRequest, KindStrategy};
use crdx_value::Value;
use crdx_value::release::Minor;
use crdx_value::time;
use crdx_value::time::Timestamp;

/// The strategy.
#[derive(Debug)]
pub(crate) struct DeviceTaintRule;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        needs_revision: true,
        relaxes_prefix_since: Minor::ALWAYS,
        status_keeps: ALL_BUT_STATUS,
        ..Behaviour::GENERATION
    },
    ..DeclaredKind::MOST
};

impl KindStrategy for DeviceTaintRule {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    /// `SetDefaults_DeviceTaint`
    fn default_times(&self, object: &mut Value, now: Timestamp) {
        if let Some(taint) = object.get_mut("spec").and_then(|spec| spec.get_mut("taint")) {
            default_time_added(taint, now);
        }
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        if request.generates_fields {
            set_taint_time(object, old, request.now);
        }
    }
}

/// Sets the time of a taint without one.
pub(super) fn default_time_added(taint: &mut Value, now: Timestamp) {
    if taint.get("timeAdded").is_none() {
        taint.insert_at(&["timeAdded"], time::format(now).into());
    }
}

/// Sets the time of a taint whose effect changes, unless the client changes the time (`PrepareForUpdate` in
/// `pkg/registry/resource/devicetaintrule/strategy.go`).
fn set_taint_time(new: &mut Value, old: &Value, now: Timestamp) {
    let (effect, time) = (["spec", "taint", "effect"], ["spec", "taint", "timeAdded"]);
    if new.at(&effect) != old.at(&effect) && new.at(&time) == old.at(&time) {
        new.insert_at(&time, time::format(now).into());
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
    fn a_new_effect_has_the_time_of_the_request() {
        let rule = |effect: &str, time: &str| {
            read(&format!(r#"{{"spec":{{"taint":{{"effect":"{effect}","timeAdded":"{time}"}}}}}}"#))
        };
        let (first, second) = ("2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z");
        let prepared = |mut new: Value, old: &Value| {
            set_taint_time(&mut new, old, Timestamp::default());
            new
        };
        let old = rule("NoExecute", first);
        assert_eq!(prepared(old.clone(), &old), old);
        assert_eq!(prepared(rule("NoSchedule", second), &old), rule("NoSchedule", second));
        assert_ne!(prepared(rule("NoSchedule", first), &old), rule("NoSchedule", first));
    }
}

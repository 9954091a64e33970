//! `CronJob`s.

use crate::validation::batch::cron;
use crate::validation::batch::job::{delegation, specification};
use crate::validation::core::pod_template;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable;
use crdx_cel::library::check_time_zone;
use crdx_value::Value;
use crdx_value::field::{FieldError, ROOT};

/// `ValidateCronJobCreate` and `ValidateCronJobUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let old_spec = old.map(|old| FieldValue::new(old.get("spec"), ROOT));
    let schedule = spec.child("schedule");
    if errors.require_text(&schedule) {
        let allows_zone =
            old_spec.is_some_and(|old| old.child("schedule").value.as_str().is_some_and(|t| t.contains("TZ")));
        schedule_format(errors, &schedule, allows_zone, spec.child("timeZone").is_set());
    }
    errors.nonnegative(&spec.child("startingDeadlineSeconds"));
    let zone = spec.child("timeZone");
    if old_spec.is_none_or(|old| old.child("timeZone").value != zone.value) {
        time_zone(errors, &zone);
    }
    errors.one_of(&spec.child("concurrencyPolicy"), &["Allow", "Forbid", "Replace"]);
    let old_template = old.and_then(|old| old.at(&["spec", "jobTemplate", "spec", "template"]));
    let options = pod_template::options(old_template, errors.release);
    let template = spec.child("jobTemplate");
    let job = template.child("spec");
    specification(errors, &job, &options);
    let old_metadata = old.map(|old| FieldValue::new(old.at(&["spec", "jobTemplate", "metadata"]), ROOT));
    delegation(errors, &template.child("metadata"), old_metadata);
    let (selector, manual) = (job.child("selector"), job.child("manualSelector"));
    if selector.is_set() {
        errors.invalid_typed(&selector, immutable::SELECTOR, "`selector` will be auto-generated");
    }
    if manual.bool() {
        errors.list.push(FieldError::not_supported(&manual.path, true, &["nil", "false"]));
    }
    errors.nonnegative(&spec.child("successfulJobsHistoryLimit"));
    errors.nonnegative(&spec.child("failedJobsHistoryLimit"));
}

/// `validateScheduleFormat`
fn schedule_format(errors: &mut Errors, schedule: &FieldValue<'_, '_>, allows_zone: bool, has_zone: bool) {
    if let Err(message) = cron::check(schedule.text()) {
        errors.invalid(schedule, message);
    }
    if schedule.text().contains("TZ") {
        if !allows_zone {
            errors.invalid(schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
        } else if has_zone {
            errors.invalid(schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
        }
    }
}

/// `validateTimeZone`
fn time_zone(errors: &mut Errors, zone: &FieldValue<'_, '_>) {
    if !zone.is_set() {
        return;
    }
    let name = zone.text();
    if name.is_empty() {
        return errors.invalid(zone, "timeZone must be nil or non-empty string");
    }
    let is_part = |part: &str| {
        let is_known = |b: u8| b.is_ascii_alphanumeric() || b".-_+".contains(&b);
        !matches!(part, "." | "..")
            && !part.starts_with('-')
            && (1..=14).contains(&part.len())
            && part.bytes().all(is_known)
    };
    if !name.split('/').all(is_part) {
        return errors.invalid(zone, format!("unknown time zone {name}"));
    }
    if name.eq_ignore_ascii_case("local") {
        let detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        errors.invalid(zone, detail);
    }
    if let Err(message) = check_time_zone(name) {
        errors.invalid(zone, message);
    }
}

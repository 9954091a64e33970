//! Statuses of Jobs (`ValidateJobStatusUpdate` in `pkg/apis/batch/validation`, and the options that the strategy in
//! `pkg/registry/batch/job` chooses).
//!
//! Since 1.32 (`JobManagedBy`), a write is rejected for what it changes: a part of the status that is wrong already does
//! not block others.

mod indexes;

use super::nonnegative;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable::IMMUTABLE;
use crdx_value::field::{BadValue, FieldPath};
use crdx_value::quote::go_quote;
use crdx_value::release::{Release, V1_31, V1_32, V1_34, V1_36};
use std::collections::BTreeSet;

/// `ValidateJobUpdateStatus`
pub fn job(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let (spec, status, old_status) = (object.child("spec"), object.child("status"), old.child("status"));
    let (new, was) = (Conditions::of(&status), Conditions::of(&old_status));
    nonnegative(errors, &status, &["active", "succeeded", "failed", "ready", "terminating"]);
    uncounted_pods(errors, &status);
    let release = errors.release;
    if release.since(V1_32) {
        let write = JobStatusUpdate { spec: &spec, status: &status, old: &old_status, new, was };
        write.finished(errors);
        write.indexes(errors);
        write.counters(errors);
    }
    if !release.since(V1_31) {
        if spec.child("completionMode").text() != "Indexed" && new.met {
            conditions(errors, &status.path, "cannot set SuccessCriteriaMet to NonIndexed Job");
        }
        if !spec.child("successPolicy").is_set() && new.met {
            conditions(errors, &status.path, "cannot set SuccessCriteriaMet=True for Job without SuccessPolicy");
        }
    }
    for (is_wrong, detail) in [
        (new.met && new.failed, "cannot set SuccessCriteriaMet=True and Failed=true conditions"),
        (new.met && new.failure_target, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"),
        (
            spec.child("successPolicy").is_set() && !new.met && new.complete,
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
        ),
        (was.met && !new.met, "cannot disable the SuccessCriteriaMet=True condition"),
        (
            was.complete && !was.met && new.met,
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
        ),
    ] {
        if is_wrong {
            conditions(errors, &status.path, detail);
        }
    }
}

/// The conditions of a Job that are true.
#[derive(Clone, Copy)]
struct Conditions {
    complete: bool,
    failed: bool,
    failure_target: bool,
    met: bool,
}

impl Conditions {
    fn of(status: &FieldValue<'_, '_>) -> Self {
        let is_true = |type_: &str| has_condition(status, type_, "True");
        Self {
            complete: is_true("Complete"),
            failed: is_true("Failed"),
            failure_target: is_true("FailureTarget"),
            met: is_true("SuccessCriteriaMet"),
        }
    }

    fn finished(self) -> bool {
        self.complete || self.failed
    }
}

/// Returns true if a Job has a condition with this status.
pub(crate) fn has_condition(status: &FieldValue<'_, '_>, type_: &str, value: &str) -> bool {
    let conditions = status.child("conditions");
    conditions.items().any(|one| one.child("type").text() == type_ && one.child("status").text() == value)
}

/// An error about the conditions, which are not shown.
fn conditions(errors: &mut Errors, status: &FieldPath<'_>, detail: &str) {
    errors.invalid_value(&status.child("conditions"), BadValue::Omitted, detail);
}

/// Terminated Pods that are not counted yet have distinct UIDs.
fn uncounted_pods(errors: &mut Errors, status: &FieldValue<'_, '_>) {
    let pods = status.child("uncountedTerminatedPods");
    let mut seen = BTreeSet::new();
    for list in ["succeeded", "failed"] {
        for uid in pods.child(list).items() {
            if uid.text().is_empty() {
                errors.invalid(&uid, "must not be empty");
            } else if !seen.insert(uid.text()) {
                errors.duplicate(&uid);
            }
        }
    }
}

/// A write of a status.
struct JobStatusUpdate<'a, 'v, 'p> {
    spec: &'a FieldValue<'v, 'p>,
    status: &'a FieldValue<'v, 'p>,
    old: &'a FieldValue<'v, 'p>,
    new: Conditions,
    was: Conditions,
}

impl JobStatusUpdate<'_, '_, '_> {
    fn changes(&self, field: &str) -> bool {
        self.status.child(field).value != self.old.child(field).value
    }

    fn changes_time(&self, field: &str) -> bool {
        self.status.child(field).time() != self.old.child(field).time()
    }

    /// Returns true if an integer changes; absent integers are 0.
    fn changes_count(&self, field: &str) -> bool {
        self.status.child(field).int().unwrap_or_default() != self.old.child(field).int().unwrap_or_default()
    }

    /// The conditions of a finished Job, its times, and the Pods that it must not have.
    fn finished(&self, errors: &mut Errors) {
        let Self { spec, status, new, was, .. } = *self;
        let release = errors.release;
        let (start, completion) = (status.child("startTime"), status.child("completionTime"));
        let (changes_start, changes_completion) = (self.changes_time("startTime"), self.changes_time("completionTime"));
        let changes_complete = new.complete != was.complete;
        let changes_finished = new.finished() != was.finished();
        let mut report = |is_wrong: bool, detail: &str| {
            if is_wrong {
                conditions(errors, &status.path, detail);
            }
        };
        let changes_failed = new.failed != was.failed;
        let changes_target = new.failure_target != was.failure_target;
        report(
            (changes_complete || changes_failed) && new.complete && new.failed,
            "cannot set Complete=True and Failed=true conditions",
        );
        report(
            (changes_complete || changes_target) && new.complete && new.failure_target,
            "cannot set Complete=True and FailureTarget=true conditions",
        );
        report(
            (changes_failed || self.changes("failedIndexes")) && new.failed && !new.failure_target,
            "cannot set Failed=True condition without the FailureTarget=true condition",
        );
        report(
            (changes_complete || new.met != was.met) && new.complete && !new.met,
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        );
        for (was, is, type_) in [
            (was.failed, new.failed, "Failed"),
            (was.complete, new.complete, "Complete"),
            (was.failure_target, new.failure_target, "FailureTarget"),
        ] {
            report(was && !is, &format!("cannot disable the terminal {type_}=True condition"));
        }
        if changes_complete || changes_completion {
            if completion.is_set() && !new.complete {
                let detail = "cannot set completionTime when there is no Complete=True condition";
                invalid_time(errors, &completion, detail);
            }
            if !completion.is_set() && new.complete {
                errors.required(&completion, "completionTime is required for Complete jobs");
            }
        }
        let ends_before_start = start.is_set() && completion.is_set() && completion.time() < start.time();
        if (changes_start || changes_completion) && ends_before_start {
            let detail = if release.since(V1_34) {
                "must be equal to or after `startTime`"
            } else {
                "completionTime cannot be set before startTime"
            };
            invalid_time(errors, &completion, detail);
        }
        let active = status.child("active");
        if (changes_finished || self.changes_count("active")) && new.finished() && active.int().is_some_and(|n| n > 0) {
            errors.invalid(&active, "active>0 is invalid for finished job");
        }
        let is_suspended_empty =
            release.since(V1_34) && spec.child("suspend").bool() && spec.child("completions").int() == Some(0);
        if (changes_finished || changes_start) && !is_suspended_empty && new.finished() && !start.is_set() {
            errors.required(&start, "startTime is required for finished job");
        }
        self.uncounted(errors, changes_finished);
        let terminating = status.child("terminating");
        if (changes_finished || self.changes("terminating"))
            && new.finished()
            && terminating.int().is_some_and(|n| n > 0)
        {
            errors.invalid(&terminating, "terminating>0 is invalid for finished job");
        }
        self.times(errors);
    }

    fn uncounted(&self, errors: &mut Errors, changes_finished: bool) {
        let pods = self.status.child("uncountedTerminatedPods");
        let (succeeded, failed) = (pods.child("succeeded"), pods.child("failed"));
        let changes = changes_finished || self.changes("uncountedTerminatedPods");
        if changes && self.new.finished() && succeeded.len() + failed.len() > 0 {
            let release = errors.release;
            let detail = if release.since(V1_34) {
                "must be empty for finished job"
            } else {
                "uncountedTerminatedPods needs to be empty for finished job"
            };
            let bad = uncounted_value(&succeeded, &failed, release);
            errors.invalid_value(&pods.path, bad, detail);
        }
    }

    /// Times that may not change.
    fn times(&self, errors: &mut Errors) {
        let release = errors.release;
        let (completion, start) = (self.status.child("completionTime"), self.status.child("startTime"));
        let (old_completion, old_start) = (self.old.child("completionTime"), self.old.child("startTime"));
        if completion.is_set() && old_completion.is_set() && self.changes_time("completionTime") {
            let detail = if release.since(V1_34) { IMMUTABLE } else { "completionTime cannot be mutated" };
            invalid_time(errors, &completion, detail);
        }
        // A Job that is resumed gets another time since 1.34.
        let is_resumed = release.since(V1_34)
            && has_condition(self.old, "Suspended", "True")
            && has_condition(self.status, "Suspended", "False");
        if old_start.is_set() && self.changes_time("startTime") && !self.spec.child("suspend").bool() && !is_resumed {
            if release.since(V1_36) {
                invalid_time(errors, &start, "field is immutable for unsuspended job once set");
            } else {
                errors.required(&start, "startTime cannot be removed for unsuspended job");
            }
        }
    }

    /// The completed and the failed indexes.
    fn indexes(&self, errors: &mut Errors) {
        let Self { spec, status, .. } = *self;
        let (completed, failed) = (status.child("completedIndexes"), status.child("failedIndexes"));
        let changes_completed = completed.text() != self.old.child("completedIndexes").text();
        let changes_failed = self.changes("failedIndexes");
        let completions = spec.child("completions").int();
        let per_index = spec.child("backoffLimitPerIndex").is_set();
        let checked = [
            ("completedIndexes", &completed, changes_completed),
            ("failedIndexes", &failed, changes_failed && per_index && failed.is_set()),
        ];
        for (name, field, _) in checked.into_iter().filter(|(.., is_checked)| *is_checked) {
            if let Some(Err(error)) = completions.map(|completions| indexes::check(field.text(), completions)) {
                errors.invalid_value(&field.path, field.text(), format!("error parsing {name}: {error}"));
            }
        }
        if changes_completed && !completed.text().is_empty() && spec.child("completionMode").text() != "Indexed" {
            errors.invalid(&completed, "cannot set non-empty completedIndexes when non-indexed completion mode");
        }
        if changes_failed && failed.is_set() && !per_index {
            errors.invalid(&failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
        }
        if (changes_failed || changes_completed)
            && failed.is_set()
            && let Some(at) = completions.and_then(|n| indexes::overlap(completed.text(), failed.text(), n))
        {
            errors.invalid(&failed, format!("failedIndexes and completedIndexes overlap at index: {at}"));
        }
    }

    /// Counters that may not decrease.
    fn counters(&self, errors: &mut Errors) {
        let Self { spec, status, old, .. } = *self;
        let (ready, active) = (status.child("ready"), status.child("active"));
        if (self.changes("ready") || self.changes_count("active"))
            && ready.int().is_some_and(|ready| ready > active.int().unwrap_or_default())
        {
            errors.invalid(&ready, "cannot set more ready pods than active");
        }
        // A Job with as many completions as parallel Pods can be scaled down.
        let scales = spec.child("completionMode").text() == "Indexed"
            && spec.child("completions").value == spec.child("parallelism").value;
        for (field, may_decrease) in [("failed", false), ("succeeded", scales)] {
            let counter = status.child(field);
            let value = counter.int().unwrap_or_default();
            if !may_decrease && value < old.child(field).int().unwrap_or_default() {
                errors.invalid_value(&counter.path, value, format!("cannot decrease the {field} counter"));
            }
        }
    }
}

/// `Invalid value: TIME`; an absent time is null.
fn invalid_time(errors: &mut Errors, time: &FieldValue<'_, '_>, detail: &str) {
    let bad = if time.is_set() { errors.time(time) } else { BadValue::new(time.value, errors.release) };
    errors.invalid_value(&time.path, bad, detail);
}

/// The internal `UncountedTerminatedPods` as an error shows it.
fn uncounted_value(succeeded: &FieldValue<'_, '_>, failed: &FieldValue<'_, '_>, release: Release) -> BadValue {
    let list = |list: &FieldValue<'_, '_>| {
        let items: Vec<String> = list.texts().map(go_quote).collect();
        match (release.since(V1_34), items.is_empty()) {
            (true, true) if list.is_given_empty() => "[]".to_owned(),
            (true, true) => "null".to_owned(),
            (false, true) if list.is_given_empty() => "[]types.UID{}".to_owned(),
            (true, false) => format!("[{}]", items.join(",")),
            (false, true) => "[]types.UID(nil)".to_owned(),
            (false, false) => format!("[]types.UID{{{}}}", items.join(", ")),
        }
    };
    let (succeeded, failed) = (list(succeeded), list(failed));
    BadValue::Raw(if release.since(V1_34) {
        format!(r#"{{"Succeeded":{succeeded},"Failed":{failed}}}"#)
    } else {
        format!("batch.UncountedTerminatedPods{{Succeeded:{succeeded}, Failed:{failed}}}")
    })
}

#[cfg(test)]
mod tests {
    use crate::validation::statuses::tests::errors;

    const KIND: (&str, &str) = ("batch", "Job");

    #[test]
    fn a_complete_job_has_its_conditions_and_times() {
        let complete = r#"{"status":{"conditions":[{"type":"Complete","status":"True"}]}}"#;
        assert_eq!(
            errors(KIND, "{}", complete, "1.37"),
            [
                "status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
                "status.completionTime: Required value: completionTime is required for Complete jobs",
                "status.startTime: Required value: startTime is required for finished job",
            ]
        );
        assert_eq!(errors(KIND, "{}", complete, "1.31"), [""; 0]);
        // A part that is wrong already does not block other changes.
        let more = complete.replace("{\"status\":{", "{\"status\":{\"failed\":1,");
        assert_eq!(errors(KIND, complete, &more, "1.37"), [""; 0]);
    }

    #[test]
    fn the_times_of_a_job_are_immutable() {
        let at = |time: &str| format!(r#"{{"status":{{"startTime":"2026-01-02T03:04:0{time}Z"}}}}"#);
        assert_eq!(
            errors(KIND, &at("5"), &at("6"), "1.37"),
            [
                r#"status.startTime: Invalid value: "2026-01-02T03:04:06Z": field is immutable for unsuspended job once set"#
            ]
        );
        assert_eq!(
            errors(KIND, &at("5"), &at("6"), "1.35"),
            ["status.startTime: Required value: startTime cannot be removed for unsuspended job"]
        );
    }

    #[test]
    fn counters_do_not_decrease() {
        let (old, new) = (r#"{"status":{"failed":2}}"#, r#"{"status":{"failed":1}}"#);
        assert_eq!(
            errors(KIND, old, new, "1.37"),
            ["status.failed: Invalid value: 1: cannot decrease the failed counter"]
        );
    }

    #[test]
    fn indexes_belong_to_indexed_jobs() {
        let job = |spec: &str, status: &str| format!(r#"{{"spec":{{"completions":5{spec}}},"status":{{{status}}}}}"#);
        assert_eq!(
            errors(KIND, "{}", &job("", r#""completedIndexes":"0-9""#), "1.37"),
            [
                r#"status.completedIndexes: Invalid value: "0-9": error parsing completedIndexes: too large index: "9""#,
                r#"status.completedIndexes: Invalid value: "0-9": cannot set non-empty completedIndexes when non-indexed completion mode"#,
            ]
        );
        let spec = r#","completionMode":"Indexed","backoffLimitPerIndex":1"#;
        assert_eq!(
            errors(KIND, "{}", &job(spec, r#""completedIndexes":"0-2","failedIndexes":"2,4""#), "1.37"),
            [r#"status.failedIndexes: Invalid value: "2,4": failedIndexes and completedIndexes overlap at index: 2"#]
        );
    }

    #[test]
    fn uncounted_pods_are_shown_with_their_internal_type() {
        let time = r#""startTime":"2026-01-02T03:04:05Z""#;
        let failed = r#""conditions":[{"type":"Failed","status":"True"},{"type":"FailureTarget","status":"True"}]"#;
        let new = format!(r#"{{"status":{{{time},{failed},"uncountedTerminatedPods":{{"failed":["a","a"]}}}}}}"#);
        let shown = |release| errors(KIND, "{}", &new, release).pop().unwrap();
        assert_eq!(
            shown("1.37"),
            r#"status.uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["a","a"]}: must be empty for finished job"#
        );
        assert_eq!(
            shown("1.33"),
            r#"status.uncountedTerminatedPods: Invalid value: batch.UncountedTerminatedPods{Succeeded:[]types.UID(nil), Failed:[]types.UID{"a", "a"}}: uncountedTerminatedPods needs to be empty for finished job"#
        );
    }
}

//! The columns of Jobs.

use crate::printer::{AGE, CONTAINERS, IMAGES, NAMED, between, column, has_condition, int, moment, or, wide};
use crdx_server::server::{PrinterColumn, label_selector_of};
use crdx_value::time::Timestamp;
use crdx_value::{Value, json};

pub(super) static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Status", "Status of the job.", |o, _| job_status(o).into()),
    column("Completions", "", |o, _| completions(o).into()),
    column("Duration", "Time required to complete the job.", |o, now| job_duration(o, now).into()),
    AGE,
    CONTAINERS,
    IMAGES,
    wide("Selector", "", |o, _| or(&label_selector_of(o).unwrap_or_default(), "<none>").into()),
];

fn job_status(object: &Value) -> &'static str {
    for (condition, shown) in [("Complete", "Complete"), ("Failed", "Failed")] {
        if has_condition(object, condition) {
            return shown;
        }
    }
    if object.at(&["metadata", "deletionTimestamp"]).is_some() {
        return "Terminating";
    }
    ["Suspended", "FailureTarget", "SuccessCriteriaMet"]
        .into_iter()
        .find(|condition| has_condition(object, condition))
        .unwrap_or("Running")
}

fn completions(object: &Value) -> String {
    let succeeded = int(object, &["status", "succeeded"]);
    match (object.at(&["spec", "completions"]), int(object, &["spec", "parallelism"])) {
        (Some(wanted), _) => format!("{succeeded}/{}", json::to_string(wanted)),
        (None, parallelism @ 2..) => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    }
}

fn job_duration(object: &Value, now: Timestamp) -> String {
    match (moment(object, &["status", "startTime"]), moment(object, &["status", "completionTime"])) {
        (None, _) => String::new(),
        (Some(start), end) => between(start, end.unwrap_or(now)),
    }
}

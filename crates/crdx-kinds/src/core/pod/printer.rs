//! The cells of Pods (`printPod`).

use crate::printer::{AGE, NAMED, between, column, first_of, has_condition, int, list, moment, or, text, wide};
use crdx_server::server::PrinterColumn;
use crdx_value::Value;
use crdx_value::time::Timestamp;

pub(super) static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Ready", "The aggregate readiness state of this pod for accepting traffic.", |o, now| ready(o, now).into()),
    column("Status", "The aggregate status of the containers in this pod.", |o, now| status(o, now).into()),
    column(
        "Restarts",
        "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.",
        |o, now| restarts(o, now).into(),
    ),
    AGE,
    wide("IP", "", |o, _| first_of(o, &["status", "podIPs"], "ip").into()),
    wide("Node", "", |o, _| or(text(o, &["spec", "nodeName"]), "<none>").into()),
    wide("Nominated Node", "", |o, _| or(text(o, &["status", "nominatedNodeName"]), "<none>").into()),
    wide("Readiness Gates", "", |o, _| readiness_gates(o).into()),
];

/// The values that `printPod` computes from the states of the containers.
struct Summary {
    reason: String,
    ready: usize,
    total: usize,
    restarts: i64,
    last_restart: Option<Timestamp>,
}

/// `READY`
fn ready(pod: &Value, _: Timestamp) -> String {
    let summary = summary(pod);
    format!("{}/{}", summary.ready, summary.total)
}

/// `STATUS`
fn status(pod: &Value, _: Timestamp) -> String {
    summary(pod).reason
}

/// `RESTARTS`
pub(crate) fn restarts(pod: &Value, now: Timestamp) -> String {
    let Summary { restarts, last_restart, .. } = summary(pod);
    match last_restart.filter(|_| restarts != 0) {
        Some(last) => format!("{restarts} ({} ago)", between(last, now)),
        None => restarts.to_string(),
    }
}

/// `READINESS GATES`
pub(crate) fn readiness_gates(pod: &Value) -> String {
    let gates = list(pod, &["spec", "readinessGates"]);
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let is_true = |gate: &&Value| {
        let type_ = text(gate, &["conditionType"]);
        let conditions = list(pod, &["status", "conditions"]).iter();
        conditions.into_iter().find(|c| text(c, &["type"]) == type_).is_some_and(|c| text(c, &["status"]) == "True")
    };
    format!("{}/{}", gates.iter().filter(is_true).count(), gates.len())
}

/// The reason for a terminated state.
fn terminated(state: &Value) -> String {
    match (text(state, &["reason"]), int(state, &["signal"])) {
        ("", 0) => format!("ExitCode:{}", int(state, &["exitCode"])),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

/// Adds the restarts of a container.
fn add_restarts(container: &Value, restarts: &mut i64, last: &mut Option<Timestamp>) {
    *restarts += int(container, &["restartCount"]);
    if let Some(at) = moment(container, &["lastState", "terminated", "finishedAt"])
        && last.is_none_or(|last| last.seconds < at.seconds)
    {
        *last = Some(at);
    }
}

fn summary(pod: &Value) -> Summary {
    let phase = text(pod, &["status", "phase"]);
    let mut reason = or(text(pod, &["status", "reason"]), phase).to_owned();
    let conditions = list(pod, &["status", "conditions"]);
    let gated = |c: &Value| text(c, &["type"]) == "PodScheduled" && text(c, &["reason"]) == "SchedulingGated";
    if conditions.iter().any(gated) {
        "SchedulingGated".clone_into(&mut reason);
    }
    let init = list(pod, &["spec", "initContainers"]);
    let restartable = |name: &str| {
        let found = init.iter().find(|container| text(container, &["name"]) == name);
        found.is_some_and(|container| text(container, &["restartPolicy"]) == "Always")
    };
    let sidecars = init.iter().filter(|container| text(container, &["restartPolicy"]) == "Always").count();
    let total = list(pod, &["spec", "containers"]).len() + sidecars;
    let (mut ready, mut restarts, mut last) = (0, 0, None);
    let (mut sidecar_restarts, mut sidecar_last) = (0, None);
    let mut initializing = false;
    for (i, container) in list(pod, &["status", "initContainerStatuses"]).iter().enumerate() {
        let name = text(container, &["name"]);
        add_restarts(container, &mut restarts, &mut last);
        if restartable(name) {
            add_restarts(container, &mut sidecar_restarts, &mut sidecar_last);
        }
        let state = container.at(&["state", "terminated"]);
        let waiting = text(container, &["state", "waiting", "reason"]);
        if state.is_some_and(|state| int(state, &["exitCode"]) == 0) {
            continue;
        }
        if restartable(name) && container.get("started").and_then(Value::as_bool) == Some(true) {
            ready += usize::from(container.get("ready").and_then(Value::as_bool) == Some(true));
            continue;
        }
        reason = match state {
            Some(state) => format!("Init:{}", terminated(state)),
            None if !matches!(waiting, "" | "PodInitializing") => format!("Init:{waiting}"),
            None => format!("Init:{i}/{}", init.len()),
        };
        initializing = true;
        break;
    }
    if !initializing || has_condition(pod, "Initialized") {
        (restarts, last) = (sidecar_restarts, sidecar_last);
        let (mut running, mut error) = (false, String::new());
        for container in list(pod, &["status", "containerStatuses"]).iter().rev() {
            add_restarts(container, &mut restarts, &mut last);
            let waiting = text(container, &["state", "waiting", "reason"]);
            if !waiting.is_empty() {
                waiting.clone_into(&mut reason);
            } else if let Some(state) = container.at(&["state", "terminated"]) {
                reason = terminated(state);
                if int(state, &["exitCode"]) != 0 {
                    error.clone_from(&reason);
                }
            } else if container.get("ready").and_then(Value::as_bool) == Some(true)
                && container.at(&["state", "running"]).is_some()
            {
                running = true;
                ready += 1;
            }
        }
        if reason == "Completed" {
            if running && has_condition(pod, "Ready") {
                "Running".clone_into(&mut reason);
            } else if !error.is_empty() {
                reason = error;
            } else if running {
                "NotReady".clone_into(&mut reason);
            }
        }
    }
    if pod.at(&["metadata", "deletionTimestamp"]).is_some() {
        if text(pod, &["status", "reason"]) == "NodeLost" {
            "Unknown".clone_into(&mut reason);
        } else if !matches!(phase, "Succeeded" | "Failed") {
            "Terminating".clone_into(&mut reason);
        }
    }
    Summary { reason, ready, total, restarts, last_restart: last }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;
    use crdx_value::time;

    #[test]
    fn the_status_summarizes_the_containers() {
        let now = time::parse("2026-01-01T01:00:00Z").unwrap();
        let cells = |status: &str| {
            let pod = format!(
                r#"{{"spec":{{"containers":[{{"name":"a"}},{{"name":"b"}}],"initContainers":[{{"name":"i"}}]}},"status":{status}}}"#
            );
            let pod = read(pod.as_bytes()).unwrap();
            [ready(&pod, now), super::status(&pod, now), restarts(&pod, now)]
        };
        assert_eq!(cells(r#"{"phase":"Pending"}"#), ["0/2", "Pending", "0"]);
        let running = r#"{"phase":"Running","containerStatuses":[{"ready":true,"state":{"running":{}},"restartCount":2,
            "lastState":{"terminated":{"finishedAt":"2026-01-01T00:50:00Z"}}},{"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}"#;
        assert_eq!(cells(running), ["1/2", "CrashLoopBackOff", "2 (10m ago)"]);
        let init =
            r#"{"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":3}}}]}"#;
        assert_eq!(cells(init), ["0/2", "Init:ExitCode:3", "0"]);
        let failed =
            r#"{"phase":"Failed","containerStatuses":[{"state":{"terminated":{"exitCode":1,"reason":"Error"}}}]}"#;
        assert_eq!(cells(failed), ["0/2", "Error", "0"]);
    }
}

//! The columns of workloads.

use super::{
    AGE, CONTAINERS, IMAGES, NAMED, Printed, READY_OF_REPLICAS, bool_text, column, int, label_selector, labels_or_none,
    list, since, text, wide,
};
use crdx_value::{Value, json};

const DESIRED: Printed = column("Desired", "", |o, _| int(o, &["spec", "replicas"]).into());
const CURRENT: Printed = column("Current", "", |o, _| int(o, &["status", "replicas"]).into());
const READY: Printed = column("Ready", "", |o, _| int(o, &["status", "readyReplicas"]).into());

pub(super) static REPLICA_SETS: &[Printed] = &[
    NAMED,
    DESIRED,
    CURRENT,
    READY,
    AGE,
    CONTAINERS,
    IMAGES,
    wide("Selector", "", |o, _| label_selector(o, &["spec", "selector"]).into()),
];

pub(super) static REPLICATION_CONTROLLERS: &[Printed] = &[
    NAMED,
    DESIRED,
    CURRENT,
    READY,
    AGE,
    CONTAINERS,
    IMAGES,
    wide("Selector", "", |o, _| labels_or_none(o, &["spec", "selector"]).into()),
];

pub(super) static DAEMON_SETS: &[Printed] = &[
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

pub(super) static STATEFUL_SETS: &[Printed] = &[NAMED, READY_OF_REPLICAS, AGE, CONTAINERS, IMAGES];

pub(super) static CRON_JOBS: &[Printed] = &[
    NAMED,
    column("Schedule", "", |o, _| text(o, &["spec", "schedule"]).into()),
    column("Timezone", "", |o, _| o.str_at(&["spec", "timeZone"]).unwrap_or("<none>").into()),
    column("Suspend", "", |o, _| bool_text(o, &["spec", "suspend"]).into()),
    column("Active", "", |o, _| (list(o, &["status", "active"]).len() as i64).into()),
    column("Last Schedule", "", |o, now| match o.at(&["status", "lastScheduleTime"]) {
        Some(_) => since(o, &["status", "lastScheduleTime"], now).into(),
        None => "<none>".into(),
    }),
    AGE,
    wide("Containers", "Names of each container in the template.", |o, _| of_job_template(o, "name").into()),
    wide("Images", "Images referenced by each container in the template.", |o, _| of_job_template(o, "image").into()),
    wide("Selector", "", |o, _| label_selector(o, &["spec", "jobTemplate", "spec", "selector"]).into()),
];

pub(super) static POD_TEMPLATES: &[Printed] = &[
    NAMED,
    column("Containers", "Names of each container in the template.", |o, _| of_template(o, "name").into()),
    column("Images", "Images referenced by each container in the template.", |o, _| of_template(o, "image").into()),
    column("Pod Labels", "The labels for the pod template.", |o, _| {
        labels_or_none(o, &["template", "metadata", "labels"]).into()
    }),
];

pub(super) static CONTROLLER_REVISIONS: &[Printed] = &[
    NAMED,
    column("Controller", "", |o, _| controller(o).into()),
    column("Revision", "", |o, _| o.get("revision").map(json::to_string).unwrap_or_default().into()),
    AGE,
];

pub(super) static BUDGETS: &[Printed] = &[
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

fn containers(object: &Value, path: &[&str], key: &str) -> String {
    list(object, path).iter().map(|container| text(container, &[key])).collect::<Vec<_>>().join(",")
}

fn of_job_template(object: &Value, key: &str) -> String {
    containers(object, &["spec", "jobTemplate", "spec", "template", "spec", "containers"], key)
}

fn of_template(object: &Value, key: &str) -> String {
    containers(object, &["template", "spec", "containers"], key)
}

/// The controller that owns an object, as `formatResourceName` writes it.
fn controller(object: &Value) -> String {
    let owners = list(object, &["metadata", "ownerReferences"]).iter();
    let is_controller = |owner: &&Value| owner.get("controller").and_then(Value::as_bool) == Some(true);
    let Some(owner) = owners.into_iter().find(is_controller) else { return "<none>".to_owned() };
    let group = text(owner, &["apiVersion"]).split_once('/').map_or("", |(group, _)| group);
    let kind = text(owner, &["kind"]).to_lowercase();
    let dot = if group.is_empty() { "" } else { "." };
    format!("{kind}{dot}{group}/{}", text(owner, &["name"]))
}

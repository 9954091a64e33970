//! The columns of Nodes.

use crate::printer::{AGE, NAMED, column, list, or, text, wide};
use crdx_server::server::PrinterColumn;
use crdx_value::Value;

pub(super) static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Status", "The status of the node", |o, _| node_status(o).into()),
    column("Roles", "The roles of the node", |o, _| roles(o).into()),
    AGE,
    column("Version", "", |o, _| text(o, &["status", "nodeInfo", "kubeletVersion"]).into()),
    wide("Internal-IP", "", |o, _| address(o, "InternalIP").into()),
    wide("External-IP", "", |o, _| address(o, "ExternalIP").into()),
    wide("OS-Image", "", |o, _| or(text(o, &["status", "nodeInfo", "osImage"]), "<unknown>").into()),
    wide("Kernel-Version", "", |o, _| {
        let version = or(text(o, &["status", "nodeInfo", "kernelVersion"]), "<unknown>");
        match text(o, &["status", "nodeInfo", "architecture"]) {
            "" => version.into(),
            architecture => format!("{version} ({architecture})").into(),
        }
    }),
    wide("Container-Runtime", "", |o, _| {
        or(text(o, &["status", "nodeInfo", "containerRuntimeVersion"]), "<unknown>").into()
    }),
];

fn node_status(object: &Value) -> String {
    let conditions = list(object, &["status", "conditions"]);
    let ready = conditions.iter().rev().find(|condition| text(condition, &["type"]) == "Ready");
    let status = match ready.map(|condition| text(condition, &["status"])) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    let unschedulable = object.at(&["spec", "unschedulable"]).and_then(Value::as_bool) == Some(true);
    format!("{status}{}", if unschedulable { ",SchedulingDisabled" } else { "" })
}

/// `findNodeRoles`
fn roles(object: &Value) -> String {
    let labels = object.at(&["metadata", "labels"]).and_then(Value::as_object).into_iter().flatten();
    let mut roles: Vec<&str> = labels
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None if key == "kubernetes.io/role" => value.as_str(),
            None => None,
        })
        .filter(|role| !role.is_empty())
        .collect();
    roles.sort_unstable();
    roles.dedup();
    or(&roles.join(","), "<none>").to_owned()
}

fn address<'v>(object: &'v Value, type_: &str) -> &'v str {
    let addresses = list(object, &["status", "addresses"]).iter();
    let found = addresses.into_iter().find(|address| text(address, &["type"]) == type_);
    found.map_or("<none>", |address| text(address, &["address"]))
}

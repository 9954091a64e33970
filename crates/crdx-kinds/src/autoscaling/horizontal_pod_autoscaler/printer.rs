//! The columns of `HorizontalPodAutoscaler`s.

use crate::printer::{AGE, NAMED, column, int, list, or, text};
use crdx_server::server::PrinterColumn;
use crdx_value::{Value, json};

/// The number of metrics that a cell shows.
const MOST: usize = 2;

pub(super) static AUTOSCALERS: &[PrinterColumn] = &[
    NAMED,
    column("Reference", "", |o, _| {
        format!("{}/{}", text(o, &["spec", "scaleTargetRef", "kind"]), text(o, &["spec", "scaleTargetRef", "name"]))
            .into()
    }),
    column("Targets", "", |o, _| metrics(o).into()),
    column("MinPods", "", |o, _| {
        o.at(&["spec", "minReplicas"]).map_or_else(|| "<unset>".to_owned(), json::to_string).into()
    }),
    column("MaxPods", "", |o, _| int(o, &["spec", "maxReplicas"]).into()),
    column("Replicas", "", |o, _| int(o, &["status", "currentReplicas"]).into()),
    AGE,
];

/// `formatHPAMetrics`
fn metrics(object: &Value) -> String {
    let specs = list(object, &["spec", "metrics"]);
    if let Some(target) = object.at(&["spec", "targetCPUUtilizationPercentage"]) {
        // `autoscaling/v1`
        let current = object.at(&["status", "currentCPUUtilizationPercentage"]);
        return format!("cpu: {}/{}", percent(current, "<unknown>"), percent(Some(target), "<auto>"));
    }
    if specs.is_empty() {
        return "<none>".to_owned();
    }
    let statuses = list(object, &["status", "currentMetrics"]);
    let shown = specs.iter().enumerate().take(MOST).map(|(at, spec)| metric(spec, statuses.get(at)));
    let text = shown.collect::<Vec<_>>().join(", ");
    if specs.len() > MOST { format!("{text} + {} more...", specs.len() - MOST) } else { text }
}

fn metric(spec: &Value, status: Option<&Value>) -> String {
    let (field, is_resource) = match text(spec, &["type"]) {
        "External" => ("external", false),
        "Pods" => ("pods", false),
        "Object" => ("object", false),
        "Resource" => ("resource", true),
        "ContainerResource" => ("containerResource", true),
        _ => return "<unknown type>".to_owned(),
    };
    let target = |key: &str| spec.at(&[field, "target", key]);
    let current = |key: &str| status.and_then(|status| status.at(&[field, "current", key]));
    let quantity =
        |value: Option<&Value>| value.map_or("<unknown>", |value| value.as_str().unwrap_or_default()).to_owned();
    if is_resource {
        let name = text(spec, &[field, "name"]);
        let (current, target) = if let Some(average) = target("averageValue") {
            (quantity(current("averageValue")), quantity(Some(average)))
        } else {
            (percent(current("averageUtilization"), "<unknown>"), percent(target("averageUtilization"), "<auto>"))
        };
        return format!("{name}: {current}/{target}");
    }
    match target("averageValue") {
        Some(average) if field == "pods" => {
            format!("{}/{}", quantity(current("averageValue")), quantity(Some(average)))
        }
        Some(average) => format!("{}/{} (avg)", quantity(current("averageValue")), quantity(Some(average))),
        None => format!("{}/{}", quantity(current("value")), or(&quantity(target("value")), "0")),
    }
}

fn percent(value: Option<&Value>, otherwise: &str) -> String {
    value.map_or_else(|| otherwise.to_owned(), |value| format!("{}%", json::to_string(value)))
}

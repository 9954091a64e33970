//! `admissionregistration.k8s.io`.

pub(crate) mod mutating_admission_policy;
pub(crate) mod mutating_admission_policy_binding;
pub(crate) mod mutating_webhook_configuration;
pub(crate) mod validating_admission_policy;
pub(crate) mod validating_admission_policy_binding;
pub(crate) mod validating_webhook_configuration;

use crate::features::paths::Path;
use crate::printer::{AGE, NAMED, column, list, text};
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::Value;

/// The behaviour of most kinds of the group.
pub(crate) const ADMISSION: Behaviour =
    Behaviour { needs_revision: true, qualifies_finalizers: false, ..Behaviour::GENERATION };

pub(crate) static POLICY_BINDINGS: &[PrinterColumn] = &[
    NAMED,
    column("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to", |o, _| {
        text(o, &["spec", "policyName"]).into()
    }),
    column("ParamRef", "ParamRef indicates the param resource which sets the configuration param", |o, _| {
        param_ref(o).into()
    }),
    AGE,
];

pub(crate) static WEBHOOKS: &[PrinterColumn] = &[
    NAMED,
    column("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration", |o, _| {
        (list(o, &["webhooks"]).len() as i64).into()
    }),
    AGE,
];

pub(crate) const OF_WEBHOOKS: &[Path] = &[
    &["webhooks"],
    &["webhooks", "*", "rules|admissionReviewVersions|matchConditions"],
    &["webhooks", "*", "rules", "*", "operations|apiGroups|apiVersions|resources"],
    &["webhooks", "*", "namespaceSelector|objectSelector", "matchLabels|matchExpressions"],
    &["webhooks", "*", "namespaceSelector|objectSelector", "matchExpressions", "*", "values"],
];

pub(crate) fn param_kind(object: &Value) -> String {
    let kind = object.at(&["spec", "paramKind"]);
    kind.map_or_else(
        || "<unset>".to_owned(),
        |kind| format!("{}/{}", text(kind, &["apiVersion"]), text(kind, &["kind"])),
    )
}

fn param_ref(object: &Value) -> String {
    let Some(reference) = object.at(&["spec", "paramRef"]) else { return "<unset>".to_owned() };
    match (text(reference, &["namespace"]), text(reference, &["name"])) {
        (_, "") => "*".to_owned(),
        ("", name) => format!("*/{name}"),
        (namespace, name) => format!("{namespace}/{name}"),
    }
}

//! The columns of roles, limits and other objects that govern the use of a cluster.

use super::{AGE, NAMED, Printed, column, int, list, text, wide};
use crdx_value::Value;
use std::collections::BTreeMap;

/// The columns of `NewDefaultTableConvertor`.
pub(super) static WITH_CREATION: &[Printed] = &[
    NAMED,
    Printed {
        type_: "date",
        ..column("Created At", super::CREATED, |o, _| text(o, &["metadata", "creationTimestamp"]).into())
    },
];

pub(super) static BINDINGS: &[Printed] = &[
    NAMED,
    column("Role", "", |o, _| format!("{}/{}", text(o, &["roleRef", "kind"]), text(o, &["roleRef", "name"])).into()),
    AGE,
    wide("Users", "Users in the roleBinding", |o, _| subjects(o, "User").into()),
    wide("Groups", "Groups in the roleBinding", |o, _| subjects(o, "Group").into()),
    wide("ServiceAccounts", "ServiceAccounts in the roleBinding", |o, _| subjects(o, "ServiceAccount").into()),
];

pub(super) static LEASES: &[Printed] =
    &[NAMED, column("Holder", "", |o, _| text(o, &["spec", "holderIdentity"]).into()), AGE];

pub(super) static PRIORITY_CLASSES: &[Printed] = &[
    NAMED,
    column("Value", "", |o, _| int(o, &["value"]).into()),
    column("Global-Default", "", |o, _| o.get("globalDefault").and_then(Value::as_bool).unwrap_or_default().into()),
    AGE,
    column("PreemptionPolicy", "", |o, _| text(o, &["preemptionPolicy"]).into()),
];

pub(super) static RUNTIME_CLASSES: &[Printed] =
    &[NAMED, column("Handler", "", |o, _| text(o, &["handler"]).into()), AGE];

pub(super) static RESOURCE_QUOTAS: &[Printed] = &[
    NAMED,
    column("Request", "Request represents a minimum amount of cpu/memory that a container may consume.", |o, _| {
        quota(o, false).into()
    }),
    column(
        "Limit",
        "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.",
        |o, _| quota(o, true).into(),
    ),
    AGE,
];

pub(super) static PRIORITY_LEVELS: &[Printed] = &[
    NAMED,
    column("Type", "", |o, _| text(o, &["spec", "type"]).into()),
    column("NominalConcurrencyShares", "", |o, _| number(o, &["spec", "limited", "nominalConcurrencyShares"])),
    column("Queues", "", |o, _| queuing(o, "queues")),
    column("HandSize", "", |o, _| queuing(o, "handSize")),
    column("QueueLengthLimit", "", |o, _| queuing(o, "queueLengthLimit")),
    AGE,
];

pub(super) static WEBHOOKS: &[Printed] = &[
    NAMED,
    column("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration", |o, _| {
        (list(o, &["webhooks"]).len() as i64).into()
    }),
    AGE,
];

pub(super) static VALIDATING_POLICIES: &[Printed] = &[
    NAMED,
    column(
        "Validations",
        "Validations indicates the number of validation rules defined in this configuration",
        |o, _| (list(o, &["spec", "validations"]).len() as i64).into(),
    ),
    column("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy", |o, _| {
        param_kind(o).into()
    }),
    AGE,
];

pub(super) static MUTATING_POLICIES: &[Printed] = &[
    NAMED,
    column("Mutations", "Mutation indicates the number of mutations rules defined in this configuration", |o, _| {
        (list(o, &["spec", "mutations"]).len() as i64).into()
    }),
    column("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy", |o, _| {
        param_kind(o).into()
    }),
    AGE,
];

pub(super) static POLICY_BINDINGS: &[Printed] = &[
    NAMED,
    column("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to", |o, _| {
        text(o, &["spec", "policyName"]).into()
    }),
    column("ParamRef", "ParamRef indicates the param resource which sets the configuration param", |o, _| {
        param_ref(o).into()
    }),
    AGE,
];

/// `SubjectsStrings`
fn subjects(object: &Value, kind: &str) -> String {
    let subjects = list(object, &["subjects"]).iter().filter(|subject| text(subject, &["kind"]) == kind);
    let shown = subjects.map(|subject| match kind {
        "ServiceAccount" => format!("{}/{}", text(subject, &["namespace"]), text(subject, &["name"])),
        _ => text(subject, &["name"]).to_owned(),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// The used and the hard limits of a quota: those of limits, or all others.
fn quota(object: &Value, limits: bool) -> String {
    let hard = object.at(&["status", "hard"]).and_then(Value::as_object).into_iter().flatten();
    let sorted: BTreeMap<&String, &Value> = hard.collect();
    let shown = sorted.into_iter().filter(|(name, _)| name.starts_with("limits.") == limits).map(|(name, hard)| {
        let used = object.at(&["status", "used"]).and_then(|used| used.get(name)).and_then(Value::as_str);
        format!("{name}: {}/{}", used.unwrap_or("0"), hard.as_str().unwrap_or_default())
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn number(object: &Value, path: &[&str]) -> Value {
    object.at(path).cloned().unwrap_or_else(|| "<none>".into())
}

fn queuing(object: &Value, key: &str) -> Value {
    number(object, &["spec", "limited", "limitResponse", "queuing", key])
}

fn param_kind(object: &Value) -> String {
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

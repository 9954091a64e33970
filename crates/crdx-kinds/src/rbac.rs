//! `rbac.authorization.k8s.io`.

pub(crate) mod cluster_role;
pub(crate) mod cluster_role_binding;
pub(crate) mod role;
pub(crate) mod role_binding;

use crate::printer::{AGE, NAMED, column, list, text, wide};
use crdx_server::pipeline::metadata::NameRule;
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::Value;

/// The behaviour of all kinds of the group.
pub(crate) const BEHAVIOUR: Behaviour =
    Behaviour { name: NameRule::WholePathSegment, creates_on_update: true, ..Behaviour::MOST };

/// The columns of bindings.
pub(crate) static BINDINGS: &[PrinterColumn] = &[
    NAMED,
    column("Role", "", |o, _| format!("{}/{}", text(o, &["roleRef", "kind"]), text(o, &["roleRef", "name"])).into()),
    AGE,
    wide("Users", "Users in the roleBinding", |o, _| subjects(o, "User").into()),
    wide("Groups", "Groups in the roleBinding", |o, _| subjects(o, "Group").into()),
    wide("ServiceAccounts", "ServiceAccounts in the roleBinding", |o, _| subjects(o, "ServiceAccount").into()),
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

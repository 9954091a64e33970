//! The objects of `--policies`.

use super::{Objects, PolicyInput, Reading};
use crate::input::required::{Required, Sources};
use crdx::report::ObjectReport;
use crdx::simulation::identity::FieldLocator as _;
use crdx::simulation::object;
use crdx_server::crd;
use crdx_server::policies::{self, rbac};
use crdx_types::groups;
use crdx_value::Value;

/// Reads the files. Unreadable inputs are passed to `show`.
pub fn read(reading: &Reading<'_>, objects: &mut Objects, show: &mut dyn FnMut(ObjectReport)) {
    for entry in Sources::open(&reading.options.paths, reading.input.collecting(), Required::Object, "--policies") {
        let Some((mut object, (group, _, kind))) = object::read_with_kind(entry, show) else { continue };
        if group == crd::GROUP {
            objects.definitions.push(object);
            continue;
        }
        let location = object.finder().start();
        let value = object.take_value();
        let mut given = PolicyInput { object: value, location, source: Some(object) };
        if group == rbac::GROUP {
            complete_namespace(&mut given.object, &kind, reading.namespace);
        }
        objects.add(&group, &kind, given);
    }
}

impl Objects {
    /// Adds an object of a group and kind. An object in a file replaces one of the cluster when it is stored.
    pub(super) fn add(&mut self, group: &str, kind: &str, mut given: PolicyInput) {
        match (group, kind) {
            ("", "Namespace") => self.namespaces.push(given),
            ("", "ConfigMap") => self.config_maps.push(given),
            (policies::GROUP, "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy") => {
                set_version(&mut given.object);
                replace(&mut self.policies, given);
            }
            (policies::GROUP, "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding") => {
                set_version(&mut given.object);
                replace(&mut self.bindings, given);
            }
            (policies::GROUP, "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration") => {
                set_version(&mut given.object);
                replace(&mut self.webhooks, given);
            }
            (rbac::GROUP, _) => self.rbac.put(&given.object),
            _ if !groups::is_built_in(group) => self.others.push(given),
            _ => {}
        }
    }
}

/// Adds a policy or binding. It replaces one with the same kind and name from the same source (files or cluster).
fn replace(all: &mut Vec<PolicyInput>, given: PolicyInput) {
    let key = |given: &PolicyInput| {
        let text = |path: &[&str]| given.object.str_at(path).unwrap_or_default().to_owned();
        (given.source.is_some(), text(&["kind"]), text(&["metadata", "name"]))
    };
    let own = key(&given);
    all.retain(|other| key(other) != own);
    all.push(given);
}

/// Sets the version to v1; earlier versions have the same fields.
fn set_version(object: &mut Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert("apiVersion".to_owned(), format!("{}/v1", policies::GROUP).into());
    }
}

/// Sets the default namespace of a Role or `RoleBinding`, as kubectl does.
fn complete_namespace(object: &mut Value, kind: &str, namespace: &str) {
    if matches!(kind, "Role" | "RoleBinding")
        && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        && metadata.get("namespace").is_none_or(|own| own.as_str().is_none_or(str::is_empty))
    {
        metadata.insert("namespace".to_owned(), namespace.into());
    }
}

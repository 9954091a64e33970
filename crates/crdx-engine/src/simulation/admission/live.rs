//! Reads the policies of the cluster.

use super::{AdmissionOptions, Objects, PolicyInput};
use crate::cluster::{Cluster, Error};
use crate::report::{RunNote, SourceLocation};
use crdx_server::policies::{self, rbac};
use crdx_value::Value;
use std::collections::BTreeSet;

/// The kinds that are read at the start.
const POLICIES: [(&str, &str); 6] = [
    ("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
    ("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    ("mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
    ("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
    ("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
    ("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
];
/// The kinds that determine the answers of `authorizer`.
const ROLES: [(&str, &str); 4] = [
    ("roles", "Role"),
    ("rolebindings", "RoleBinding"),
    ("clusterroles", "ClusterRole"),
    ("clusterrolebindings", "ClusterRoleBinding"),
];

impl Objects {
    /// Adds the policies and bindings of a cluster, and for a known user its RBAC objects. Unreadable kinds are reported
    /// as notes.
    pub fn add_from_cluster(&mut self, cluster: &dyn Cluster, options: &AdmissionOptions, notes: &mut Vec<RunNote>) {
        let mut unreadable = BTreeSet::new();
        // If the cluster cannot be reached, the items of objects report it.
        if self.add_kinds(cluster, policies::GROUP, &POLICIES, &mut unreadable).is_err() {
            return;
        }
        if options.user.is_some()
            && options.authorizer.is_none()
            && !matches!(self.add_kinds(cluster, rbac::GROUP, &ROLES, &mut unreadable), Ok(true))
        {
            // An incomplete list of roles would give wrong answers.
            self.rbac = rbac::Rbac::default();
        }
        if !unreadable.is_empty() {
            let unreadable: Vec<String> = unreadable.into_iter().collect();
            let message = format!(
                "these could not be read from the cluster, so admission is simulated without them: {}; kubectl crdx rbac prints the permissions to read them",
                unreadable.join(", ")
            );
            notes.push(RunNote { kind: "unreadablePolicies", message });
        }
    }

    /// Adds the objects of the kinds of a group that the cluster serves. Returns true if all of them could be read.
    ///
    /// # Errors
    /// Returns the reason why the resources of the cluster cannot be read.
    fn add_kinds(
        &mut self,
        cluster: &dyn Cluster,
        group: &str,
        kinds: &[(&str, &str)],
        unreadable: &mut BTreeSet<String>,
    ) -> Result<bool, Error> {
        let resources = cluster.resources()?;
        let mut pending = Vec::new();
        for &(plural, kind) in kinds {
            if let Some(resource) = resources.iter().find(|r| r.group == group && r.plural == plural) {
                pending.push((plural, kind, cluster.ask(&resource.path(None))?));
            }
        }
        let mut is_complete = true;
        for (plural, kind, response) in pending {
            match response.wait() {
                Ok(list) => {
                    let version = list.as_ref().and_then(|list| list.str_at(&["apiVersion"]));
                    let version = version.unwrap_or_default().to_owned();
                    for object in items(list) {
                        self.add(group, kind, given(object, &version, kind));
                    }
                }
                Err(error) => {
                    is_complete = false;
                    unreadable.insert(unreadable_kind(plural, &error));
                }
            }
        }
        Ok(is_complete)
    }
}

fn unreadable_kind(what: &str, error: &Error) -> String {
    format!("{what} ({})", error.code.map_or_else(|| "no answer".to_owned(), |code| code.to_string()))
}

fn items(list: Option<Value>) -> Vec<Value> {
    let Some(Value::Object(mut list)) = list else { return Vec::new() };
    match list.remove("items") {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// Converts an object of the cluster. Items of lists have no apiVersion and kind, so they are set.
fn given(mut object: Value, api_version: &str, kind: &str) -> PolicyInput {
    if let Some(members) = object.as_object_mut() {
        members.insert("apiVersion".to_owned(), api_version.into());
        members.insert("kind".to_owned(), kind.into());
    }
    PolicyInput { object, location: SourceLocation::source(&"the cluster".into()), source: None }
}

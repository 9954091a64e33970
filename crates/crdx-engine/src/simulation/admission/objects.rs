//! The objects that policies need, by purpose.

use super::policy_kind;
use crate::cluster::Resource;
use crate::kubectl::FieldValidation;
use crate::kubectl::request::{self, RequestOptions};
use crate::report::{ObjectReport, RunNote, SourceLocation, Verdict};
use crate::simulation::answer;
use crate::simulation::identity::{FieldLocator as _, Namespace, identity};
use crate::simulation::known_cluster::given::GivenObjects;
use crate::simulation::object::{Kind, Object};
use crdx_server::crd;
use crdx_server::policies::model::{ParamKind, Policy, PolicyKind};
use crdx_server::policies::{self, rbac};
use crdx_server::server::{Server, Timestamp};
use crdx_types::groups;
use crdx_value::release::{Gate, Release};
use crdx_value::{Value, group_version};
use std::collections::BTreeSet;

const POLICIES: &str = "--policies takes ValidatingAdmissionPolicies, MutatingAdmissionPolicies, their bindings and params, Namespaces and RBAC objects; leave out those of other policy engines with --ignore";

/// An object that policies need, with its source location.
#[derive(Clone, Debug)]
pub(super) struct PolicyInput {
    pub(super) object: Value,
    pub(super) location: SourceLocation,
    /// The document, if the object is in a file: it is then applied, and the server may refuse it.
    pub(super) source: Option<Object>,
}

/// The objects that policies need, by purpose.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    pub(super) definitions: Vec<Object>,
    pub(super) namespaces: Vec<PolicyInput>,
    /// The objects on which the answers to other objects depend, Namespaces included.
    given: GivenObjects,
    pub(super) config_maps: Vec<PolicyInput>,
    pub(super) policies: Vec<PolicyInput>,
    pub(super) bindings: Vec<PolicyInput>,
    /// Webhook configurations.
    pub(super) webhooks: Vec<PolicyInput>,
    pub(super) rbac: rbac::Rbac,
    /// Objects of other kinds, which may be params.
    pub(super) others: Vec<PolicyInput>,
}

/// The end of the names of policies that API servers read from files (`staticManifestsDir`).
const STATIC_SUFFIX: &str = ".static.k8s.io";

impl Objects {
    /// Adds the object of a document. Sets the default namespace of a Role or `RoleBinding`.
    pub fn add_document(&mut self, mut object: Object, kind: &Kind, namespace: &str) {
        let (group, _, kind) = kind;
        if group == crd::GROUP {
            self.definitions.push(object);
            return;
        }
        let location = object.finder().start();
        let value = object.take_value();
        self.given.add(&value, namespace);
        let mut given = PolicyInput { object: value, location, source: Some(object) };
        if group == rbac::GROUP {
            complete_namespace(&mut given.object, kind, namespace);
        }
        self.add(group, kind, given);
    }

    /// Returns the objects on which the answers to other objects depend, together with existing objects that have other names.
    pub fn with_existing(&self, mut existing: GivenObjects) -> GivenObjects {
        existing.extend(&self.given);
        existing
    }

    /// Returns the items of objects in files that have no effect and could be meant to: those of other policy engines, which
    /// are custom resources without a CRD among the inputs, and everything if there is neither a policy nor an object on which
    /// answers depend. `paths` are the files.
    pub fn without_effect(&self, paths: &[String], is_defined: &dyn Fn(&str, &str) -> bool) -> Vec<ObjectReport> {
        if paths.is_empty() {
            return Vec::new();
        }
        let release = Release::NEWEST;
        let params = |given: &PolicyInput| Policy::read(&given.object, release).param_kind;
        let params: Vec<ParamKind> = self.policies.iter().filter_map(params).collect();
        let has_purpose = |given: &&PolicyInput| {
            let text = |key| given.object.str_at(&[key]).unwrap_or_default();
            let group = group_version::group(text("apiVersion"));
            params.iter().any(|kind| kind.kind == text("kind") && group_version::group(&kind.api_version) == group)
                || is_defined(group, text("kind"))
        };
        let in_file = |given: &&PolicyInput| given.source.is_some();
        let unused = self.others.iter().filter(in_file).filter(|given| !has_purpose(given));
        let mut items: Vec<ObjectReport> = unused.map(PolicyInput::not_evaluated).collect();
        let is_needed = !self.policies.is_empty() || !self.bindings.is_empty() || !self.webhooks.is_empty();
        if items.is_empty() && !is_needed && self.given.is_empty() {
            let source = SourceLocation::source(&paths.join(", ").into());
            let reason = "there is neither an admission policy nor an object on which admission depends";
            let mut item = ObjectReport::new(source, Verdict::CannotTell, reason);
            item.help = Some(POLICIES.to_owned());
            items.push(item);
        }
        items
    }

    /// Returns true if any policy reads managedFields, which are not tracked otherwise.
    pub fn read_managed_fields(&self) -> bool {
        let reads = |given: &PolicyInput| crdx_value::json::to_string(&given.object).contains("managedFields");
        self.policies.iter().any(reads)
    }

    /// Removes the policies that the release does not enforce.
    pub(super) fn leave_inactive(&mut self, release: Release, notes: &mut Vec<RunNote>) {
        if release.enables(Gate::MutatingAdmissionPolicy) {
            return;
        }
        let inactive = |given: &PolicyInput| policy_kind(&given.object) == PolicyKind::Mutating;
        let name = |given: &PolicyInput| given.object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
        let left: Vec<String> = self.policies.iter().filter(|given| inactive(given)).map(name).collect();
        self.policies.retain(|given| !inactive(given));
        self.bindings.retain(|given| !inactive(given));
        let left: BTreeSet<String> = left.into_iter().collect();
        if !left.is_empty() {
            let message = format!(
                "Kubernetes {release} enforces MutatingAdmissionPolicy only with its feature gate, which is off by default; \
                 not evaluated: {}",
                left.into_iter().collect::<Vec<_>>().join(", ")
            );
            notes.push(RunNote { kind: "inactivePolicies", message });
        }
    }

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

impl PolicyInput {
    /// Stores the object, replacing one with the same name.
    ///
    /// # Errors
    /// Returns an item if the server refuses the object; the existing object is kept.
    pub(super) fn store(
        &self,
        server: &Server,
        resource: &Resource,
        namespace: Option<&str>,
        now: Timestamp,
    ) -> Result<(), Box<ObjectReport>> {
        let definition = format!("{}.{}", resource.plural, resource.group);
        let namespace_name = namespace.unwrap_or_default();
        let Some(source) = &self.source else {
            return server
                .seed(&definition, namespace_name, self.object.clone())
                .map_err(|error| self.unusable(&error.to_string()));
        };
        let name = self.object.str_at(&["metadata", "name"]).unwrap_or_default();
        let mut object = self.object.clone();
        request::remove_decodable_server_metadata(&mut object);
        let request_options = RequestOptions { level: FieldValidation::Strict, dry_run: false, table: false, now };
        let stored = server.stored(&definition, namespace_name, name);
        let is_policy = resource.group == crdx_server::policies::GROUP;
        // The API refuses the names of policies that servers read from files: it validates them with another name.
        let manifest = name.strip_suffix(STATIC_SUFFIX).filter(|_| is_policy).map(|stem| format!("{stem}.manifest"));
        if let Some(other) = &manifest {
            server.withdraw(&definition, namespace_name, name);
            object.insert_at(&["metadata", "name"], other.as_str().into());
        }
        let stored = stored.filter(|_| manifest.is_none());
        let mut send = match &stored {
            Some(stored) if is_policy => {
                let path = resource.object_path(namespace, name);
                request::replace(&path, object, Some(stored), None, request_options)
            }
            _ => {
                server.withdraw(&definition, namespace_name, name);
                request::create(&resource.path(namespace), object, request_options)
            }
        };
        send.skips_admission = true;
        let response = server.handle(&send);
        if matches!(response.code, 200 | 201) {
            let written = manifest.and_then(|other| {
                let written = server.stored(&definition, namespace_name, &other);
                server.withdraw(&definition, namespace_name, &other);
                written
            });
            if let Some(written) = written {
                let mut object = Value::clone(&written);
                object.insert_at(&["metadata", "name"], name.into());
                server.seed(&definition, namespace_name, object).map_err(|error| self.unusable(&error.to_string()))?;
            }
            return Ok(());
        }
        if !is_policy {
            return Err(self.unusable(response.body.message()));
        }
        let mut item = answer::read_built_in_response(
            response,
            identity(&self.object, Namespace::None),
            &source.finder(),
            server.release(),
        );
        item.help = Some("policies are evaluated without it".to_owned());
        Err(Box::new(item))
    }

    /// Returns the item of an object of a file that the server would refuse, without storing it.
    pub(super) fn check(&self, server: &Server, resource: &Resource, now: Timestamp) -> Result<(), Box<ObjectReport>> {
        let mut object = self.object.clone();
        request::remove_decodable_server_metadata(&mut object);
        let request_options = RequestOptions { level: FieldValidation::Strict, dry_run: true, table: false, now };
        let mut send = request::create(&resource.path(None), object, request_options);
        send.skips_admission = true;
        let response = server.handle(&send);
        if response.code == 201 { Ok(()) } else { Err(self.unusable(response.body.message())) }
    }

    /// Returns the item of a custom resource that is no param of a policy.
    fn not_evaluated(&self) -> ObjectReport {
        let reason = "it is not evaluated: it is neither an admission policy of Kubernetes nor a param of one";
        let mut item = ObjectReport::new(self.location.clone(), Verdict::CannotTell, reason);
        item.identity = identity(&self.object, Namespace::Own);
        item.help = Some(POLICIES.to_owned());
        item
    }

    /// Returns the item of an object that is not used, because the server would refuse it.
    fn unusable(&self, detail: &str) -> Box<ObjectReport> {
        let reason = format!("the server would reject it: {detail}");
        let mut item = ObjectReport::new(self.location.clone(), Verdict::CannotTell, reason);
        item.identity = identity(&self.object, Namespace::Own);
        item.help = Some("correct it: policies are evaluated without it".to_owned());
        Box::new(item)
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

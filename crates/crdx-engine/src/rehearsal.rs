//! Simulates the upgrade of a CRD or a cluster: the effect on stored objects when their CRD is replaced.
//!
//! One [`Plan`] holds both CRDs and the server's response to the update. Each thread makes a [`Stage`] of it, which
//! reads one stored object at a time under the old and the new CRD, validates it and tries an update.

mod columns;
pub mod gate_changes;
#[cfg(feature = "simulator")]
pub mod kubernetes;
#[cfg(feature = "simulator")]
pub mod policies;
mod replace;

pub use columns::ColumnChange;

use crate::kubectl::{Operation, request};
use crate::report::Difference;
use crdx_server::server::http::address;
use crdx_server::server::{Method, Request, Response, ResponseBody, SeedError, Server, Timestamp};
use crdx_value::GoError;
use crdx_value::field::{ErrorList, ErrorType, FieldError, UNFINISHED};
use crdx_value::release::{Release, ReleaseSet};
use crdx_value::sort::sort_by_key;
use crdx_value::{Value, json, object};
use std::sync::Arc;

/// The old and the new CRD, and the server's response to the update.
#[derive(Debug)]
pub struct Plan {
    /// The name of the CRD.
    pub name: String,
    /// The group of its objects.
    pub group: String,
    /// The kind of its objects.
    pub kind: String,
    /// True if its objects are namespaced.
    pub namespaced: bool,
    /// The response to the PUT of the new CRD over the old one, or to its POST if there is no old one.
    pub answer: Response,
    /// The changes of the printer columns.
    pub columns: Vec<ColumnChange>,
    old: Option<Value>,
    new: Value,
    releases: Releases,
    now: Timestamp,
}

/// The releases before and after the upgrade; equal when only the CRD changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Releases {
    /// The release that serves the old CRD and the stored objects.
    pub old: Release,
    /// The release that serves the new CRD.
    pub new: Release,
}

impl Releases {
    /// No change of release.
    pub fn both(release: Release) -> Self {
        Self { old: release, new: release }
    }
}

/// The effect on one object.
#[derive(Clone, Debug, Default)]
pub struct ObjectOutcome {
    /// The fields that reading it drops, adds and changes.
    pub difference: Difference,
    /// The validation errors under the new CRD.
    pub errors: ErrorList,
    /// True if the old CRD has an error of the same type in each of these fields, and blocks updates if the new one does, so that the upgrade is
    /// not their cause.
    pub was_invalid: bool,
    /// The result of an update that only adds a label.
    pub edit: Edit,
    /// Printer column cells that change: column, before, after.
    pub cells: Vec<(String, String, String)>,
    /// The version it is read in under the new CRD, if that changes.
    pub moved_to: Option<String>,
}

impl ObjectOutcome {
    /// Returns true if the upgrade makes the object invalid, or blocks its updates.
    pub fn becomes_invalid(&self) -> bool {
        !self.was_invalid && (!self.errors.is_empty() || matches!(self.edit, Edit::Blocked(_)))
    }
}

/// The server's response to an update of an unrelated field.
#[derive(Clone, Debug, Default)]
pub enum Edit {
    /// The object is valid, and no transition rule rejects an update that changes nothing.
    #[default]
    Untried,
    /// The update is accepted: errors in unchanged fields are tolerated.
    Passes,
    /// The update is rejected: the next writer has to fix the errors first. The object itself may be valid.
    Blocked(ErrorList),
}

impl Edit {
    fn of_valid_object(self) -> Self {
        if matches!(self, Self::Passes) { Self::Untried } else { self }
    }
}

/// The reason why an object cannot be rehearsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RehearsalError {
    /// It cannot be read under the old CRD.
    #[error("{0}")]
    Old(GoError),
    /// It cannot be read under the new CRD.
    #[error("{0}")]
    New(GoError),
}

/// Rehearses objects, one at a time.
#[derive(Debug)]
pub struct Stage {
    old: Option<Server>,
    new: Server,
    /// The served versions, the preferred one first.
    old_versions: Vec<String>,
    new_versions: Vec<String>,
    /// True if the new CRD has a rule that compares an object with the one before the update.
    has_transition_rules: bool,
}

/// The reason why an update of a CRD cannot be rehearsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The CRDs have different names.
    #[error("the new CRD is {new}, the old one {old}")]
    Names {
        /// The name of the old CRD.
        old: String,
        /// The name of the new CRD.
        new: String,
    },
    /// The old CRD cannot be stored.
    #[error("the old CRD cannot be read: {0}")]
    Old(SeedError),
    /// The new CRD cannot be stored.
    #[error(transparent)]
    New(SeedError),
    /// The server does not return the old CRD; the server's message.
    #[error("{0}")]
    Unreadable(GoError),
}

impl Plan {
    /// The update of the CRD `old`, if there is one, to `new`.
    ///
    /// # Errors
    /// If the two CRDs are not versions of one another.
    pub fn new(old: Option<Value>, mut new: Value, releases: Releases, now: Timestamp) -> Result<Self, PlanError> {
        let text = |crd: &Value, path: &[&str]| crd.str_at(path).unwrap_or_default().to_owned();
        let name = text(&new, &["metadata", "name"]);
        if let Some(old) = &old
            && text(old, &["metadata", "name"]) != name
        {
            return Err(PlanError::Names { old: text(old, &["metadata", "name"]), new: name });
        }
        request::remove_cluster_state(&mut new);
        let (_, answer) = update(old.as_ref(), &new, releases, now)?;
        let columns = old.as_ref().map(|old| columns::changes(old, &new)).unwrap_or_default();
        Ok(Self {
            group: text(&new, &["spec", "group"]),
            kind: text(&new, &["spec", "names", "kind"]),
            namespaced: text(&new, &["spec", "scope"]) == "Namespaced",
            name,
            answer,
            columns,
            old,
            new,
            releases,
            now,
        })
    }

    /// Sends the new CRD to another server, which may have policies, and keeps its response.
    ///
    /// # Errors
    /// The server cannot store the old CRD.
    pub fn send_to(&mut self, server: &Server) -> Result<(), PlanError> {
        self.answer = replace_definition(server, self.old.as_ref(), &self.new, self.now)?;
        Ok(())
    }

    /// Returns true if the server accepts the new CRD.
    pub fn is_accepted(&self) -> bool {
        matches!(self.answer.code, 200 | 201)
    }

    /// The releases of the upgrade: one, or those before and after it.
    pub fn releases(&self) -> ReleaseSet {
        let Releases { old, new } = self.releases;
        ReleaseSet::from_releases([old, new]).unwrap_or_else(|| new.into())
    }

    /// Returns true if there is an old CRD.
    pub fn is_update(&self) -> bool {
        self.old.is_some()
    }

    /// A stage. If the server rejects the new CRD, the stage serves it nevertheless.
    ///
    /// # Errors
    /// One of the CRDs cannot be stored.
    pub fn stage(&self) -> Result<Stage, PlanError> {
        let old = match &self.old {
            Some(old) => {
                let server = Server::builder(self.releases.old, 0).without_managed_fields().build();
                server.seed_definition(old, self.now).map_err(PlanError::Old)?;
                Some(server)
            }
            None => None,
        };
        let (mut new, answer) = update(self.old.as_ref(), &self.new, self.releases, self.now)?;
        if !matches!(answer.code, 200 | 201) {
            new = Server::builder(self.releases.new, 0).without_managed_fields().build();
            new.seed_definition(&self.new, self.now).map_err(PlanError::New)?;
        }
        Ok(Stage {
            old_versions: self.old.as_ref().map(served).unwrap_or_default(),
            new_versions: served(&self.new),
            has_transition_rules: json::to_string(&self.new).contains("oldSelf"),
            old,
            new,
        })
    }

    /// Rehearses one stored object; `namespace` is empty for a cluster-scoped one.
    pub fn rehearse(&self, stage: &Stage, namespace: &str, stored: Value) -> Result<ObjectOutcome, RehearsalError> {
        let name = stored.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
        let outcome = self.on(stage, namespace, &name, stored);
        for server in stage.old.iter().chain([&stage.new]) {
            server.withdraw(&self.name, namespace, &name);
        }
        outcome
    }

    fn on(&self, stage: &Stage, namespace: &str, name: &str, stored: Value) -> Result<ObjectOutcome, RehearsalError> {
        let version = stored.str_at(&["apiVersion"]).and_then(|v| v.split_once('/')).map_or("", |(_, v)| v).to_owned();
        let pick = |served: &[String]| match served.iter().find(|v| **v == version) {
            Some(own) => own.clone(),
            None => served.first().cloned().unwrap_or_default(),
        };
        let (before, kept, old_version) = match &stage.old {
            Some(old) => {
                let version = pick(&stage.old_versions);
                let seeded = old.seed(&self.name, namespace, stored);
                seeded.map_err(|error| RehearsalError::Old(error.to_string().into()))?;
                let kept = old.stored(&self.name, namespace, name).map(Arc::unwrap_or_clone).unwrap_or_default();
                let path = self.path(&version, namespace, name);
                (Some(read(old, &path, self.now).map_err(RehearsalError::Old)?), kept, version)
            }
            None => (None, stored, version.clone()),
        };
        let seeded = stage.new.seed(&self.name, namespace, kept.clone());
        seeded.map_err(|error| RehearsalError::New(error.to_string().into()))?;
        let new_version = pick(&stage.new_versions);
        let path = self.path(&new_version, namespace, name);
        let after = read(&stage.new, &path, self.now).map_err(RehearsalError::New)?;
        let errors = stage.new.validate_object(&self.name, &new_version, &after).map(|verdict| verdict.errors);
        let errors = errors.unwrap_or_default();
        if errors.iter().any(|error| error.kind == ErrorType::Unfinished) {
            return Err(RehearsalError::New(UNFINISHED.into()));
        }
        let edit = match () {
            () if !errors.is_empty() => touch(&stage.new, &path, self.now)?,
            () if stage.has_transition_rules => touch(&stage.new, &path, self.now)?.of_valid_object(),
            () => Edit::Untried,
        };
        let was_invalid = match (&stage.old, &before) {
            (Some(old), Some(before)) if !matches!(edit, Edit::Untried) => {
                let known = old.validate_object(&self.name, &old_version, before).map(|verdict| verdict.errors);
                let known = known.unwrap_or_default();
                let is_known =
                    |new: &FieldError| known.iter().any(|old| (old.kind, &old.field) == (new.kind, &new.field));
                errors.iter().all(is_known) && self.keeps_updates(old, (&old_version, namespace, name), &edit)?
            }
            _ => false,
        };
        let difference = match &before {
            Some(before) => Difference::between(&comparable(before, false), &comparable(&after, false), &kept),
            None => Difference::between(&comparable(&kept, true), &comparable(&after, true), &kept),
        };
        let cells = match (&stage.old, &before) {
            (Some(old), Some(before)) => {
                let table = |server: &Server, version: &str, object: &Value| {
                    server.table_of(&self.name, version, std::slice::from_ref(object), self.now).unwrap_or_default()
                };
                columns::changed_cells(&table(old, &old_version, before), &table(&stage.new, &new_version, &after))
            }
            _ => Vec::new(),
        };
        let moved_to = (old_version != new_version).then_some(new_version);
        Ok(ObjectOutcome { difference, errors, was_invalid, edit, cells, moved_to })
    }

    /// Returns true if the upgrade does not block updates of an object: they are not blocked after it, or before it, too.
    fn keeps_updates(
        &self,
        old: &Server,
        (version, namespace, name): (&str, &str, &str),
        after: &Edit,
    ) -> Result<bool, RehearsalError> {
        match after {
            Edit::Blocked(_) => {
                let before = touch(old, &self.path(version, namespace, name), self.now)?;
                Ok(matches!(before, Edit::Blocked(_)))
            }
            _ => Ok(true),
        }
    }

    /// The path of all stored objects, as the cluster with the old CRD serves them.
    pub fn collection(&self) -> Option<String> {
        let version = served(self.old.as_ref()?).into_iter().next()?;
        Some(address::collection(&self.group, &version, self.plural(), None))
    }

    fn path(&self, version: &str, namespace: &str, name: &str) -> String {
        let namespace = Some(namespace).filter(|_| self.namespaced);
        address::object(&address::collection(&self.group, version, self.plural(), namespace), name)
    }

    /// The plural name of the kind.
    pub fn plural(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }
}

/// A server on which `new` replaced `old`, and its response.
fn update(
    old: Option<&Value>,
    new: &Value,
    releases: Releases,
    now: Timestamp,
) -> Result<(Server, Response), PlanError> {
    let server = Server::builder(releases.new, 0).without_managed_fields().build();
    let answer = replace_definition(&server, old, new, now)?;
    Ok((server, answer))
}

/// The response of a server that stores `old`, if there is one, to `new`.
fn replace_definition(
    server: &Server,
    old: Option<&Value>,
    new: &Value,
    now: Timestamp,
) -> Result<Response, PlanError> {
    let Some(old) = old else {
        return Ok(server.handle_owned(write(Operation::Create, address::DEFINITIONS, new.clone(), now)));
    };
    server.seed_definition(old, now).map_err(PlanError::Old)?;
    let name = new.str_at(&["metadata", "name"]).unwrap_or_default();
    let path = address::object(address::DEFINITIONS, name);
    let stored = read(server, &path, now).map_err(PlanError::Unreadable)?;
    let mut new = new.clone();
    let revision = stored.at(&["metadata", "resourceVersion"]).cloned().unwrap_or_default();
    if let Some(metadata) = new.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("resourceVersion".to_owned(), revision);
    }
    Ok(server.handle_owned(write(Operation::Replace, &path, new, now)))
}

/// The served versions of a CRD, the storage version first.
fn served(crd: &Value) -> Vec<String> {
    let versions = crd.at(&["spec", "versions"]).and_then(Value::as_array).unwrap_or_default();
    let is = |version: &Value, key: &str| version.get(key).and_then(Value::as_bool) == Some(true);
    let mut served: Vec<&Value> = versions.iter().filter(|v| is(v, "served")).collect();
    sort_by_key(&mut served, |v| !is(v, "storage"));
    served.iter().filter_map(|v| v.str_at(&["name"])).map(str::to_owned).collect()
}

fn write(operation: Operation, path: &str, object: Value, now: Timestamp) -> Request {
    Request { user_agent: Some("kubectl".to_owned()), now, ..request::plain(operation, path, object) }
}

/// The object at `path`, or the reason why it cannot be read.
fn read(server: &Server, path: &str, now: Timestamp) -> Result<Value, GoError> {
    let response = server.handle(&Request { now, ..Request::new(Method::Get, path, "") });
    match (response.code, response.body) {
        _ if response.trace.is_unfinished => Err(UNFINISHED.into()),
        (200, ResponseBody::Json(object)) => Ok(Arc::unwrap_or_clone(object)),
        (_, body) => Err(body.message().into()),
    }
}

/// Adds a label to the object at `path` in a dry run.
fn touch(server: &Server, path: &str, now: Timestamp) -> Result<Edit, RehearsalError> {
    let labels = object([("crdx-rehearsal", "touched")]);
    let patch = object([("metadata", object([("labels", labels)]))]);
    let path = format!("{path}?dryRun=All&fieldValidation=Ignore");
    let response = server.handle_owned(write(Operation::Patch, &path, patch, now));
    if response.trace.is_unfinished {
        return Err(RehearsalError::New(UNFINISHED.into()));
    }
    Ok(if response.code == 200 { Edit::Passes } else { Edit::Blocked(response.trace.errors) })
}

/// The part of an object that is compared: without its version and the times of writes.
fn comparable(object: &Value, without_metadata: bool) -> Value {
    let mut object = object.clone();
    if let Some(members) = object.as_object_mut() {
        members.remove("apiVersion");
        if without_metadata {
            members.remove("metadata");
        }
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    object
}

#[cfg(test)]
mod tests;

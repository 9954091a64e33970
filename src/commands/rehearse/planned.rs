//! The CRDs of an operator before and after its upgrade.

use super::admission::{AdmissionEffect, AdmissionUpgrade};
use super::definition::definition_report;
use super::known::{AcceptKnown, DELETED, DELETED_MESSAGE};
use super::matrix::Matrix;
use super::policies::accept_denials;
use super::possible_objects::PossibleObjects;
use super::report::rehearsed_object::RehearsedObject;
use super::update::RehearsedDefinition;
use crate::commands::error::Error;
use crate::commands::terminal;
use crdx_engine::rehearsal::{Plan, PlanError, Releases};
use crdx_engine::report::{Identity, KnownFinding, ObjectReport, SourceLocation};
use crdx_engine::simulation::identity::FieldLocator as _;
use crdx_engine::simulation::removed_versions::RemovedVersions;
use crdx_input::baseline::Baseline;
use crdx_value::Value;
use std::sync::Arc;

/// The update of one CRD.
pub struct PlannedDefinition {
    pub plan: Plan,
    /// The server's response.
    pub item: ObjectReport,
    pub removed_versions: RemovedVersions,
    /// The storage versions before and after the update.
    pub storage: (Option<String>, String),
    /// The effects on other objects that the old CRD accepts.
    pub possible: PossibleObjects,
    /// The CRD as it was read from the cluster.
    pub read: Option<Value>,
}

/// A CRD that the new version of the operator does not have.
pub struct DeletedDefinition {
    /// The plan of an update to the same CRD.
    pub plan: Plan,
    pub name: String,
    pub location: SourceLocation,
}

/// The parts of an upgrade.
#[derive(Clone, Copy)]
pub struct Upgraded<'a> {
    pub planned: &'a [PlannedDefinition],
    pub deleted: &'a [DeletedDefinition],
    pub admission: &'a AdmissionUpgrade<'a>,
    pub matrix: &'a Matrix<'a>,
    pub releases: Releases,
}

/// The effects of the upgrade on an object: by its CRD, by the new policies and webhooks, or both.
pub struct OperatorObject {
    pub definition: Option<DefinitionEffect>,
    pub admission: Option<AdmissionEffect>,
}

/// The effect of the new CRDs on an object.
pub enum DefinitionEffect {
    /// The CRD is updated, by its index.
    Updated(usize, Box<RehearsedObject>),
    /// The CRD disappears.
    Deleted(DeletedObject),
}

/// An object of a CRD that disappears.
pub struct DeletedObject {
    /// The index of the CRD.
    pub definition: usize,
    pub identity: Identity,
    pub location: SourceLocation,
    /// The entry of the baseline that accepts its deletion.
    pub known: Option<Arc<KnownFinding>>,
}

impl AcceptKnown for OperatorObject {
    fn accept(&mut self, baseline: &mut Baseline) {
        match &mut self.definition {
            Some(DefinitionEffect::Updated(_, entry)) => entry.accept(baseline),
            Some(DefinitionEffect::Deleted(DeletedObject { identity, location, known, .. })) => {
                let findings = [(DELETED, DELETED_MESSAGE.to_owned())];
                *known = baseline.accept_findings(identity, location, &findings).pop().flatten();
            }
            None => {}
        }
        if let Some(AdmissionEffect { item, effects, .. }) = &mut self.admission {
            accept_denials(item, effects, baseline);
        }
    }
}

/// Plans the update of `old`, which may have been read from the cluster, to `new`, while the old policies are in force.
///
/// # Errors
/// A CRD cannot be read.
pub fn plan(
    new: &RehearsedDefinition,
    old: Option<Value>,
    read: Option<Value>,
    releases: Releases,
    tries: u32,
    admission: &AdmissionUpgrade<'_>,
) -> Result<PlannedDefinition, Error> {
    let removed_versions = old.as_ref().map(|old| RemovedVersions::between(old, &new.value)).unwrap_or_default();
    let storage = (old.as_ref().map(storage_version), storage_version(&new.value));
    let possible = PossibleObjects::search(old.as_ref(), &new.value, releases, tries);
    let unusable = |error: PlanError| Error::input_at(error.to_string(), new.object.finder().start(), None);
    let mut plan = Plan::new(old, new.value.clone(), releases, terminal::now()).map_err(unusable)?;
    if plan.is_accepted()
        && let Some(server) = admission.server_of_definitions(releases.new)
    {
        plan.send_to(&server).map_err(unusable)?;
    }
    let item = definition_report(new, &plan, &removed_versions);
    Ok(PlannedDefinition { plan, item, removed_versions, storage, possible, read })
}

/// Plans the deletion of a CRD.
///
/// # Errors
/// The CRD cannot be read.
pub fn deletion(old: &RehearsedDefinition, releases: Releases) -> Result<DeletedDefinition, Error> {
    let location = old.object.finder().start();
    let plan = Plan::new(Some(old.value.clone()), old.value.clone(), releases, terminal::now())
        .map_err(|error| Error::input_at(error.to_string(), location.clone(), None))?;
    Ok(DeletedDefinition { plan, name: old.name().to_owned(), location })
}

fn storage_version(crd: &Value) -> String {
    let versions = crd.at(&["spec", "versions"]).and_then(Value::as_array).unwrap_or_default();
    let is_storage = |version: &&Value| version.get("storage").and_then(Value::as_bool) == Some(true);
    let storage = versions.iter().find(is_storage).and_then(|version| version.str_at(&["name"]));
    storage.unwrap_or_default().to_owned()
}

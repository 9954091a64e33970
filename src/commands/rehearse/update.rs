//! The update of one CRD, and its effect on an object.

use super::known::KnownEffects;
use super::objects::Rehearsal;
use super::report::rehearsed_object::RehearsedObject;
use crdx_engine::rehearsal::{Plan, PlanError, RehearsalError, Stage};
use crdx_engine::simulation::identity::{self, FieldLocator};
use crdx_engine::simulation::object::Object;
use crdx_engine::simulation::removed_versions::RemovedVersions;
use crdx_value::Value;
use crdx_value::group_version;
use crdx_value::lock::lock;
use std::sync::Mutex;

/// A CRD with its source.
pub struct RehearsedDefinition {
    pub object: Object,
    pub value: Value,
}

impl RehearsedDefinition {
    pub fn name(&self) -> &str {
        self.value.str_at(&["metadata", "name"]).unwrap_or_default()
    }
}

/// The update of the CRD, and the servers on which its effects are simulated.
pub struct Upgrade<'a> {
    plan: &'a Plan,
    /// Idle stages.
    stages: Mutex<Vec<Stage>>,
    namespace: &'a str,
    /// True if objects must be rewritten before the server accepts the new CRD.
    must_migrate: bool,
}

impl<'a> Upgrade<'a> {
    pub fn new(plan: &'a Plan, namespace: &'a str, removed: &RemovedVersions) -> Self {
        Self { plan, stages: Mutex::default(), namespace, must_migrate: removed.needs_migration() }
    }

    /// Creates the servers for the first object.
    ///
    /// # Errors
    /// A server cannot store one of the CRDs.
    pub fn prepare(&self) -> Result<(), PlanError> {
        let stage = self.plan.stage()?;
        lock(&self.stages).push(stage);
        Ok(())
    }

    /// Returns true if the CRD defines the kind.
    pub fn is_of(&self, group: &str, kind: &str) -> bool {
        group == self.plan.group && kind == self.plan.kind
    }

    /// Returns the plural name of the kind.
    pub fn plural(&self) -> &str {
        self.plan.plural()
    }
}

impl Rehearsal for Upgrade<'_> {
    type Effect = RehearsedObject;

    fn takes(&self, _: &Object, group: &str, kind: &str) -> bool {
        self.is_of(group, kind)
    }

    fn rehearse(&self, value: Value, finder: &dyn FieldLocator) -> RehearsedObject {
        let namespace =
            if self.plan.namespaced { identity::Namespace::Or(self.namespace) } else { identity::Namespace::None };
        let identity = identity::identity(&value, namespace);
        let idle = lock(&self.stages).pop();
        let stage = idle.map_or_else(|| self.plan.stage(), Ok);
        let outcome = match stage {
            Ok(stage) => {
                let namespace = identity.namespace.as_deref().unwrap_or_default();
                let outcome = self.plan.rehearse(&stage, namespace, value);
                lock(&self.stages).push(stage);
                outcome
            }
            Err(error) => Err(RehearsalError::Old(error.to_string().into())),
        };
        let errors = outcome.as_ref().map(|outcome| outcome.errors.as_slice()).unwrap_or_default();
        let locations = errors.iter().map(|error| finder.field(&error.field)).collect();
        let (location, must_migrate) = (finder.start(), self.must_migrate);
        RehearsedObject { location, identity, outcome, locations, must_migrate, known: KnownEffects::default() }
    }
}

/// Returns the group and the kind of an object.
pub fn group_and_kind(object: &Value) -> (&str, &str) {
    let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
    (group_version::group(api_version), object.str_at(&["kind"]).unwrap_or_default())
}

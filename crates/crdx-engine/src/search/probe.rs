//! The servers with the old and the new CRD, and what they answer to one object.

use super::kept_status::with_status_in_objects;
use crate::examples::{Checker, ExampleError, Rejection, own_errors};
use crate::rehearsal::{ColumnChange, Edit, ObjectOutcome, Plan, PlanError, Releases, Stage};
use crdx_server::rules::node::{step, steps};
use crdx_value::field::FieldError;
use crdx_value::release::Release;
use crdx_value::{Value, json};
use std::sync::{Arc, OnceLock};

/// An effect of the new CRD on an object that the old one accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// A create is rejected.
    CreateRejected,
    /// An update of the stored object is rejected that the old CRD accepts.
    UpdateRejected,
    /// A value that was sent or stored is lost.
    Pruned,
    /// A default is added, is another one or is missing.
    Defaulted,
    /// The printer columns show something else.
    Printed,
}

impl Question {
    /// Every question, in the order of reports.
    pub const ALL: [Self; 5] =
        [Self::CreateRejected, Self::UpdateRejected, Self::Pruned, Self::Defaulted, Self::Printed];

    /// Returns true if the effect is that the server rejects a request.
    pub fn is_rejection(self) -> bool {
        matches!(self, Self::CreateRejected | Self::UpdateRejected)
    }

    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CreateRejected => "createRejected",
            Self::UpdateRejected => "updateRejected",
            Self::Pruned => "pruned",
            Self::Defaulted => "defaulted",
            Self::Printed => "printed",
        }
    }
}

/// An object that shows an effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Counterexample {
    /// The object, as it is created under the old CRD.
    pub object: Value,
    /// The object that replaces it, if another one is needed to show the effect.
    pub updated: Option<Value>,
    /// The errors of the server, or the fields and columns that change.
    pub details: Vec<String>,
}

/// An effect on one object, with details.
pub type Effect = (Question, Vec<String>);

/// The servers for one version.
pub struct Probe<'p> {
    /// The server with the old CRD.
    pub old: Checker,
    /// The server with the new CRD.
    pub new: Checker,
    plan: &'p Plan,
    stage: Stage,
    columns: Vec<String>,
    /// The old CRD without status subresources.
    old_with_status: Value,
    /// The server with that CRD, which keeps the status of a create; made for the first object that has a status.
    with_status: OnceLock<Option<Checker>>,
    /// The release of the server with the old CRD.
    old_release: Release,
    /// The release of the server with the new CRD.
    release: Release,
}

/// The reason why there are no servers.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProbeError {
    /// One of the CRDs cannot be served.
    #[error(transparent)]
    Crd(#[from] ExampleError),
    /// One of the CRDs cannot be stored.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl<'p> Probe<'p> {
    /// Creates the servers for a version that both CRDs serve.
    pub fn new(
        plan: &'p Plan,
        (old, new): (&Value, &Value),
        version: &str,
        releases: Releases,
    ) -> Result<Self, ProbeError> {
        let of_version = plan.columns.iter().filter(|change| change.version == version);
        let old_with_status = with_status_in_objects(old.clone());
        let old = Checker::new(old, Some(version), releases.old)?;
        Ok(Self {
            old_with_status,
            with_status: OnceLock::new(),
            old_release: releases.old,
            old,
            new: Checker::new(new, Some(version), releases.new)?,
            stage: plan.stage()?,
            columns: of_version.map(column_text).collect(),
            plan,
            release: releases.new,
        })
    }

    /// Returns the effects on an object.
    ///
    /// # Errors
    /// Returns the reason why the old CRD rejects the object.
    pub fn effects(&self, object: &Value) -> Result<Vec<Effect>, Rejection> {
        let created = self.old.send(object)?;
        let mut effects = Vec::new();
        match self.new.send_with_unknown_fields(object) {
            Ok(other) => stored_differently(object, &created, &other, &mut effects),
            Err(rejection) if rejection.is_unfinished => {}
            Err(rejection) => effects.push((Question::CreateRejected, self.texts(&rejection))),
        }
        if let Some(stored) = self.stored(object, &created)
            && let Ok(outcome) = self.plan.rehearse(&self.stage, self.namespace(), stored)
        {
            self.of_stored(&outcome, &mut effects);
        }
        Ok(effects)
    }

    /// Returns the errors of the update of `from` to `to` under the new CRD; `None` if it accepts the update, or the old one
    /// does not.
    pub fn update(&self, from: &Value, to: &Value) -> Option<Vec<String>> {
        let (sent, stored, Ok(_)) = self.old.update(from, to)? else { return None };
        let place = (self.old.version.as_str(), self.namespace());
        let answer = self.plan.replace(&self.stage, place, &stored, &sent).ok()?;
        if answer.code < 400 {
            return None;
        }
        let errors = self.own_texts(&answer.trace.errors);
        Some(if errors.is_empty() { vec![answer.body.message().to_owned()] } else { errors })
    }

    fn namespace(&self) -> &'static str {
        if self.plan.namespaced { "default" } else { "" }
    }

    /// Returns the object as the old CRD stores it, with its status, which a create may drop. `None` if that status is not valid.
    fn stored(&self, object: &Value, created: &Arc<Value>) -> Option<Value> {
        if object.get("status").is_none() {
            return Some(Value::clone(created));
        }
        let checker = || Checker::new(&self.old_with_status, Some(&self.old.version), self.old_release).ok();
        let stored = self.with_status.get_or_init(checker).as_ref()?.send(object).ok()?;
        Some(Value::clone(&stored))
    }

    /// Returns the errors of a rejection.
    fn texts(&self, rejection: &Rejection) -> Vec<String> {
        let errors = self.own_texts(&rejection.errors);
        if errors.is_empty() { vec![rejection.message.clone()] } else { errors }
    }

    /// Returns the errors, without the one that only reports that rules were not evaluated.
    fn own_texts(&self, errors: &[FieldError]) -> Vec<String> {
        own_errors(errors, self.release).iter().map(ToString::to_string).collect()
    }

    fn of_stored(&self, outcome: &ObjectOutcome, effects: &mut Vec<Effect>) {
        if let Edit::Blocked(errors) = &outcome.edit
            && !outcome.was_invalid
        {
            add(effects, Question::UpdateRejected, self.own_texts(errors));
        }
        let difference = &outcome.difference;
        add(effects, Question::Pruned, difference.lost.iter().map(|(path, _)| path.clone()).collect());
        let appears = |(path, value): &(String, Value)| format!("{path}: none, now {}", json::to_string(value));
        let mut defaulted: Vec<String> =
            difference.defaulted.iter().chain(&difference.appearing).map(appears).collect();
        defaulted.extend(difference.changed.iter().map(|(path, was, is)| change_text(path, was, is)));
        add(effects, Question::Defaulted, defaulted);
        let cells = outcome.cells.iter().map(|(column, was, is)| format!("column {column}: {was:?}, now {is:?}"));
        add(effects, Question::Printed, self.columns.iter().cloned().chain(cells).collect());
    }
}

/// Adds what creates under both CRDs store differently.
fn stored_differently(sent: &Value, old: &Value, new: &Value, effects: &mut Vec<Effect>) {
    let difference = Plan::created_difference(old, new);
    let (mut pruned, mut defaulted) = (Vec::new(), Vec::new());
    for (path, value) in &difference.lost {
        let was_sent =
            steps(path).is_ok_and(|steps| steps.iter().try_fold(sent, |value, name| step(value, name)).is_some());
        if was_sent {
            pruned.push(path.clone());
        } else {
            defaulted.push(format!("{path}: {}, now none", json::to_string(value)));
        }
    }
    let appears = |(path, value): &(String, Value)| format!("{path}: none, now {}", json::to_string(value));
    defaulted.extend(difference.defaulted.iter().chain(&difference.appearing).map(appears));
    defaulted.extend(difference.changed.iter().map(|(path, was, is)| change_text(path, was, is)));
    add(effects, Question::Pruned, pruned);
    add(effects, Question::Defaulted, defaulted);
}

/// Adds an effect with details, unless there are none or the question has an answer already.
fn add(effects: &mut Vec<Effect>, question: Question, details: Vec<String>) {
    if !details.is_empty() && !effects.iter().any(|(one, _)| *one == question) {
        effects.push((question, details));
    }
}

fn change_text(path: &str, was: &Value, is: &Value) -> String {
    format!("{path}: {}, now {}", json::to_string(was), json::to_string(is))
}

fn column_text(change: &ColumnChange) -> String {
    match (&change.before, &change.after) {
        (None, Some(_)) => format!("column {} is new", change.name),
        (Some(_), None) => format!("column {} is removed", change.name),
        (was, is) => {
            let text = |column: &Option<String>| column.clone().unwrap_or_default();
            format!("column {}: {}, now {}", change.name, text(was), text(is))
        }
    }
}

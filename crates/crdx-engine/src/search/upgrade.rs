//! The effects of the update of a CRD on the objects that the old CRD accepts.

mod goals;
mod run;

use super::answer::{Answer, Effort, Unknown};
use super::probe::{Counterexample, Probe, ProbeError, Question};
use super::proof;
use crate::examples::{self, Checker, ExampleError, ExampleFields};
use crate::rehearsal::{Plan, PlanError, Releases};
use crdx_server::crd::{self, Spec};
use crdx_server::server::{Response, Timestamp};
use crdx_value::Value;
use crdx_value::release::Release;
pub use goals::GoalEffect;
use run::Run;

/// The answers for all versions.
#[derive(Debug)]
pub struct Upgrade {
    /// The server's response to the update of the CRD. If it is rejected, there are no versions.
    pub answer: Response,
    /// The versions that the old CRD serves.
    pub versions: Vec<VersionUpgrade>,
}

/// The answers for one version.
#[derive(Clone, Debug, PartialEq)]
pub struct VersionUpgrade {
    /// Its name.
    pub version: String,
    /// The answer to each question.
    pub answers: Vec<(Question, Answer)>,
    /// The number of objects, and updates, that were sent and that the old CRD accepts.
    pub accepted: usize,
}

impl VersionUpgrade {
    /// Returns the answer to a question.
    pub fn answer(&self, question: Question) -> Option<&Answer> {
        self.answers.iter().find(|(one, _)| *one == question).map(|(_, answer)| answer)
    }
}

/// The reason why two CRDs cannot be compared.
#[derive(Clone, Debug, thiserror::Error)]
pub enum UpgradeError {
    /// The old CRD cannot be served.
    #[error("the old CRD: {0}")]
    Old(ExampleError),
    /// The new CRD cannot be served.
    #[error("the new CRD: {0}")]
    New(ExampleError),
    /// The two are not versions of one CRD.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Searches for objects that the update of `old` to `new` affects, and that of the release of the server if there are two.
///
/// # Errors
/// The CRDs cannot be read, or they are not versions of one another.
pub fn upgrade(
    old: &Value,
    new: &Value,
    releases: Releases,
    now: Timestamp,
    effort: Effort,
) -> Result<Upgrade, UpgradeError> {
    let plan = Plan::new(Some(old.clone()), new.clone(), releases, now)?;
    let answer = plan.answer.clone();
    if !plan.is_accepted() {
        return Ok(Upgrade { answer, versions: Vec::new() });
    }
    let before = crd::decode(old).map_err(|error| UpgradeError::Old(error.into()))?.crd.spec;
    let after = crd::decode(new).map_err(|error| UpgradeError::New(error.into()))?.crd.spec;
    let served = before.versions.iter().filter(|version| version.served);
    let crds = Crds { old, new, before: &before, after: &after, releases };
    let versions = served.map(|version| crds.version(&plan, &version.name, effort)).collect::<Result<_, _>>()?;
    Ok(Upgrade { answer, versions })
}

/// The objects that show effects at given paths of one version.
#[derive(Clone, Debug, Default)]
pub struct Witnesses {
    /// An object for each path.
    pub objects: Vec<Option<Counterexample>>,
    /// The number of objects, and updates, that were sent and that the old CRD accepts.
    pub accepted: usize,
}

/// Searches for an object for each of the paths (`spec.list[*].name`) on which the update of a CRD has an effect there.
/// There are none if the new CRD is rejected or does not serve the version, or if a webhook converts its objects.
///
/// # Errors
/// The CRDs cannot be read, or they are not versions of one another.
pub fn witnesses(
    (old, new): (&Value, &Value),
    (version, goals): (&str, &[(String, GoalEffect)]),
    release: Release,
    now: Timestamp,
    effort: Effort,
) -> Result<Witnesses, UpgradeError> {
    let releases = Releases::both(release);
    let plan = Plan::new(Some(old.clone()), new.clone(), releases, now)?;
    let before = crd::decode(old).map_err(|error| UpgradeError::Old(error.into()))?.crd.spec;
    let after = crd::decode(new).map_err(|error| UpgradeError::New(error.into()))?.crd.spec;
    let crds = Crds { old, new, before: &before, after: &after, releases };
    let is_served = |spec: &Spec| spec.version(version).is_some_and(|version| version.served);
    if !plan.is_accepted() || !is_served(&before) || !is_served(&after) || crds.needs_webhook(version) {
        return Ok(Witnesses { objects: vec![None; goals.len()], accepted: 0 });
    }
    let probe = crds.probe(&plan, version)?;
    let mut run = Run::new(&probe, effort, &[]).at(goals);
    run.search();
    Ok(Witnesses { accepted: run.accepted(), objects: run.at_goals() })
}

struct Crds<'c> {
    old: &'c Value,
    new: &'c Value,
    before: &'c Spec,
    after: &'c Spec,
    releases: Releases,
}

impl Crds<'_> {
    fn version(&self, plan: &Plan, version: &str, effort: Effort) -> Result<VersionUpgrade, UpgradeError> {
        if !self.after.version(version).is_some_and(|version| version.served) {
            return self.removed(version);
        }
        let mut answers: Vec<(Question, Answer)> = Vec::new();
        let proved = self.proved(version);
        answers.extend(proved.iter().map(|question| (*question, Answer::NonePossible)));
        let open: Vec<Question> = Question::ALL.into_iter().filter(|question| !proved.contains(question)).collect();
        let mut accepted = 0;
        if self.needs_webhook(version) {
            let unknown = Answer::CannotTell(Unknown::ConversionWebhook);
            answers.extend(open.iter().map(|question| (*question, unknown.clone())));
        } else if !open.is_empty() {
            let probe = self.probe(plan, version)?;
            let mut run = Run::new(&probe, effort, &open);
            run.search();
            accepted = run.accepted();
            answers.extend(run.answers());
        }
        answers.sort_by_key(|(question, _)| *question);
        Ok(VersionUpgrade { version: version.to_owned(), answers, accepted })
    }

    fn probe<'p>(&self, plan: &'p Plan, version: &str) -> Result<Probe<'p>, UpgradeError> {
        Probe::new(plan, (self.old, self.new), version, self.releases).map_err(|error| match error {
            ProbeError::Crd(error) => UpgradeError::Old(error),
            ProbeError::Plan(error) => UpgradeError::Plan(error),
        })
    }

    /// Returns the questions whose answer is no, whatever the object.
    fn proved(&self, version: &str) -> Vec<Question> {
        if self.releases.old != self.releases.new {
            return Vec::new();
        }
        let (before, after) = (self.before, self.after);
        let accepts = proof::accepts_all(before, after, version);
        let stores = proof::stores_the_same(before, after, version);
        let prints = stores && proof::has_same_columns(before, after, version);
        let claims = [
            (Question::CreateRejected, accepts),
            // A transition rule may read what the new CRD stores differently.
            (Question::UpdateRejected, accepts && stores),
            (Question::Pruned, stores),
            (Question::Defaulted, stores),
            (Question::Printed, prints),
        ];
        claims.into_iter().filter(|(_, holds)| *holds).map(|(question, _)| question).collect()
    }

    /// Returns true if a webhook converts objects of the version under one of the CRDs.
    fn needs_webhook(&self, version: &str) -> bool {
        let needs = |spec: &Spec| spec.converts_by_webhook() && proof::storage_version(spec) != Some(version);
        [self.before, self.after].into_iter().any(needs)
    }

    /// Every object of a version that is no longer served shows it.
    fn removed(&self, version: &str) -> Result<VersionUpgrade, UpgradeError> {
        let checker = Checker::new(self.old, Some(version), self.releases.old).map_err(UpgradeError::Old)?;
        let example = examples::example(&checker, ExampleFields::Minimal).map_err(UpgradeError::Old)?;
        let answer = match example.rejection {
            None => Answer::Found(Box::new(Counterexample {
                object: example.object,
                updated: None,
                details: vec![format!("version {version} is no longer served")],
            })),
            Some(_) => Answer::CannotTell(Unknown::NoObject),
        };
        let answers = [Question::CreateRejected, Question::UpdateRejected].map(|question| (question, answer.clone()));
        Ok(VersionUpgrade { version: version.to_owned(), answers: answers.to_vec(), accepted: 1 })
    }
}

#[cfg(test)]
mod tests;

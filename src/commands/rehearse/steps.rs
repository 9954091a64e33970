//! The steps of an upgrade: what to do before, during and after it.

mod admission;

use super::admission::AdmissionUpgrade;
use super::planned::{DeletedDefinition, PlannedDefinition};
use super::report::admission::AdmissionCounts;
use super::report::definition::{EffectCounts, plural};
use crdx_engine::report::Verdict;
use crdx_value::{Value, json, object};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpgradeStep {
    /// The action, and the reason for it.
    pub text: String,
    /// The command that does it, if there is one.
    pub command: Option<String>,
}

/// The steps in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpgradeSteps {
    pub before: Vec<UpgradeStep>,
    pub during: Vec<UpgradeStep>,
    pub after: Vec<UpgradeStep>,
}

fn step(text: String, command: Option<String>) -> UpgradeStep {
    UpgradeStep { text, command }
}

fn save(name: &str) -> String {
    format!("kubectl get {name} --all-namespaces -o yaml > {name}.yaml")
}

impl UpgradeSteps {
    /// Returns the steps for CRDs with the effects on their objects, and for CRDs that disappear with the number of objects.
    pub fn new(
        updates: impl Iterator<Item = (PlannedUpdate, EffectCounts)>,
        deleted: &[(&DeletedDefinition, usize)],
        (admission, counts): (&AdmissionUpgrade<'_>, &AdmissionCounts),
    ) -> Self {
        let mut steps = Self::default();
        let mut files = BTreeSet::new();
        for (update, counts) in updates {
            steps.before(&update, &counts);
            if update.is_accepted && files.insert(update.file.clone()) {
                let text = format!("replace the CRDs of {}", update.file);
                let command = format!("kubectl apply --server-side --force-conflicts -f {}", update.file);
                steps.during.push(step(text, Some(command)));
            }
            steps.after(&update, &counts);
        }
        steps.add_admission(admission, counts, files);
        for (definition, count) in deleted {
            let name = &definition.name;
            if *count > 0 {
                let text = format!("save the objects of {name} ({count}): deleting the CRD deletes them");
                steps.before.push(step(text, Some(save(name))));
            }
            let text =
                format!("delete the CRD {name}, which is no longer part of the operator, if nothing else needs it");
            steps.after.push(step(text, Some(format!("kubectl delete crd {name}"))));
        }
        steps
    }

    fn before(&mut self, update: &PlannedUpdate, counts: &EffectCounts) {
        let name = &update.name;
        if let Some(problem) = &update.problem {
            self.before.push(step(format!("the server does not accept the new CRD {name}: {problem}"), None));
        }
        if counts.blocked() > 0 {
            let count = counts.blocked();
            self.before.push(step(
                format!("fix objects of {name} ({count}): the new CRD rejects every later update of them"),
                None,
            ));
        }
        if counts.unreadable() > 0 {
            let count = counts.unreadable();
            self.before
                .push(step(format!("fix objects of {name} ({count}): under the new CRD they cannot be read"), None));
        }
        if counts.editable() > 0 {
            let count = counts.editable();
            let text = format!(
                "fix objects of {name} ({count}) that are valid only until the next create: updates that leave the invalid fields are accepted, and \
                 restoring or re-creating the objects is not"
            );
            self.before.push(step(text, None));
        }
        if let Some((count, version)) = counts.moved() {
            let text = format!(
                "change the manifests of {name} ({count}) to the version {version}: the new CRD no longer serves theirs"
            );
            self.before.push(step(text, None));
        }
        if counts.losing() > 0 {
            let text = format!("save the objects of {name}: fields of {} are lost", plural(counts.losing(), "object"));
            self.before.push(step(text, Some(save(name))));
        }
        if counts.unknown() > 0 {
            let text = format!("look at the objects of {name} for which the effect is unknown ({})", counts.unknown());
            self.before.push(step(text, None));
        }
    }

    fn after(&mut self, update: &PlannedUpdate, counts: &EffectCounts) {
        let PlannedUpdate { name, storage: (before, after), is_accepted, .. } = update;
        if !is_accepted || before.as_ref().is_none_or(|before| before == after) {
            return;
        }
        let text = format!("rewrite the objects of {name} ({}) in the new storage version {after}", counts.objects());
        let command = format!("kubectl get {name} --all-namespaces -o json | kubectl replace -f -");
        self.after.push(step(text, Some(command)));
        let status = object([("status", object([("storedVersions", vec![Value::from(after.as_str())])]))]);
        let command =
            format!("kubectl patch crd {name} --subresource=status --type=merge -p '{}'", json::to_string(&status));
        let text = format!(
            "record that all objects of {name} are stored in {after}, so that other versions can be removed later"
        );
        self.after.push(step(text, Some(command)));
    }

    /// Returns the parts of the upgrade with their titles.
    pub fn parts(&self) -> [(&'static str, &[UpgradeStep]); 3] {
        [("Before", &self.before), ("During", &self.during), ("After", &self.after)]
    }

    /// Formats the steps as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (title, steps) in self.parts().into_iter().filter(|(_, steps)| !steps.is_empty()) {
            let _ = writeln!(text, "{title} the upgrade:");
            for (number, step) in steps.iter().enumerate() {
                let _ = writeln!(text, "  {}. {}", number + 1, step.text);
                text.extend(step.command.iter().map(|command| format!("     {command}\n")));
            }
        }
        text
    }

    /// Returns the steps as JSON.
    pub fn value(&self) -> Value {
        let value = |step: &UpgradeStep| {
            let command = step.command.iter().map(|command| ("command", Value::from(command.as_str())));
            object(std::iter::once(("text", Value::from(step.text.as_str()))).chain(command))
        };
        let part = |steps: &[UpgradeStep]| Value::from(steps.iter().map(value).collect::<Vec<_>>());
        object([("before", part(&self.before)), ("during", part(&self.during)), ("after", part(&self.after))])
    }
}

/// The facts about the update of a CRD on which the steps depend.
#[derive(Clone, Debug)]
pub struct PlannedUpdate {
    pub name: String,
    pub is_accepted: bool,
    /// The reason why the server does not accept the CRD, or why that is not known.
    pub problem: Option<String>,
    /// The file with the new CRD.
    pub file: String,
    /// The storage versions before and after the update.
    pub storage: (Option<String>, String),
}

impl From<&PlannedDefinition> for PlannedUpdate {
    fn from(planned: &PlannedDefinition) -> Self {
        let item = &planned.item;
        let first = || item.errors.first().map_or_else(|| item.reason.clone(), |error| error.message.clone());
        let help = || item.errors.iter().find_map(|error| error.help.clone()).or_else(|| item.help.clone());
        let problem = || help().map_or_else(first, |help| format!("{}; {help}", first()));
        let is_accepted = item.verdict == Verdict::Accepted;
        Self {
            name: planned.plan.name.clone(),
            is_accepted,
            problem: (!is_accepted).then(problem),
            file: item.location.source.to_string(),
            storage: planned.storage.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_storage_version_is_recorded_after_the_objects_are_rewritten() {
        let update = PlannedUpdate {
            name: "kites.example.com".to_owned(),
            is_accepted: true,
            problem: None,
            file: "crds.yaml".to_owned(),
            storage: (Some("v1beta1".to_owned()), "v1".to_owned()),
        };
        let steps = UpgradeSteps::new(
            [(update, EffectCounts::default())].into_iter(),
            &[],
            (&AdmissionUpgrade::default(), &AdmissionCounts::default()),
        );
        assert_eq!(
            steps.text(),
            "During the upgrade:\n  1. replace the CRDs of crds.yaml\n     kubectl apply --server-side --force-conflicts -f crds.yaml\n\
             After the upgrade:\n  1. rewrite the objects of kites.example.com (0) in the new storage version v1\n     \
             kubectl get kites.example.com --all-namespaces -o json | kubectl replace -f -\n  \
             2. record that all objects of kites.example.com are stored in v1, so that other versions can be removed later\n     \
             kubectl patch crd kites.example.com --subresource=status --type=merge -p '{\"status\":{\"storedVersions\":[\"v1\"]}}'\n"
        );
    }
}

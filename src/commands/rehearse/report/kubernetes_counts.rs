//! The number of stored objects by the effect of an upgrade of Kubernetes, and the steps of the upgrade.

use super::definition::plural;
use super::kubernetes_request::breaks;
use crate::commands::rehearse::steps::{UpgradeStep, UpgradeSteps};
use crdx_engine::rehearsal::kubernetes::{KubernetesEffect, ReleaseOutcome, StoredRequest};
use crdx_engine::report::{Identity, ObjectReport};
use crdx_output::html::{Colour, Count};
use crdx_value::Value;
use crdx_value::release::ReleaseSet;
use std::collections::{BTreeMap, BTreeSet};

/// The number of objects by effect.
#[derive(Clone, Debug, Default)]
pub struct KubernetesCounts {
    objects: usize,
    untouched: usize,
    not_served: usize,
    create_rejected: usize,
    update_rejected: usize,
    deprecated: usize,
    stored_differently: usize,
    already_rejected: usize,
    /// The requests that are rejected only after the upgrade, for errors that are all in the baseline.
    known: usize,
    /// The inputs without an object.
    unread: usize,
    create_unknown: usize,
    update_unknown: usize,
    /// By apiVersion and kind.
    kinds: BTreeMap<(String, String), KindCounts>,
}

/// The effects on the objects of a kind that steps depend on.
#[derive(Clone, Debug, Default)]
struct KindCounts {
    not_served: usize,
    /// The version to which manifests are changed.
    served_as: Option<String>,
    /// The namespaces and names of objects whose create is rejected, and whose update is not.
    until_create: BTreeSet<(Option<String>, String)>,
    update_rejected: usize,
    deprecated: usize,
    /// The server's warning.
    deprecation: Option<String>,
    stored_differently: usize,
}

impl KubernetesCounts {
    /// Counts the answers to a request; all creates come before the updates. Each object is counted with its create; an object whose version is not served has the same
    /// answer to both requests.
    pub fn add(&mut self, request: StoredRequest, item: &ObjectReport, effect: &KubernetesEffect) {
        let is_create = request == StoredRequest::Create;
        self.objects += usize::from(is_create);
        self.untouched += usize::from(is_create && !effect.is_touched());
        let Identity { api_version, kind, .. } = &item.identity;
        let key = (api_version.clone(), kind.clone());
        let mut none = KindCounts::default();
        let of_kind = if effect.is_touched() { self.kinds.entry(key).or_default() } else { &mut none };
        let name = || (item.identity.namespace.clone(), item.identity.name.clone());
        self.known += usize::from(breaks(effect.outcome, request) && item.is_known());
        match (effect.outcome, request) {
            (ReleaseOutcome::AlreadyRejected, StoredRequest::Create) => self.already_rejected += 1,
            (ReleaseOutcome::NotServed, StoredRequest::Create) => {
                self.not_served += 1;
                of_kind.not_served += 1;
                of_kind.served_as = effect.served_as.first().cloned();
            }
            (ReleaseOutcome::Accepted, _)
            | (ReleaseOutcome::AlreadyRejected | ReleaseOutcome::NotServed, StoredRequest::Update) => {}
            (ReleaseOutcome::Rejected, StoredRequest::Create) => {
                self.create_rejected += 1;
                of_kind.until_create.insert(name());
            }
            (ReleaseOutcome::Rejected, StoredRequest::Update) => {
                self.update_rejected += 1;
                of_kind.update_rejected += 1;
                of_kind.until_create.remove(&name());
            }
            (ReleaseOutcome::CannotTell, StoredRequest::Create) => self.create_unknown += 1,
            (ReleaseOutcome::CannotTell, StoredRequest::Update) => self.update_unknown += 1,
        }
        if is_create && effect.deprecation.is_some() {
            self.deprecated += 1;
            of_kind.deprecated += 1;
            of_kind.deprecation.clone_from(&effect.deprecation);
        }
        if is_create && effect.is_stored_differently {
            self.stored_differently += 1;
            of_kind.stored_differently += 1;
        }
    }

    /// Counts an input without an object.
    pub fn add_unknown(&mut self) {
        self.unread += 1;
    }

    /// Returns true if the effect on some object is unknown.
    pub fn is_unsure(&self) -> bool {
        self.unknown() > 0
    }

    /// The number of objects and inputs whose effect is unknown; most of these objects are so in both requests.
    fn unknown(&self) -> usize {
        self.unread + self.create_unknown.max(self.update_unknown)
    }

    /// Returns true if a request for some object is rejected only after the upgrade, except as in the baseline.
    pub fn breaks(&self) -> bool {
        self.not_served + self.create_rejected + self.update_rejected > self.known
    }

    /// The number of objects.
    pub fn objects(&self) -> usize {
        self.objects
    }

    /// Returns each count with its words and its severity.
    pub fn counts(&self) -> [Count; 9] {
        [
            (self.untouched, "untouched", Colour::Good),
            (self.not_served, "in a version that is no longer served", Colour::Bad),
            (self.create_rejected, "rejected when created", Colour::Bad),
            (self.update_rejected, "rejected when updated", Colour::Bad),
            (self.deprecated, "in a deprecated version", Colour::Unsure),
            (self.stored_differently, "stored differently", Colour::Unsure),
            (self.already_rejected, "rejected before the upgrade, too", Colour::Plain),
            (
                self.known,
                if self.known == 1 {
                    "request rejected as in the baseline"
                } else {
                    "requests rejected as in the baseline"
                },
                Colour::Plain,
            ),
            (self.unknown(), "cannot tell", Colour::Unsure),
        ]
    }

    /// Formats the counts that are not 0.
    pub fn line(&self) -> String {
        let parts: Vec<String> =
            self.counts().iter().filter(|(n, ..)| *n > 0).map(|(n, words, _)| format!("{n} {words}")).collect();
        let objects = plural(self.objects, "object");
        if parts.is_empty() { objects } else { format!("{objects}: {}", parts.join(", ")) }
    }

    /// Returns the counts as JSON.
    pub fn value(&self) -> Value {
        let known = Some(("known", self.known)).filter(|(_, n)| *n > 0);
        let counts = [
            ("objects", self.objects),
            ("untouched", self.untouched),
            ("notServed", self.not_served),
            ("createRejected", self.create_rejected),
            ("updateRejected", self.update_rejected),
            ("deprecated", self.deprecated),
            ("storedDifferently", self.stored_differently),
            ("alreadyRejected", self.already_rejected),
            ("cannotTell", self.unknown()),
        ];
        crdx_output::report::json::counts(counts.into_iter().chain(known))
    }

    /// Returns the steps of the upgrade.
    pub fn steps(&self, releases: &ReleaseSet) -> UpgradeSteps {
        let mut steps = UpgradeSteps::default();
        for ((api_version, kind), counts) in &self.kinds {
            counts.before(&format!("{api_version} {kind}"), releases, &mut steps.before);
            counts.after(&format!("{api_version} {kind}"), &mut steps.after);
        }
        let order: Vec<String> = releases.iter().skip(1).map(|release| release.to_string()).collect();
        let one_by_one = if order.len() > 1 { ", one minor version after the other," } else { "" };
        let text = format!("upgrade all API servers{one_by_one} to {}", order.join(", then "));
        steps.during.push(step(text));
        steps
    }
}

fn step(text: String) -> UpgradeStep {
    UpgradeStep { text, command: None }
}

impl KindCounts {
    fn before(&self, name: &str, releases: &ReleaseSet, steps: &mut Vec<UpgradeStep>) {
        let newest = releases.newest();
        if self.not_served > 0 {
            let n = self.not_served;
            steps.push(step(match &self.served_as {
                Some(version) => {
                    format!("change the manifests of {name} ({n}) to {version}: {newest} does not serve their version")
                }
                None => format!("replace the objects of {name} ({n}): {newest} does not serve the kind"),
            }));
        }
        if self.update_rejected > 0 {
            let text = format!("fix the objects of {name} ({}) whose next update is rejected", self.update_rejected);
            steps.push(step(text));
        }
        let until_create = self.until_create.len();
        if until_create > 0 {
            let text = format!(
                "fix the objects of {name} ({until_create}) that are valid only until the next create: restoring or re-creating them is rejected"
            );
            steps.push(step(text));
        }
        if self.stored_differently > 0 {
            let text =
                format!("review the objects of {name} ({}) that are stored differently", self.stored_differently);
            steps.push(step(text));
        }
    }

    fn after(&self, name: &str, steps: &mut Vec<UpgradeStep>) {
        if let Some(warning) = &self.deprecation {
            let text =
                format!("change the manifests of {name} ({}) before the next upgrade: {warning}", self.deprecated);
            steps.push(step(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_engine::report::{SourceLocation, Verdict};

    #[test]
    fn an_object_that_can_be_updated_is_valid_until_the_next_create() {
        let mut item = ObjectReport::new(SourceLocation::default(), Verdict::Accepted, "");
        (item.identity.api_version, item.identity.kind) = ("v1".to_owned(), "Service".to_owned());
        let effect = |outcome| KubernetesEffect {
            outcome,
            served_as: Vec::new(),
            deprecation: None,
            is_stored_differently: false,
        };
        let mut counts = KubernetesCounts::default();
        let answers = [
            ("kept", ReleaseOutcome::Rejected, ReleaseOutcome::Accepted),
            ("broken", ReleaseOutcome::Rejected, ReleaseOutcome::Rejected),
            ("odd", ReleaseOutcome::Accepted, ReleaseOutcome::Rejected),
        ];
        for request in [StoredRequest::Create, StoredRequest::Update] {
            for (name, created, updated) in &answers {
                item.identity.name = (*name).to_owned();
                let outcome = if request == StoredRequest::Create { created } else { updated };
                counts.add(request, &item, &effect(*outcome));
            }
        }
        assert_eq!(counts.line(), "3 objects: 1 untouched, 2 rejected when created, 2 rejected when updated");
        let steps = counts.steps(&"1.35,1.36".parse().unwrap());
        let before: Vec<&str> = steps.before.iter().map(|step| step.text.as_str()).collect();
        assert_eq!(
            before,
            [
                "fix the objects of v1 Service (2) whose next update is rejected",
                "fix the objects of v1 Service (1) that are valid only until the next create: restoring or re-creating them is rejected"
            ]
        );
        assert_eq!(steps.during[0].text, "upgrade all API servers to 1.36");
    }
}

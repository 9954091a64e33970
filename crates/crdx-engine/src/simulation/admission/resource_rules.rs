//! The resources for which policies and webhooks have rules, whatever the versions and operations.

use super::objects::{Objects, PolicyInput};
use super::policy_kind;
use crdx_server::policies::model::{MatchResources, Policy, PolicyKind};
use crdx_value::Value;
use crdx_value::release::Release;
use std::collections::BTreeSet;

/// The rules of policies and webhooks.
#[derive(Debug)]
pub(super) struct ResourceRules {
    /// The rules of the policies of the run.
    given: Vec<MatchResources>,
    /// The rules of other policies of the cluster.
    others: Vec<MatchResources>,
    webhooks: Vec<MatchResources>,
}

impl ResourceRules {
    /// Reads the rules. `given` has the kinds and names of the policies of the run.
    pub fn read(objects: &Objects, given: &BTreeSet<(PolicyKind, String)>) -> Self {
        let release = Release::NEWEST;
        let is_given = |input: &&PolicyInput| {
            let name = input.object.str_at(&["metadata", "name"]).unwrap_or_default();
            given.contains(&(policy_kind(&input.object), name.to_owned()))
        };
        let (own, others): (Vec<&PolicyInput>, Vec<&PolicyInput>) = objects.policies.iter().partition(is_given);
        let rules = |inputs: Vec<&PolicyInput>| {
            inputs.into_iter().filter_map(|input| Policy::read(&input.object, release).match_constraints).collect()
        };
        let webhooks = objects
            .webhooks
            .iter()
            .flat_map(|input| input.object.get("webhooks").and_then(Value::as_array).unwrap_or_default());
        let webhooks = webhooks.map(|webhook| MatchResources::of_webhook(webhook, release)).collect();
        Self { given: rules(own), others: rules(others), webhooks }
    }

    fn policies(&self) -> impl Iterator<Item = &MatchResources> {
        self.given.iter().chain(&self.others)
    }

    /// Returns true if a policy of the run has a rule for a resource.
    pub fn given(&self, group: &str, plural: &str) -> bool {
        self.given.iter().any(|one| names(one, group, plural))
    }

    /// Returns true if any policy has a rule for a resource, or no rules.
    pub fn any_policy(&self, group: &str, plural: &str) -> bool {
        self.policies().any(|one| one.rules.is_empty() || names(one, group, plural))
    }

    /// Returns true if a webhook has a rule for a resource.
    pub fn webhooks(&self, group: &str, plural: &str) -> bool {
        self.webhooks.iter().any(|one| names(one, group, plural))
    }

    /// Returns true if a policy or webhook has a rule for some resource of a group.
    pub fn some_of_group(&self, group: &str) -> bool {
        let mut groups =
            self.policies().chain(&self.webhooks).flat_map(|one| &one.rules).flat_map(|rule| &rule.api_groups);
        groups.any(|own| own == "*" || own == group)
    }
}

/// Returns true if a rule names a resource.
pub(super) fn names(constraints: &MatchResources, group: &str, plural: &str) -> bool {
    // Events are in two groups.
    let same_group =
        |own: &str| own == "*" || own == group || (plural == "events" && matches!(own, "" | "events.k8s.io"));
    constraints.rules.iter().any(|rule| {
        rule.api_groups.iter().any(|own| same_group(own))
            && rule.resources.iter().any(|own| {
                let resource = own.split('/').next().unwrap_or_default();
                resource == "*" || resource == plural
            })
    })
}

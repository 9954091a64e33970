//! `MutatingAdmissionWebhook` and `ValidatingAdmissionWebhook` as admission plugins. The stored webhooks are compiled
//! when their configurations change.
//!
//! If the server makes outgoing calls for a request ([`crate::server::http::calls::Calls`]), the webhooks are called; otherwise
//! those that would be called are reported.

mod dispatch;
mod patch;

use crate::policies::GROUP;
use crate::policies::findings::WebhookMatch;
use crate::policies::model::PolicyKind;
use crate::server::admission::{AdmissionReport, Attributes, Mutation, Operation, Plugin, Reinvocation};
use crate::server::http::calls::Calls;
use crate::server::http::given_state::GivenState;
use crate::server::http::status::Refusal;
use crate::server::plugins::cluster::ClusterView;
use crate::server::plugins::policies::sync;
use crate::server::plugins::view::{Inputs, View};
use crate::server::scope::RequestScope;
use crate::server::scope::is_admission;
use crate::server::strategy::resources::Resources;
use crate::webhooks::matching::Decision;
use crate::webhooks::model::{Webhook, configurations};
use crdx_value::Value;
use crdx_value::lock;
use dispatch::{Dispatch, Round};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The admission plugin for mutating or for validating webhooks.
#[derive(Debug)]
pub(in crate::server) struct AdmissionWebhooks {
    policy_kind: PolicyKind,
    resources: Arc<Resources>,
    inputs: Inputs,
    cache: Mutex<Cache>,
}

/// Compiled webhooks and the revisions of the configurations from which they were compiled.
#[derive(Debug, Default)]
struct Cache {
    revisions: BTreeMap<String, u64>,
    configurations: BTreeMap<String, Vec<Arc<Webhook>>>,
    all: Arc<[Arc<Webhook>]>,
}

impl AdmissionWebhooks {
    /// Creates the plugin.
    pub fn new(policy_kind: PolicyKind, resources: &Arc<Resources>, inputs: Inputs) -> Self {
        Self { policy_kind, resources: Arc::clone(resources), inputs, cache: Mutex::default() }
    }

    /// Returns the stored webhooks in the order of their configurations' names. No webhook is called for a write of an
    /// admission configuration or policy.
    fn webhooks_for(&self, attributes: &Attributes<'_>, cluster: &ClusterView<'_>) -> Arc<[Arc<Webhook>]> {
        if is_admission(attributes.resource.group) {
            return Arc::default();
        }
        let mut cache = lock::lock(&self.cache);
        let Cache { revisions, configurations: known, all } = &mut *cache;
        let changed =
            sync(revisions, &cluster.stored(GROUP, configurations(self.policy_kind)), |name, object| match object {
                Some(object) => {
                    let webhooks = Webhook::read_all(object, self.policy_kind, cluster.release());
                    known.insert(name.to_owned(), webhooks.into_iter().map(Arc::new).collect());
                }
                None => {
                    known.remove(name);
                }
            });
        if changed {
            *all = known.values().flatten().cloned().collect();
        }
        Arc::clone(all)
    }

    /// Reports the webhooks that would be called.
    fn note(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        cluster: &ClusterView<'_>,
        report: &mut AdmissionReport,
    ) -> Result<(), Refusal> {
        let webhooks = self.webhooks_for(attributes, cluster);
        if webhooks.is_empty() {
            return Ok(());
        }
        let dispatch = self.dispatch(attributes, object, cluster)?;
        for webhook in webhooks.iter() {
            let missing = match dispatch.decide(webhook, object)? {
                Decision::Called(_) => None,
                Decision::NotCalled => continue,
                Decision::Unknown(missing) => Some(missing),
            };
            report.policies.get_or_insert_default().webhooks.push(WebhookMatch {
                policy_kind: self.policy_kind,
                configuration: webhook.configuration.clone(),
                webhook: webhook.name.clone(),
                missing,
            });
        }
        Ok(())
    }

    fn cluster<'c>(&'c self, given: &'c GivenState<'c>, calls: &'c Calls) -> ClusterView<'c> {
        ClusterView::new(&self.resources, given, calls)
    }

    fn dispatch<'d>(
        &'d self,
        attributes: &'d Attributes<'d>,
        object: Option<&Value>,
        cluster: &'d ClusterView<'d>,
    ) -> Result<Dispatch<'d>, Refusal> {
        Dispatch::new(attributes, object, cluster, View::new(cluster, &self.inputs))
    }

    /// Calls the mutating webhooks; `webhooks` is not empty.
    fn mutate_by_calls(
        &self,
        webhooks: &[Arc<Webhook>],
        attributes: &Attributes<'_>,
        object: Option<&mut Value>,
        cluster: &ClusterView<'_>,
        report: &mut AdmissionReport,
        reinvocation: &mut Reinvocation,
    ) -> Result<(), Refusal> {
        let Reinvocation { policies, webhooks: reinvoked } = reinvocation;
        let mut round = Round { running: policies.running, requested: &mut policies.requested, reinvoked };
        let dispatch = self.dispatch(attributes, object.as_deref(), cluster)?;
        dispatch.mutate(webhooks, object, &mut round, report)
    }
}

impl Plugin for AdmissionWebhooks {
    fn handles(&self, _: Operation, _: RequestScope<'_>) -> bool {
        true
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        calls: &Calls,
        report: &mut AdmissionReport,
        reinvocation: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        if self.policy_kind != PolicyKind::Mutating {
            return Ok(Mutation::Unchanged);
        }
        let cluster = &self.cluster(attributes.given, calls);
        if !calls.are_made() {
            if !reinvocation.policies.running {
                self.note(attributes, Some(object), cluster, report)?;
            }
            return Ok(Mutation::Unchanged);
        }
        let webhooks = self.webhooks_for(attributes, cluster);
        if webhooks.is_empty() {
            return Ok(Mutation::Unchanged);
        }
        let before = object.clone();
        self.mutate_by_calls(&webhooks, attributes, Some(object), cluster, report, reinvocation)?;
        Ok(if *object == before { Mutation::Unchanged } else { Mutation::Changed })
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        calls: &Calls,
        report: &mut AdmissionReport,
    ) -> Result<(), Refusal> {
        // Mutating webhooks are also called for deletions.
        if self.policy_kind == PolicyKind::Mutating && attributes.operation != Operation::Delete {
            return Ok(());
        }
        let cluster = &self.cluster(attributes.given, calls);
        if !calls.are_made() {
            return self.note(attributes, object, cluster, report);
        }
        let webhooks = self.webhooks_for(attributes, cluster);
        if webhooks.is_empty() {
            return Ok(());
        }
        match self.policy_kind {
            PolicyKind::Mutating => {
                let reinvocation = &mut Reinvocation::default();
                self.mutate_by_calls(&webhooks, attributes, None, cluster, report, reinvocation)
            }
            PolicyKind::Validating => self.dispatch(attributes, object, cluster)?.validate(&webhooks, object, report),
        }
    }
}

#[cfg(test)]
mod tests;

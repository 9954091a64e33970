//! `MutatingAdmissionWebhook` and `ValidatingAdmissionWebhook` as links of the chain: the webhooks that the server stores,
//! compiled when their configurations change.
//!
//! Webhooks are not called: those that would be called for a request are reported.

use super::policies::{refusal, request_of, sync};
use super::view::View;
use super::{Attributes, Cluster, Mutation, Operation, Plugin, Report};
use crate::cel::value::Authorizer;
use crate::policies::findings::Interception;
use crate::policies::knowledge::Knowledge;
use crate::policies::model::Family;
use crate::policies::{GROUP, request};
use crate::server::http::status::{GroupResource, Refusal};
use crate::server::strategy::admission_kinds;
use crate::value::Value;
use crate::webhooks::matching::{Decision, Failure, decide};
use crate::webhooks::model::{Webhook, configurations};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The plugin of one kind of webhooks.
pub(in crate::server) struct AdmissionWebhooks {
    family: Family,
    authorizer: Arc<dyn Authorizer>,
    knowledge: Arc<Knowledge>,
    cache: Mutex<Cache>,
}

impl std::fmt::Debug for AdmissionWebhooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdmissionWebhooks").field("family", &self.family).finish_non_exhaustive()
    }
}

/// Compiled webhooks, and the revisions of the configurations they were compiled from.
#[derive(Debug, Default)]
struct Cache {
    revisions: BTreeMap<String, u64>,
    configurations: BTreeMap<String, Vec<Arc<Webhook>>>,
    all: Arc<[Arc<Webhook>]>,
}

impl AdmissionWebhooks {
    /// The plugin; match conditions query `authorizer`, and `knowledge` says which parts of the cluster the server stores.
    pub fn new(family: Family, authorizer: Arc<dyn Authorizer>, knowledge: Arc<Knowledge>) -> Self {
        Self { family, authorizer, knowledge, cache: Mutex::default() }
    }

    /// The stored webhooks by the names of their configurations; none for a write of a configuration or policy.
    fn webhooks_for(&self, attributes: &Attributes<'_>, cluster: &Cluster<'_>) -> Arc<[Arc<Webhook>]> {
        if admission_kinds::is_admission(attributes.resource.group) {
            return Arc::default();
        }
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let Cache { revisions, configurations: known, all } = &mut *cache;
        let changed =
            sync(revisions, &cluster.stored(GROUP, configurations(self.family)), |name, object| match object {
                Some(object) => {
                    let webhooks = Webhook::read_all(object, self.family, cluster.release());
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
        cluster: &Cluster<'_>,
        report: &mut Report,
    ) -> Result<(), Refusal> {
        let webhooks = self.webhooks_for(attributes, cluster);
        if webhooks.is_empty() {
            return Ok(());
        }
        let request = request_of(attributes);
        let view = View { cluster, authorizer: &self.authorizer, knowledge: &self.knowledge };
        for webhook in webhooks.iter() {
            let missing = match decision(webhook, attributes, &request, object, &view)? {
                Decision::Called(_) => None,
                Decision::NotCalled => continue,
                Decision::Unknown(missing) => Some(missing),
            };
            report.policies.webhooks.push(Interception {
                family: self.family,
                configuration: webhook.configuration.clone(),
                webhook: webhook.name.clone(),
                missing,
            });
        }
        Ok(())
    }
}

/// Whether a webhook would be called.
fn decision(
    webhook: &Webhook,
    attributes: &Attributes<'_>,
    request: &request::Request<'_>,
    object: Option<&Value>,
    view: &View<'_>,
) -> Result<Decision, Refusal> {
    decide(webhook, request, object, view).map_err(|failure| match failure {
        Failure::Server(refused) => refusal(attributes, refused),
        Failure::Condition(why) => {
            let of = GroupResource { group: attributes.resource.group, resource: attributes.resource.resource };
            Refusal::forbidden(of, attributes.name, &why)
        }
    })
}

impl Plugin for AdmissionWebhooks {
    fn handles(&self, _: Operation) -> bool {
        true
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        cluster: &Cluster<'_>,
        report: &mut Report,
    ) -> Result<Mutation, Refusal> {
        if self.family == Family::Mutating {
            self.note(attributes, Some(object), cluster, report)?;
        }
        Ok(Mutation::Unchanged)
    }

    fn observe(
        &self,
        attributes: &Attributes<'_>,
        object: &Value,
        cluster: &Cluster<'_>,
        report: &mut Report,
    ) -> Result<(), Refusal> {
        if self.family == Family::Mutating { self.note(attributes, Some(object), cluster, report) } else { Ok(()) }
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        cluster: &Cluster<'_>,
        report: &mut Report,
    ) -> Result<(), Refusal> {
        // Mutating webhooks are called for deletions, too.
        if self.family == Family::Validating || attributes.operation == Operation::Delete {
            self.note(attributes, object, cluster, report)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;

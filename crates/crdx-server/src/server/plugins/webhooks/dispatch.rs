//! Calls the webhooks of a request (`mutating/dispatcher.go`, `validating/dispatcher.go`).

use crate::policies::denial::Refused;
use crate::policies::matching::Matched;
use crate::policies::model::{FailurePolicy, PolicyKind};
use crate::policies::request::{Cluster as _, Request};
use crate::server::admission::{AdmissionReport, Attributes, ReinvocationContext};
use crate::server::http::calls::Reviewed;
use crate::server::http::status::Refusal;
use crate::server::plugins::cluster::ClusterView;
use crate::server::plugins::policies::{refusal, request_of};
use crate::server::plugins::view::View;
use crate::server::plugins::webhooks::patch;
use crate::webhooks::call;
use crate::webhooks::matching::{Decision, Failure, decide};
use crate::webhooks::model::Webhook;
use crate::webhooks::review::{self, AdmissionResponse};
use crdx_types::reviews::ReviewKind;
use crdx_value::GoError;
use crdx_value::{Value, quote};
use std::sync::Arc;

/// The round of a mutating webhook.
pub(super) struct Round<'r> {
    /// True in the second round.
    pub running: bool,
    /// Set if another round is needed.
    pub requested: &'r mut bool,
    /// State that is kept between the rounds.
    pub reinvoked: &'r mut ReinvocationContext,
}

/// Calls the mutating or the validating webhooks for one request.
pub(super) struct Dispatch<'d> {
    attributes: &'d Attributes<'d>,
    request: Request<'d>,
    cluster: &'d ClusterView<'d>,
    view: View<'d>,
}

/// The answer to a call, or the reason why the webhook could not be called.
type CallResult = Result<AdmissionResponse, GoError>;

impl<'d> Dispatch<'d> {
    /// Prepares the calls for the request with these attributes and this object.
    ///
    /// # Errors
    /// Returns [`Refusal::waiting`] if more of the state of the cluster has to be read first.
    pub fn new(
        attributes: &'d Attributes<'d>,
        object: Option<&Value>,
        cluster: &'d ClusterView<'d>,
        view: View<'d>,
    ) -> Result<Self, Refusal> {
        Ok(Self { attributes, request: request_of(attributes, object, view.inputs, cluster)?, cluster, view })
    }

    /// Decides whether a webhook is called for the object, and with which version of it.
    ///
    /// # Errors
    /// Returns the refusal of the request.
    pub fn decide(&self, webhook: &Webhook, object: Option<&Value>) -> Result<Decision, Refusal> {
        let decision = decide(webhook, &self.request, object, &self.view);
        // A webhook may have to convert the object first.
        self.cluster.calls.check()?;
        decision.map_err(|failure| match failure {
            Failure::Server(refused) => refusal(self.attributes, refused),
            Failure::Condition(reason) => self.attributes.forbidden(&reason),
        })
    }

    /// Lets mutating webhooks change the object, one after the other; `object` is `None` for a deletion.
    ///
    /// # Errors
    /// Returns the refusal of the request.
    pub fn mutate(
        &self,
        webhooks: &[Arc<Webhook>],
        mut object: Option<&mut Value>,
        round: &mut Round<'_>,
        report: &mut AdmissionReport,
    ) -> Result<(), Refusal> {
        if round.running && round.reinvoked.output.as_ref() != object.as_deref() {
            round.reinvoked.require();
        }
        self.mutate_with(webhooks, object.as_deref_mut(), round, report)?;
        round.reinvoked.output = object.cloned();
        Ok(())
    }

    fn mutate_with(
        &self,
        webhooks: &[Arc<Webhook>],
        object: Option<&mut Value>,
        round: &mut Round<'_>,
        report: &mut AdmissionReport,
    ) -> Result<(), Refusal> {
        let mut current = object.as_deref().cloned();
        // The version the object was last converted to, whatever apiVersion a patch wrote since.
        let mut version = self.request.kind.api_version();
        let mut patched = false;
        for webhook in webhooks {
            let Decision::Called(matched) = self.decide(webhook, current.as_ref())? else { continue };
            let key = (webhook.configuration.clone(), webhook.name.clone());
            if round.running && !round.reinvoked.again.contains(&key) {
                continue;
            }
            if version != matched.kind.api_version() {
                current = self.convert(current.as_ref(), &matched)?;
                version = matched.kind.api_version();
            }
            let called = self.call(webhook, &matched, current.as_ref())?;
            let mut outcome = Ok(());
            match called {
                Err(error) => outcome = failed(webhook, error.as_str()),
                Ok(answer) => {
                    report.warnings.extend(answer.warnings.iter().cloned());
                    match self.changed(webhook, &matched, current.as_ref(), &answer) {
                        Ok(None) => {}
                        Ok(Some(changed)) => {
                            if Some(&changed.bare) != current.as_ref() {
                                round.reinvoked.require();
                                *round.requested = true;
                            }
                            current = Some(changed.defaulted);
                            patched = true;
                        }
                        Err(refusal) => outcome = Err(refusal),
                    }
                }
            }
            if webhook.reinvoked_if_needed {
                round.reinvoked.invoked.insert(key);
            }
            outcome?;
        }
        if patched && let (Some(object), Some(mut current)) = (object, current) {
            let own = self.request.kind.api_version();
            if current.str_at(&["apiVersion"]) != Some(&own) {
                let back = self.view.convert(&current, &self.request.resource, &self.request.kind);
                self.cluster.calls.check()?;
                current = back.map_err(Refusal::unclassified)?;
            }
            *object = current;
        }
        Ok(())
    }

    /// Calls all matching validating webhooks; `object` is `None` for a deletion.
    ///
    /// # Errors
    /// Returns the first refusal in the order of the webhooks. The API server returns the refusal that arrives first.
    pub fn validate(
        &self,
        webhooks: &[Arc<Webhook>],
        object: Option<&Value>,
        report: &mut AdmissionReport,
    ) -> Result<(), Refusal> {
        let mut relevant = Vec::new();
        for webhook in webhooks {
            if let Decision::Called(matched) = self.decide(webhook, object)? {
                let converted = self.convert(object, &matched)?;
                relevant.push((webhook, matched, converted));
            }
        }
        let called = relevant.iter().map(|(webhook, matched, object)| self.call(webhook, matched, object.as_ref()));
        let called: Vec<Result<CallResult, Refusal>> = called.collect();
        self.cluster.calls.check()?;
        let mut first = Ok(());
        for ((webhook, ..), called) in relevant.iter().zip(called) {
            let outcome = called.and_then(|called| match called {
                Err(error) => failed(webhook, error.as_str()),
                Ok(answer) => {
                    report.warnings.extend(answer.warnings.iter().cloned());
                    if answer.allowed { Ok(()) } else { Err(rejected(webhook, &answer)) }
                }
            });
            first = first.and(outcome);
        }
        first
    }

    fn convert(&self, object: Option<&Value>, matched: &Matched) -> Result<Option<Value>, Refusal> {
        let Some(object) = object else { return Ok(None) };
        if object.str_at(&["apiVersion"]) == Some(&matched.kind.api_version()) {
            return Ok(Some(object.clone()));
        }
        let converted = self.view.convert(object, &matched.resource, &matched.kind);
        self.cluster.calls.check()?;
        converted.map(Some).map_err(|error| refusal(self.attributes, Refused::Internal(error.into())))
    }

    /// Calls a webhook.
    ///
    /// # Errors
    /// Returns the refusal of a dry run that the webhook does not support, or [`Refusal::waiting`].
    fn call(&self, webhook: &Webhook, matched: &Matched, object: Option<&Value>) -> Result<CallResult, Refusal> {
        if self.attributes.dry_run {
            match webhook.side_effects.as_deref() {
                None => return Ok(Err("Webhook SideEffects is nil".into())),
                Some("None" | "NoneOnDryRun") => {}
                Some(_) => {
                    let name = quote::go_quote(&webhook.name);
                    return Err(Refusal::bad_request(format!("admission webhook {name} does not support dry run")));
                }
            }
        }
        let old_object = self.convert(self.request.old_object, matched)?;
        let version = match review::version(&webhook.review_versions) {
            Ok(version) => version,
            Err(error) => return Ok(Err(error)),
        };
        let body = |uid: &str| {
            let objects = (object, old_object.as_ref());
            call::body(&review::review(version, uid, &self.request, matched, objects))
        };
        let Reviewed { uid, outcome } = self.cluster.calls.ask(&webhook.target, webhook.timeout_seconds, body)?;
        let release = self.cluster.release();
        let answered = call::review(&outcome, ReviewKind::Admission, version, release);
        let answered = answered.map_err(|error| GoError::from(format!("failed to call webhook: {error}")));
        let mutating = webhook.policy_kind == PolicyKind::Mutating;
        Ok(answered.and_then(|answered| review::answer(&answered, version, &uid, mutating)))
    }

    /// Returns the object with the patch of a mutating webhook applied; `None` without a patch.
    fn changed(
        &self,
        webhook: &Webhook,
        matched: &Matched,
        object: Option<&Value>,
        answer: &AdmissionResponse,
    ) -> Result<Option<Changed>, Refusal> {
        if !answer.allowed {
            return Err(rejected(webhook, answer));
        }
        if answer.patch.is_empty() {
            return Ok(None);
        }
        let patch = match patch::Patch::read(&answer.patch) {
            Ok(patch) if patch.is_empty() => return Ok(None),
            Ok(patch) => patch,
            Err(error) => {
                failed(webhook, &format!("received undecodable patch in webhook response: {error}"))?;
                return Ok(None);
            }
        };
        let Some(object) = object else {
            let name = quote::go_quote(&webhook.name);
            return Err(Refusal::internal(format!(
                "admission webhook {name} attempted to modify the object, which is not supported for this operation"
            )));
        };
        if answer.patch_type != "JSONPatch" {
            failed(webhook, &format!("unsupported patch type {}", quote::go_quote(&answer.patch_type)))?;
            return Ok(None);
        }
        let bare = patch.apply(object, self.view.cluster.release()).map_err(Refusal::internal)?;
        let mut defaulted = bare.clone();
        self.view.default(&matched.resource, &matched.kind, &mut defaulted)?;
        Ok(Some(Changed { bare, defaulted }))
    }
}

/// An object that a webhook changed, before and after defaulting.
struct Changed {
    bare: Value,
    defaulted: Value,
}

/// Applies the failure policy of a webhook that could not be called.
fn failed(webhook: &Webhook, reason: &str) -> Result<(), Refusal> {
    if webhook.failure_policy == FailurePolicy::Ignore {
        return Ok(());
    }
    Err(Refusal::internal(format!("failed calling webhook {}: {reason}", quote::go_quote(&webhook.name))))
}

fn rejected(webhook: &Webhook, answer: &AdmissionResponse) -> Refusal {
    Refusal::of_status(&review::rejection(&webhook.name, answer.status.as_ref()))
}

//! The webhooks of a `ValidatingWebhookConfiguration` or `MutatingWebhookConfiguration`
//! (`k8s.io/api/admissionregistration/v1`).
//!
//! A missing field has the server's default, so configurations that were never stored by a server can be read, too.

use crate::crd::{WebhookClientConfig, webhook_client_config as client_config};
use crate::policies::compile::{CompiledExpression, conditions};
use crate::policies::model::{FailurePolicy, MatchResources, PolicyKind};
use crdx_value::Value;
use crdx_value::release::Release;
use std::sync::Arc;

/// Returns the kind of the configurations of mutating or validating webhooks.
pub fn configuration_kind(policy_kind: PolicyKind) -> &'static str {
    match policy_kind {
        PolicyKind::Validating => "ValidatingWebhookConfiguration",
        PolicyKind::Mutating => "MutatingWebhookConfiguration",
    }
}

/// Returns the resource of the configurations of mutating or validating webhooks.
pub fn configurations(policy_kind: PolicyKind) -> &'static str {
    match policy_kind {
        PolicyKind::Validating => "validatingwebhookconfigurations",
        PolicyKind::Mutating => "mutatingwebhookconfigurations",
    }
}

/// A webhook.
#[derive(Debug)]
pub struct Webhook {
    /// The kind of webhook: validating or mutating.
    pub policy_kind: PolicyKind,
    /// `metadata.name` of its configuration.
    pub configuration: String,
    /// `name`
    pub name: String,
    /// Rules, selectors and `matchPolicy`.
    pub criteria: MatchResources,
    /// `matchConditions`, compiled.
    pub conditions: Vec<CompiledExpression>,
    /// `failurePolicy`
    pub failure_policy: FailurePolicy,
    /// `clientConfig`
    pub target: Arc<WebhookClientConfig>,
    /// `timeoutSeconds`
    pub timeout_seconds: u64,
    /// `sideEffects`
    pub side_effects: Option<String>,
    /// `admissionReviewVersions`
    pub review_versions: Vec<String>,
    /// True if `reinvocationPolicy` is `IfNeeded`.
    pub reinvoked_if_needed: bool,
}

/// The default of `timeoutSeconds`.
const TIMEOUT_SECONDS: u64 = 10;

impl Webhook {
    /// Reads the webhooks of a configuration, in order.
    pub(crate) fn read_all(configuration: &Value, policy_kind: PolicyKind, release: Release) -> Vec<Self> {
        let name = configuration.str_at(&["metadata", "name"]).unwrap_or_default();
        let webhooks = configuration.get("webhooks").and_then(Value::as_array).unwrap_or_default();
        webhooks.iter().map(|webhook| Self::read(webhook, name, policy_kind, release)).collect()
    }

    fn read(webhook: &Value, configuration: &str, policy_kind: PolicyKind, release: Release) -> Self {
        let text = |key: &str| webhook.get(key).and_then(Value::as_str);
        let conditions_of = webhook.get("matchConditions").and_then(Value::as_array).unwrap_or_default();
        let expressions = conditions_of.iter().map(|c| c.str_at(&["expression"]).unwrap_or_default().to_owned());
        let expressions: Vec<String> = expressions.collect();
        let versions = webhook.get("admissionReviewVersions").and_then(Value::as_array).unwrap_or_default();
        Self {
            policy_kind,
            configuration: configuration.to_owned(),
            name: text("name").unwrap_or_default().to_owned(),
            criteria: MatchResources::of_webhook(webhook, release),
            conditions: conditions(&expressions, release),
            failure_policy: FailurePolicy::read(text("failurePolicy")),
            target: Arc::new(client_config(webhook.get("clientConfig").unwrap_or(&Value::Null))),
            timeout_seconds: webhook
                .get("timeoutSeconds")
                .and_then(Value::as_int)
                .and_then(|seconds| u64::try_from(seconds).ok())
                .unwrap_or(TIMEOUT_SECONDS),
            side_effects: text("sideEffects").map(str::to_owned),
            review_versions: versions.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            reinvoked_if_needed: text("reinvocationPolicy") == Some("IfNeeded"),
        }
    }
}

//! The second round of mutating plugins (`admission/reinvocation.go`).

use crate::policies::mutating;
use crdx_value::Value;
use std::collections::BTreeSet;

/// State that is kept from the first round of mutating plugins for the second one.
#[derive(Debug, Default)]
pub(in crate::server) struct Reinvocation {
    /// The state of policies: whether this is the second round, and whether one is needed.
    pub policies: mutating::Reinvocation,
    /// The state of webhooks.
    pub webhooks: ReinvocationContext,
}

/// The webhooks that may be called again in the second round (`webhookReinvokeContext`).
#[derive(Debug, Default)]
pub(in crate::server) struct ReinvocationContext {
    /// The object after the last round.
    pub output: Option<Value>,
    /// Webhooks that were called and may be called again.
    pub invoked: BTreeSet<WebhookKey>,
    /// Webhooks to call in the second round.
    pub again: BTreeSet<WebhookKey>,
}

/// The names of a configuration and of one of its webhooks.
type WebhookKey = (String, String);

impl ReinvocationContext {
    /// Requires another call of the webhooks that were called and may be called again.
    pub fn require(&mut self) {
        self.again.append(&mut self.invoked);
    }
}

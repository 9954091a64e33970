//! The webhook calls that a request depends on.
//!
//! The server makes no network calls. If a request needs the answer of a webhook, the attempt ends without effect and
//! the caller receives the call ([`crate::server::endpoints::reply::Reply::Pending`]). Once the caller has the answer, it sends the same
//! request again with the same [`Calls`]: the server processes it from the beginning and takes known answers from here.
//! If another request changed the object in the meantime, the call differs and is made again, so an answer is only used
//! for the review to which it belongs.

use crate::crd::WebhookClientConfig;
use crate::server::http::status::Refusal;
use crate::server::random::Random;
pub use crate::webhooks::call::{Call, CallOutcome, url};
use crdx_value::lock::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// The webhook answers that one request has received so far. By default webhooks are not called: admission webhooks are
/// reported, and versions are converted without a webhook.
#[derive(Clone, Debug, Default)]
pub struct Calls(Option<Arc<Mutex<Progress>>>);

#[derive(Debug)]
struct Progress {
    /// The seed of the UIDs and names of every attempt.
    seed: u64,
    drawn: Random,
    /// The UIDs of reviews.
    uids: Random,
    issued: HashMap<Arc<str>, IssuedCall>,
    waiting: Vec<Call>,
}

#[derive(Debug)]
struct IssuedCall {
    uid: String,
    call: Call,
    outcome: Option<CallOutcome>,
}

/// An answered call.
#[derive(Clone, Debug)]
pub(in crate::server) struct Reviewed {
    /// The UID of the review.
    pub uid: String,
    /// The result of the call.
    pub outcome: CallOutcome,
}

impl Calls {
    /// The maximum number of attempts of a request. More are needed only if objects or answers change continuously.
    pub const MAX_ATTEMPTS: usize = 200;

    /// No answers yet, with webhooks enabled; UIDs and names depend on the seed.
    pub(in crate::server) fn enabled(seed: u64) -> Self {
        let (drawn, uids) = (Random::new(seed), Random::new(!seed));
        Self(Some(Arc::new(Mutex::new(Progress { seed, drawn, uids, issued: HashMap::new(), waiting: Vec::new() }))))
    }

    fn progress(&self) -> Option<MutexGuard<'_, Progress>> {
        self.0.as_ref().map(|progress| lock(progress))
    }

    /// Records the result of a call.
    pub fn answer(&self, call: &Call, outcome: CallOutcome) {
        if let Some(mut progress) = self.progress()
            && let Some(issued) = progress.issued.get_mut(&call.key)
        {
            issued.outcome = Some(outcome);
        }
    }

    /// Returns true if webhooks are called.
    pub(in crate::server) fn are_made(&self) -> bool {
        self.0.is_some()
    }

    /// Begins another attempt, which generates the same UIDs and names.
    pub(in crate::server) fn restart(&self) {
        if let Some(mut progress) = self.progress() {
            progress.drawn = Random::new(progress.seed);
            progress.waiting.clear();
        }
    }

    /// Generates a UID that is the same in every attempt; `None` if webhooks are not called.
    pub(in crate::server) fn uid(&self) -> Option<String> {
        self.progress().map(|progress| progress.drawn.uid())
    }

    /// Generates a name that is the same in every attempt; `None` if webhooks are not called.
    pub(in crate::server) fn name(&self, prefix: &str) -> Option<String> {
        self.progress().map(|progress| progress.drawn.name(prefix))
    }

    /// Returns the answer to a review; `review` creates the review with a given UID.
    ///
    /// # Errors
    /// Returns [`Refusal::waiting`] if the answer is not known yet.
    pub(in crate::server) fn ask(
        &self,
        target: &Arc<WebhookClientConfig>,
        timeout_seconds: u64,
        review: impl Fn(&str) -> String,
    ) -> Result<Reviewed, Refusal> {
        let Some(mut progress) = self.progress() else { return Err(Refusal::waiting()) };
        let key: Arc<str> = format!("{} {}", url(target, timeout_seconds), review("")).into();
        if let Some(IssuedCall { uid, call, outcome }) = progress.issued.get(&key) {
            let (uid, call, outcome) = (uid.clone(), call.clone(), outcome.clone());
            let Some(outcome) = outcome else {
                if !progress.waiting.contains(&call) {
                    progress.waiting.push(call);
                }
                return Err(Refusal::waiting());
            };
            return Ok(Reviewed { uid, outcome });
        }
        let uid = progress.uids.uid();
        let call = Call { target: Arc::clone(target), timeout_seconds, body: review(&uid), key: Arc::clone(&key) };
        progress.issued.insert(key, IssuedCall { uid, call: call.clone(), outcome: None });
        progress.waiting.push(call);
        Err(Refusal::waiting())
    }

    /// Returns true if this attempt needs answers that are not known yet; such an attempt has no effect.
    pub(in crate::server) fn is_waiting(&self) -> bool {
        self.progress().is_some_and(|progress| !progress.waiting.is_empty())
    }

    /// Ends an attempt that needs answers.
    ///
    /// # Errors
    /// Returns [`Refusal::waiting`] if [`Calls::is_waiting`].
    pub(in crate::server) fn check(&self) -> Result<(), Refusal> {
        if self.is_waiting() { Err(Refusal::waiting()) } else { Ok(()) }
    }

    /// Removes and returns the calls that this attempt needs.
    pub(in crate::server) fn take_pending(&self) -> Vec<Call> {
        self.progress().map(|mut progress| std::mem::take(&mut progress.waiting)).unwrap_or_default()
    }

    /// Removes all answers; a watch does so after each event.
    pub(in crate::server) fn forget(&self) {
        if let Some(mut progress) = self.progress() {
            progress.issued.clear();
        }
    }
}

//! The webhook calls that a request or a watch waits for.

use crate::frame::Frame;
use crate::outgoing;
use crdx_server::server::{Call, CallOutcome, Calls};
use std::collections::BTreeMap;

/// The calls that the host makes for one request or watch, by their numbers.
#[derive(Debug, Default)]
pub struct WebhookCalls {
    open: BTreeMap<i64, Call>,
    next: i64,
}

impl WebhookCalls {
    /// Appends the frames of calls.
    pub fn start(&mut self, id: i64, pending: Vec<Call>, frames: &mut Vec<Frame>) {
        for call in pending {
            frames.push(outgoing::call(id, self.next, &call));
            self.open.insert(self.next, call);
            self.next += 1;
        }
    }

    /// Records an outcome. Returns true if it was the last one that was missing.
    pub fn finish(&mut self, number: i64, outcome: CallOutcome, calls: &Calls) -> bool {
        let Some(call) = self.open.remove(&number) else { return false };
        calls.answer(&call, outcome);
        self.open.is_empty()
    }

    /// Returns true if outcomes are missing.
    pub fn are_open(&self) -> bool {
        !self.open.is_empty()
    }
}

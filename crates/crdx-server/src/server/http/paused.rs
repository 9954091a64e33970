//! A request that waits between two writes.
//!
//! A deletion without a grace period marks the object, then removes it. On the real server milliseconds pass in between,
//! in which controllers see the marked object. The server does not wait itself: it ends the attempt after the first write,
//! and the caller waits and lets the server resume the request.

use crate::server::http::answer::List;
use crate::server::http::delete_options::DeleteOptions;
use crate::server::http::response::Trace;
use crate::server::http::status::Refusal;
use std::time::Duration;

/// A deletion that marked an object and has not removed it yet.
#[derive(Debug)]
pub struct Paused {
    duration: Duration,
    /// The options of the deletion, with the resourceVersion of the marked object if they have one.
    pub(in crate::server) options: DeleteOptions,
    /// The objects of a collection that is deleted, and the number of those that are deleted already.
    pub(in crate::server) collection: Option<(List, usize)>,
    pub(in crate::server) on_conflict: OnConflict,
    pub(in crate::server) warnings: Vec<String>,
    pub(in crate::server) trace: Trace,
}

/// The continuation of a request if another write changes the object during the pause.
#[derive(Debug, Default)]
pub(in crate::server) enum OnConflict {
    /// The conflict is the answer.
    #[default]
    Report,
    /// The request is handled again.
    Retry,
    Refuse(Box<Refusal>),
}

impl Paused {
    /// A deletion that is to be resumed after `duration`.
    pub(in crate::server) fn new(duration: Duration, options: DeleteOptions) -> Self {
        Self {
            duration,
            options,
            collection: None,
            on_conflict: OnConflict::default(),
            warnings: Vec::new(),
            trace: Trace::default(),
        }
    }

    /// The time to wait before the request is resumed.
    pub fn duration(&self) -> Duration {
        self.duration
    }
}

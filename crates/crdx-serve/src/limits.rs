//! The limits for clients that send or read slowly.

use super::budget::Budget;
use super::runtime::handled_in_place;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The maximum number of long bodies that are handled at the same time, which bounds the memory that requests can use.
const WORKING: usize = 8;

/// The limits for slow clients.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum number of bytes of request bodies that are arriving or waiting to be handled.
    pub bodies: usize,
    /// The maximum number of bytes of answers that their clients have not read.
    pub answers: usize,
    /// The time without progress after which a client is disconnected, if others wait for the bytes that it occupies.
    pub patience: Duration,
    /// The time limit for receiving a body, as for any request to the real server (`--request-timeout`).
    pub body_timeout: Duration,
    /// The time limit for a client to read a part of an answer.
    pub write_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bodies: 96 << 20,
            answers: 128 << 20,
            patience: Duration::from_millis(250),
            body_timeout: Duration::from_mins(1),
            write_timeout: Duration::from_mins(1),
        }
    }
}

/// The permits of requests, and the memory that slow clients may occupy.
#[derive(Debug)]
pub(super) struct Permits {
    /// Long bodies that are handled.
    pub working: Arc<Semaphore>,
    /// Requests that are handled where they were read.
    pub in_place: Semaphore,
    /// Reads that are handled anywhere. An answer takes memory until it is complete, so only as many are made at the same
    /// time as there are processors.
    pub reading: Semaphore,
    /// Bodies that are arriving.
    pub bodies: Arc<Budget>,
    /// Answers that are not read.
    pub answers: Arc<Budget>,
}

impl Permits {
    /// Permits and budgets for a server.
    pub fn new(limits: &Limits) -> Self {
        Self {
            working: Arc::new(Semaphore::new(WORKING)),
            in_place: Semaphore::new(handled_in_place()),
            reading: Semaphore::new(handled_in_place()),
            bodies: Arc::new(Budget::new(limits.bodies, limits.patience)),
            answers: Arc::new(Budget::new(limits.answers, limits.patience)),
        }
    }
}

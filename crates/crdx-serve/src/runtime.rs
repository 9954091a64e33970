//! The threads on which a server is served.

use super::notifier::BatchNotifier;
use super::{STACK_SIZE, THREADS};
use crdx_server::server::WatchNotifier;
use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;
use tokio::runtime::{Builder, Handle};

/// The maximum number of requests handled in place, on any machine.
const MAX_IN_PLACE: usize = 8;

/// The number of requests that are handled at the same time on the threads that read and write the connections: one for
/// each processor.
pub(super) fn handled_in_place() -> usize {
    available_parallelism().map_or(1, NonZero::get).min(MAX_IN_PLACE)
}

/// The threads on which a server is served. They end when this is dropped.
#[derive(Debug)]
pub struct Runtime {
    pub(super) handle: Handle,
    threads: Option<tokio::runtime::Runtime>,
}

impl Runtime {
    /// Starts the threads.
    ///
    /// # Errors
    /// Returns an error if the system cannot start them.
    pub fn new() -> io::Result<Self> {
        let threads = Builder::new_multi_thread()
            // One thread is left for the connections if requests take long on all others.
            .worker_threads(handled_in_place() + 1)
            .max_blocking_threads(THREADS)
            .thread_stack_size(STACK_SIZE)
            .enable_all()
            .build()?;
        Ok(Self { handle: threads.handle().clone(), threads: Some(threads) })
    }

    /// Returns a notifier that wakes watches on these threads, for
    /// [`ServerBuilder::with_notifier`](crdx_server::server::ServerBuilder::with_notifier).
    pub fn notifier(&self) -> Arc<dyn WatchNotifier> {
        Arc::new(BatchNotifier(self.handle.clone()))
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(threads) = self.threads.take() {
            // Do not wait: this value may be dropped where blocking is not allowed.
            threads.shutdown_background();
        }
    }
}

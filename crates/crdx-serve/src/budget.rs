//! Bounds the memory that slow clients occupy: request bodies that are arriving, and answers that are not read.
//!
//! All of them share a number of bytes. When it is spent, the client that has been without progress for the longest time
//! is disconnected, if that is longer than a limit. So clients that send or read at any usual speed never wait long for
//! those that do not.

use crdx_value::lock::lock;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

/// A number of bytes that several clients share.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: usize,
    /// The time without progress after which a client is disconnected if others wait.
    patience: Duration,
    state: Mutex<BudgetState>,
    released: Notify,
}

#[derive(Debug, Default)]
struct BudgetState {
    spent: usize,
    next: u64,
    shares: BTreeMap<u64, ClientShare>,
}

#[derive(Debug)]
struct ClientShare {
    bytes: usize,
    /// The time of the last progress; `None` if the client cannot be disconnected any more.
    progress: Option<Instant>,
    /// Notified to disconnect the client.
    disconnect: Arc<Notify>,
}

/// The bytes of one client. They are released on drop.
#[derive(Debug)]
pub(super) struct Share {
    budget: Arc<Budget>,
    id: u64,
}

impl Budget {
    pub fn new(bytes: usize, patience: Duration) -> Self {
        Self { bytes, patience, state: Mutex::default(), released: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, BudgetState> {
        lock(&self.state)
    }

    /// Adds a client without bytes; `disconnect` is notified if it must make room.
    pub fn share(self: &Arc<Self>, disconnect: Arc<Notify>) -> Share {
        let mut state = self.state();
        let id = state.next;
        state.next += 1;
        state.shares.insert(id, ClientShare { bytes: 0, progress: Some(Instant::now()), disconnect });
        Share { budget: Arc::clone(self), id }
    }

    /// The number of bytes in use.
    #[cfg(test)]
    pub fn spent(&self) -> usize {
        self.state().spent
    }

    /// Takes bytes for a client if there are enough. One client may exceed the budget if no other has any bytes.
    fn take(&self, id: u64, bytes: usize) -> bool {
        let mut state = self.state();
        let own = state.shares.get(&id).map_or(0, |entry| entry.bytes);
        if state.spent + bytes > self.bytes && state.spent > own {
            return false;
        }
        state.spent += bytes;
        if let Some(entry) = state.shares.get_mut(&id) {
            entry.bytes += bytes;
            entry.progress = entry.progress.map(|_| Instant::now());
        }
        true
    }

    /// Disconnects the client with bytes that has made no progress for the longest time.
    fn make_room(&self, id: u64) {
        let mut state = self.state();
        let others = state.shares.iter_mut().filter(|(other, entry)| **other != id && entry.bytes > 0);
        let slowest =
            others.filter_map(|(_, entry)| Some((entry.progress?, entry))).min_by_key(|(progress, _)| *progress);
        if let Some((progress, entry)) = slowest
            && progress.elapsed() >= self.patience
        {
            entry.progress = None;
            entry.disconnect.notify_one();
        }
    }
}

impl Share {
    /// Takes more bytes, and waits until there are enough. A client that has bytes should not wait for more, because others
    /// wait for it.
    pub async fn grow(&self, bytes: usize) {
        while !self.try_grow(bytes) {
            self.budget.make_room(self.id);
            // A client that is slow only later is not announced.
            let _ = timeout(self.budget.patience, self.budget.released.notified()).await;
        }
        // There may be room for another client.
        self.budget.released.notify_one();
    }

    /// Takes more bytes, if there are enough.
    pub fn try_grow(&self, bytes: usize) -> bool {
        self.budget.take(self.id, bytes)
    }

    /// Takes bytes even if there are not enough.
    pub fn grow_anyway(&self, bytes: usize) {
        let mut state = self.budget.state();
        state.spent += bytes;
        if let Some(entry) = state.shares.get_mut(&self.id) {
            entry.bytes += bytes;
        }
    }

    /// Records that the client has sent or read something.
    pub fn record_progress(&self) {
        if let Some(entry) = self.budget.state().shares.get_mut(&self.id) {
            entry.progress = entry.progress.map(|_| Instant::now());
        }
    }

    /// Keeps only this many bytes, and keeps the client connected, because nothing depends on its speed any more.
    pub fn keep(&self, bytes: usize) {
        let mut state = self.budget.state();
        let BudgetState { spent, shares, .. } = &mut *state;
        if let Some(entry) = shares.get_mut(&self.id) {
            let unused = entry.bytes.saturating_sub(bytes);
            entry.bytes -= unused;
            *spent -= unused;
            entry.progress = None;
        }
        drop(state);
        self.budget.released.notify_one();
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        let bytes = state.shares.remove(&self.id).map_or(0, |entry| entry.bytes);
        state.spent -= bytes;
        drop(state);
        if bytes > 0 {
            self.budget.released.notify_one();
        }
    }
}

/// Waits for `work`; `None` if `end` is ready first.
pub(super) async fn until<T>(end: impl Future<Output = ()>, work: impl Future<Output = T>) -> Option<T> {
    let (mut end, mut work) = (pin!(end), pin!(work));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => end.as_mut().poll(context).map(|()| None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than any test takes: nothing depends on it.
    const LONG: Duration = Duration::from_mins(10);

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
    }

    fn share(budget: &Arc<Budget>) -> (Share, Arc<Notify>) {
        let disconnect = Arc::new(Notify::new());
        (budget.share(Arc::clone(&disconnect)), disconnect)
    }

    #[test]
    fn bytes_are_shared_and_released() {
        let budget = Arc::new(Budget::new(100, LONG));
        let ((one, _), (two, _)) = (share(&budget), share(&budget));
        assert!(one.try_grow(60) && two.try_grow(40) && !two.try_grow(1) && !one.try_grow(1));
        assert_eq!(budget.spent(), 100);
        drop(one);
        assert_eq!(budget.spent(), 40);
        // A client alone may take more than all.
        assert!(two.try_grow(1000));
        assert!(!share(&budget).0.try_grow(1));
        two.grow_anyway(5);
        drop(two);
        assert_eq!(budget.spent(), 0);
    }

    #[test]
    fn a_client_waits_for_room() {
        run(async {
            let budget = Arc::new(Budget::new(100, LONG));
            let (one, disconnect) = share(&budget);
            assert!(one.try_grow(100));
            let (two, _) = share(&budget);
            let waiting = tokio::spawn(async move {
                two.grow(10).await;
                two
            });
            tokio::task::yield_now().await;
            assert!(!waiting.is_finished());
            drop(one);
            let two = waiting.await.unwrap();
            assert_eq!(two.budget.spent(), 10);
            // It had made progress a moment ago.
            assert!(timeout(Duration::ZERO, disconnect.notified()).await.is_err());
        });
    }

    #[test]
    fn the_slowest_client_makes_room() {
        run(async {
            let budget = Arc::new(Budget::new(100, Duration::from_millis(1)));
            let slow: Vec<_> = (0..10).map(|_| share(&budget)).collect();
            assert!(slow.iter().all(|(one, _)| one.try_grow(10)));
            let (kept, _) = slow.last().unwrap();
            kept.keep(10);
            // Each client leaves when it is told so.
            let mut tasks = Vec::new();
            for (one, disconnect) in slow {
                tasks.push(tokio::spawn(async move {
                    disconnect.notified().await;
                    drop(one);
                }));
            }
            let (honest, _) = share(&budget);
            honest.grow(90).await;
            assert_eq!(budget.spent(), 100);
            tokio::task::yield_now().await;
            assert_eq!(tasks.iter().filter(|task| !task.is_finished()).count(), 1);
        });
    }
}

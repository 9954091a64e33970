//! Wakes many watches in batches, so that responses to other clients are sent in between.

use crdx_server::server::WatchNotifier;
use std::task::Waker;
use tokio::runtime::Handle;

/// The number of watches in a batch.
const BATCH: usize = 128;

/// Wakes watches on this runtime.
#[derive(Debug)]
pub(super) struct BatchNotifier(pub Handle);

impl WatchNotifier for BatchNotifier {
    fn notify(&self, waiting: Vec<Waker>) {
        let mut sleepers = Wakers(waiting);
        self.0.spawn(async move {
            while !sleepers.0.is_empty() {
                sleepers.wake(BATCH);
                tokio::task::yield_now().await;
            }
        });
    }
}

/// The watches to wake. The remaining ones are woken on drop: this runtime may have ended while another still serves
/// watches.
struct Wakers(Vec<Waker>);

impl Wakers {
    fn wake(&mut self, most: usize) {
        self.0.drain(self.0.len().saturating_sub(most)..).for_each(Waker::wake);
    }
}

impl Drop for Wakers {
    fn drop(&mut self) {
        self.wake(usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;
    use std::time::Duration;

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn all_watches_are_woken_even_if_the_runtime_has_ended() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let notifier = BatchNotifier(runtime.handle().clone());
        let count = Arc::new(Count(AtomicUsize::new(0)));
        let many = || vec![Waker::from(Arc::clone(&count)); 3 * BATCH + 1];
        notifier.notify(many());
        let all = (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            count.0.load(Ordering::SeqCst) == many().len()
        });
        assert!(all);
        drop(runtime);
        notifier.notify(many());
        assert_eq!(count.0.load(Ordering::SeqCst), 2 * many().len());
    }
}

//! The progress of the watch cache of a resource (`storage/cacher/watch_cache.go` and `storage/cacher/progress`).
//!
//! The real server answers lists from the watch cache of the resource. This cache receives the writes of its own
//! resource at once, but learns of the writes of other resources only when it asks etcd for its progress, which it does
//! when a list waits for it, and at most every 100 ms.

use std::time::Duration;

/// The least time between two requests of one cache for the progress of etcd (`progressRequestPeriod`).
const PERIOD: Duration = Duration::from_millis(100);

/// The requests of one watch cache for the progress of etcd.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The revision in etcd's last answer.
    revision: u64,
    /// The earliest time of the next request.
    next_request: Duration,
}

impl Progress {
    /// Returns how long a list waits at `now` until the cache contains all writes up to `wanted`; `None` if it does.
    /// `own` is the revision of the last write of the resource, and `current` the one of the last write of all.
    pub fn wait(&mut self, wanted: u64, own: u64, current: u64, now: Duration) -> Option<Duration> {
        if own.max(self.revision) >= wanted {
            return None;
        }
        let wait = self.next_request.saturating_sub(now);
        if wait.is_zero() {
            // The answer of etcd takes about a millisecond, which is not simulated.
            self.revision = current;
            self.next_request = now + PERIOD;
            return None;
        }
        Some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    #[test]
    fn a_cache_requests_progress_every_100_ms_at_most() {
        let mut progress = Progress::default();
        // The first request is sent at once.
        assert_eq!(progress.wait(7, 3, 7, ms(500)), None);
        assert_eq!(progress.wait(7, 3, 7, ms(501)), None);
        // Object 8 is of another resource.
        assert_eq!(progress.wait(8, 3, 8, ms(501)), Some(ms(99)));
        assert_eq!(progress.wait(8, 3, 9, ms(570)), Some(ms(30)));
        // The answer of etcd includes write 9, so all lists that wait are answered.
        assert_eq!(progress.wait(8, 3, 9, ms(600)), None);
        assert_eq!(progress.wait(9, 3, 9, ms(600)), None);
        assert_eq!(progress.wait(10, 3, 10, ms(601)), Some(ms(99)));
        assert_eq!(progress.wait(10, 3, 10, ms(5000)), None);
    }

    #[test]
    fn a_cache_receives_the_writes_of_its_own_resource() {
        let mut progress = Progress::default();
        assert_eq!(progress.wait(7, 7, 7, ms(0)), None);
        assert_eq!(progress.wait(8, 7, 8, ms(0)), None);
        assert_eq!(progress.wait(9, 7, 9, ms(10)), Some(ms(90)));
        // Write 10 is of this resource, so the cache has seen all writes before it.
        assert_eq!(progress.wait(9, 10, 10, ms(20)), None);
        assert_eq!(progress.wait(11, 10, 11, ms(30)), Some(ms(70)));
    }
}

//! Consistent reads (`storage/cacher/delegator.go`): lists without a resourceVersion, which must be as recent as the
//! last write. Since 1.31, the real server answers them from the watch cache of the resource when this cache is recent
//! enough.

use super::store::{Collection, Revision};
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;

/// A read that the real server answers when its watch cache has seen the last write.
#[derive(Debug)]
pub struct ConsistentRead {
    id: u64,
    objects: Arc<Collection>,
    revision: Arc<Revision>,
    /// The revision of the last write when the read began.
    wanted: u64,
}

impl ConsistentRead {
    /// Begins a read of `objects`; `revision` is the counter of the server.
    pub(in crate::server) fn new(objects: Arc<Collection>, revision: Arc<Revision>) -> Self {
        Self { id: objects.next_id(), wanted: revision.current(), objects, revision }
    }

    /// Returns how long the read waits at `now`, the time since any fixed moment, unless [`Self::poll_write`] is ready
    /// earlier. `None` means that it need not wait.
    pub fn wait(&self, now: Duration) -> Option<Duration> {
        self.objects.wait_for_progress(self.wanted, &self.revision, now)
    }

    /// Ready when a later write of the resource shows that its watch cache is recent enough.
    pub fn poll_write(&self, context: &task::Context<'_>) -> Poll<()> {
        // Register first, so that no write between both statements is missed.
        self.objects.wait(self.id, context.waker());
        if self.objects.last_write() >= self.wanted { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for ConsistentRead {
    fn drop(&mut self) {
        self.objects.stop_waiting(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::{Method, Request, Server};
    use crdx_value::release::Release;
    use std::task::Waker;

    const MAPS: &str = "/api/v1/namespaces/default/configmaps";
    const SECRETS: &str = "/api/v1/namespaces/default/secrets";
    const NOW: Duration = Duration::from_secs(1);

    fn server() -> Server {
        Server::builder(Release::NEWEST, 1).with_built_in_kinds().build()
    }

    fn create(server: &Server, path: &str, name: &str) {
        let body = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
        assert_eq!(server.handle(&Request::new(Method::Post, path, body.as_str())).code, 201);
    }

    fn list(server: &Server, path: &str) -> ConsistentRead {
        server.consistent_read(&Request::new(Method::Get, path, "")).unwrap()
    }

    #[test]
    fn a_list_waits_after_a_write_of_another_resource() {
        let server = server();
        create(&server, SECRETS, "a");
        assert_eq!(list(&server, MAPS).wait(NOW), None);
        assert_eq!(list(&server, MAPS).wait(NOW), None);
        create(&server, SECRETS, "b");
        let waiting = list(&server, MAPS);
        let later = NOW + Duration::from_millis(30);
        assert_eq!(waiting.wait(later), Some(Duration::from_millis(70)));
        // The other resource has a cache of its own.
        assert_eq!(list(&server, SECRETS).wait(later), None);
        // A write after the list began does not prolong the wait.
        create(&server, SECRETS, "c");
        assert_eq!(waiting.wait(NOW + Duration::from_millis(100)), None);
    }

    #[test]
    fn a_waiting_list_continues_after_a_write_of_its_resource() {
        let server = server();
        let context = task::Context::from_waker(Waker::noop());
        create(&server, SECRETS, "a");
        assert_eq!(list(&server, MAPS).wait(NOW), None);
        create(&server, SECRETS, "b");
        let waiting = list(&server, MAPS);
        assert!(waiting.wait(NOW).is_some() && waiting.poll_write(&context).is_pending());
        create(&server, MAPS, "c");
        assert!(waiting.poll_write(&context).is_ready());
        assert_eq!(waiting.wait(NOW), None);
    }
}

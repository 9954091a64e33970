//! The waits of consistent reads, for test suites.

use crdx_server::server::ConsistentRead;
use std::future::poll_fn;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How many times longer than the pause of a write a list waits that a write of its resource ends.
const REACTION: u32 = 2;

/// Waits as long as the real server would before it answers. `start` is when this server started, and `pause` the time
/// that a write takes.
pub(super) async fn wait(read: &ConsistentRead, start: Instant, pause: Duration) {
    while let Some(wait) = read.wait(start.elapsed()) {
        // Either a write of the resource or the next request for etcd's progress ends the wait.
        if timeout(wait, poll_fn(|context| read.poll_write(context))).await.is_ok() {
            // The real server answers at once, but its reads take half as long as its writes (1.5 and 3.4 ms), and those of
            // this server a tenth. A test that lists, reads and writes would overtake a controller that writes twice.
            return sleep(pause * REACTION).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_server::server::{Method, Request};
    use crdx_value::release::Release;
    use std::pin::pin;
    use std::task::Poll;

    #[test]
    fn a_list_waits_until_a_write_of_its_resource() {
        let server = crdx_kinds::builder(Release::NEWEST, 1).with_built_in_kinds().build();
        let path = |resource: &str| format!("/api/v1/namespaces/default/{resource}");
        let create = |resource| {
            let body = r#"{"metadata":{"generateName":"a"}}"#;
            assert_eq!(server.handle(&Request::new(Method::Post, &path(resource), body)).code, 201);
        };
        let list = || server.consistent_read(&Request::new(Method::Get, &path("configmaps"), "")).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        // No time passes before the start.
        let start = Instant::now() + Duration::from_hours(1);
        runtime.block_on(async {
            create("secrets");
            wait(&list(), start, Duration::ZERO).await;
            create("secrets");
            let read = list();
            let mut waiting = pin!(wait(&read, start, Duration::ZERO));
            // Controllers have more time to react than this test.
            let mut reacting = pin!(wait(&read, start, Duration::from_hours(1)));
            assert!(poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_pending())).await);
            assert!(poll_fn(|context| Poll::Ready(reacting.as_mut().poll(context).is_pending())).await);
            create("configmaps");
            waiting.await;
            assert!(poll_fn(|context| Poll::Ready(reacting.as_mut().poll(context).is_pending())).await);
        });
    }
}

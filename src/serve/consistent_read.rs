//! The waits of consistent reads, for test suites.

use crdx_server::server::ConsistentRead;
use std::future::poll_fn;
use tokio::time::{Instant, timeout};

/// Waits as long as the real server would before it answers. `start` is when this server started.
pub(super) async fn wait(read: &ConsistentRead, start: Instant) {
    while let Some(wait) = read.wait(start.elapsed()) {
        // Either a write of the resource or the next request for etcd's progress ends the wait.
        let _ = timeout(wait, poll_fn(|context| read.poll_write(context))).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_server::server::{Method, Request, Server};
    use crdx_value::release::Release;
    use std::pin::pin;
    use std::task::Poll;
    use std::time::Duration;

    #[test]
    fn a_list_waits_until_a_write_of_its_resource() {
        let server = Server::builder(Release::NEWEST, 1).with_built_in_kinds().build();
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
            wait(&list(), start).await;
            create("secrets");
            let read = list();
            let mut waiting = pin!(wait(&read, start));
            let is_pending = poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_pending())).await;
            assert!(is_pending);
            create("configmaps");
            waiting.await;
        });
    }
}

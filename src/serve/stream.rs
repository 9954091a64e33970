//! A watch as the body of a response: each event is sent when it happens. Only timers wait here, so that many watches
//! cost little.

use super::clock::now;
use crate::server::Watch;
use hyper::body::{Body, Bytes, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{self, Interval, MissedTickBehavior, Sleep};

/// How long a watch lasts if its client gave no timeout.
const TIMEOUT: Duration = Duration::from_mins(45);
/// How often a watch sends a bookmark.
const BOOKMARKS: Duration = Duration::from_mins(1);

/// The body of a watch response.
pub(super) struct Stream {
    watch: Watch,
    end: Pin<Box<Sleep>>,
    bookmarks: Option<Interval>,
}

impl Stream {
    /// Starts the timers.
    pub fn new(watch: Watch) -> Self {
        let seconds = watch.timeout_seconds().map(|seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or(0)));
        let bookmarks = watch.wants_bookmarks().then(|| {
            let mut interval = time::interval_at(time::Instant::now() + BOOKMARKS, BOOKMARKS);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            interval
        });
        Self { end: Box::pin(time::sleep(seconds.unwrap_or(TIMEOUT))), bookmarks, watch }
    }
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = |text| Poll::Ready(Some(Ok(Frame::data(Bytes::from_owner(text)))));
        if self.end.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        match self.watch.poll(now(), context) {
            Poll::Ready(Some(text)) => return frame(text),
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => {}
        }
        while let Some(bookmarks) = &mut self.bookmarks
            && bookmarks.poll_tick(context).is_ready()
        {
            if let Some(text) = self.watch.bookmark(now()) {
                return frame(text);
            }
        }
        Poll::Pending
    }
}

//! The bodies of responses: whole, or the stream of a watch.

use crate::api_server::builder::Clock;
use bytes::Bytes;
use crdx_server::server::{Progress, Watch};
use http_body::{Body, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::{self, Interval, MissedTickBehavior, Sleep};

/// The body of a response.
pub(super) enum ResponseBody {
    /// The bytes, until they are read.
    Whole(Option<Bytes>),
    /// The events of a watch.
    Stream(Box<WatchStream>),
}

/// The events of a watch, from when it starts until its timeout.
pub(super) struct WatchStream {
    watch: Watch,
    clock: Clock,
    end: Pin<Box<Sleep>>,
    bookmarks: Option<Interval>,
}

impl ResponseBody {
    /// The events of a watch. Starts its timers, so it must be called in a runtime.
    pub fn stream(watch: Watch, clock: Clock) -> Self {
        let bookmarks = watch.bookmark_interval().map(|period| {
            let mut interval = time::interval_at(time::Instant::now() + period, period);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            interval
        });
        let end = Box::pin(time::sleep(watch.timeout()));
        Self::Stream(Box::new(WatchStream { watch, clock, end, bookmarks }))
    }
}

impl WatchStream {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.end.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        match self.watch.poll(self.clock.now(), context) {
            Poll::Ready(Some(Progress::Event(event))) => return Poll::Ready(Some(Bytes::from_owner(event))),
            // No webhook is called.
            Poll::Ready(Some(Progress::Pending(_)) | None) => return Poll::Ready(None),
            Poll::Pending => {}
        }
        while let Some(bookmarks) = &mut self.bookmarks
            && bookmarks.poll_tick(context).is_ready()
        {
            if let Some(bookmark) = self.watch.bookmark(self.clock.now()) {
                return Poll::Ready(Some(Bytes::from_owner(bookmark)));
            }
        }
        Poll::Pending
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take()),
            Self::Stream(stream) => stream.poll(context),
        };
        data.map(|data| data.map(|bytes| Ok(Frame::data(bytes))))
    }
}

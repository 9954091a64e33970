//! A watch as the body of a response: each event is sent when it occurs. A watch holds no thread while it waits, so
//! many watches cost little.

use super::clock::now;
use super::state::StateFile;
use super::status::unsaved;
use super::webhooks::Webhooks;
use crdx_server::server::http::wire;
use crdx_server::server::{Progress, Watch};
use hyper::body::{Body, Bytes, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::{self, Interval, MissedTickBehavior, Sleep};

/// The body of a watch response.
pub(super) struct Stream {
    watch: Watch,
    end: Pin<Box<Sleep>>,
    bookmarks: Option<Interval>,
    webhooks: Webhooks,
    /// After a failure of this file, its watches end: an event may be one of a commit that was not persisted.
    state: Option<Arc<StateFile>>,
    failed: bool,
    /// The calls that the next event needs.
    calling: Option<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>,
}

impl Stream {
    /// Starts the timers.
    pub fn new(watch: Watch, webhooks: Webhooks, state: Option<Arc<StateFile>>) -> Self {
        let bookmarks = watch.bookmark_interval().map(|period| {
            let mut interval = time::interval_at(time::Instant::now() + period, period);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            interval
        });
        let end = Box::pin(time::sleep(watch.timeout()));
        Self { watch, end, bookmarks, webhooks, state, failed: false, calling: None }
    }

    /// Returns the last event after a failure of the state file.
    fn failure(&self) -> Option<String> {
        let failure = self.state.as_ref()?.failure()?;
        Some(format!("{{\"type\":\"ERROR\",\"object\":{}}}\n", wire::compact(&unsaved(failure))))
    }

    /// Returns the frame of an event, or of the error that replaces it.
    fn frame(&mut self, event: Arc<[u8]>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let text = match self.failure() {
            Some(error) => {
                self.failed = true;
                Bytes::from(error)
            }
            None => Bytes::from_owner(event),
        };
        Poll::Ready(Some(Ok(Frame::data(text))))
    }
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.failed || self.end.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        loop {
            if let Some(calling) = &mut self.calling {
                if calling.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                self.calling = None;
            }
            match self.watch.poll(now(), context) {
                Poll::Ready(Some(Progress::Event(text))) => return self.frame(text),
                Poll::Ready(Some(Progress::Pending(pending))) => {
                    let (webhooks, calls) = (self.webhooks.clone(), self.watch.calls().clone());
                    self.calling = Some(Box::pin(async move { webhooks.answer(&calls, pending).await }));
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => break,
            }
        }
        while let Some(bookmarks) = &mut self.bookmarks
            && bookmarks.poll_tick(context).is_ready()
        {
            if let Some(text) = self.watch.bookmark(now()) {
                return self.frame(text);
            }
        }
        Poll::Pending
    }
}

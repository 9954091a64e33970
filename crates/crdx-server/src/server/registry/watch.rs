//! Watches: the events of a collection from a given revision onwards (`endpoints/handlers/watch.go`, `storage/cacher`).
//!
//! A [`Watch`] is a cursor into the event log of its collection and buffers no events. If the log has dropped events
//! that the watch has not read yet, the watch ends. A waiting watch registers a [`Waker`](std::task::Waker) with the
//! collection; sockets, timers and the clock are the caller's responsibility.

mod view;

use super::Registry;
use crate::server::http::calls::{Call, Calls};
use crate::server::http::context::Context;
use crate::server::http::negotiate::{Conversion, Endpoint, Output};
use crate::server::http::options::{self, ListOptions};
use crate::server::http::query::Query;
use crate::server::http::response::{Format, Response};
use crate::server::http::status::Refusal;
use crate::server::registry::list::Scope;
use crate::server::registry::revision::{invalid_revision, parse_revision};
use crate::server::registry::store::{Collection, Next, Revision, StoredObject};
use crate::server::registry::strategy::ReadStrategy;
use crdx_value::time::Timestamp;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;
use view::View;

/// A cursor over the events of a collection for one client.
#[derive(Debug)]
pub struct Watch {
    id: u64,
    objects: Arc<Collection>,
    revision: Arc<Revision>,
    view: View,
    /// The initial objects that have not been sent yet.
    initial: VecDeque<Arc<StoredObject>>,
    /// True until the bookmark that marks the end of the initial objects has been sent.
    initial_end_pending: bool,
    /// The revision up to which all events have been sent.
    at: u64,
    phase: Phase,
    bookmarks: bool,
    timeout_seconds: Option<i64>,
    warnings: Vec<String>,
    calls: Calls,
}

/// The next step of a watch.
#[derive(Clone, Debug)]
pub enum Progress {
    /// An event as JSON in a line.
    Event(Arc<[u8]>),
    /// The next event needs the answers of webhooks: give the outcomes of these calls to [`Watch::calls`].
    Pending(Vec<Call>),
}

#[derive(Debug)]
enum Phase {
    Running,
    Failing(Refusal),
    Ended,
}

/// The next step of a watch.
enum WatchStep {
    Send(Arc<[u8]>),
    Call(Vec<Call>),
    Wait,
    End,
}

impl<S: ReadStrategy + 'static> Registry<'_, S> {
    /// Handles a watch request.
    ///
    /// # Errors
    /// Returns the response that rejects the request.
    pub fn watch(self, ctx: Context<'_>) -> Result<Box<Watch>, Box<Response>> {
        let output = match ctx.negotiate(Endpoint::Object) {
            Ok(output) => output,
            Err(refusal) => return Err(Box::new(ctx.refuse(refusal))),
        };
        match self.start(&ctx, &output) {
            Ok(mut watch) => {
                watch.warnings = ctx.into_warnings();
                Ok(Box::new(watch))
            }
            Err(refusal) => Err(Box::new(ctx.respond(&output, None, Err(refusal)))),
        }
    }

    fn start(self, ctx: &Context<'_>, output: &Output) -> Result<Watch, Refusal> {
        let options = self.list_options(ctx)?;
        let wanted = parse_revision(&options.resource_version)
            .map_err(|e| Refusal::unclassified(invalid_revision(&options.resource_version, &e)))?;
        let objects = Arc::clone(self.strategy.objects());
        let scope = Scope::new(ctx, self.strategy.is_namespaced(), &options);
        let form = form(&ctx.query, output)?;
        let timeout_seconds = options.timeout_seconds;
        let start = Start::find(&objects, &self.storage.revision, wanted, &options, &scope);
        Ok(Watch {
            id: objects.next_id(),
            objects,
            revision: Arc::clone(&self.storage.revision),
            bookmarks: options.allow_bookmarks,
            timeout_seconds,
            initial_end_pending: options.allow_bookmarks && options.send_initial_events == Some(true),
            view: View::new(self.strategy, options, scope, form.0, form.1),
            initial: start.initial,
            at: start.at,
            phase: if timeout_seconds.is_some_and(|seconds| seconds < 0) {
                // A negative timeout ends the watch before its first event.
                Phase::Ended
            } else {
                start.failure.map_or(Phase::Running, Phase::Failing)
            },
            warnings: Vec::new(),
            calls: ctx.calls.clone(),
        })
    }
}

/// The representation of the objects in the stream, which is always JSON.
fn form(query: &Query, output: &Output) -> Result<(Option<Conversion>, options::IncludeObject), Refusal> {
    let include = match &output.convert {
        Some(convert) if convert.kind == "Table" => options::include_object(query)?,
        _ => options::IncludeObject::default(),
    };
    if output.format == Format::Yaml {
        let accepted = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
        return Err(Refusal::not_acceptable(format!("only the following media types are accepted: {accepted}")));
    }
    Ok((output.convert.clone(), include))
}

/// The starting point of a watch.
struct Start {
    initial: VecDeque<Arc<StoredObject>>,
    at: u64,
    failure: Option<Refusal>,
}

impl Start {
    fn find(objects: &Collection, revision: &Revision, wanted: u64, options: &ListOptions, scope: &Scope) -> Self {
        let from = |at, failure| Self { initial: VecDeque::new(), at, failure };
        let (current, state_first) = (revision.current(), options.send_initial_events.unwrap_or(wanted == 0));
        if state_first {
            if wanted > current {
                return from(wanted, Some(Refusal::resource_version_too_large(wanted, current)));
            }
            let (found, at) = objects.list(scope.prefix(), "", revision);
            let initial = found.into_iter().filter(|(key, _)| scope.contains(key)).map(|(_, stored)| stored).collect();
            return Self { initial, at, failure: None };
        }
        if wanted == 0 {
            return from(objects.list(scope.prefix(), "", revision).1, None);
        }
        let failure = match objects.next(wanted) {
            Next::Expired(start) => Some(Refusal::expired(format!("too old resource version: {wanted} ({start})"))),
            _ => None,
        };
        from(wanted, failure)
    }
}

impl Watch {
    /// Returns the next event, or `None` at the end of the stream. If there is no event yet,
    /// registers the waker of `context`.
    pub fn poll(&mut self, now: Timestamp, context: &task::Context<'_>) -> Poll<Option<Progress>> {
        let mut step = self.step(now);
        if matches!(step, WatchStep::Wait) {
            self.objects.wait(self.id, context.waker());
            // An event committed before the waker was registered did not wake it, so check again.
            step = self.step(now);
        }
        match step {
            WatchStep::Send(text) => Poll::Ready(Some(Progress::Event(text))),
            WatchStep::Call(calls) => Poll::Ready(Some(Progress::Pending(calls))),
            WatchStep::End => Poll::Ready(None),
            WatchStep::Wait => Poll::Pending,
        }
    }

    /// The next event, if there is one already.
    pub(crate) fn next_now(&mut self, now: Timestamp) -> Option<Arc<[u8]>> {
        match self.step(now) {
            WatchStep::Send(text) => Some(text),
            WatchStep::Wait | WatchStep::Call(_) | WatchStep::End => None,
        }
    }

    /// The duration of the watch; that of a request without `timeoutSeconds` is chosen here, where a server chooses one of 30
    /// to 60 minutes.
    pub fn timeout(&self) -> Duration {
        match self.timeout_seconds.filter(|seconds| *seconds != 0) {
            Some(seconds) => Duration::from_secs(u64::try_from(seconds).unwrap_or(0)),
            None => Duration::from_mins(45),
        }
    }

    /// The interval of bookmarks, if the client wants them.
    pub fn bookmark_interval(&self) -> Option<Duration> {
        self.wants_bookmarks().then_some(Duration::from_mins(1))
    }

    /// Returns true if the client requested bookmarks.
    pub(crate) fn wants_bookmarks(&self) -> bool {
        self.bookmarks
    }

    /// A bookmark at the current revision; `None` while there are unsent events.
    pub fn bookmark(&mut self, now: Timestamp) -> Option<Arc<[u8]>> {
        if !self.initial.is_empty() || self.initial_end_pending || !matches!(self.phase, Phase::Running) {
            return None;
        }
        // Read before the log, so that no event up to this revision is missed.
        let current = self.objects.consistent_revision(&self.revision);
        if !matches!(self.objects.next(self.at), Next::UpToDate) {
            return None;
        }
        self.at = self.at.max(current);
        Some(self.view.bookmark(self.at, false, now))
    }

    /// The answers that it has of webhooks.
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    /// The texts of `Warning` headers.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn step(&mut self, now: Timestamp) -> WatchStep {
        loop {
            match std::mem::replace(&mut self.phase, Phase::Ended) {
                Phase::Ended => return WatchStep::End,
                Phase::Failing(refusal) => return WatchStep::Send(View::error(refusal)),
                Phase::Running => self.phase = Phase::Running,
            }
            let (at, mut first) = (self.at, None);
            let event = if let Some(stored) = self.initial.pop_front() {
                let event = self.view.initial(&stored, now);
                first = Some(stored);
                event
            } else if self.initial_end_pending {
                self.initial_end_pending = false;
                Ok(Some(self.view.bookmark(self.at, true, now)))
            } else {
                match self.objects.next(self.at) {
                    Next::Event(event) => {
                        self.at = event.revision;
                        self.view.event(&event, now)
                    }
                    // The log has dropped events that this watch has not sent.
                    Next::Expired(_) => return WatchStep::End,
                    Next::UpToDate if self.view.is_over() => return WatchStep::End,
                    Next::UpToDate => return WatchStep::Wait,
                }
            };
            let waiting = self.calls.take_pending();
            if !waiting.is_empty() {
                // The same event is next once the calls are answered.
                self.at = at;
                if let Some(stored) = first {
                    self.initial.push_front(stored);
                }
                return WatchStep::Call(waiting);
            }
            self.calls.forget();
            match event {
                Ok(Some(text)) => return WatchStep::Send(text),
                Ok(None) => {}
                Err(refusal) => self.phase = Phase::Failing(refusal),
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.objects.stop_waiting(self.id);
    }
}

#[cfg(test)]
mod tests;

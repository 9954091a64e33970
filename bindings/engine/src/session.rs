//! One server with its open requests and watches.

#[cfg(test)]
mod tests;

use crate::frame::Frame;
use crate::message::Message;
use crate::outgoing;
use crate::webhook_calls::WebhookCalls;
use crdx_kinds::kubernetes_service;
use crdx_server::policies::authorizer::Rules;
use crdx_server::server::{
    CallOutcome, Calls, Namespaces, Paused, Progress, Reply, Request, Response, SYSTEM_NAMESPACES, Server, Timestamp,
    Watch,
};
use crdx_value::Value;
use crdx_value::release::Release;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time between the two writes of a deletion, in which controllers see the marked object.
const PAUSE_BEFORE_REMOVAL: Duration = Duration::from_millis(5);

/// The cluster IP of the Service `kubernetes`, and the port of the API server behind it.
const CLUSTER_IP: &str = "10.0.0.1";
const PORT: u16 = 6443;

/// The reason why the settings start no server.
#[derive(Debug, thiserror::Error)]
#[error("kubernetesVersion {0:?} is not simulated")]
pub struct UnknownVersion(String);

/// A server with its open requests and watches, by the IDs of their frames.
#[derive(Debug)]
pub struct Session {
    server: Server,
    requests: BTreeMap<i64, OpenRequest>,
    watches: BTreeMap<i64, OpenWatch>,
}

/// A request that waits for the outcomes of webhook calls, or in a pause.
#[derive(Debug)]
struct OpenRequest {
    request: Request,
    calls: Calls,
    made: WebhookCalls,
    attempts: usize,
    paused: Option<Box<Paused>>,
}

#[derive(Debug)]
struct OpenWatch {
    watch: Box<Watch>,
    made: WebhookCalls,
}

impl Session {
    /// Starts a server: `kubernetesVersion` (`1.37`), and `seed` for UIDs and generated names.
    ///
    /// # Errors
    /// Returns an error for a version that is not simulated.
    pub fn new(settings: &Value) -> Result<Self, UnknownVersion> {
        let version = settings.str_at(&["kubernetesVersion"]).unwrap_or_default();
        let release = if version.is_empty() { Ok(Release::NEWEST) } else { version.parse() };
        let release = release.map_err(|_| UnknownVersion(version.to_owned()))?;
        let seed = settings.get("seed").and_then(Value::as_int).unwrap_or_default();
        let server = crdx_kinds::builder(release, seed.cast_unsigned())
            .created_at(now())
            .with_namespaces(Namespaces::Finalized, &SYSTEM_NAMESPACES.map(str::to_owned))
            .with_policies(Arc::new(Rules::allow_all()))
            .with_policy_validation()
            .with_built_in_kinds()
            .with_content_validation()
            .with_generated_fields()
            .with_reviews(HashMap::new())
            .with_pause_before_removal(PAUSE_BEFORE_REMOVAL)
            .build();
        kubernetes_service::publish(&server, CLUSTER_IP, PORT, now());
        Ok(Self { server, requests: BTreeMap::new(), watches: BTreeMap::new() })
    }

    /// Handles a frame. Returns the frames that it causes: answers, events of watches, calls to make and pauses.
    pub fn answer(&mut self, frame: Frame) -> Vec<Frame> {
        let id = frame.header.get("id").and_then(Value::as_int).unwrap_or_default();
        let mut frames = Vec::new();
        match Message::read(frame, now()) {
            Message::Request(request, token) => match self.authenticated(*request, token) {
                Some(request) => {
                    let (calls, made) = (self.server.calls(), WebhookCalls::default());
                    self.attempt(id, OpenRequest { request, calls, made, attempts: 0, paused: None }, &mut frames);
                }
                None => frames.push(outgoing::response(id, Response::unauthorized())),
            },
            Message::Outcome(number, outcome) => self.record(id, number, outcome, &mut frames),
            Message::Resume => {
                if let Some(open) = self.requests.remove(&id) {
                    self.attempt(id, open, &mut frames);
                }
            }
            Message::Bookmark => {
                let bookmark = self.watches.get_mut(&id).and_then(|open| open.watch.bookmark(now()));
                frames.extend(bookmark.map(|text| outgoing::event(id, &text)));
            }
            Message::End => {
                self.requests.remove(&id);
                self.watches.remove(&id);
            }
            Message::Seed(seed) => self.server.reseed(seed),
        }
        self.server.run_controllers(now());
        self.events(&mut frames);
        frames
    }

    /// Returns the request with the user of its token. A request without a token is the administrator's.
    fn authenticated(&self, mut request: Request, token: Option<String>) -> Option<Request> {
        if let Some(token) = token {
            let user = self.server.user_of_token(&token, request.now)?;
            request.user = request.user.or(Some(user));
        }
        Some(request)
    }

    /// Handles a request, from the beginning or after a pause.
    fn attempt(&mut self, id: i64, mut open: OpenRequest, frames: &mut Vec<Frame>) {
        let reply = match open.paused.take() {
            Some(paused) => self.server.resume(&open.request, &open.calls, paused),
            None => self.server.reply_with(&open.request, &open.calls),
        };
        match reply {
            Reply::Whole(response) => frames.push(outgoing::response(id, response)),
            Reply::Stream(watch) => {
                frames.push(outgoing::watch(id, &watch));
                self.watches.insert(id, OpenWatch { watch, made: WebhookCalls::default() });
            }
            Reply::Pending(_) if open.attempts == Calls::MAX_ATTEMPTS => {
                frames.push(outgoing::response(id, Response::timeout()));
            }
            Reply::Pending(pending) => {
                open.attempts += 1;
                open.made.start(id, pending, frames);
                self.requests.insert(id, open);
            }
            Reply::Paused(paused) => {
                frames.push(outgoing::pause(id, &paused));
                open.paused = Some(paused);
                self.requests.insert(id, open);
            }
        }
    }

    /// Records the outcome of a call. A request continues once it has all outcomes.
    fn record(&mut self, id: i64, number: i64, outcome: CallOutcome, frames: &mut Vec<Frame>) {
        if let Some(open) = self.watches.get_mut(&id) {
            open.made.finish(number, outcome, open.watch.calls());
        } else if let Some(mut open) = self.requests.remove(&id) {
            if open.made.finish(number, outcome, &open.calls) {
                self.attempt(id, open, frames);
            } else {
                self.requests.insert(id, open);
            }
        }
    }

    /// Appends the events that the watches have not sent yet, and the ends of watches.
    fn events(&mut self, frames: &mut Vec<Frame>) {
        let now = now();
        self.watches.retain(|id, open| open.made.are_open() || open.events(*id, now, frames));
    }
}

impl OpenWatch {
    /// Appends the events that are not sent yet. Returns false at the end of the watch.
    fn events(&mut self, id: i64, now: Timestamp, frames: &mut Vec<Frame>) -> bool {
        let context = Context::from_waker(Waker::noop());
        loop {
            match self.watch.poll(now, &context) {
                Poll::Ready(Some(Progress::Event(text))) => frames.push(outgoing::event(id, &text)),
                Poll::Ready(Some(Progress::Pending(pending))) => {
                    self.made.start(id, pending, frames);
                    return true;
                }
                Poll::Ready(None) => {
                    frames.push(outgoing::last(id));
                    return false;
                }
                Poll::Pending => return true,
            }
        }
    }
}

fn now() -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { seconds: now.as_secs().cast_signed(), nanos: now.subsec_nanos() }
}

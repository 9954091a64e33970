//! An existing object in the cluster, which is read once for all simulated releases.

use super::Found;
use crate::cluster::{self, Cluster, ObjectPath, PendingResponse};
use crate::report::{Identity, SourceLocation};
use crdx_value::Value;
use crdx_value::lock::lock;
use std::sync::{Arc, Mutex};

/// An object in the cluster. Clones share its only request.
#[derive(Clone, Debug)]
pub struct PendingObject(Arc<Mutex<State>>);

#[derive(Debug)]
enum State {
    Unsent(Arc<dyn Cluster>, ObjectPath),
    Sent(Box<dyn PendingResponse>),
    Answered(Result<Option<Value>, cluster::Error>),
}

impl State {
    fn send(self) -> Self {
        match self {
            Self::Unsent(cluster, path) => match cluster.ask(&path.object()) {
                Ok(response) => Self::Sent(response),
                Err(error) => Self::Answered(Err(error)),
            },
            sent => sent,
        }
    }
}

impl PendingObject {
    /// Determines where the object is, and sends no request for it.
    pub fn new(cluster: &Arc<dyn Cluster>, identity: &Identity, plural: &str) -> Self {
        let state = match cluster.locate(identity, plural) {
            Ok(Some(path)) => State::Unsent(Arc::clone(cluster), path),
            Ok(None) => State::Answered(Ok(None)),
            Err(error) => State::Answered(Err(error)),
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Returns where the object is, unless it is already requested.
    pub fn unsent(&self) -> Option<ObjectPath> {
        match &*lock(&self.0) {
            State::Unsent(_, path) => Some(path.clone()),
            _ => None,
        }
    }

    /// Sets the object, which came with a list, or that it does not exist.
    pub fn set(&self, object: Option<Value>) {
        *lock(&self.0) = State::Answered(Ok(object));
    }

    /// Requests the object, unless that is done.
    pub fn send(&self) {
        replace(&mut lock(&self.0), State::send);
    }

    /// Waits for the object, which is requested first if need be.
    pub fn wait(self) -> Found {
        let mut state = lock(&self.0);
        replace(&mut state, |state| match state.send() {
            State::Sent(response) => State::Answered(response.wait()),
            answered => answered,
        });
        let last = Arc::strong_count(&self.0) == 1;
        let answer = match &mut *state {
            State::Answered(answer) if last => std::mem::replace(answer, Ok(None)),
            State::Answered(answer) => answer.clone(),
            State::Unsent(..) | State::Sent(_) => Ok(None),
        };
        match answer {
            Ok(Some(object)) => Found::Object(Box::new(object), SourceLocation::source(&"the cluster".into())),
            Ok(None) => Found::Nothing,
            Err(error) => Found::Error(error),
        }
    }
}

fn replace(state: &mut State, change: impl FnOnce(State) -> State) {
    let before = std::mem::replace(state, State::Answered(Ok(None)));
    *state = change(before);
}

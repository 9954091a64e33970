//! The requests of a round trip.

use super::webhook::WebhookCaller;
use super::{RoundTripError, Trip, TripSetup};
use crate::examples::ExampleError;
use crate::kubectl::request::remove_server_metadata;
use crate::kubectl::{Operation, request};
use crdx_server::crd::CustomResourceDefinition;
use crdx_server::server::http::address;
use crdx_server::server::{
    Call, CallOutcome, Calls, Method, Reply, Request, Response, ResponseBody, Server, Snapshot, Timestamp,
};
use crdx_value::{GoError, Value};
use std::fmt;
use std::sync::Arc;

/// A request of a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TripStep {
    /// The create.
    Create,
    /// The read in the other version.
    Read,
    /// The update in the other version, with the object that was read.
    Update,
    /// The read in the first version.
    ReadBack,
}

impl TripStep {
    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::Update => "update",
            Self::ReadBack => "readBack",
        }
    }

    /// Returns the request as the subject of a sentence.
    pub fn text(self, trip: &Trip) -> String {
        match self {
            Self::Create => format!("the create in {}", trip.written),
            Self::Read => format!("the read in {}", trip.through),
            Self::Update => format!("the update in {} with the object that was read", trip.through),
            Self::ReadBack => format!("the read in {}", trip.written),
        }
    }
}

impl fmt::Display for TripStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The end of a trip.
pub enum TripEnd {
    /// The object as it was created and as it is read at the end, without what the server writes.
    Read(Value, Value),
    /// A request failed with this message.
    Failed(TripStep, GoError),
}

/// A server with all versions of a CRD.
pub struct TripServer<'c> {
    server: Server,
    start: Snapshot,
    caller: Option<&'c dyn WebhookCaller>,
    group: String,
    plural: String,
    namespace: Option<&'static str>,
    now: Timestamp,
}

impl<'c> TripServer<'c> {
    /// Installs the CRD.
    ///
    /// # Errors
    /// Returns an error if the server rejects the CRD.
    pub fn new(
        definition: Value,
        crd: &CustomResourceDefinition,
        caller: Option<&'c dyn WebhookCaller>,
        setup: TripSetup<'_>,
    ) -> Result<Self, ExampleError> {
        let server = Server::builder(setup.release, 0).created_at(setup.now).without_managed_fields().build();
        let create = request::plain(Operation::Create, address::DEFINITIONS, definition);
        let answer = server.handle_owned(Request { now: setup.now, ..create });
        if answer.code >= 400 {
            return Err(ExampleError::Rejected(answer.body.message().to_owned()));
        }
        let start = server.snapshot();
        Ok(Self {
            server,
            start,
            caller,
            group: crd.spec.group.clone(),
            plural: crd.spec.names.plural.clone(),
            namespace: crd.spec.namespaced().then_some("default"),
            now: setup.now,
        })
    }

    /// Makes the trip of an object. `stored` is how the version alone stores it.
    ///
    /// # Errors
    /// Returns an error if a call has no answer, or a request is not finished.
    pub fn trip(&self, trip: &Trip, object: &Value, stored: &Value) -> Result<TripEnd, RoundTripError> {
        self.server.roll_back(&self.start);
        let collection = |version: &str| address::collection(&self.group, version, &self.plural, self.namespace);
        let create = request::plain(Operation::Create, &collection(&trip.written), object.clone());
        let created = match self.send(create)? {
            Ok(created) => created,
            Err(message) => return Ok(TripEnd::Failed(TripStep::Create, message)),
        };
        let name = created.str_at(&["metadata", "name"]).unwrap_or_default();
        let (written, through) =
            (address::object(&collection(&trip.written), name), address::object(&collection(&trip.through), name));
        if trip.is_served {
            let read = match self.send(Request::new(Method::Get, &through, ""))? {
                Ok(read) => read,
                Err(message) => return Ok(TripEnd::Failed(TripStep::Read, message)),
            };
            if let Err(message) = self.send(request::plain(Operation::Replace, &through, read))? {
                return Ok(TripEnd::Failed(TripStep::Update, message));
            }
        }
        let after = match self.send(Request::new(Method::Get, &written, ""))? {
            Ok(read) => read,
            Err(message) => return Ok(TripEnd::Failed(TripStep::ReadBack, message)),
        };
        let before = if trip.is_through_storage { stored.clone() } else { created };
        Ok(TripEnd::Read(without_server_metadata(before), without_server_metadata(after)))
    }

    /// Sends a request and makes the calls that it needs. Returns the object of the answer, or the server's message.
    fn send(&self, request: Request) -> Result<Result<Value, GoError>, RoundTripError> {
        let request = Request { now: self.now, ..request };
        let calls = self.server.calls();
        for _ in 0..Calls::MAX_ATTEMPTS {
            match self.server.reply_with(&request, &calls) {
                Reply::Pending(pending) => {
                    for call in pending {
                        calls.answer(&call, self.call(&call)?);
                    }
                }
                Reply::Whole(response) => return answered(response),
                Reply::Stream(_) | Reply::Paused(_) => break,
            }
        }
        Err(RoundTripError::Unfinished)
    }

    fn call(&self, call: &Call) -> Result<CallOutcome, RoundTripError> {
        let outcome = match self.caller {
            Some(caller) => caller.call(call),
            None => CallOutcome::Failed("no webhook is called".to_owned()),
        };
        match outcome {
            CallOutcome::Failed(reason) => Err(RoundTripError::Unreachable { reason }),
            answered @ CallOutcome::Answered { .. } => Ok(answered),
        }
    }
}

fn answered(response: Response) -> Result<Result<Value, GoError>, RoundTripError> {
    if response.trace.is_unfinished {
        return Err(RoundTripError::Unfinished);
    }
    Ok(match response.body {
        ResponseBody::Json(object) if response.code < 400 => Ok(Arc::unwrap_or_clone(object)),
        body => Err(body.message().into()),
    })
}

fn without_server_metadata(mut object: Value) -> Value {
    remove_server_metadata(&mut object);
    object
}

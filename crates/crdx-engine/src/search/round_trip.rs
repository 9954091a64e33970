//! Round trips between the versions of a CRD: an object is created in one version, read in another one, written back in that
//! version, and read in the first one again.
//!
//! ```text
//! webhook     the conversion webhook of a CRD, and the address at which it is called
//! server      the requests of a trip
//! objects     the objects that are sent
//! compare     what is different at the end of a trip
//! fields      the fields that differ, each counted once
//! pruned      the fields that are lost without a webhook, known from the schemas
//! run         the trips of all objects, and the smallest object that changes
//! ```

mod compare;
mod fields;
mod objects;
pub mod pruned;
mod run;
mod server;
pub mod webhook;

pub use fields::{ChangedField, SeenChange};
pub use run::round_trips;
pub use server::TripStep;

use super::answer::Effort;
use crate::examples::ExampleError;
use crdx_server::crd::{CrdVersion, Spec};
use crdx_server::server::Timestamp;
use crdx_value::Value;
use crdx_value::field::UNFINISHED;
use crdx_value::release::Release;
use std::fmt;

/// The versions of a round trip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trip {
    /// The version in which an object is created, and in which it is read at the end.
    pub written: String,
    /// The version in which the object is read and written back.
    pub through: String,
    /// True if `through` is the storage version: the trip includes the storage of what was sent.
    pub is_through_storage: bool,
    /// True if `through` is served. Otherwise the object is only stored in it.
    pub is_served: bool,
}

impl fmt::Display for Trip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {} -> {}", self.written, self.through, self.written)
    }
}

/// Returns the round trips of a CRD: those of each served version through each other one, and through the storage version.
pub fn trips(spec: &Spec) -> Vec<Trip> {
    let served = || spec.versions.iter().filter(|version| version.served);
    let through = || spec.versions.iter().filter(|version| version.served || version.storage);
    let trip = |written: &str, through: &CrdVersion| Trip {
        written: written.to_owned(),
        through: through.name.clone(),
        is_through_storage: through.storage,
        is_served: through.served,
    };
    served()
        .flat_map(|written| {
            through().filter(|other| other.name != written.name).map(move |other| trip(&written.name, other))
        })
        .collect()
}

/// What is tried, and what counts as a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTripOptions {
    /// The most objects of each version, and the seed of the search.
    pub effort: Effort,
    /// True if a value that is only written differently counts as a change, such as an empty list that is dropped.
    pub exact: bool,
}

/// The servers of the trips.
#[derive(Clone, Copy, Debug)]
pub struct TripSetup<'c> {
    /// Calls the conversion webhook.
    pub webhook: &'c webhook::ConversionWebhook,
    /// The simulated release.
    pub release: Release,
    /// The time of all requests.
    pub now: Timestamp,
}

/// The result of the trips of all objects of a version.
#[derive(Clone, Debug, PartialEq)]
pub struct TripReport {
    /// The versions.
    pub trip: Trip,
    /// The number of objects that were sent.
    pub objects: usize,
    /// The fields that change.
    pub fields: Vec<ChangedField>,
    /// The paths of the fields whose values are only written differently.
    pub rewritten: Vec<String>,
    /// The smallest object that changes.
    pub changed: Option<ChangedObject>,
    /// The requests that fail, each with the smallest object.
    pub failures: Vec<TripFailure>,
}

impl TripReport {
    /// Returns true if some object or field does not survive the trip.
    pub fn has_changes(&self) -> bool {
        !self.fields.is_empty() || !self.failures.is_empty()
    }
}

/// An object that changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedObject {
    /// The object as it is sent.
    pub object: Value,
    /// The object before the trip, in the version in which it was created.
    pub before: Value,
    /// The object after the trip, in the same version.
    pub after: Value,
}

/// A request of a trip that fails.
#[derive(Clone, Debug, PartialEq)]
pub struct TripFailure {
    /// The request.
    pub step: TripStep,
    /// The server's message.
    pub message: String,
    /// The smallest object for which it fails.
    pub object: Value,
}

/// The reason why round trips cannot be tried.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RoundTripError {
    /// The CRD cannot be served.
    #[error(transparent)]
    Crd(#[from] ExampleError),
    /// The address of the webhook is not known.
    #[error(transparent)]
    Webhook(#[from] webhook::NoWebhook),
    /// A call has no answer.
    #[error("the conversion webhook cannot be called: {reason}")]
    Unreachable {
        /// The error of client-go, with the URL.
        reason: String,
    },
    /// A request needs more steps or memory than the program uses for one.
    #[error("{UNFINISHED}")]
    Unfinished,
}

#[cfg(test)]
mod tests;

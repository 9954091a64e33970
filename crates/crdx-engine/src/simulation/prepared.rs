//! The objects of the input that are ready to be sent: everything that depends on the order of the input is known.

use super::existing::PendingObject;
use super::known_cluster::created::Created;
use super::turns::Turn;
use crate::report::{Identity, ObjectReport};
use crate::simulation::object::{Kind, Object};
use crate::simulation::resource::SimulatedResource;

/// A document of the input whose report no longer depends on the order of the input.
#[derive(Debug)]
pub enum Prepared {
    /// It is already simulated.
    Report(Box<ObjectReport>),
    /// An object that is sent to a server.
    Object(Box<PreparedObject>),
}

impl Prepared {
    /// Returns the object of the input, unless it is already simulated.
    pub fn object(&self) -> Option<&Object> {
        match self {
            Self::Report(_) => None,
            Self::Object(prepared) => Some(&prepared.object),
        }
    }

    /// Returns the existing object in the cluster.
    pub fn pending(&self) -> Option<&PendingObject> {
        match self {
            Self::Report(_) => None,
            Self::Object(prepared) => prepared.pending.as_ref(),
        }
    }
}

/// The resource of an object that is sent.
#[derive(Clone, Debug)]
pub(super) enum Submitted {
    /// It is known, with the identity of the object.
    Known(SimulatedResource, Identity),
    /// API servers do not serve the built-in kind by default.
    NotServed(Kind),
}

/// An object that is ready to be sent.
#[derive(Debug)]
pub struct PreparedObject {
    pub(super) object: Object,
    pub(super) resource: Submitted,
    /// The objects of earlier inputs.
    pub(super) created: Created,
    /// The turn among the inputs with the same name; `None` if there cannot be others, as with a generated name.
    pub(super) turn: Option<Turn>,
    /// The existing object in the cluster, if it is already located.
    pub(super) pending: Option<PendingObject>,
}

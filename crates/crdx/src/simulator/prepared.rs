//! The objects of the input that are ready to be sent: everything that depends on the order of the input is known.

use super::existing::PendingObject;
use super::known_cluster::created::Created;
use super::turns::Turn;
use crate::report::{Identity, ObjectReport};
use crate::simulation::definitions::Route;
use crate::simulation::object::{Kind, Object};
use std::sync::Arc;

/// A document of the input whose report no longer depends on the order of the input.
#[derive(Debug)]
pub enum Prepared {
    /// It is already simulated.
    Report(Box<ObjectReport>),
    /// A custom resource, which is sent to the server.
    CustomResource(Box<PreparedObject>),
    /// An object of a built-in kind.
    BuiltIn(Box<PreparedBuiltIn>),
}

impl Prepared {
    /// Returns the object of the input, unless it is already simulated.
    pub fn object(&self) -> Option<&Object> {
        match self {
            Self::Report(_) => None,
            Self::CustomResource(prepared) => Some(&prepared.object),
            Self::BuiltIn(prepared) => Some(&prepared.object),
        }
    }

    /// Returns the existing object in the cluster.
    pub fn pending(&self) -> Option<&PendingObject> {
        match self {
            Self::Report(_) => None,
            Self::CustomResource(prepared) => prepared.pending.as_ref(),
            Self::BuiltIn(prepared) => prepared.pending.as_ref(),
        }
    }
}

/// A custom resource that is ready to be sent.
#[derive(Debug)]
pub struct PreparedObject {
    pub(super) object: Object,
    pub(super) identity: Identity,
    pub(super) route: Arc<Route>,
    /// The turn among the inputs with the same name; `None` if the name is generated.
    pub(super) turn: Option<Turn>,
    /// The existing object in the cluster.
    pub(super) pending: Option<PendingObject>,
    /// The objects of earlier inputs.
    pub(super) created: Created,
}

/// An object of a built-in kind ready to be validated.
#[derive(Debug)]
pub struct PreparedBuiltIn {
    pub(super) object: Object,
    pub(super) kind: Kind,
    /// The objects of earlier inputs.
    pub(super) created: Created,
    /// The turn among the inputs with the same name; `None` if there cannot be others.
    pub(super) turn: Option<Turn>,
    /// The existing object in the cluster, if it was requested ahead.
    pub(super) pending: Option<PendingObject>,
}

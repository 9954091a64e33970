//! One object of the input: its state before it is sent, and its result.

use super::earlier_object::EarlierObject;
use super::existing::PendingObject;
use crate::report::ObjectReport;

/// The state of an object before it is sent.
#[derive(Debug, Default)]
pub struct Before {
    /// The object that an earlier input with the same name stored.
    pub stored: EarlierObject,
    /// The existing object in the cluster, if it is already located.
    pub pending: Option<PendingObject>,
}

/// The item of an object, and the stored object for later inputs with the same name.
pub struct Simulated {
    /// The item.
    pub item: ObjectReport,
    /// The stored object.
    pub stored: EarlierObject,
}

impl From<ObjectReport> for Simulated {
    fn from(item: ObjectReport) -> Self {
        Self { item, stored: EarlierObject::None }
    }
}

//! Effects of a rehearsal that the baseline has.

use crdx_engine::report::KnownFinding;
use crdx_input::baseline::Baseline;
use std::sync::Arc;

/// The type of a field that an object loses.
pub const LOST: &str = "lost";
/// The type of an object that cannot be read under the new CRD.
pub const UNREADABLE: &str = "unreadable";
/// The type of an object whose CRD disappears.
pub const DELETED: &str = "deleted";
/// The message about an object whose CRD disappears.
pub const DELETED_MESSAGE: &str = "its CRD disappears, and deleting the CRD deletes the object";

/// An effect whose findings the baseline may have.
pub trait AcceptKnown: Send {
    /// Marks the known findings.
    fn accept(&mut self, baseline: &mut Baseline);
}

/// The entries of the baseline for the findings that break an object.
#[derive(Clone, Debug, Default)]
pub struct KnownEffects {
    /// For each lost field.
    pub lost: Vec<Option<Arc<KnownFinding>>>,
    /// For each error; empty if the object was invalid before.
    pub errors: Vec<Option<Arc<KnownFinding>>>,
    /// For the reason why the object cannot be read.
    pub unreadable: Option<Arc<KnownFinding>>,
}

impl KnownEffects {
    /// Returns the entry for the error at `index`.
    pub fn error(&self, index: usize) -> Option<&Arc<KnownFinding>> {
        self.errors.get(index)?.as_ref()
    }

    /// Returns the entry for the lost field at `index`.
    pub fn lost_field(&self, index: usize) -> Option<&Arc<KnownFinding>> {
        self.lost.get(index)?.as_ref()
    }
}

//! The objects of a CRD that disappears with an upgrade.

use super::definition::plural;

/// The number of objects of a CRD that disappears.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeletedCounts {
    pub objects: usize,
    /// Those whose deletion is in the baseline.
    pub known: usize,
}

impl DeletedCounts {
    /// Returns true if the deletion of an object is not in the baseline.
    pub fn breaks(&self) -> bool {
        self.objects > self.known
    }

    /// Formats the counts.
    pub fn line(&self) -> String {
        let objects = plural(self.objects, "object");
        if self.known > 0 { format!("{objects}, {} in the baseline", self.known) } else { objects }
    }
}

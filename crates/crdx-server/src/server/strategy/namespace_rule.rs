//! Which namespaces exist.

/// The name of the internal CRD.
pub(in crate::server) const NAME: &str = "namespaces.";

/// The rule that decides which namespaces exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespaces {
    /// A namespace is created when the first object in it is created.
    OnDemand,
    /// Only namespaces that were created exist; creates in other namespaces are rejected.
    Created,
    /// Only namespaces that were created exist, but objects may be created in others too, and are not deleted with
    /// their namespace.
    Unchecked,
    /// Only namespaces that were created exist, as on an API server without controllers: a deleted namespace stays
    /// `Terminating`, with its contents, until a client finalizes it; `default`, `kube-system` and `kube-public` cannot be
    /// deleted.
    Finalized,
    /// Like [`Namespaces::Finalized`], with the namespace controller: it deletes the contents of a deleted namespace, then
    /// finalizes it.
    Controlled,
}

impl Namespaces {
    /// Returns true if a deleted namespace exists until it is finalized.
    pub(in crate::server) fn has_finalizers(self) -> bool {
        matches!(self, Self::Finalized | Self::Controlled)
    }
}

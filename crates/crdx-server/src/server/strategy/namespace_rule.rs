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
    /// Only namespaces that were created exist. A deleted namespace is `Terminating` until its contents are deleted, and
    /// `default`, `kube-system` and `kube-public` cannot be deleted.
    Finalized,
}

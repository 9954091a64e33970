//! The part of an object that a request writes.

/// The subresources that are written as the whole object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subresource {
    /// The object itself: everything except the status, if the status is a subresource.
    None,
    /// The status.
    Status,
    /// `spec.finalizers` of a namespace, which the namespace controller writes.
    Finalize,
    /// The conditions of a `CertificateSigningRequest`.
    Approval,
    /// The containers that debug a running Pod.
    EphemeralContainers,
    /// The resources of a Pod and its containers.
    Resize,
}

impl Subresource {
    /// The name in the URL; empty for the object itself.
    pub(in crate::server) fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Status => "status",
            Self::Finalize => "finalize",
            Self::Approval => "approval",
            Self::EphemeralContainers => "ephemeralcontainers",
            Self::Resize => "resize",
        }
    }
}

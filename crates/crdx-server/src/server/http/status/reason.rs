//! `metav1.StatusReason`: the machine-readable reason of a Status.

use std::fmt::{Display, Formatter};

/// The reason of an error response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::server) enum Reason {
    /// No reason: the error is not classified.
    #[default]
    Unknown,
    /// 400
    BadRequest,
    /// 401
    Unauthorized,
    /// 403
    Forbidden,
    /// 404
    NotFound,
    /// 405
    MethodNotAllowed,
    /// 406
    NotAcceptable,
    /// 409: the name already exists.
    AlreadyExists,
    /// 409: a concurrent write, or a conflict of field managers.
    Conflict,
    /// 410
    Expired,
    /// 413
    RequestEntityTooLarge,
    /// 415
    UnsupportedMediaType,
    /// 422
    Invalid,
    /// 429
    TooManyRequests,
    /// 500
    InternalError,
    /// 500, stored objects that cannot be read.
    StorageReadError,
    /// A stored object that cannot be decoded; other texts are made of it (`corruptObjectError`).
    Undecodable,
    /// 503
    ServiceUnavailable,
    /// 504
    Timeout,
    /// 504, because the request needs more steps or memory than the simulated server uses for one.
    Unfinished,
    /// A reason set by an admission policy that is not defined by Kubernetes.
    Other(String),
}

impl Reason {
    /// The reason as written in a Status; empty for [`Reason::Unknown`].
    pub fn as_str(&self) -> &str {
        match self {
            Self::Unknown | Self::Undecodable => "",
            Self::TooManyRequests => "TooManyRequests",
            Self::StorageReadError => "StorageReadError",
            Self::BadRequest => "BadRequest",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "NotFound",
            Self::MethodNotAllowed => "MethodNotAllowed",
            Self::NotAcceptable => "NotAcceptable",
            Self::AlreadyExists => "AlreadyExists",
            Self::Conflict => "Conflict",
            Self::Expired => "Expired",
            Self::RequestEntityTooLarge => "RequestEntityTooLarge",
            Self::UnsupportedMediaType => "UnsupportedMediaType",
            Self::Invalid => "Invalid",
            Self::InternalError => "InternalError",
            Self::ServiceUnavailable => "ServiceUnavailable",
            Self::Timeout | Self::Unfinished => "Timeout",
            Self::Other(text) => text,
        }
    }
}

impl Display for Reason {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

//! Values of Kubernetes' CEL types.

mod authorization;
mod format;
mod semver;
mod url;

pub use authorization::{
    Access, Attributes, AuthorizationSubject, Authorizer, Decision, PathCheck, ResourceCheck, User, Verdict,
};
pub use crdx_value::ip::{Cidr, Ip};
pub use crdx_value::quantity::Quantity;
pub use format::NamedFormat;
pub use semver::Semver;
pub use url::{Url, parse_request_uri};

use std::fmt;

/// A value of one of Kubernetes' CEL types.
#[derive(Clone, Debug)]
pub enum Opaque {
    /// `kubernetes.URL`
    Url(Url),
    /// `net.IP`
    Ip(Ip),
    /// `net.CIDR`
    Cidr(Cidr),
    /// `kubernetes.Quantity`. A `computed` quantity is a pointer in Go, which equality does not accept as its right
    /// operand.
    Quantity {
        /// The quantity.
        amount: Quantity,
        /// True for the result of `add` or `sub`.
        computed: bool,
    },
    /// `kubernetes.Semver`
    Semver(Semver),
    /// `kubernetes.NamedFormat`
    Format(&'static NamedFormat),
    /// `kubernetes.authorization.Authorizer`
    Authorizer(AuthorizationSubject),
    /// `kubernetes.authorization.PathCheck`
    PathCheck(PathCheck),
    /// `kubernetes.authorization.GroupCheck`
    GroupCheck(ResourceCheck),
    /// `kubernetes.authorization.ResourceCheck`
    ResourceCheck(ResourceCheck),
    /// `kubernetes.authorization.Decision`
    Decision(Decision),
}

impl Opaque {
    /// The name of the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Url(_) => "kubernetes.URL",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Quantity { .. } => "kubernetes.Quantity",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Authorizer(_) => "kubernetes.authorization.Authorizer",
            Self::PathCheck(_) => "kubernetes.authorization.PathCheck",
            Self::GroupCheck(_) => "kubernetes.authorization.GroupCheck",
            Self::ResourceCheck(_) => "kubernetes.authorization.ResourceCheck",
            Self::Decision(_) => "kubernetes.authorization.Decision",
        }
    }

    /// Compares two values; `None` if their types cannot be compared.
    pub fn equal(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Url(a), Self::Url(b)) => Some(a.to_string() == b.to_string()),
            (Self::Ip(a), Self::Ip(b)) => Some(a == b),
            (Self::Cidr(a), Self::Cidr(b)) => Some(a == b),
            (Self::Quantity { amount: a, .. }, Self::Quantity { amount: b, computed: false }) => Some(a == b),
            (Self::Semver(a), Self::Semver(b)) => Some(a.compare(b).is_eq()),
            (Self::Format(a), Self::Format(b)) => Some(a.name == b.name),
            _ => None,
        }
    }
}

impl fmt::Display for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => write!(f, "url(\"{url}\")"),
            Self::Ip(ip) => write!(f, "ip(\"{ip}\")"),
            Self::Cidr(cidr) => write!(f, "cidr(\"{cidr}\")"),
            Self::Quantity { amount, .. } => write!(f, "quantity(\"{amount}\")"),
            Self::Semver(version) => write!(f, "semver(\"{version}\")"),
            Self::Format(format) => write!(f, "format.{}()", format.function),
            other => f.write_str(other.type_name()),
        }
    }
}

//! A kind in one version.

use crdx_value::{Value, object};

/// An API version and a kind that are served.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServedKind {
    pub kind: String,
    /// The group and version.
    pub api_version: String,
}

impl ServedKind {
    /// The two fields of an object.
    pub fn object(&self) -> Value {
        object([("apiVersion", self.api_version.as_str()), ("kind", self.kind.as_str())])
    }
}

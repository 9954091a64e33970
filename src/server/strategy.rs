//! What differs from resource to resource.

pub(in crate::server) mod namespace;
pub(in crate::server) mod scale;

//! Objects that a request depends on and that its sender knows, for servers that do not store them.

use crdx_value::Value;
use std::sync::Arc;

/// The objects in the namespace of a request on which admission depends, as its sender knows them.
#[derive(Clone, Debug, Default)]
pub struct NamespaceObjects {
    /// The Namespace; `None` if only the server may have it.
    pub namespace: Option<Arc<Value>>,
    /// Limit ranges that apply in addition to those that the server stores under other names.
    pub limit_ranges: Vec<Arc<Value>>,
}

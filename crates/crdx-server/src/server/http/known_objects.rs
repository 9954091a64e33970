//! Objects that a request depends on and that its sender knows, for servers that do not store them.

use crdx_value::Value;
use std::sync::Arc;

/// The objects on which the admission of a request depends, as its sender knows them.
#[derive(Clone, Debug, Default)]
pub struct KnownObjects {
    /// The Namespace; `None` if only the server may have it.
    pub namespace: Option<Arc<Value>>,
    /// Limit ranges that apply in addition to those that the server stores under other names.
    pub limit_ranges: Vec<Arc<Value>>,
    /// The name of the default class of a new object; `None` if only the server may have one.
    pub default_class: Option<String>,
    /// The reason why the plugin `ServiceAccount` refuses a new Pod; `None` if it accepts the Pod or is not enabled.
    pub refused_service_account: Option<String>,
    /// The `PriorityClass`es.
    pub priority_classes: KnownClasses,
    /// The `RuntimeClass`es.
    pub runtime_classes: KnownClasses,
}

/// The classes of one kind that the sender of a request knows.
#[derive(Clone, Debug, Default)]
pub struct KnownClasses {
    /// Classes in addition to those that the server stores under other names.
    pub objects: Vec<Arc<Value>>,
    /// True if there are no others.
    pub is_complete: bool,
}

//! Keeps the object of an accepted request for later inputs with the same name.

use crate::simulation::context::SimulationContext;
use crate::simulation::earlier_object::EarlierObject;
use crate::simulation::identity::FieldLocator;
use crdx_server::server::{Response, ResponseBody};
use crdx_value::Value;
use std::sync::Arc;

/// Returns true if the create of an object of this kind always gives the same object, so that its text is enough. Admission
/// changes others, or later inputs depend on their defaults.
pub(crate) fn is_reproducible(context: SimulationContext<'_>, kind: &str) -> bool {
    context.admission.is_none() && !matches!(kind, "Pod" | "PersistentVolumeClaim" | "Namespace" | "LimitRange")
}

/// Returns true if later inputs may have the same name.
pub fn is_named(object: &Value) -> bool {
    object.str_at(&["metadata", "name"]).is_some_and(|name| !name.is_empty())
}

/// The object of a create that was accepted.
pub enum AcceptedObject {
    /// Creating the object that was sent gives it again.
    Reproducible,
    /// The object in the response.
    Stored(Arc<Value>),
}

impl AcceptedObject {
    /// The object of a response, if it has one.
    pub fn from_response(response: &Response, is_reproducible: bool) -> Option<Self> {
        match &response.body {
            ResponseBody::Json(_) if response.code < 300 && is_reproducible => Some(Self::Reproducible),
            ResponseBody::Json(object) if response.code < 300 => Some(Self::Stored(Arc::clone(object))),
            _ => None,
        }
    }

    /// Keeps it in the store.
    pub fn keep(self, context: SimulationContext<'_>, sent: Value, locator: &dyn FieldLocator) -> EarlierObject {
        match self {
            Self::Reproducible => keep_sent(context, sent, locator),
            Self::Stored(object) => EarlierObject::put(context.store, &object, None),
        }
    }
}

/// Keeps an object that was sent, so that it can be created again.
fn keep_sent(context: SimulationContext<'_>, mut sent: Value, locator: &dyn FieldLocator) -> EarlierObject {
    let text = locator.text();
    if let Some(metadata) = sent.get_mut("metadata").and_then(Value::as_object_mut).filter(|_| text.is_none()) {
        // An object with a UID is one that a server has stored.
        metadata.remove("uid");
    }
    EarlierObject::put(context.store, &sent, text)
}

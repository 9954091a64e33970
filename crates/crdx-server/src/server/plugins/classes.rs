//! The classes that Pods name: those of the server, and those that the sender of a request knows.

use crate::server::http::known_objects::KnownClasses;
use crate::server::strategy::resources::Resources;
use crdx_value::Value;
use crdx_value::sort::sort_by_key;
use std::sync::Arc;

/// The classes of one kind.
#[derive(Debug)]
pub(super) struct Classes {
    resources: Arc<Resources>,
    /// The name of the resource, such as `runtimeclasses.node.k8s.io`.
    name: &'static str,
}

impl Classes {
    /// Returns the classes of a server that generates fields; `None` if it has no built-in kinds.
    pub fn new(resources: &Arc<Resources>, name: &'static str) -> Option<Self> {
        let applies = resources.allocations.is_some() && resources.get(name).is_some();
        applies.then(|| Self { resources: Arc::clone(resources), name })
    }

    /// Returns the class with a name.
    pub fn find(&self, known: Option<&KnownClasses>, name: &str) -> Option<Arc<Value>> {
        let known = known.and_then(|known| known.objects.iter().find(|class| class_name(class) == name)).cloned();
        let stored = || Some(self.resources.get(self.name)?.objects.get(name)?.raw());
        known.or_else(stored)
    }

    /// Returns all classes, in the order of their names.
    pub fn all(&self, known: Option<&KnownClasses>) -> Vec<Arc<Value>> {
        let known = known.map(|known| known.objects.as_slice()).unwrap_or_default();
        let stored = self.resources.get(self.name).map(|serving| serving.objects.all()).unwrap_or_default();
        let stored = stored.iter().map(|stored| stored.raw());
        let others = stored.filter(|stored| !known.iter().any(|known| class_name(known) == class_name(stored)));
        let mut all: Vec<_> = others.chain(known.iter().cloned()).collect();
        sort_by_key(&mut all, |class| class_name(class).to_owned());
        all
    }

    /// Returns true if there are no other classes.
    pub fn are_complete(&self, known: Option<&KnownClasses>) -> bool {
        !self.resources.is_partial || known.is_some_and(|known| known.is_complete)
    }
}

fn class_name(class: &Value) -> &str {
    class.str_at(&["metadata", "name"]).unwrap_or_default()
}

//! Visits the nodes of a schema in the order of the server's `SchemaHas`.

use super::{Items, Schema, SchemaOrBool, SchemaOrNames};

impl Schema {
    /// Returns true if `found` returns true for this node or any node below it; stops at the first such node.
    pub fn any(&self, found: &mut dyn FnMut(&Schema) -> bool) -> bool {
        if found(self) {
            return true;
        }
        let mut items = match &self.items {
            Some(Items::Schema(one)) => std::slice::from_ref(&**one).iter(),
            Some(Items::Schemas(many)) => many.iter(),
            None => [].iter(),
        };
        let inner = |s: &Option<SchemaOrBool>, found: &mut dyn FnMut(&Schema) -> bool| matches!(s, Some(SchemaOrBool::Schema(s)) if s.any(found));
        items.any(|s| s.any(found))
            || self.all_of.iter().any(|s| s.any(found))
            || self.any_of.iter().any(|s| s.any(found))
            || self.one_of.iter().any(|s| s.any(found))
            || self.not.as_ref().is_some_and(|s| s.any(found))
            || self.properties.values().any(|s| s.any(found))
            || inner(&self.additional_properties, found)
            || self.pattern_properties.values().any(|s| s.any(found))
            || inner(&self.additional_items, found)
            || self.definitions.values().any(|s| s.any(found))
            || self.dependencies.values().any(|d| matches!(d, SchemaOrNames::Schema(s) if s.any(found)))
    }

    /// Calls `change` for every node, this one first.
    pub(crate) fn for_each_mut(&mut self, change: &mut dyn FnMut(&mut Schema)) {
        change(self);
        let inner = |s: &mut Option<SchemaOrBool>, change: &mut dyn FnMut(&mut Schema)| {
            if let Some(SchemaOrBool::Schema(s)) = s {
                s.for_each_mut(change);
            }
        };
        match &mut self.items {
            Some(Items::Schema(one)) => one.for_each_mut(change),
            Some(Items::Schemas(many)) => many.iter_mut().for_each(|s| s.for_each_mut(change)),
            None => {}
        }
        let branches = self.all_of.iter_mut().chain(&mut self.any_of).chain(&mut self.one_of);
        branches.for_each(|s| s.for_each_mut(change));
        self.not.iter_mut().for_each(|s| s.for_each_mut(change));
        let named = self.properties.values_mut().chain(self.pattern_properties.values_mut());
        named.chain(self.definitions.values_mut()).for_each(|s| s.for_each_mut(change));
        inner(&mut self.additional_properties, change);
        inner(&mut self.additional_items, change);
        for dependency in self.dependencies.values_mut() {
            if let SchemaOrNames::Schema(s) = dependency {
                s.for_each_mut(change);
            }
        }
    }
}

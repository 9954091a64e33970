//! Walks over every node of a schema, in the order of the server's `SchemaHas`.

use super::{Items, Schema, SchemaOrBool, SchemaOrNames};

impl Schema {
    /// Whether `found` holds for any node, this one included; it sees the nodes until it says yes.
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
}

//! Adapts ownership to a schema in which a list or map has become atomic (`typed/reconcile_schema.go`).

use crate::apply::{
    path::{Path, PathElement},
    set::Set,
};
use crdx_types::merge::{Choice, ListRelation, Type};

/// The set as required by the current schema; `None` if it does not change.
pub fn reconcile(set: &Set, ty: &Type) -> Option<Set> {
    let mut walker = Walker { path: Vec::new(), now_atomic: Set::default() };
    walker.visit(Some(set), ty, false);
    if walker.now_atomic.is_empty() {
        return None;
    }
    Some(set.clone().recursive_difference(&walker.now_atomic).union(&walker.now_atomic))
}

struct Walker {
    path: Path,
    /// Nodes that were owned in parts and are atomic in the current schema.
    now_atomic: Set,
}

impl Walker {
    fn visit(&mut self, set: Option<&Set>, ty: &Type, owned_whole: bool) {
        match ty.choose(ty.kinds(None)) {
            Some(Choice::List(list)) => {
                if !owned_whole && list.relation == ListRelation::Atomic {
                    self.now_atomic.insert(&self.path);
                } else if let Some(set) = set {
                    for (element, is_member) in set.elements() {
                        self.below(set, element, is_member, list.items.resolve());
                    }
                }
            }
            Some(Choice::Map(map)) if !map.is_deduced() => {
                let Some(set) = set else { return };
                if !owned_whole && map.atomic {
                    if !set.is_empty() {
                        self.now_atomic.insert(&self.path);
                    }
                    return;
                }
                for (element, is_member) in set.elements() {
                    let ty = match element {
                        PathElement::Field(name) => map.type_of(name),
                        _ => map.other.as_ref().map(crdx_types::merge::TypeRef::resolve),
                    };
                    // Fields without schema are left unchanged.
                    if let Some(ty) = ty {
                        self.below(set, element, is_member, ty);
                    }
                }
            }
            _ => {}
        }
    }

    fn below(&mut self, set: &Set, element: &PathElement, is_member: bool, ty: &Type) {
        let child = set.below(element);
        self.path.push(element.clone());
        self.visit(child, ty, is_member && child.is_none());
        self.path.pop();
    }
}

//! The size of an expression (`computeSize` and `default_strategy.go`): from its literals, from the declared types, or from its type.

use super::{Estimator, Interval, Size, optionals, size::SizeId};
use crate::{
    ast::{Expr, ExprKind, Literal},
    types::Type,
};

/// The longest path whose `dyn` value may have elements of declared sizes (`maxHintDepth`).
const MAX_DYNAMIC_PATH: usize = 32;

/// A value whose size is estimated.
struct Sized<'s, 'a> {
    /// `None` for an item, key or value of a declared type.
    expr: Option<&'a Expr>,
    path: &'s [&'a str],
    type_: &'a Type,
}

/// The known sizes of a container.
#[derive(Clone, Copy, Default)]
struct Parts {
    own: Option<Size>,
    key: Option<SizeId>,
    element: Option<SizeId>,
}

impl<'a> Estimator<'a> {
    pub(super) fn size_or_unknown(&mut self, expr: &'a Expr) -> Size {
        self.size(expr).unwrap_or(Size::UNKNOWN)
    }

    /// The size of an expression whose cost has been estimated, if anything is known of it.
    pub(super) fn size(&mut self, expr: &'a Expr) -> Option<Size> {
        if let Some(known) = self.computed.get(expr.id as usize).copied().flatten() {
            return Some(known);
        }
        let path = self.path_of(expr);
        if let ExprKind::Ident(name) = &expr.kind
            && let Some(local) = self.local(name)
            && let Some(size) = local.size
        {
            let declared = self.declared.of_path(path).map(Size::plain);
            self.set_size(expr.id, declared);
            return Some(declared.unwrap_or(size));
        }
        let path = self.declared.paths.parts(path).to_vec();
        let size = self.sized(&Sized { expr: Some(expr), path: &path, type_: self.checked.type_of(expr.id) });
        self.set_size(expr.id, size);
        size
    }

    fn sized(&mut self, value: &Sized<'_, 'a>) -> Option<Size> {
        if let Some(size) = value.expr.and_then(literal_size) {
            return Some(size);
        }
        match unwrapped(value.type_) {
            Type::List(_) => self.list(value),
            Type::Map(..) => self.map(value),
            Type::Dyn | Type::Any | Type::Param(_) | Type::Var(_) => self.dynamic(value),
            _ => self.scalar(value),
        }
    }

    /// The size of a part of an expression, which may have been estimated before.
    fn part(&mut self, expr: &'a Expr, type_: &'a Type) -> Size {
        let known = self.size(expr);
        known.or_else(|| self.sized(&Sized { expr: Some(expr), path: &[], type_ })).unwrap_or(Size::UNKNOWN)
    }

    fn scalar(&self, value: &Sized<'_, 'a>) -> Option<Size> {
        value.expr.and_then(literal_size).or_else(|| self.declared_at(value.path)).or_else(|| size_of_type(value.type_))
    }

    fn declared_at(&self, path: &[&str]) -> Option<Size> {
        self.declared.at(path).map(Size::plain)
    }

    // Lists

    fn list(&mut self, value: &Sized<'_, 'a>) -> Option<Size> {
        let item = value.type_.parameters()[0].unwrap_or(&Type::Dyn);
        let mut parts = value.expr.map_or(Parts::default(), |expr| self.list_parts(expr, value.type_, item));
        if parts.own.is_none() {
            parts.own = self.declared_at(value.path);
        }
        parts.element = parts.element.or(parts.own.and_then(|own| own.element));
        parts.element = self.child(value.path, "@items", item, parts.element);
        if parts.own.is_none() && parts.element.is_none() && value.expr.is_some() {
            parts.own = Some(Size::UNKNOWN);
        }
        self.list_size(parts)
    }

    /// The sizes of a list and its items that follow from the expression (`estimateListExpr`).
    fn list_parts(&mut self, expr: &'a Expr, type_: &'a Type, item: &'a Type) -> Parts {
        let own = match &expr.kind {
            ExprKind::List { elements, optional_indices } => {
                return self.literal_list_parts(elements, optional_indices, item);
            }
            ExprKind::Call { function, args, .. } => match (function.as_str(), args.as_slice()) {
                ("_+_", [left, right]) => {
                    let (left, right) = (self.part(left, type_), self.part(right, type_));
                    Some(self.sizes.combine(left.bounds.add(right.bounds), left, right))
                }
                ("_?_:_", [_, yes, no]) => Some(self.either(yes, no, type_)),
                _ => None,
            },
            _ => None,
        };
        Parts { own, key: None, element: own.and_then(|own| own.element) }
    }

    fn literal_list_parts(&mut self, elements: &'a [Expr], optional: &[usize], item: &'a Type) -> Parts {
        let most = elements.len() as u64;
        let mut bounds = Interval::new(most.saturating_sub(optional.len() as u64), most);
        let mut parts = Parts::default();
        for (index, element) in elements.iter().enumerate() {
            let added = if optional.contains(&index) { optionals::added(element) } else { Some(element) };
            let Some(element) = added else {
                bounds.max = bounds.max.saturating_sub(1);
                continue;
            };
            let size = self.part(element, item);
            let size = self.sizes.intern(size);
            parts.element = self.sizes.merge(parts.element, Some(size));
        }
        parts.own = Some(Size::plain(bounds));
        parts
    }

    /// A list that may have items has an element size, even if it is unknown (`combineListSize`).
    fn list_size(&mut self, parts: Parts) -> Option<Size> {
        let Some(own) = parts.own else {
            return parts.element.map(|element| Size { element: Some(element), ..Size::UNKNOWN });
        };
        let element = parts.element.or_else(|| self.unknown_unless_empty(own));
        Some(Size { bounds: own.bounds, key: None, element })
    }

    // Maps

    fn map(&mut self, value: &Sized<'_, 'a>) -> Option<Size> {
        let [key, item] = value.type_.parameters();
        let (key, item) = if item.is_some() { (key, item) } else { (None, None) };
        let (key, item) = (key.unwrap_or(&Type::Dyn), item.unwrap_or(&Type::Dyn));
        let mut parts = value.expr.map_or(Parts::default(), |expr| self.map_parts(expr, value.type_, key, item));
        if parts.own.is_none() {
            parts.own = self.declared_at(value.path);
        }
        if let Some(own) = parts.own {
            parts.key = parts.key.or(own.key);
            parts.element = parts.element.or(own.element);
        }
        parts.key = self.child(value.path, "@keys", key, parts.key);
        parts.element = self.child(value.path, "@values", item, parts.element);
        if parts.own.is_none() && parts.key.is_none() && parts.element.is_none() && value.expr.is_some() {
            parts.own = Some(Size::UNKNOWN);
        }
        self.map_size(parts)
    }

    /// The sizes of a map, its keys and its values that follow from the expression (`estimateMapExpr`).
    fn map_parts(&mut self, expr: &'a Expr, type_: &'a Type, key_type: &'a Type, value_type: &'a Type) -> Parts {
        let own = match &expr.kind {
            ExprKind::Map(entries) => {
                let most = entries.len() as u64;
                let optional = entries.iter().filter(|entry| entry.optional).count() as u64;
                let mut parts = Parts::default();
                for entry in entries {
                    let (key, value) = (self.part(&entry.key, key_type), self.part(&entry.value, value_type));
                    let (key, value) = (self.sizes.intern(key), self.sizes.intern(value));
                    parts.key = self.sizes.merge(parts.key, Some(key));
                    parts.element = self.sizes.merge(parts.element, Some(value));
                }
                parts.own = Some(Size::plain(Interval::new(most.saturating_sub(optional), most)));
                return parts;
            }
            ExprKind::Call { function, args, .. } => match (function.as_str(), args.as_slice()) {
                ("cel.@mapInsert", [map, key, value]) => {
                    let map = self.part(map, type_);
                    let (key, value) = (self.part(key, key_type), self.part(value, value_type));
                    let (key, value) = (self.sizes.intern(key), self.sizes.intern(value));
                    let key = self.sizes.merge(map.key, Some(key));
                    let element = self.sizes.merge(map.element, Some(value));
                    Some(Size { bounds: map.bounds.add(Interval::fixed(1)), key, element })
                }
                ("cel.@mapInsert", [map, more]) => {
                    let (map, more) = (self.part(map, type_), self.part(more, type_));
                    Some(self.sizes.combine(map.bounds.add(more.bounds), map, more))
                }
                ("_?_:_", [_, yes, no]) => Some(self.either(yes, no, type_)),
                _ => None,
            },
            _ => None,
        };
        Parts { own, key: own.and_then(|own| own.key), element: own.and_then(|own| own.element) }
    }

    /// A map that may have entries has key and value sizes, even if they are unknown (`combineMapSize`).
    fn map_size(&mut self, parts: Parts) -> Option<Size> {
        if parts.own.is_none() && parts.key.is_none() && parts.element.is_none() {
            return None;
        }
        let own = parts.own.unwrap_or(Size::UNKNOWN);
        let key = parts.key.or_else(|| self.unknown_unless_empty(own));
        let element = parts.element.or_else(|| self.unknown_unless_empty(own));
        Some(Size { bounds: own.bounds, key, element })
    }

    // Values of any type

    fn dynamic(&mut self, value: &Sized<'_, 'a>) -> Option<Size> {
        match value.expr.map(|expr| &expr.kind) {
            Some(ExprKind::List { .. }) => return self.list(value),
            Some(ExprKind::Map(_)) => return self.map(value),
            Some(ExprKind::Call { function, args, .. }) if function == "_?_:_" => {
                if let [_, yes, no] = args.as_slice() {
                    return Some(self.either(yes, no, value.type_));
                }
            }
            _ => {}
        }
        let own = self.scalar(value);
        if let Some(element) = self.dynamic_child(value.path, "@items") {
            return self.list_size(Parts { own, key: None, element: Some(element) });
        }
        let key = self.dynamic_child(value.path, "@keys");
        let element = self.dynamic_child(value.path, "@values");
        if key.is_none() && element.is_none() {
            return own;
        }
        self.map_size(Parts { own, key, element })
    }

    /// The size of a part of a `dyn` value, if its declared type has such a part (`resolveDynamicChild`).
    fn dynamic_child(&mut self, path: &[&'a str], part: &'static str) -> Option<SizeId> {
        if path.is_empty() || path.len() >= MAX_DYNAMIC_PATH {
            return None;
        }
        let path = joined(path, part);
        self.declared_at(&path)?;
        let size = self.sized(&Sized { expr: None, path: &path, type_: &Type::Dyn })?;
        (size != Size::UNKNOWN).then(|| self.sizes.intern(size))
    }

    /// The size of the items, keys or values of a container (`resolveChildSize`).
    fn child(
        &mut self,
        path: &[&'a str],
        part: &'static str,
        type_: &'a Type,
        current: Option<SizeId>,
    ) -> Option<SizeId> {
        let known = current.map(|id| self.sizes.get(id));
        let is_incomplete = known.is_none_or(|known| known.element.is_none() && may_nest(type_));
        let mut found = current;
        if is_incomplete && !path.is_empty() {
            let path = joined(path, part);
            let declared = self.sized(&Sized { expr: None, path: &path, type_ }).or_else(|| self.declared_at(&path));
            if let Some(declared) = declared.filter(|declared| *declared != Size::UNKNOWN) {
                let bounds = known.map_or(declared.bounds, |known| known.bounds);
                found = Some(self.sizes.intern(Size { bounds, ..declared }));
            }
        }
        found.or_else(|| size_of_type(type_).map(|size| self.sizes.intern(size)))
    }

    /// The size of a conditional (`estimateConditionalSize`).
    fn either(&mut self, yes: &'a Expr, no: &'a Expr, type_: &'a Type) -> Size {
        let (yes, no) = (self.part(yes, type_), self.part(no, type_));
        self.sizes.union(yes, no)
    }

    fn unknown_unless_empty(&mut self, size: Size) -> Option<SizeId> {
        (size.bounds.max > 0).then(|| self.sizes.intern(Size::UNKNOWN))
    }
}

fn joined<'a>(path: &[&'a str], part: &'static str) -> Vec<&'a str> {
    path.iter().copied().chain([part]).collect()
}

/// The size of a literal other than a list or map.
fn literal_size(expr: &Expr) -> Option<Size> {
    let ExprKind::Literal(literal) = &expr.kind else { return None };
    Some(Size::fixed(match literal {
        Literal::String(text) => text.chars().count() as u64,
        Literal::Bytes(bytes) => bytes.len() as u64,
        _ => 1,
    }))
}

/// The size of all values of a type, if they have the same.
fn size_of_type(type_: &Type) -> Option<Size> {
    let is_fixed = is_scalar(type_) || matches!(type_, Type::Optional(inner) if is_scalar(inner));
    is_fixed.then_some(Size::fixed(1))
}

fn is_scalar(type_: &Type) -> bool {
    matches!(
        unwrapped(type_),
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint | Type::Type(_)
    )
}

/// The type that a wrapper type wraps.
pub(super) fn unwrapped(type_: &Type) -> &Type {
    match type_ {
        Type::Wrapper(inner) => inner,
        _ => type_,
    }
}

/// Returns true if values of the type may have elements that have elements.
fn may_nest(type_: &Type) -> bool {
    matches!(unwrapped(type_), Type::List(_) | Type::Map(..) | Type::Dyn | Type::Any | Type::Param(_) | Type::Var(_))
}

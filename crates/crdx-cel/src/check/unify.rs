//! Assignability of types, and the inference of type variables.

use crate::types::Type;
use crdx_value::release::{Minor, V1_38};
use std::sync::Arc;

/// The replacement for a type variable without a binding.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnboundVariable {
    Keep,
    ToDyn,
}

/// The current substitutions of type variables.
#[derive(Debug)]
pub(super) struct Bindings {
    server: Minor,
    bound: Vec<Option<Type>>,
    /// Previous bindings, for backtracking.
    trail: Vec<(u32, Option<Type>)>,
}

impl Bindings {
    pub(crate) const fn new(server: Minor) -> Self {
        Self { server, bound: Vec::new(), trail: Vec::new() }
    }

    /// Creates `count` fresh type variables and returns the first.
    pub fn fresh(&mut self, count: u32) -> u32 {
        let first = self.bound.len() as u32;
        self.bound.resize(self.bound.len() + count as usize, None);
        first
    }

    fn get(&self, variable: u32) -> Option<&Type> {
        self.bound.get(variable as usize).and_then(Option::as_ref)
    }

    fn bind(&mut self, variable: u32, type_: Type) {
        if let Some(slot) = self.bound.get_mut(variable as usize) {
            self.trail.push((variable, slot.replace(type_)));
        }
    }

    /// Returns true if the first type of each pair is assignable to the second. The substitutions are kept only in that
    /// case.
    pub(crate) fn assignable<'t>(&mut self, pairs: impl IntoIterator<Item = (&'t Type, &'t Type)>) -> bool {
        self.trail.clear();
        let fits = pairs.into_iter().all(|(from, to)| self.fits(from, to));
        if !fits {
            while let Some((variable, former)) = self.trail.pop() {
                if let Some(slot) = self.bound.get_mut(variable as usize) {
                    *slot = former;
                }
            }
        }
        fits
    }

    fn fits(&mut self, from: &Type, to: &Type) -> bool {
        if let Type::Var(variable) = to {
            let (valid, known) = self.substitutes(from, *variable);
            if valid || known {
                return valid;
            }
        }
        if let Type::Var(variable) = from {
            return self.substitutes(to, *variable).0;
        }
        if is_dyn_or_error(from) || is_dyn_or_error(to) {
            return true;
        }
        match (from, to) {
            (Type::Null, other) | (other, Type::Null) => takes_null(other),
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => self.fits(a, b),
            (Type::Map(k, v), Type::Map(l, w)) => self.fits(k, l) && self.fits(v, w),
            // Since cel-go 0.33, a type variable in `type(T)` is inferred.
            (Type::Type(a), Type::Type(b)) if self.server >= V1_38 && (has_variables(a) || has_variables(b)) => {
                self.fits(a, b)
            }
            (Type::Type(_), Type::Type(_)) => true,
            (Type::Wrapper(a), Type::Wrapper(b)) => a == b,
            (Type::Wrapper(a), b) | (b, Type::Wrapper(a)) => **a == *b,
            (a, b) => a == b,
        }
    }

    /// Returns whether a variable can be substituted by this type, and whether the variable was already bound.
    fn substitutes(&mut self, type_: &Type, variable: u32) -> (bool, bool) {
        if *type_ == Type::Var(variable) {
            return (true, true);
        }
        if let Some(bound) = self.get(variable) {
            if type_ == bound {
                return (true, true);
            }
            let bound = bound.clone();
            if !self.fits(type_, &bound) {
                return (false, true);
            }
            let general = if self.less_specific(type_, &bound) { type_ } else { &bound };
            if !self.refers(variable, general) {
                self.bind(variable, general.clone());
            }
            return (true, true);
        }
        if self.refers(variable, type_) {
            return (false, false);
        }
        self.bind(variable, type_.clone());
        (true, false)
    }

    /// Returns true if a variable occurs in a type (occurs check).
    fn refers(&self, variable: u32, within: &Type) -> bool {
        match within {
            Type::Var(other) => {
                *other == variable || self.get(*other).is_some_and(|bound| self.refers(variable, bound))
            }
            _ => within.parameters().into_iter().flatten().any(|part| self.refers(variable, part)),
        }
    }

    /// Returns true if `one` is equally or less specific than `other`, given that the two are compatible.
    pub(crate) fn less_specific(&self, one: &Type, other: &Type) -> bool {
        if one.is_dyn() || matches!(one, Type::Var(_)) {
            return true;
        }
        if other.is_dyn() || matches!(other, Type::Var(_)) {
            return false;
        }
        match (one, other) {
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => self.less_specific(a, b),
            (Type::Map(k, v), Type::Map(l, w)) => self.less_specific(k, l) && self.less_specific(v, w),
            (Type::Type(a), Type::Type(b)) => self.server < V1_38 || self.less_specific(a, b),
            (Type::Wrapper(a), b) | (b, Type::Wrapper(a)) => **a == *b || *one == *other,
            (a, b) => a == b,
        }
    }

    /// Replaces type variables by their bindings.
    pub fn resolve(&self, type_: &Type) -> Type {
        self.replace(type_, UnboundVariable::Keep)
    }

    /// Like [`Bindings::resolve`], but replaces unbound variables by `dyn`.
    pub(crate) fn resolve_to_dyn(&self, type_: &Type) -> Type {
        self.replace(type_, UnboundVariable::ToDyn)
    }

    fn replace(&self, type_: &Type, unbound: UnboundVariable) -> Type {
        let inner = |part: &Arc<Type>| {
            if has_variables(part) { Arc::new(self.replace(part, unbound)) } else { Arc::clone(part) }
        };
        match type_ {
            Type::Var(variable) => match self.get(*variable) {
                Some(bound) => self.replace(bound, unbound),
                None if unbound == UnboundVariable::ToDyn => Type::Dyn,
                None => type_.clone(),
            },
            Type::List(item) => Type::List(inner(item)),
            Type::Map(key, value) => Type::Map(inner(key), inner(value)),
            Type::Optional(of) => Type::Optional(inner(of)),
            Type::Type(of) => Type::Type(inner(of)),
            _ => type_.clone(),
        }
    }
}

/// Returns true if a type has more than `most` nodes.
pub(super) fn is_larger(type_: &Type, most: usize) -> bool {
    let (mut count, mut todo) = (0, vec![type_]);
    while let Some(at) = todo.pop() {
        count += 1;
        if count > most {
            return true;
        }
        todo.extend(at.parameters().into_iter().flatten());
    }
    false
}

/// Returns true if the type contains type variables.
pub(super) fn has_variables(type_: &Type) -> bool {
    matches!(type_, Type::Var(_)) || type_.parameters().into_iter().flatten().any(has_variables)
}

/// Renumbers the type variables of a signature to start at `first` instead of 0.
pub(super) fn shift(type_: &Type, first: u32) -> Type {
    let inner = |part: &Arc<Type>| if has_variables(part) { Arc::new(shift(part, first)) } else { Arc::clone(part) };
    match type_ {
        Type::Var(variable) => Type::Var(first + variable),
        Type::List(item) => Type::List(inner(item)),
        Type::Map(key, value) => Type::Map(inner(key), inner(value)),
        Type::Optional(of) => Type::Optional(inner(of)),
        Type::Type(of) => Type::Type(inner(of)),
        _ => type_.clone(),
    }
}

/// Returns true if every type is assignable to this type.
pub(super) fn is_dyn_or_error(type_: &Type) -> bool {
    type_.is_dyn() || *type_ == Type::Error
}

fn takes_null(type_: &Type) -> bool {
    matches!(
        type_,
        Type::Null
            | Type::Object(_)
            | Type::Opaque(_)
            | Type::Optional(_)
            | Type::Duration
            | Type::Timestamp
            | Type::Wrapper(_)
    )
}

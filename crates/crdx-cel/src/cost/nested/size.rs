//! The estimated sizes of values.

use crate::cost::interval::Interval;
use std::collections::HashMap;

/// The estimated size of a value (`SizeEstimate`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Size {
    pub bounds: Interval,
    /// The size of the keys of a map.
    pub key: Option<SizeId>,
    /// The size of the items of a list or the values of a map.
    pub element: Option<SizeId>,
}

impl Size {
    /// An unknown size.
    pub const UNKNOWN: Self = Self::plain(Interval::UNKNOWN);

    /// The size of a value without elements.
    pub const fn plain(bounds: Interval) -> Self {
        Self { bounds, key: None, element: None }
    }

    pub const fn fixed(size: u64) -> Self {
        Self::plain(Interval::fixed(size))
    }
}

/// Identifies a size in [`Sizes`]; equal sizes have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SizeId(usize);

/// The sizes of keys and elements.
///
/// Sizes share parts, so that a size can have exponentially more parts than there are ids: unions are computed once per pair of ids.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    all: Vec<Size>,
    ids: HashMap<Size, SizeId>,
    unions: HashMap<(SizeId, SizeId), SizeId>,
}

impl Sizes {
    pub fn get(&self, id: SizeId) -> Size {
        self.all.get(id.0).copied().unwrap_or(Size::UNKNOWN)
    }

    pub fn intern(&mut self, size: Size) -> SizeId {
        let next = SizeId(self.all.len());
        let id = *self.ids.entry(size).or_insert(next);
        if id == next {
            self.all.push(size);
        }
        id
    }

    /// The size that covers both sizes.
    pub fn union(&mut self, a: Size, b: Size) -> Size {
        self.combine(a.bounds.union(b.bounds), a, b)
    }

    /// A size with these bounds, whose keys and elements are those of either size.
    pub fn combine(&mut self, bounds: Interval, a: Size, b: Size) -> Size {
        Size { bounds, key: self.merge(a.key, b.key), element: self.merge(a.element, b.element) }
    }

    /// The union of two optional sizes.
    pub fn merge(&mut self, a: Option<SizeId>, b: Option<SizeId>) -> Option<SizeId> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.union_of_ids(a, b)),
            (a, b) => a.or(b),
        }
    }

    fn union_of_ids(&mut self, a: SizeId, b: SizeId) -> SizeId {
        if a == b {
            return a;
        }
        if let Some(known) = self.unions.get(&(a, b)) {
            return *known;
        }
        let union = self.union(self.get(a), self.get(b));
        let id = self.intern(union);
        self.unions.insert((a, b), id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::{Interval, Size, Sizes};

    #[test]
    fn unions_of_sizes_with_shared_parts_take_linear_time() {
        let mut sizes = Sizes::default();
        let mut nest = |innermost: u64| {
            (0..200).fold(Size::fixed(innermost), |inner, _| {
                let inner = Some(sizes.intern(inner));
                Size { bounds: Interval::fixed(1), key: inner, element: inner }
            })
        };
        let (mut found, other) = (nest(3), nest(5));
        found = sizes.union(found, other);
        for _ in 0..200 {
            found = sizes.get(found.element.unwrap());
        }
        assert_eq!(found, Size::plain(Interval::new(3, 5)));
    }

    #[test]
    fn the_union_with_a_size_without_elements_keeps_the_elements() {
        let mut sizes = Sizes::default();
        let element = Some(sizes.intern(Size::fixed(7)));
        let list = Size { bounds: Interval::fixed(1), key: None, element };
        assert_eq!(sizes.union(list, Size::fixed(3)), Size { bounds: Interval::new(1, 3), key: None, element });
    }
}

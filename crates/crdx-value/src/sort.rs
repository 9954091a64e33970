//! Sorting lists that are short or sorted seldom, with little code.
//!
//! The sorts of the standard library are fast and stable, and are compiled for each type and comparison, into about 7 KB each.
//! These sort the indexes of the items, with one compiled sort for all lists, and then move the items.

use std::cmp::Ordering;

/// Sorts a list; equal items keep their order.
pub fn sort_by<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let mut order: Vec<usize> = (0..items.len()).collect();
    let compare = |a: usize, b: usize| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    };
    sort_indexes(&mut order, &compare);
    let mut left: Vec<Option<T>> = std::mem::take(items).into_iter().map(Some).collect();
    items.extend(order.into_iter().filter_map(|index| left.get_mut(index)?.take()));
}

/// Sorts a list by a key of each item; items with equal keys keep their order.
pub fn sort_by_key<T, K: Ord>(items: &mut Vec<T>, key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

fn sort_indexes(order: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    order.sort_by(|a, b| compare(*a, *b));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_items_keep_their_order() {
        let mut items = vec![(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd'), (0, 'e')];
        sort_by_key(&mut items, |(number, _)| *number);
        assert_eq!(items, [(0, 'e'), (1, 'b'), (1, 'd'), (2, 'a'), (2, 'c')]);
        let mut items: Vec<u32> = (0..1000).map(|n| n * 7919 % 1000).collect();
        sort_by(&mut items, |a, b| b.cmp(a));
        assert!(items.is_sorted_by(|a, b| a >= b) && items.len() == 1000);
    }
}

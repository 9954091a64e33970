//! Go's sorts, step by step (`sort.Sort` and `sort.SliceStable` since Go 1.19).
//!
//! The library of strategic merge patches sorts with comparisons that are no orders: equal items are less than each other, and
//! items without a position are less than all others. The result then depends on each step of the algorithm.

/// The order of items after `sort.Sort`, if `Less(i, j)` is `ranks[i] <= ranks[j]`.
pub(super) fn unstable(ranks: &[usize]) -> Vec<usize> {
    let less = |one: usize, other: usize| ranks.get(one) <= ranks.get(other);
    let mut data = Data { order: (0..ranks.len()).collect(), less: &less };
    let limit = usize::BITS - ranks.len().leading_zeros();
    data.sort(0, ranks.len(), limit);
    data.order
}

/// The order of items after `sort.SliceStable`, if an item is less than another with a greater position, and if either has no
/// position.
pub(super) fn stable(positions: &[Option<usize>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..positions.len()).collect();
    if positions.iter().all(Option::is_some) {
        order.sort_by_key(|at| positions.get(*at));
        return order;
    }
    let position = |at: usize| positions.get(at).copied().flatten();
    let less = |one: usize, other: usize| match (position(one), position(other)) {
        (Some(one), Some(other)) => one < other,
        _ => true,
    };
    let mut data = Data { order, less: &less };
    data.stable(positions.len());
    data.order
}

/// The items at some indexes.
pub(super) fn permuted<T>(items: Vec<T>, order: &[usize]) -> Vec<T> {
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    order.iter().filter_map(|at| items.get_mut(*at)?.take()).collect()
}

/// `sort.Interface`
struct Data<'l> {
    /// The indexes of the items.
    order: Vec<usize>,
    less: &'l dyn Fn(usize, usize) -> bool,
}

/// `maxInsertion` of `pdqsort`
const MAX_INSERTION: usize = 12;
/// `blockSize` of `stable`
const BLOCK: usize = 20;

/// What `choosePivot` found about the order of the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hint {
    Unknown,
    Increasing,
    Decreasing,
}

impl Data<'_> {
    fn less(&self, i: usize, j: usize) -> bool {
        matches!((self.order.get(i), self.order.get(j)), (Some(i), Some(j)) if (self.less)(*i, *j))
    }

    fn swap(&mut self, i: usize, j: usize) {
        if i.max(j) < self.order.len() {
            self.order.swap(i, j);
        }
    }

    /// `insertionSort`
    fn insertion_sort(&mut self, a: usize, b: usize) {
        for i in a + 1..b {
            let mut j = i;
            while j > a && self.less(j, j - 1) {
                self.swap(j, j - 1);
                j -= 1;
            }
        }
    }

    /// `siftDown`
    fn sift_down(&mut self, lo: usize, hi: usize, first: usize) {
        let mut root = lo;
        loop {
            let mut child = 2 * root + 1;
            if child >= hi {
                return;
            }
            if child + 1 < hi && self.less(first + child, first + child + 1) {
                child += 1;
            }
            if !self.less(first + root, first + child) {
                return;
            }
            self.swap(first + root, first + child);
            root = child;
        }
    }

    /// `heapSort`
    fn heap_sort(&mut self, a: usize, b: usize) {
        let hi = b - a;
        for i in (0..=(hi.saturating_sub(1)) / 2).rev() {
            self.sift_down(i, hi, a);
        }
        for i in (0..hi).rev() {
            self.swap(a, a + i);
            self.sift_down(0, i, a);
        }
    }

    /// `pdqsort`. It recurses into the shorter part, so the depth is logarithmic.
    fn sort(&mut self, mut a: usize, mut b: usize, mut limit: u32) {
        let (mut was_balanced, mut was_partitioned) = (true, true);
        loop {
            let length = b - a;
            if length <= MAX_INSERTION {
                return self.insertion_sort(a, b);
            }
            if limit == 0 {
                return self.heap_sort(a, b);
            }
            if !was_balanced {
                self.break_patterns(a, b);
                limit -= 1;
            }
            let (mut pivot, mut hint) = self.choose_pivot(a, b);
            if hint == Hint::Decreasing {
                self.reverse_range(a, b);
                pivot = (b - 1) - (pivot - a);
                hint = Hint::Increasing;
            }
            if was_balanced && was_partitioned && hint == Hint::Increasing && self.partial_insertion_sort(a, b) {
                return;
            }
            if a > 0 && !self.less(a - 1, pivot) {
                a = self.partition_equal(a, b, pivot);
                continue;
            }
            let middle;
            (middle, was_partitioned) = self.partition(a, b, pivot);
            let (left, right) = (middle - a, b - middle);
            was_balanced = left.min(right) >= length / 8;
            if left < right {
                self.sort(a, middle, limit);
                a = middle + 1;
            } else {
                self.sort(middle + 1, b, limit);
                b = middle;
            }
        }
    }

    /// `partition`
    fn partition(&mut self, a: usize, b: usize, pivot: usize) -> (usize, bool) {
        self.swap(a, pivot);
        let (mut i, mut j) = (a + 1, b - 1);
        let mut was_partitioned = true;
        loop {
            while i <= j && self.less(i, a) {
                i += 1;
            }
            while i <= j && !self.less(j, a) {
                j -= 1;
            }
            if i > j {
                self.swap(j, a);
                return (j, was_partitioned);
            }
            was_partitioned = false;
            self.swap(i, j);
            i += 1;
            j -= 1;
        }
    }

    /// `partitionEqual`
    fn partition_equal(&mut self, a: usize, b: usize, pivot: usize) -> usize {
        self.swap(a, pivot);
        let (mut i, mut j) = (a + 1, b - 1);
        loop {
            while i <= j && !self.less(a, i) {
                i += 1;
            }
            while i <= j && self.less(a, j) {
                j -= 1;
            }
            if i > j {
                return i;
            }
            self.swap(i, j);
            i += 1;
            j -= 1;
        }
    }

    /// `partialInsertionSort`
    fn partial_insertion_sort(&mut self, a: usize, b: usize) -> bool {
        const MAX_STEPS: usize = 5;
        const SHORTEST_SHIFTING: usize = 50;
        let mut i = a + 1;
        for _ in 0..MAX_STEPS {
            while i < b && !self.less(i, i - 1) {
                i += 1;
            }
            if i == b {
                return true;
            }
            if b - a < SHORTEST_SHIFTING {
                return false;
            }
            self.swap(i, i - 1);
            if i - a >= 2 {
                // Go does not stop at `a`.
                for j in (1..i).rev() {
                    if !self.less(j, j - 1) {
                        break;
                    }
                    self.swap(j, j - 1);
                }
            }
            if b - i >= 2 {
                for j in i + 1..b {
                    if !self.less(j, j - 1) {
                        break;
                    }
                    self.swap(j, j - 1);
                }
            }
        }
        false
    }

    /// `breakPatterns`
    fn break_patterns(&mut self, a: usize, b: usize) {
        let length = b - a;
        if length < 8 {
            return;
        }
        let mut random = length as u64;
        let modulus = 1_u64 << (u64::BITS - random.leading_zeros());
        let middle = a + (length / 4) * 2;
        for index in middle - 1..=middle + 1 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let other = usize::try_from(random & (modulus - 1)).unwrap_or_default();
            self.swap(index, a + if other >= length { other - length } else { other });
        }
    }

    /// `choosePivot`
    fn choose_pivot(&self, a: usize, b: usize) -> (usize, Hint) {
        const SHORTEST_NINTHER: usize = 50;
        const MAX_SWAPS: usize = 4 * 3;
        let length = b - a;
        let (mut i, mut j, mut k) = (a + length / 4, a + length / 4 * 2, a + length / 4 * 3);
        let mut swaps = 0;
        if length >= 8 {
            if length >= SHORTEST_NINTHER {
                i = self.median([i - 1, i, i + 1], &mut swaps);
                j = self.median([j - 1, j, j + 1], &mut swaps);
                k = self.median([k - 1, k, k + 1], &mut swaps);
            }
            j = self.median([i, j, k], &mut swaps);
        }
        let hint = match swaps {
            0 => Hint::Increasing,
            MAX_SWAPS => Hint::Decreasing,
            _ => Hint::Unknown,
        };
        (j, hint)
    }

    /// `median`
    fn median(&self, [mut a, mut b, mut c]: [usize; 3], swaps: &mut usize) -> usize {
        let mut order = |a: &mut usize, b: &mut usize| {
            if self.less(*b, *a) {
                *swaps += 1;
                std::mem::swap(a, b);
            }
        };
        order(&mut a, &mut b);
        order(&mut b, &mut c);
        order(&mut a, &mut b);
        b
    }

    /// `reverseRange`
    fn reverse_range(&mut self, a: usize, b: usize) {
        if let Some(range) = self.order.get_mut(a..b) {
            range.reverse();
        }
    }

    /// `stable`
    fn stable(&mut self, length: usize) {
        for start in (0..length).step_by(BLOCK) {
            self.insertion_sort(start, (start + BLOCK).min(length));
        }
        let mut block = BLOCK;
        while block < length {
            for start in (0..length).step_by(2 * block) {
                let (middle, end) = (start + block, (start + 2 * block).min(length));
                if middle < end {
                    self.merge(start, middle, end);
                }
            }
            block *= 2;
        }
    }

    /// `symMerge`. The depth of the recursion is logarithmic.
    fn merge(&mut self, a: usize, m: usize, b: usize) {
        if m - a == 1 {
            let at = partition_point(m, b, |h| self.less(h, a));
            for k in a..at - 1 {
                self.swap(k, k + 1);
            }
            return;
        }
        if b - m == 1 {
            let at = partition_point(a, m, |h| !self.less(m, h));
            for k in (at + 1..=m).rev() {
                self.swap(k, k - 1);
            }
            return;
        }
        let middle = usize::midpoint(a, b);
        let n = middle + m;
        let (start, end) = if m > middle { (n - b, middle) } else { (a, m) };
        let p = n - 1;
        let start = partition_point(start, end, |c| !self.less(p - c, c));
        let end = n - start;
        if start < m
            && m < end
            && let Some(range) = self.order.get_mut(start..end)
        {
            range.rotate_left(m - start);
        }
        if a < start && start < middle {
            self.merge(a, start, middle);
        }
        if middle < end && end < b {
            self.merge(middle, end, b);
        }
    }
}

/// The first index of a range for which `is_before` is false, if it is true for all indexes before that.
fn partition_point(mut i: usize, mut j: usize, is_before: impl Fn(usize) -> bool) -> usize {
    while i < j {
        let h = usize::midpoint(i, j);
        if is_before(h) { i = h + 1 } else { j = h }
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Printed by Go 1.26: the number of items and of different items, and the hashes of the orders after `sort.Sort` and
    /// `sort.SliceStable`.
    const RESULTS: [(usize, usize, u64, u64); 66] = [
        (3, 1, 1953, 33),
        (3, 2, 1953, 33),
        (3, 3, 1923, 63),
        (3, 10, 963, 33),
        (3, 100, 33, 33),
        (3, 7919, 33, 33),
        (12, 1, 287934506518258746, 875180870876166),
        (12, 2, 287934506518258746, 875180870876166),
        (12, 3, 287086675049935026, 256545502732831926),
        (12, 10, 287852458663105236, 256544649926493276),
        (12, 100, 2494024832285556, 256544678154836226),
        (12, 7919, 875180870876166, 256544565440174496),
        (13, 1, 8925969536990336838, 27130606997161158),
        (13, 2, 8925969536990336838, 27130606997161158),
        (13, 3, 7093356655958612238, 7952910584718114438),
        (13, 10, 4861224786594219558, 7952884147721291568),
        (13, 100, 77314769801085708, 7952885022799925838),
        (13, 7919, 27130606997161158, 7952881528645409388),
        (30, 1, 9353697327339602945, 4334487890020705295),
        (30, 2, 9353697327339602945, 4334487890020705295),
        (30, 3, 1446666163681197333, 4950948861110782925),
        (30, 10, 7821469622120446047, 11772811074409752067),
        (30, 100, 13739859797796039803, 1413632047736676777),
        (30, 7919, 4334487890020705295, 15610697985902988355),
        (49, 1, 4879137428394466914, 552634825432740632),
        (49, 2, 4879137428394466914, 552634825432740632),
        (49, 3, 2518713017712467832, 15627210968902134310),
        (49, 10, 16320343140069890808, 13930762670755687368),
        (49, 100, 16216818635011576022, 9002359114487789184),
        (49, 7919, 7798200050118914032, 10513398460388623436),
        (50, 1, 17246886938395998331, 17131679588414959641),
        (50, 2, 17246886938395998331, 17131679588414959641),
        (50, 3, 9875909599662685499, 4828194119517821643),
        (50, 10, 11338329531643556045, 7578529098106621289),
        (50, 100, 2233683230572991333, 7389842197875304395),
        (50, 7919, 13029231762021581783, 17109251466162492723),
        (51, 1, 8797819615869510923, 14573233176996303673),
        (51, 2, 8797819615869510923, 14573233176996303673),
        (51, 3, 4337687994104945399, 8226861011250702287),
        (51, 10, 1264238066412827011, 4920280980430830039),
        (51, 100, 7732554293923019421, 2286094135029592831),
        (51, 7919, 3277445798136925457, 14664410067442030923),
        (100, 1, 12439978235563135470, 6955345978518086706),
        (100, 2, 12439978235563135470, 6955345978518086706),
        (100, 3, 4589747419656764552, 6962559861102090916),
        (100, 10, 5615673053783420348, 18076609063582909618),
        (100, 100, 1337131691432013004, 12897638717454996796),
        (100, 7919, 9347453618681047350, 11700494774709134836),
        (333, 1, 9358728326419287918, 3174114831684704614),
        (333, 2, 9358728326419287918, 3174114831684704614),
        (333, 3, 10955173083984967684, 16281843016394739736),
        (333, 10, 17627609673458584886, 9858652212714350022),
        (333, 100, 8460025864267977708, 5530030602803476416),
        (333, 7919, 7858426427344329878, 10719642969644220510),
        (1000, 1, 10526399949795513778, 10422651670965598708),
        (1000, 2, 10526399949795513778, 10422651670965598708),
        (1000, 3, 1813423392057619266, 12966359493788046230),
        (1000, 10, 13190667792461315936, 7988429546441981310),
        (1000, 100, 8297565040757977872, 3596839991242495038),
        (1000, 7919, 13501417850074050440, 7556658368531986036),
        (5000, 1, 5086699275215105948, 16783699096046444996),
        (5000, 2, 5086699275215105948, 16783699096046444996),
        (5000, 3, 13729529023468978746, 15538421887754711634),
        (5000, 10, 16990804553906353408, 16499875152532514358),
        (5000, 100, 1781303838539677188, 5105077951136231418),
        (5000, 7919, 5410518863313441794, 10277769274737000564),
    ];

    fn ranks(length: usize, values: usize) -> Vec<usize> {
        (0..length).map(|i| (i * i * 7 + i * 13) % values).collect()
    }

    fn hash(order: &[usize]) -> u64 {
        order.iter().fold(0, |hash: u64, at| hash.wrapping_mul(31).wrapping_add(*at as u64))
    }

    #[test]
    fn items_have_the_order_of_go() {
        for (length, values, of_sort, of_stable) in RESULTS {
            let ranks = ranks(length, values);
            let has_position = |at: usize| values <= 2 || at % 7 != 3;
            let positions: Vec<_> =
                ranks.iter().enumerate().map(|(at, rank)| has_position(at).then_some(*rank)).collect();
            assert_eq!(hash(&unstable(&ranks)), of_sort, "sort.Sort of {length} with {values}");
            assert_eq!(hash(&stable(&positions)), of_stable, "sort.SliceStable of {length} with {values}");
        }
    }

    #[test]
    fn comparisons_grow_little_faster_than_the_list() {
        let compared = |length: usize, values: usize| {
            let (ranks, count) = (ranks(length, values), Cell::new(0));
            let less = |one: usize, other: usize| {
                count.set(count.get() + 1);
                ranks[one] <= ranks[other]
            };
            let mut data = Data { order: (0..length).collect(), less: &less };
            data.sort(0, length, usize::BITS - length.leading_zeros());
            data.order = (0..length).collect();
            data.stable(length);
            count.get()
        };
        for values in [1, 2, 7919] {
            assert!(compared(20_000, values) < 20_000 * 60, "{values}: {}", compared(20_000, values));
            assert!(compared(40_000, values) < compared(20_000, values) * 5 / 2, "{values}");
        }
    }
}

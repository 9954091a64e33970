//! Go's sorts, step by step (`sort.Sort` and `sort.SliceStable` since Go 1.19). The steps determine the order of equal items, and
//! the result if the comparison is no order.

/// The order of items after `sort.Sort`, as indexes; `less` compares the items at two indexes.
pub fn sort(length: usize, less: &dyn Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut data = Data { order: (0..length).collect(), less };
    data.sort(0, length, usize::BITS - length.leading_zeros());
    data.order
}

/// The order of items after `sort.SliceStable`, as indexes; `less` compares the items at two indexes.
pub fn sort_stable(length: usize, less: &dyn Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut data = Data { order: (0..length).collect(), less };
    data.stable(length);
    data.order
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

/// The finding of `choosePivot` about the order of the items.
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
        let mut candidates = [a + length / 4, a + length / 4 * 2, a + length / 4 * 3];
        let [_, mut pivot, _] = candidates;
        let mut swaps = 0;
        if length >= 8 {
            if length >= SHORTEST_NINTHER {
                candidates = candidates.map(|at| self.median([at - 1, at, at + 1], &mut swaps));
            }
            pivot = self.median(candidates, &mut swaps);
        }
        let hint = match swaps {
            0 => Hint::Increasing,
            MAX_SWAPS => Hint::Decreasing,
            _ => Hint::Unknown,
        };
        (pivot, hint)
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
        let sum = middle + m;
        let (start, end) = if m > middle { (sum - b, middle) } else { (a, m) };
        let start = partition_point(start, end, |at| !self.less(sum - 1 - at, at));
        let end = sum - start;
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

    /// Returns numbers from the generator that was used for the recording.
    fn numbers(count: usize, kinds: u64) -> Vec<u64> {
        let mut x = 88_172_645_463_325_252_u64;
        let mut next = || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x % kinds
        };
        (0..count).map(|_| next()).collect()
    }

    fn order(values: &[u64]) -> Vec<usize> {
        sort(values.len(), &|a, b| values[a] < values[b])
    }

    /// Returns a checksum of an order.
    fn digest(order: &[usize]) -> u64 {
        order.iter().fold(7, |sum: u64, i| sum.wrapping_mul(31).wrapping_add(*i as u64))
    }

    #[test]
    fn elements_are_sorted() {
        for count in [0, 1, 2, 12, 13, 40, 50, 51, 200, 1000] {
            for kinds in [1, 2, 10, 1_000_000] {
                let values = numbers(count, kinds);
                let mut sorted: Vec<u64> = order(&values).into_iter().map(|i| values[i]).collect();
                assert!(sorted.is_sorted(), "{count} {kinds}");
                sorted.dedup();
                let descending: Vec<u64> = (0..count as u64).rev().collect();
                assert!(order(&descending).into_iter().rev().eq(0..count));
            }
        }
    }

    #[test]
    fn comparisons_grow_little_faster_than_the_list() {
        let compared = |length: usize, values: usize| {
            let count = Cell::new(0);
            let rank = |at: usize| (at * at * 7 + at * 13) % values;
            let less = |one: usize, other: usize| {
                count.set(count.get() + 1);
                rank(one) <= rank(other)
            };
            let _ = (sort(length, &less), sort_stable(length, &less));
            count.get()
        };
        for values in [1, 2, 7919] {
            assert!(compared(20_000, values) < 20_000 * 60, "{values}: {}", compared(20_000, values));
            assert!(compared(40_000, values) < compared(20_000, values) * 5 / 2, "{values}");
        }
    }

    #[test]
    fn equal_elements_have_the_order_of_go() {
        // Recorded from Go 1.26's `sort.Sort`.
        for (count, kinds, want) in RECORDED {
            assert_eq!(digest(&order(&numbers(*count, *kinds))), *want, "{count} {kinds}");
        }
    }

    const RECORDED: &[(usize, u64, u64)] = &[
        (12, 1, 5_514_514_667_390_724_493),
        (12, 2, 5_515_391_628_327_701_863),
        (12, 5, 5_546_535_713_995_103_113),
        (12, 40, 5_675_320_535_400_727_903),
        (13, 1, 4_929_258_025_726_494_751),
        (13, 2, 5_183_475_019_421_838_931),
        (13, 5, 12_026_498_758_628_300_011),
        (13, 40, 9_914_239_934_036_600_461),
        (30, 1, 10_426_965_930_327_678_422),
        (30, 2, 17_421_880_648_516_549_036),
        (30, 5, 6_336_221_764_710_940_732),
        (30, 40, 16_393_570_874_655_764_726),
        (49, 1, 14_164_149_194_303_028_721),
        (49, 2, 15_623_592_901_828_250_551),
        (49, 5, 11_232_264_169_530_588_527),
        (49, 40, 2_917_631_579_730_849_417),
        (50, 1, 14_813_511_328_074_203_232),
        (50, 2, 731_542_852_575_950_158),
        (50, 5, 4_180_902_577_469_870_576),
        (50, 40, 13_575_142_381_863_463_294),
        (64, 1, 6_339_656_926_013_687_847),
        (64, 2, 1_652_330_144_753_458_005),
        (64, 5, 14_822_063_436_213_701_985),
        (64, 40, 10_173_554_718_238_491_289),
        (200, 1, 5_521_692_140_786_497_899),
        (200, 2, 9_637_143_676_504_303_845),
        (200, 5, 15_902_720_644_178_542_377),
        (200, 40, 17_272_018_989_916_812_305),
        (1000, 1, 2_719_276_348_233_916_155),
        (1000, 2, 7_382_914_427_475_848_765),
        (1000, 5, 15_226_726_661_799_766_371),
        (1000, 40, 10_955_384_780_998_467_151),
        (5000, 1, 17_350_973_685_501_106_891),
        (5000, 2, 13_141_177_925_395_063_677),
        (5000, 5, 17_760_625_405_129_082_457),
        (5000, 40, 776_103_442_846_865_463),
    ];
}

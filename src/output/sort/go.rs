//! Go's `sort.Sort`, a pattern-defeating quicksort. The steps are the same, because they determine the order of equal
//! elements.

/// The maximum number of elements that insertion sort sorts.
const INSERTION: usize = 12;
/// The minimum number of elements for which nine of them determine the pivot, and a nearly sorted range is repaired.
const LARGE: usize = 50;
/// The number of swaps for the pivot if the elements are in descending order.
const DESCENDING: usize = 12;
/// The maximum number of misplaced pairs that are repaired in a nearly sorted range.
const MAX_SWAPS: usize = 5;

/// Sorts `order` by `less`, which compares two of its elements.
pub fn sort(order: &mut [usize], less: &mut dyn FnMut(usize, usize) -> bool) {
    let limit = usize::BITS - order.len().leading_zeros();
    let end = order.len();
    Sort { order, less }.part(0, end, limit);
}

struct Sort<'s> {
    order: &'s mut [usize],
    less: &'s mut dyn FnMut(usize, usize) -> bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    Ascending,
    Descending,
    None,
}

impl Sort<'_> {
    fn less(&mut self, a: usize, b: usize) -> bool {
        match (self.order.get(a), self.order.get(b)) {
            (Some(a), Some(b)) => (self.less)(*a, *b),
            _ => false,
        }
    }

    /// Swaps two elements if both indices are valid.
    fn swap(&mut self, a: usize, b: usize) {
        if a.max(b) < self.order.len() {
            self.order.swap(a, b);
        }
    }

    /// Sorts the elements from `a` up to `b`. After `limit` bad pivots, heapsort is used; only the smaller part is
    /// sorted recursively.
    fn part(&mut self, mut a: usize, mut b: usize, mut limit: u32) {
        let (mut balanced, mut partitioned) = (true, true);
        loop {
            let length = b - a;
            if length <= INSERTION {
                return self.insertion(a, b);
            }
            if limit == 0 {
                return self.heap(a, b);
            }
            if !balanced {
                self.break_patterns(a, b);
                limit -= 1;
            }
            let (mut pivot, mut hint) = self.pivot(a, b);
            if hint == Hint::Descending {
                if let Some(run) = self.order.get_mut(a..b) {
                    run.reverse();
                }
                pivot = (b - 1) - (pivot - a);
                hint = Hint::Ascending;
            }
            if balanced && partitioned && hint == Hint::Ascending && self.partial_insertion_sort(a, b) {
                return;
            }
            if a > 0 && !self.less(a - 1, pivot) {
                a = self.past_equal(a, b, pivot);
                continue;
            }
            let (middle, was) = self.partition(a, b, pivot);
            partitioned = was;
            let (left, right) = (middle - a, b - middle);
            balanced = left.min(right) >= length / 8;
            if left < right {
                self.part(a, middle, limit);
                a = middle + 1;
            } else {
                self.part(middle + 1, b, limit);
                b = middle;
            }
        }
    }

    fn insertion(&mut self, a: usize, b: usize) {
        for i in a + 1..b {
            let mut j = i;
            while j > a && self.less(j, j - 1) {
                self.swap(j, j - 1);
                j -= 1;
            }
        }
    }

    fn heap(&mut self, a: usize, b: usize) {
        let length = b - a;
        for root in (0..=(length - 1) / 2).rev() {
            self.sift(root, length, a);
        }
        for end in (0..length).rev() {
            self.swap(a, a + end);
            self.sift(0, end, a);
        }
    }

    fn sift(&mut self, mut root: usize, end: usize, first: usize) {
        loop {
            let mut child = 2 * root + 1;
            if child >= end {
                return;
            }
            if child + 1 < end && self.less(first + child, first + child + 1) {
                child += 1;
            }
            if !self.less(first + root, first + child) {
                return;
            }
            self.swap(first + root, first + child);
            root = child;
        }
    }

    /// Moves the elements less than the pivot before it and the others after it. Returns the index of the pivot, and
    /// true if no element was moved.
    fn partition(&mut self, a: usize, b: usize, pivot: usize) -> (usize, bool) {
        self.swap(a, pivot);
        let (mut i, mut j) = (a + 1, b - 1);
        let mut moved = false;
        loop {
            while i <= j && self.less(i, a) {
                i += 1;
            }
            while i <= j && !self.less(j, a) {
                j -= 1;
            }
            if i > j {
                break;
            }
            self.swap(i, j);
            moved = true;
            i += 1;
            j -= 1;
        }
        self.swap(j, a);
        (j, !moved)
    }

    /// Moves the elements equal to the pivot to the front and returns the index after them.
    fn past_equal(&mut self, a: usize, b: usize, pivot: usize) -> usize {
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

    /// Repairs a nearly sorted range. Returns true if the range is sorted then.
    fn partial_insertion_sort(&mut self, a: usize, b: usize) -> bool {
        let mut i = a + 1;
        for _ in 0..MAX_SWAPS {
            while i < b && !self.less(i, i - 1) {
                i += 1;
            }
            if i == b {
                return true;
            }
            if b - a < LARGE {
                return false;
            }
            self.swap(i, i - 1);
            if i - a >= 2 {
                let mut j = i - 1;
                while j >= 1 && self.less(j, j - 1) {
                    self.swap(j, j - 1);
                    j -= 1;
                }
            }
            if b - i >= 2 {
                let mut j = i + 1;
                while j < b && self.less(j, j - 1) {
                    self.swap(j, j - 1);
                    j += 1;
                }
            }
        }
        false
    }

    /// Swaps some elements, chosen by a generator that is seeded with the length.
    fn break_patterns(&mut self, a: usize, b: usize) {
        let length = b - a;
        let mut random = length as u64;
        // The next power of two.
        let modulus = 1_usize << (usize::BITS - length.leading_zeros());
        let middle = a + length / 4 * 2;
        for i in middle - 1..=middle + 1 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let mut other = random as usize & (modulus - 1);
            if other >= length {
                other -= length;
            }
            self.swap(i, a + other);
        }
    }

    fn pivot(&mut self, a: usize, b: usize) -> (usize, Hint) {
        let quarter = (b - a) / 4;
        let mut candidates = [1, 2, 3].map(|n| a + quarter * n);
        let mut swaps = 0;
        if b - a >= LARGE {
            candidates = candidates.map(|index| self.median([index - 1, index, index + 1], &mut swaps));
        }
        let median = self.median(candidates, &mut swaps);
        let hint = match swaps {
            0 => Hint::Ascending,
            DESCENDING => Hint::Descending,
            _ => Hint::None,
        };
        (median, hint)
    }

    fn median(&mut self, [a, b, c]: [usize; 3], swaps: &mut usize) -> usize {
        let mut ordered = |a: usize, b: usize| {
            let swap = self.less(b, a);
            *swaps += usize::from(swap);
            if swap { (b, a) } else { (a, b) }
        };
        let (a, b) = ordered(a, b);
        let (b, _) = ordered(b, c);
        ordered(a, b).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut order: Vec<usize> = (0..values.len()).collect();
        sort(&mut order, &mut |a, b| values[a] < values[b]);
        order
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

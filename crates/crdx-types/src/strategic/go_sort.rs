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

    /// Printed by Go 1.26: the number of items and of different items, and the hashes of the orders after `sort.Sort` and
    /// `sort.SliceStable`.
    const RESULTS: [(usize, usize, u64, u64); 66] = [
        (3, 1, 1953, 33),
        (3, 2, 1953, 33),
        (3, 3, 1923, 63),
        (3, 10, 963, 33),
        (3, 100, 33, 33),
        (3, 7919, 33, 33),
        (12, 1, 287_934_506_518_258_746, 875_180_870_876_166),
        (12, 2, 287_934_506_518_258_746, 875_180_870_876_166),
        (12, 3, 287_086_675_049_935_026, 256_545_502_732_831_926),
        (12, 10, 287_852_458_663_105_236, 256_544_649_926_493_276),
        (12, 100, 2_494_024_832_285_556, 256_544_678_154_836_226),
        (12, 7919, 875_180_870_876_166, 256_544_565_440_174_496),
        (13, 1, 8_925_969_536_990_336_838, 27_130_606_997_161_158),
        (13, 2, 8_925_969_536_990_336_838, 27_130_606_997_161_158),
        (13, 3, 7_093_356_655_958_612_238, 7_952_910_584_718_114_438),
        (13, 10, 4_861_224_786_594_219_558, 7_952_884_147_721_291_568),
        (13, 100, 77_314_769_801_085_708, 7_952_885_022_799_925_838),
        (13, 7919, 27_130_606_997_161_158, 7_952_881_528_645_409_388),
        (30, 1, 9_353_697_327_339_602_945, 4_334_487_890_020_705_295),
        (30, 2, 9_353_697_327_339_602_945, 4_334_487_890_020_705_295),
        (30, 3, 1_446_666_163_681_197_333, 4_950_948_861_110_782_925),
        (30, 10, 7_821_469_622_120_446_047, 11_772_811_074_409_752_067),
        (30, 100, 13_739_859_797_796_039_803, 1_413_632_047_736_676_777),
        (30, 7919, 4_334_487_890_020_705_295, 15_610_697_985_902_988_355),
        (49, 1, 4_879_137_428_394_466_914, 552_634_825_432_740_632),
        (49, 2, 4_879_137_428_394_466_914, 552_634_825_432_740_632),
        (49, 3, 2_518_713_017_712_467_832, 15_627_210_968_902_134_310),
        (49, 10, 16_320_343_140_069_890_808, 13_930_762_670_755_687_368),
        (49, 100, 16_216_818_635_011_576_022, 9_002_359_114_487_789_184),
        (49, 7919, 7_798_200_050_118_914_032, 10_513_398_460_388_623_436),
        (50, 1, 17_246_886_938_395_998_331, 17_131_679_588_414_959_641),
        (50, 2, 17_246_886_938_395_998_331, 17_131_679_588_414_959_641),
        (50, 3, 9_875_909_599_662_685_499, 4_828_194_119_517_821_643),
        (50, 10, 11_338_329_531_643_556_045, 7_578_529_098_106_621_289),
        (50, 100, 2_233_683_230_572_991_333, 7_389_842_197_875_304_395),
        (50, 7919, 13_029_231_762_021_581_783, 17_109_251_466_162_492_723),
        (51, 1, 8_797_819_615_869_510_923, 14_573_233_176_996_303_673),
        (51, 2, 8_797_819_615_869_510_923, 14_573_233_176_996_303_673),
        (51, 3, 4_337_687_994_104_945_399, 8_226_861_011_250_702_287),
        (51, 10, 1_264_238_066_412_827_011, 4_920_280_980_430_830_039),
        (51, 100, 7_732_554_293_923_019_421, 2_286_094_135_029_592_831),
        (51, 7919, 3_277_445_798_136_925_457, 14_664_410_067_442_030_923),
        (100, 1, 12_439_978_235_563_135_470, 6_955_345_978_518_086_706),
        (100, 2, 12_439_978_235_563_135_470, 6_955_345_978_518_086_706),
        (100, 3, 4_589_747_419_656_764_552, 6_962_559_861_102_090_916),
        (100, 10, 5_615_673_053_783_420_348, 18_076_609_063_582_909_618),
        (100, 100, 1_337_131_691_432_013_004, 12_897_638_717_454_996_796),
        (100, 7919, 9_347_453_618_681_047_350, 11_700_494_774_709_134_836),
        (333, 1, 9_358_728_326_419_287_918, 3_174_114_831_684_704_614),
        (333, 2, 9_358_728_326_419_287_918, 3_174_114_831_684_704_614),
        (333, 3, 10_955_173_083_984_967_684, 16_281_843_016_394_739_736),
        (333, 10, 17_627_609_673_458_584_886, 9_858_652_212_714_350_022),
        (333, 100, 8_460_025_864_267_977_708, 5_530_030_602_803_476_416),
        (333, 7919, 7_858_426_427_344_329_878, 10_719_642_969_644_220_510),
        (1000, 1, 10_526_399_949_795_513_778, 10_422_651_670_965_598_708),
        (1000, 2, 10_526_399_949_795_513_778, 10_422_651_670_965_598_708),
        (1000, 3, 1_813_423_392_057_619_266, 12_966_359_493_788_046_230),
        (1000, 10, 13_190_667_792_461_315_936, 7_988_429_546_441_981_310),
        (1000, 100, 8_297_565_040_757_977_872, 3_596_839_991_242_495_038),
        (1000, 7919, 13_501_417_850_074_050_440, 7_556_658_368_531_986_036),
        (5000, 1, 5_086_699_275_215_105_948, 16_783_699_096_046_444_996),
        (5000, 2, 5_086_699_275_215_105_948, 16_783_699_096_046_444_996),
        (5000, 3, 13_729_529_023_468_978_746, 15_538_421_887_754_711_634),
        (5000, 10, 16_990_804_553_906_353_408, 16_499_875_152_532_514_358),
        (5000, 100, 1_781_303_838_539_677_188, 5_105_077_951_136_231_418),
        (5000, 7919, 5_410_518_863_313_441_794, 10_277_769_274_737_000_564),
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

//! Sets of code points, as used while parsing character classes.

use crdx_value::unicode::{self as tables, MAX, Ranges};

/// The number of ranges that are not worth normalizing before a class is complete.
pub(crate) const FEW_RANGES: usize = 4096;

/// Adds `lo..=hi`. If it touches one of the last two ranges, that range is extended, so that case-folded alphabets stay
/// short.
pub(crate) fn add_range(ranges: &mut Ranges, lo: u32, hi: u32) {
    for last in ranges.iter_mut().rev().take(2) {
        if lo <= last.1.saturating_add(1) && last.0 <= hi.saturating_add(1) {
            *last = (last.0.min(lo), last.1.max(hi));
            return;
        }
    }
    ranges.push((lo, hi));
}

/// Adds `lo..=hi` and all its case variants.
pub(crate) fn add_folded_range(ranges: &mut Ranges, lo: u32, hi: u32) {
    add_range(ranges, lo, hi);
    for c in tables::foldable(lo, hi) {
        let mut variant = tables::simple_fold(c);
        while variant != c {
            if variant < lo || variant > hi {
                add_range(ranges, variant, variant);
            }
            variant = tables::simple_fold(variant);
        }
    }
}

/// Adds a normalized class.
pub(crate) fn add_class(ranges: &mut Ranges, class: &[(u32, u32)]) {
    for &(lo, hi) in class {
        add_range(ranges, lo, hi);
    }
}

/// The class with all case variants, normalized.
pub fn folded(class: &[(u32, u32)]) -> Ranges {
    let mut out = Ranges::new();
    for &(lo, hi) in class {
        add_folded_range(&mut out, lo, hi);
    }
    clean(&mut out);
    out
}

/// Normalizes a class: sorts its ranges and merges adjacent ones.
pub fn clean(ranges: &mut Ranges) {
    ranges.sort_unstable();
    ranges.dedup_by(|next, kept| {
        let touches = next.0 <= kept.1.saturating_add(1);
        if touches {
            kept.1 = kept.1.max(next.1);
        }
        touches
    });
}

/// The complement of a normalized class.
pub fn negate(class: &[(u32, u32)]) -> Ranges {
    let mut out = Ranges::with_capacity(class.len() + 1);
    let mut next = 0;
    for &(lo, hi) in class {
        if next < lo {
            out.push((next, lo - 1));
        }
        next = hi + 1;
    }
    if next <= MAX {
        out.push((next, MAX));
    }
    out
}

/// Returns true if a class contains `c`.
pub fn contains(ranges: &[(u32, u32)], c: u32) -> bool {
    ranges.iter().any(|&(lo, hi)| (lo..=hi).contains(&c))
}

const DIGIT: &[(u32, u32)] = &[(0x30, 0x39)];
const SPACE: &[(u32, u32)] = &[(0x9, 0xA), (0xC, 0xD), (0x20, 0x20)];
const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];

/// A class with a name, or its complement.
pub(crate) struct AsciiClass {
    pub ranges: &'static [(u32, u32)],
    pub negated: bool,
}

/// `\d`, `\s`, `\w` and their complements, which match ASCII only.
pub(crate) fn perl(letter: char) -> Option<AsciiClass> {
    let class = match letter.to_ascii_lowercase() {
        'd' => DIGIT,
        's' => SPACE,
        'w' => WORD,
        _ => return None,
    };
    Some(AsciiClass { ranges: class, negated: letter.is_ascii_uppercase() })
}

/// POSIX classes such as `[:alpha:]` and `[:^alpha:]`.
pub(crate) fn posix(name: &str) -> Option<AsciiClass> {
    let name = name.strip_prefix("[:")?.strip_suffix(":]")?;
    let (name, negated) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
    let class: &[(u32, u32)] = match name {
        "alnum" => &[(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)],
        "alpha" => &[(0x41, 0x5A), (0x61, 0x7A)],
        "ascii" => &[(0, 0x7F)],
        "blank" => &[(0x9, 0x9), (0x20, 0x20)],
        "cntrl" => &[(0, 0x1F), (0x7F, 0x7F)],
        "digit" => DIGIT,
        "graph" => &[(0x21, 0x7E)],
        "lower" => &[(0x61, 0x7A)],
        "print" => &[(0x20, 0x7E)],
        "punct" => &[(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
        "space" => &[(0x9, 0xD), (0x20, 0x20)],
        "upper" => &[(0x41, 0x5A)],
        "word" => WORD,
        "xdigit" => &[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
        _ => return None,
    };
    Some(AsciiClass { ranges: class, negated })
}

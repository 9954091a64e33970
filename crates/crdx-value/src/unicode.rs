//! Go's Unicode tables: categories, scripts and simple case folding.
//!
//! The tables of Rust and of the regular expression engine are from other Unicode versions, so that letters and
//! `\p{Lu}` differ. `unicode.txt` is generated from Go's package `unicode` by `tests/apiserver/facts/unicode_tables.go`
//! and parsed on first use.

use crdx_embedded::embedded;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Inclusive ranges of code points.
pub type Ranges = Vec<(u32, u32)>;

/// The largest code point.
pub const MAX: u32 = 0x0010_FFFF;

#[derive(Default)]
struct Index {
    tables: HashMap<&'static str, &'static str>,
    folds: HashMap<&'static str, &'static str>,
    aliases: HashMap<String, &'static str>,
    orbits: &'static str,
}

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index = Index::default();
        let text: &'static str = embedded!("unicode.txt").text().leak();
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            let (name, data) = rest.split_once(' ').unwrap_or((rest, ""));
            match kind {
                "table" => _ = index.tables.insert(name, data),
                "fold" => _ = index.folds.insert(name, data),
                "alias" => _ = index.aliases.insert(canonical(name), data),
                "orbits" => index.orbits = rest,
                _ => {}
            }
        }
        index
    })
}

fn hex(text: &str) -> u32 {
    u32::from_str_radix(text, 16).unwrap_or(0)
}

fn ranges(data: &str) -> Ranges {
    let mut last = 0;
    data.split(' ')
        .map(|entry| {
            let (skip, length) = entry.split_once('-').unwrap_or((entry, "0"));
            let lo = last + hex(skip);
            last = lo + hex(length);
            (lo, last)
        })
        .collect()
}

/// A class that `\p{…}` can name.
pub struct Named {
    /// The code points of the class.
    pub ranges: Ranges,
    /// The characters added by case folding; `None` if there are none.
    pub fold: Option<Ranges>,
    /// True if the class is the complement of `ranges`.
    pub negated: bool,
}

/// Normalizes a class name: case, spaces, underscores and dashes are ignored.
pub fn canonical(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')) {
        out.push(if out.is_empty() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() });
    }
    out
}

/// The class `\p{name}`: a category, a script, the long name of a category, or one of three special names.
pub fn named(name: &str) -> Option<Named> {
    let name = canonical(name);
    let plain = |ranges: Ranges, fold: Option<Ranges>| Some(Named { ranges, fold, negated: false });
    let index = index();
    let stored = |name: &str| {
        let data = index.tables.get(name)?;
        plain(ranges(data), index.folds.get(name).map(|data| ranges(data)))
    };
    match name.as_str() {
        "Any" => plain(vec![(0, MAX)], Some(vec![(0, MAX)])),
        "Assigned" => stored("Cn").map(|n| Named { fold: Some(n.ranges.clone()), negated: true, ..n }),
        "Ascii" => plain(vec![(0, 0x7F)], Some(vec![(0, 0x7F), (0x17F, 0x17F), (0x212A, 0x212A)])),
        "Lc" => stored("LC"),
        // `LC` is not in normalized form, so the lookup above does not find it, nor scripts with an underscore.
        _ => stored(&name).or_else(|| stored(index.aliases.get(&name)?)),
    }
}

/// Every code point with a case variant, and the next code point of its folding orbit, sorted.
fn folds() -> &'static [(u32, u32)] {
    static FOLDS: OnceLock<Vec<(u32, u32)>> = OnceLock::new();
    FOLDS.get_or_init(|| {
        let mut out = Vec::with_capacity(3000);
        let mut last = 0;
        for entry in index().orbits.split(' ') {
            let mut parts = entry.split(':');
            let head = parts.next().unwrap_or("");
            let (skip, run) = head.split_once('*').unwrap_or((head, "1+1"));
            let (count, stride) = run.split_once('+').unwrap_or((run, "1"));
            let distances: Vec<u32> = parts.map(hex).collect();
            let mut at = last + hex(skip);
            last = at;
            for _ in 0..hex(count) {
                let mut from = at;
                for distance in &distances {
                    out.push((from, at + distance));
                    from = at + distance;
                }
                out.push((from, at));
                at += hex(stride);
            }
        }
        out.sort_unstable();
        out
    })
}

/// `unicode.SimpleFold`: the next code point of the folding orbit, or `c` itself if it has no case variant.
pub fn simple_fold(c: u32) -> u32 {
    let folds = folds();
    folds.binary_search_by_key(&c, |f| f.0).ok().and_then(|i| folds.get(i)).map_or(c, |f| f.1)
}

/// The code points from `lo` to `hi`, inclusive, that have case variants.
pub fn foldable(lo: u32, hi: u32) -> impl Iterator<Item = u32> {
    let folds = folds();
    let start = folds.partition_point(|f| f.0 < lo);
    folds.iter().skip(start).map(|f| f.0).take_while(move |c| *c <= hi)
}

/// The smallest code point of the folding orbit of `c`.
pub fn min_fold(c: u32) -> u32 {
    let mut min = c;
    let mut at = simple_fold(c);
    while at != c {
        min = min.min(at);
        at = simple_fold(at);
    }
    min
}

/// Returns true if one of the categories contains `c`.
fn in_categories(ranges: &'static OnceLock<Ranges>, names: &[&str], c: char) -> bool {
    let ranges = ranges.get_or_init(|| {
        let mut ranges: Ranges = names.iter().filter_map(|name| named(name)).flat_map(|n| n.ranges).collect();
        ranges.sort_unstable();
        ranges
    });
    let i = ranges.partition_point(|r| r.1 < c as u32);
    ranges.get(i).is_some_and(|r| r.0 <= c as u32)
}

/// `unicode.IsLetter`
pub fn is_letter(c: char) -> bool {
    static LETTERS: OnceLock<Ranges> = OnceLock::new();
    if c.is_ascii() { c.is_ascii_alphabetic() } else { in_categories(&LETTERS, &["L"], c) }
}

/// `unicode.IsDigit`: decimal digits of any script.
pub fn is_digit(c: char) -> bool {
    static DIGITS: OnceLock<Ranges> = OnceLock::new();
    if c.is_ascii() { c.is_ascii_digit() } else { in_categories(&DIGITS, &["Nd"], c) }
}

/// `unicode.IsNumber`: digits, numerals and other numbers.
pub fn is_number(c: char) -> bool {
    static NUMBERS: OnceLock<Ranges> = OnceLock::new();
    if c.is_ascii() { c.is_ascii_digit() } else { in_categories(&NUMBERS, &["N"], c) }
}

/// `unicode.IsSymbol`
pub fn is_symbol(c: char) -> bool {
    static SYMBOLS: OnceLock<Ranges> = OnceLock::new();
    in_categories(&SYMBOLS, &["S"], c)
}

/// `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols and the ASCII space.
pub fn is_print(c: char) -> bool {
    static PRINTABLE: OnceLock<Ranges> = OnceLock::new();
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    in_categories(&PRINTABLE, &["L", "M", "N", "P", "S"], c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_folding_equals_go() {
        let orbit = |c: char| {
            let mut out = vec![c as u32];
            let mut at = simple_fold(c as u32);
            while at != c as u32 {
                out.push(at);
                at = simple_fold(at);
            }
            out
        };
        assert_eq!(orbit('K'), [0x4B, 0x6B, 0x212A]);
        assert_eq!(orbit('s'), [0x73, 0x17F, 0x53]);
        assert_eq!(orbit('1'), [0x31]);
        assert_eq!(min_fold(0x3B8), 0x398);
        assert_eq!(folds().len(), 2878);
        let printable = (char::MIN..=char::MAX).filter(|c| is_print(*c)).count();
        assert_eq!(printable, 148_998);
    }

    #[test]
    fn class_names_are_normalized_except_scripts_with_underscore() {
        assert_eq!(named("nd").unwrap().ranges.first(), Some(&(0x30, 0x39)));
        assert!(named("uppercase letter").is_some());
        assert!(named("LC").is_some());
        assert!(named("Old_Italic").is_none());
        assert!(named("").is_none());
    }
}

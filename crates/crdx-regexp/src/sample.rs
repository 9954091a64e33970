//! Texts that match a pattern.

use super::Regexp;
use super::parse;
use super::tree::{Op, RegexpNode};

/// The characters that are preferred where a class allows several.
const PREFERRED: &str = "aA1x0-./_: ";
/// The longest text.
const MAX_LENGTH: usize = 4096;
/// The deepest tree.
const MAX_DEPTH: usize = 200;

impl Regexp {
    /// A short text that matches and has at least `least` characters, or `None` if none is found. Of alternatives it takes
    /// number `choice`, modulo their number.
    pub fn sample(&self, least: usize, choice: usize) -> Option<String> {
        let tree = parse::parse(self.source(), None).ok()?;
        let least = least.min(MAX_LENGTH);
        let extra = (0..=16).chain([least.saturating_sub(1), least, least.saturating_mul(2)]);
        extra
            .map(|extra| {
                let mut sampler = Sampler { choice, out: String::new() };
                sampler.write(&tree, extra, MAX_DEPTH);
                sampler.out
            })
            .find(|text| text.chars().count() >= least && self.is_match(text))
    }
}

struct Sampler {
    choice: usize,
    out: String,
}

impl Sampler {
    /// Writes a text that a node matches, with `extra` repetitions beyond those that are required.
    fn write(&mut self, node: &RegexpNode, extra: usize, depth: usize) {
        if depth == 0 || self.out.len() > MAX_LENGTH {
            return;
        }
        match &node.op {
            Op::NoMatch | Op::Empty | Op::Assertion(_) => {}
            Op::Literal { runes, .. } => self.out.extend(runes.iter().filter_map(|rune| char::from_u32(*rune))),
            Op::Class(ranges) => {
                let has = |c: &char| ranges.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(*c)));
                let first = || ranges.iter().flat_map(|(first, last)| *first..=*last).find_map(char::from_u32);
                let letter = || ('a'..='z').find(has);
                self.out.extend(PREFERRED.chars().find(has).or_else(letter).or_else(first));
            }
            Op::AnyNotNewline | Op::Any => self.out.push('a'),
            Op::Capture(sub) => self.write(sub, extra, depth - 1),
            Op::Star(sub, _) => self.repeat(sub, extra, depth),
            Op::Plus(sub, _) => self.repeat(sub, extra + 1, depth),
            Op::Quest(sub, _) => {
                if extra > 0 {
                    self.write(sub, extra, depth - 1);
                }
            }
            Op::Repeat { min, max, sub, .. } => {
                let most = max.map_or(usize::MAX, |max| max as usize);
                self.repeat(sub, (*min as usize).saturating_add(extra).min(most), depth);
            }
            Op::Concat(subs) => subs.iter().for_each(|sub| self.write(sub, extra, depth - 1)),
            Op::Alternate(subs) => {
                if let Some(sub) = subs.get(self.choice % subs.len().max(1)) {
                    self.write(sub, extra, depth - 1);
                }
            }
        }
    }

    fn repeat(&mut self, sub: &RegexpNode, times: usize, depth: usize) {
        for _ in 0..times.min(MAX_LENGTH) {
            // Nested repetitions multiply, and a text that is too long is not used.
            if self.out.len() > MAX_LENGTH {
                return;
            }
            self.write(sub, 0, depth - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_does_not_grow_beyond_the_longest_text() {
        let pattern = Regexp::new("^(([a-z]{1000})+)+$").unwrap();
        let mut sampler = Sampler { choice: 0, out: String::new() };
        let tree = parse::parse(pattern.source(), None).unwrap();
        sampler.write(&tree, MAX_LENGTH, MAX_DEPTH);
        assert!((MAX_LENGTH..MAX_LENGTH + 10).contains(&sampler.out.len()), "{}", sampler.out.len());
        assert_eq!(pattern.sample(2000, 0).map(|text| text.len()), Some(2000));
    }

    #[test]
    fn samples_match_and_are_long_enough() {
        for (pattern, least, want) in [
            ("^[a-z]+$", 0, "a"),
            ("^[a-z]([-a-z0-9]*[a-z0-9])?$", 4, "aaa"),
            (r"^(\d+)(ms|s|m)$", 0, "1ms"),
            ("^arn:[a-z]{3,5}:", 0, "arn:aaa:"),
            ("b", 3, ""),
        ] {
            let pattern = Regexp::new(pattern).unwrap();
            match pattern.sample(least, 0) {
                Some(text) => {
                    assert!(pattern.is_match(&text) && text.len() >= least && text.starts_with(want), "{text}");
                }
                None => assert_eq!(want, "", "{}", pattern.source()),
            }
        }
    }
}

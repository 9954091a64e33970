//! Texts that match patterns. The largest values of a schema have thousands of them, and are made again in each size.

use crdx_regexp::Regexp;
use std::cell::RefCell;
use std::collections::HashMap;

/// The number of different texts of one length.
const VARIANTS: usize = 16;
/// The longest text that is kept, in characters.
const MAX_KEPT: usize = 1024;

/// The texts of the patterns of a CRD.
#[derive(Debug, Default)]
pub struct Samples(RefCell<HashMap<String, PatternSamples>>);

/// The texts of a pattern, by their maximum length and their number.
#[derive(Debug, Default)]
struct PatternSamples {
    /// `None` if it is no regular expression.
    pattern: Option<Regexp>,
    texts: HashMap<(usize, usize), Option<String>>,
}

impl Samples {
    /// Returns a text of at most `length` characters that matches `pattern`; other numbers choose other alternatives of it.
    pub fn text(&self, pattern: &str, length: usize, number: usize) -> Option<String> {
        let number = number % VARIANTS;
        let mut all = self.0.borrow_mut();
        let new = || PatternSamples { pattern: Regexp::new(pattern).ok(), texts: HashMap::new() };
        let PatternSamples { pattern, texts } = all.entry(pattern.to_owned()).or_insert_with(new);
        let pattern = pattern.as_ref()?;
        let sample = || pattern.sample(length, number).filter(|text| text.chars().count() <= length);
        if length > MAX_KEPT {
            return sample();
        }
        texts.entry((length, number)).or_insert_with(sample).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_match_and_differ() {
        let samples = Samples::default();
        let texts: Vec<_> = (0..4).filter_map(|number| samples.text("^(cat|dog)s*$", 5, number)).collect();
        assert_eq!(texts.len(), 4);
        assert!(texts.iter().all(|text| text.len() <= 5 && (text.starts_with("cat") || text.starts_with("dog"))));
        assert!(texts.iter().any(|text| *text != texts[0]), "{texts:?}");
        assert_eq!(samples.text("^(cat|dog)s*$", 5, 0).as_ref(), texts.first());
    }

    #[test]
    fn a_pattern_without_a_short_text_has_none() {
        let samples = Samples::default();
        assert_eq!(samples.text("^aaaa$", 3, 0), None);
        assert_eq!(samples.text("(", 3, 0), None);
    }
}

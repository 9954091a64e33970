//! Texts that match patterns. The largest values of a schema have thousands of them, and are made again in each size.

use crate::examples::strings;
use crdx_regexp::Regexp;
use crdx_server::schema::Schema;
use std::cell::RefCell;
use std::collections::HashMap;

/// The number of different texts of one length.
const VARIANTS: usize = 16;
/// The longest text that is kept, in characters.
const MAX_KEPT: usize = 1024;

/// The texts of the patterns of a CRD.
#[derive(Debug, Default)]
pub struct Samples(RefCell<HashMap<PatternKey, PatternSamples>>);

/// A pattern, and the least and the most characters of its texts.
type PatternKey = (String, Option<i64>, Option<i64>);

/// The texts of a pattern, by their maximum length and their number.
#[derive(Debug, Default)]
struct PatternSamples {
    /// `None` if it is no regular expression.
    pattern: Option<Regexp>,
    long: HashMap<(usize, usize), Option<String>>,
    short: HashMap<usize, String>,
}

impl Samples {
    /// Returns a text of at most `length` characters that matches the pattern of a schema, or a short one if none is found. Other
    /// numbers choose other alternatives of the pattern.
    pub fn text(&self, schema: &Schema, length: usize, number: usize) -> String {
        let number = number % VARIANTS;
        let long = self.of(schema, |known| {
            let PatternSamples { pattern, long, .. } = known;
            let pattern = pattern.as_ref()?;
            let sample = || pattern.sample(length, number).filter(|text| text.chars().count() <= length);
            if length > MAX_KEPT { sample() } else { long.entry((length, number)).or_insert_with(sample).clone() }
        });
        long.unwrap_or_else(|| self.short(schema, number))
    }

    /// Returns a short text that the schema accepts.
    pub fn short(&self, schema: &Schema, number: usize) -> String {
        let number = number % VARIANTS;
        self.of(schema, |known| known.short.entry(number).or_insert_with(|| strings::text(schema, number)).clone())
    }

    fn of<T>(&self, schema: &Schema, read: impl FnOnce(&mut PatternSamples) -> T) -> T {
        let mut all = self.0.borrow_mut();
        let key = (schema.pattern.clone(), schema.min_length, schema.max_length);
        read(all.entry(key).or_insert_with(|| PatternSamples {
            pattern: Regexp::new(&schema.pattern).ok(),
            ..PatternSamples::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_pattern(pattern: &str) -> Schema {
        Schema { pattern: pattern.to_owned(), ..Schema::default() }
    }

    #[test]
    fn texts_match_and_differ() {
        let (samples, schema) = (Samples::default(), with_pattern("^(cat|dog)s*$"));
        let texts: Vec<_> = (0..4).map(|number| samples.text(&schema, 5, number)).collect();
        assert!(texts.iter().all(|text| text.len() <= 5 && (text.starts_with("cat") || text.starts_with("dog"))));
        assert!(texts.iter().any(|text| *text != texts[0]), "{texts:?}");
        assert_eq!(Some(&samples.text(&schema, 5, 0)), texts.first());
    }

    #[test]
    fn a_pattern_without_a_text_of_the_length_has_a_short_one() {
        let samples = Samples::default();
        assert_eq!(samples.text(&with_pattern("^aaaa$"), 3, 0), "aaaa");
        assert_eq!(samples.text(&with_pattern("("), 3, 0), "example");
        assert_eq!(samples.short(&with_pattern("^[0-9]+(m|Gi)$"), 0), "1Gi");
    }
}

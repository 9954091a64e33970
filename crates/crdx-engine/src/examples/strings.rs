//! Texts that satisfy formats, patterns and lengths, and texts that rules often accept.

use crdx_regexp::Regexp;
use crdx_server::schema::{Schema, format};
use crdx_value::steps::Steps;
use std::collections::HashMap;

/// A valid text for each format.
const FORMATS: &[(&str, &str)] = &[
    ("bsonobjectid", "507f1f77bcf86cd799439011"),
    ("uri", "https://example.com"),
    ("email", "someone@example.com"),
    ("hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("cidr", "192.0.2.0/24"),
    ("mac", "01:23:45:67:89:ab"),
    ("uuid", "123e4567-e89b-42d3-a456-426614174000"),
    ("uuid3", "123e4567-e89b-32d3-a456-426614174000"),
    ("uuid4", "123e4567-e89b-42d3-a456-426614174000"),
    ("uuid5", "123e4567-e89b-52d3-a456-426614174000"),
    ("isbn", "0321751043"),
    ("isbn10", "0321751043"),
    ("isbn13", "9780321751041"),
    ("creditcard", "4111111111111111"),
    ("ssn", "111-11-1111"),
    ("hexcolor", "#ffffff"),
    ("rgbcolor", "rgb(1,2,3)"),
    ("byte", "ZXhhbXBsZQ=="),
    ("date", "2024-01-01"),
    ("duration", "1h"),
    ("datetime", "2024-01-01T00:00:00Z"),
];

/// Texts that rules and patterns often accept.
pub(crate) const COMMON: &[&str] = &[
    "example",
    "1",
    "1h",
    "1Gi",
    "example.com",
    "https://example.com",
    "192.0.2.0/24",
    "192.0.2.1",
    "example.com/example",
    "/example",
    "2024-01-01T00:00:00Z",
    "v1",
    "10%",
    "ZXhhbXBsZQ==",
    "example.com/example@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "1.2.3",
    "24h",
];

/// The maximum length of a generated text: an object with it is too large.
const LONGEST: usize = 4 << 20;

/// Returns the texts with the next and the previous number at the beginning, such as `2h` and `0h` for `1h`: rules compare
/// durations, quantities and versions with constants.
pub fn neighbours(text: &str) -> impl Iterator<Item = String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits).unwrap_or_default();
    let number = number.parse::<u64>().ok();
    let near = number.into_iter().flat_map(|number| [number.checked_add(1), number.checked_sub(1)]);
    near.flatten().map(move |number| format!("{number}{rest}"))
}

/// Returns `text`, with a number appended from the second one on.
pub fn numbered(text: &str, number: usize) -> String {
    if number == 0 { text.to_owned() } else { format!("{text}{}", number + 1) }
}

/// Returns the `number`th text (from 0) that a string schema accepts, or the nearest one found.
pub fn text(schema: &Schema, number: usize) -> String {
    Samples::default().text(schema, number)
}

/// The characters and pattern sizes of the texts that are tried for one object.
const TRIED: u64 = 40_000_000;

/// Generates texts for many schemas, and limits the work for patterns.
pub struct Samples {
    left: Steps,
    patterns: HashMap<String, Option<Regexp>>,
}

impl Default for Samples {
    fn default() -> Self {
        Self::new(TRIED)
    }
}

impl Samples {
    fn new(tried: u64) -> Self {
        Self { left: Steps::new(tried), patterns: HashMap::new() }
    }

    /// Texts for one of the many changes that are tried on an object.
    pub(crate) fn of_change() -> Self {
        Self::new(TRIED / 100)
    }

    fn pattern(&mut self, source: &str) -> Option<Regexp> {
        if source.is_empty() {
            return None;
        }
        if let Some(known) = self.patterns.get(source) {
            return known.clone();
        }
        let pattern = Regexp::new(source).ok();
        // Compiling takes time for each state.
        let size = pattern.as_ref().map_or(0, Regexp::size);
        let pattern = pattern.filter(|_| self.left.take(size.saturating_mul(100)).is_ok());
        self.patterns.insert(source.to_owned(), pattern.clone());
        pattern
    }

    /// True if no more texts are tried.
    pub fn are_spent(&self) -> bool {
        self.left.are_spent()
    }

    /// As [`text`].
    pub fn text(&mut self, schema: &Schema, number: usize) -> String {
        let pattern = self.pattern(&schema.pattern);
        let work = pattern.as_ref().map_or(0, |pattern| pattern.size() + pattern.source().len() as u64);
        let length = u64::try_from(schema.min_length.unwrap_or(0)).unwrap_or(0).min(LONGEST as u64);
        // Matching a character may need a new state of the automaton.
        let may_match = |length: u64| self.left.take(length.saturating_mul(20)).is_ok();
        // A sample is the best of about twenty texts that are written and matched.
        let may_sample = || may_match(work + 100 + length.saturating_mul(20));
        text_of(schema, number, pattern.as_ref(), (&may_match, &may_sample))
    }
}

/// Returns a text for a schema with this pattern. Of the limits, the first is false if no more texts of a length are matched
/// with the pattern, and the second if no more texts of the pattern are tried.
fn text_of(
    schema: &Schema,
    number: usize,
    pattern: Option<&Regexp>,
    (may_match, may_sample): (&dyn Fn(u64) -> bool, &dyn Fn() -> bool),
) -> String {
    let least = usize::try_from(schema.min_length.unwrap_or(0)).unwrap_or(0).min(LONGEST);
    let most = usize::try_from(schema.max_length.unwrap_or(i64::MAX)).unwrap_or(0);
    let fits = |text: &String| {
        let length = text.chars().count();
        (least..=most).contains(&length)
            && pattern.is_none_or(|pattern| may_match(length as u64) && pattern.is_match(text))
            && format::check(&schema.format, text)
    };
    let letters: String = schema.format.chars().filter(|c| *c != '-').collect();
    let of_format = FORMATS.iter().filter(|(name, _)| *name == letters).map(|(_, text)| (*text).to_owned());
    let common = COMMON.iter().flat_map(|text| [numbered(text, number), numbered_before(text, number)]);
    let example = numbered("example", number);
    let padded = format!("{example}{}", "x".repeat(least.saturating_sub(example.len())));
    let digit = char::from_digit(u32::try_from(number % 10).unwrap_or(0), 10).unwrap_or('0');
    let short = [format!("a{digit}"), String::from(digit)];
    let candidates = std::iter::once(example).chain(of_format).chain(common).chain([padded]).chain(short);
    if let Some(text) = candidates.into_iter().find(&fits) {
        return text;
    }
    let samples = (0..6).flat_map(|more| (0..4).map(move |choice| (more, choice)));
    let samples = samples.take_while(|_| may_sample());
    let samples = samples.filter_map(|(more, choice)| pattern?.sample(least.max(number) + more, choice));
    let samples: Vec<String> = samples.collect();
    let fitting: Vec<&String> = samples.iter().filter(|text| fits(text)).collect();
    let chosen = fitting.get(number % fitting.len().max(1)).copied().or(samples.first());
    chosen.cloned().unwrap_or_else(|| "example".chars().take(most).collect())
}

/// As [`numbered`], with the number in front: the suffix may be significant.
fn numbered_before(text: &str, number: usize) -> String {
    if number == 0 { text.to_owned() } else { format!("{}{text}", number + 1) }
}

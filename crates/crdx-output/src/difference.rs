//! Formats a unified diff of an object's YAML before and after a write. Lines set by defaulting are marked, and those that policies
//! set or remove. Lines that were sent but would not be stored begin with `!` and are not counted.

use super::{Paint, printable};
use crdx_text::Syntax;
use crdx_text::spans::Spans;
use crdx_text::yaml::write::to_string;
use crdx_value::{Map, Value};
use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{ChangeTag, DiffOp, group_diff_ops};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Context lines around a change.
const CONTEXT: usize = 3;

/// An object before and after a write.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// The name of the object, used as the file name.
    pub name: &'a str,
    /// The existing object; `None` if there is none.
    pub before: Option<&'a Value>,
    /// The object after the write.
    pub after: &'a Value,
    /// The object in the request.
    pub sent: &'a Value,
    /// Paths that are in the request and would not be stored.
    pub pruned: &'a [&'a str],
    /// Paths that were set by defaulting.
    pub defaulted: &'a [&'a str],
    /// Paths set by admission policies, with the name of the policy.
    pub mutated: &'a [(&'a str, &'a str)],
    /// Paths removed by admission policies, with the value and the name of the policy.
    pub removed: &'a [(&'a str, &'a Value, &'a str)],
}

/// Formats an object as YAML; empty for `None`.
pub fn text(object: Option<&Value>) -> String {
    object.map_or_else(String::new, to_string)
}

/// Returns the diff; `None` if the objects are equal.
pub fn unified(sides: &Sides<'_>, color: bool) -> Option<String> {
    if sides.before == Some(sides.after) {
        return None;
    }
    let removed = not_stored(sides).map(|(_, path)| path);
    let wanted: BTreeSet<&str> = sides.pruned.iter().copied().chain(removed).collect();
    let with_pruned = (!wanted.is_empty()).then(|| {
        let mut whole = sides.after.clone();
        put_back(&mut whole, sides.sent, &wanted, &mut String::new());
        whole
    });
    let (old, new) = (text(sides.before), to_string(with_pruned.as_ref().unwrap_or(sides.after)));
    let (marks, old_marks) = (Marks::new(&new, sides), Marks::of_removed(&old, sides));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut out = String::new();
    let bold = |text: String| Paint::Bold.when(color, &printable::line(&text)) + "\n";
    out.push_str(&bold(format!("--- LIVE/{}", sides.name)));
    out.push_str(&bold(format!("+++ MERGED/{}", sides.name)));
    for group in hunks(&old, &new) {
        out.push_str(&Paint::Cyan.when(color, &header(&group, &marks)));
        out.push('\n');
        for change in group.iter().flat_map(|op| op.iter_changes(&old, &new)) {
            let line = change.value();
            let new_mark = || change.new_index().map_or(Mark::None, |i| marks.at(i));
            let mark = match change.tag() {
                ChangeTag::Insert => new_mark(),
                ChangeTag::Delete => change.old_index().map_or(Mark::None, |i| old_marks.at(i)),
                ChangeTag::Equal => Mark::None,
            };
            let (sign, paint) = match change.tag() {
                ChangeTag::Insert if mark.is_not_stored() => ('!', Paint::Yellow),
                tag => sign(tag),
            };
            out.push_str(&paint.when(color, &format!("{sign}{line}")));
            let remark = match mark {
                Mark::Pruned => "  # pruned".to_owned(),
                Mark::Defaulted => "  # default".to_owned(),
                Mark::Mutated(index) => policy(sides.mutated.get(index).map(|(_, policy)| *policy)),
                Mark::Removed(index) => policy(sides.removed.get(index).map(|(.., policy)| *policy)),
                Mark::None => String::new(),
            };
            if !remark.is_empty() {
                out.push_str(&Paint::Dim.when(color, &remark));
            }
            out.push('\n');
        }
    }
    Some(out)
}

fn policy(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("  # policy {name}"))
}

/// Formats the diff of two values with their names; empty if they are equal.
pub fn lines(old: (&str, &Value), new: (&str, &Value), color: bool) -> String {
    let texts = (to_string(old.1), to_string(new.1));
    let (old_lines, new_lines): (Vec<&str>, Vec<&str>) = (texts.0.lines().collect(), texts.1.lines().collect());
    let mut out = String::new();
    for group in hunks(&old_lines, &new_lines) {
        if out.is_empty() {
            out = format!("--- {}\n+++ {}\n", printable::line(old.0), printable::line(new.0));
        }
        out += &(Paint::Cyan.when(color, &header(&group, &Marks::default())) + "\n");
        for change in group.iter().flat_map(|op| op.iter_changes(&old_lines, &new_lines)) {
            let (sign, paint) = sign(change.tag());
            out += &(paint.when(color, &format!("{sign}{}", change.value())) + "\n");
        }
    }
    out
}

/// The differences of two texts given as lines, grouped with their context.
fn hunks(old: &[&str], new: &[&str]) -> Vec<Vec<DiffOp>> {
    // `TextDiff` can choose among all algorithms, which together take half a megabyte of the program.
    let mut capture = Compact::new(Replace::new(Capture::new()), old, new);
    // Capturing cannot fail.
    let _ = myers::diff(&mut capture, old, 0..old.len(), new, 0..new.len());
    group_diff_ops(capture.into_inner().into_inner().into_ops(), CONTEXT)
}

fn sign(tag: ChangeTag) -> (char, Paint) {
    match tag {
        ChangeTag::Insert => ('+', Paint::Green),
        ChangeTag::Delete => ('-', Paint::Red),
        ChangeTag::Equal => (' ', Paint::None),
    }
}

/// Formats `@@ -1,2 +1,3 @@`; pruned lines are not counted.
fn header(group: &[DiffOp], marks: &Marks) -> String {
    let range = |first: usize, count: usize| match count {
        0 => format!("{first},0"),
        1 => format!("{}", first + 1),
        n => format!("{},{n}", first + 1),
    };
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return String::new() };
    let (old, new) = (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
    let (before, within) = (marks.pruned_in(0..new.start), marks.pruned_in(new.clone()));
    let new_range = range(new.start - before, new.len() - within);
    format!("@@ -{} +{new_range} @@", range(old.start, old.len()))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mark {
    #[default]
    None,
    Defaulted,
    Pruned,
    /// Set by the policy with this index in [`Sides::mutated`].
    Mutated(usize),
    /// Removed by the policy with this index in [`Sides::removed`].
    Removed(usize),
}

impl Mark {
    /// Returns true for a line that is in the request and would not be stored.
    fn is_not_stored(self) -> bool {
        matches!(self, Self::Pruned | Self::Removed(_))
    }
}

/// The marks of the lines of a text.
#[derive(Default)]
struct Marks(Vec<Mark>);

impl Marks {
    /// Returns the marks of the object after the write.
    fn new(text: &str, sides: &Sides<'_>) -> Self {
        let defaulted = sides.defaulted.iter().map(|path| (*path, Mark::Defaulted));
        let mutated = sides.mutated.iter().enumerate().map(|(index, (path, _))| (*path, Mark::Mutated(index)));
        let pruned = sides.pruned.iter().map(|path| (*path, Mark::Pruned));
        let removed = not_stored(sides).map(|(index, path)| (path, Mark::Removed(index)));
        Self::of(text, &defaulted.chain(mutated).chain(pruned).chain(removed).collect::<Vec<_>>())
    }

    /// Returns the marks of the object before the write: what policies remove of the object in the request.
    fn of_removed(text: &str, sides: &Sides<'_>) -> Self {
        let removed = sides.removed.iter().enumerate();
        // An item of a list may have had another index.
        let is_same = |path: &str, value: &Value| {
            !path.contains('[') || sides.before.and_then(|before| at_path(before, path)) == Some(value)
        };
        let removed = removed.filter(|(_, (path, value, _))| is_same(path, value));
        Self::of(text, &removed.map(|(index, (path, ..))| (*path, Mark::Removed(index))).collect::<Vec<_>>())
    }

    fn of(text: &str, paths: &[(&str, Mark)]) -> Self {
        let mut marks = Self(vec![Mark::None; text.lines().count()]);
        if paths.is_empty() {
            return marks;
        }
        let spans = Spans::new(text.as_bytes(), Syntax::Yaml);
        for (path, mark) in paths {
            let found = spans.locate(path);
            if !found.exact {
                continue;
            }
            let value = text.get(found.value.range.clone()).unwrap_or_default();
            let first = found.key.as_ref().unwrap_or(&found.value).start.line;
            let last = found.value.start.line + value.trim_end().matches('\n').count();
            for line in marks.0.iter_mut().take(last).skip(first.saturating_sub(1)) {
                *line = *mark;
            }
        }
        marks
    }

    fn at(&self, line: usize) -> Mark {
        self.0.get(line).copied().unwrap_or_default()
    }

    fn pruned_in(&self, lines: std::ops::Range<usize>) -> usize {
        self.0.get(lines).unwrap_or_default().iter().filter(|mark| mark.is_not_stored()).count()
    }
}

/// Returns the value at a path; keys may have any characters.
fn at_path<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    if path.is_empty() {
        return Some(value);
    }
    match value {
        Value::Object(members) => members.iter().find_map(|(key, below)| {
            let rest = path.strip_prefix(key.as_str())?;
            let is_whole_key = rest.is_empty() || rest.starts_with(['.', '[']);
            is_whole_key.then(|| at_path(below, rest.strip_prefix('.').unwrap_or(rest))).flatten()
        }),
        Value::Array(items) => {
            let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
            at_path(items.get(index.parse::<usize>().ok()?)?, rest.strip_prefix('.').unwrap_or(rest))
        }
        _ => None,
    }
}

/// Returns the fields of the request that policies remove and neither object has, with their indexes. If the existing object has one,
/// its line is removed.
fn not_stored<'a>(sides: &Sides<'a>) -> impl Iterator<Item = (usize, &'a str)> {
    let objects = [sides.before, Some(sides.after)];
    let has = move |path: &str| objects.iter().flatten().any(|object| at_path(object, path).is_some());
    let removed = sides.removed.iter().enumerate().map(|(index, (path, ..))| (index, *path));
    removed.filter(move |(_, path)| !has(path))
}

/// Inserts the sent values at the paths `wanted` into `whole`, if their parents exist.
fn put_back(whole: &mut Value, sent: &Value, wanted: &BTreeSet<&str>, path: &mut String) {
    let length = path.len();
    match (whole, sent) {
        (Value::Object(whole), Value::Object(sent)) => {
            for (key, value) in sent {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
                if let Some(below) = whole.get_mut(key) {
                    put_back(below, value, wanted, path);
                } else if wanted.contains(path.as_str()) {
                    whole.insert(key.clone(), value.clone());
                } else if value.as_object().is_some_and(|members| !members.is_empty()) {
                    let mut below = Value::Object(Map::new());
                    put_back(&mut below, value, wanted, path);
                    if below.as_object().is_some_and(|members| !members.is_empty()) {
                        whole.insert(key.clone(), below);
                    }
                }
                path.truncate(length);
            }
        }
        (Value::Array(whole), Value::Array(sent)) => {
            for (i, (below, value)) in whole.iter_mut().zip(sent).enumerate() {
                // Writing to a String cannot fail.
                let _ = write!(path, "[{i}]");
                put_back(below, value, wanted, path);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn lines_are_marked() {
        let before = read(r#"{"kind":"K","spec":{"a":1,"list":[{"x":1}],"z":0}}"#);
        let after = read(r#"{"kind":"K","spec":{"a":2,"b":{"c":1},"list":[{"x":1}],"z":0}}"#);
        let sent = read(r#"{"kind":"K","spec":{"a":2,"list":[{"x":1,"xs":[1,2]}],"typo":true,"z":0}}"#);
        let sides = Sides {
            name: "k",
            before: Some(&before),
            after: &after,
            sent: &sent,
            pruned: &["spec.list[0].xs", "spec.typo"],
            defaulted: &["spec.b"],
            mutated: &[("spec.a", "stamp")],
            removed: &[],
        };
        assert_eq!(
            unified(&sides, false).unwrap(),
            "--- LIVE/k\n+++ MERGED/k\n@@ -1,6 +1,8 @@\n kind: K\n spec:\n-  a: 1\n+  a: 2  # policy stamp\n+  b:  # default\n+    c: 1  # default\n   list:\n   - x: 1\n!    xs:  # pruned\n!    - 1  # pruned\n!    - 2  # pruned\n!  typo: true  # pruned\n   z: 0\n"
        );
        assert_eq!(unified(&Sides { before: Some(&after), ..sides }, false), None);
        assert!(
            unified(&Sides { pruned: &[], mutated: &[], ..sides }, true).unwrap().contains("\x1b[32m+  a: 2\x1b[0m\n")
        );
    }

    const EMPTY: Sides<'_> = Sides {
        name: "k",
        before: None,
        after: &Value::Null,
        sent: &Value::Null,
        pruned: &[],
        defaulted: &[],
        mutated: &[],
        removed: &[],
    };

    #[test]
    fn what_a_policy_removes_is_marked() {
        let sent = read(
            r#"{"kind":"K","metadata":{"labels":{"a.b/c":"x"},"name":"m"},"spec":{"a":1,"deep":{"w":2,"x":1},"z":0}}"#,
        );
        let after = read(r#"{"kind":"K","metadata":{"name":"m"},"spec":{"a":1,"deep":{"x":1},"z":0}}"#);
        let values = [sent.at(&["metadata", "labels"]).unwrap(), sent.at(&["spec", "deep", "w"]).unwrap()];
        let removed = [("metadata.labels", values[0], "strip"), ("spec.deep.w", values[1], "strip")];
        let sides = Sides { after: &after, sent: &sent, removed: &removed, ..EMPTY };
        // A new object: the lines are in the manifest, and are not stored.
        assert_eq!(
            unified(&sides, false).unwrap(),
            "--- LIVE/k\n+++ MERGED/k\n@@ -0,0 +1,8 @@\n+kind: K\n+metadata:\n!  labels:  # policy strip\n!    a.b/c: x  # policy strip\n+  name: m\n+spec:\n+  a: 1\n+  deep:\n!    w: 2  # policy strip\n+    x: 1\n+  z: 0\n"
        );
        // An existing object loses them.
        assert_eq!(
            unified(&Sides { before: Some(&sent), ..sides }, false).unwrap(),
            "--- LIVE/k\n+++ MERGED/k\n@@ -1,11 +1,8 @@\n kind: K\n metadata:\n-  labels:  # policy strip\n-    a.b/c: x  # policy strip\n   name: m\n spec:\n   a: 1\n   deep:\n-    w: 2  # policy strip\n     x: 1\n   z: 0\n"
        );
        // The removed item is another one than the item of this index in the existing object.
        let before = read(r#"{"kind":"K","spec":{"list":["a","b"]}}"#);
        let after = read(r#"{"kind":"K","spec":{"list":["a"]}}"#);
        let item = Value::from("c");
        let removed = [("spec.list[1]", &item, "strip")];
        let sides = Sides { before: Some(&before), after: &after, sent: &after, removed: &removed, ..EMPTY };
        assert!(!unified(&sides, false).unwrap().contains("policy"));
    }

    #[test]
    fn values_are_compared_line_by_line() {
        let (old, new) = (read(r#"{"a":1,"b":2}"#), read(r#"{"a":1,"b":3}"#));
        let want = "--- expected\n+++ stored\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n+b: 3\n";
        assert_eq!(lines(("expected", &old), ("stored", &new), false), want);
        assert_eq!(lines(("expected", &old), ("stored", &old), true), "");
        assert!(lines(("expected", &old), ("stored", &new), true).contains("\x1b[32m+b: 3\x1b[0m\n"));
    }

    #[test]
    fn a_new_object_is_all_new() {
        let after = read(r#"{"kind":"K"}"#);
        let sides = Sides { before: None, after: &after, sent: &after, ..EMPTY };
        assert_eq!(unified(&sides, false).unwrap(), "--- LIVE/k\n+++ MERGED/k\n@@ -0,0 +1 @@\n+kind: K\n");
    }
}

//! Formats a unified diff of an object's YAML before and after a write. Lines set by defaulting are marked, and those that policies
//! set or remove. Lines that were sent but would not be stored begin with `!` and are not counted.

mod paths;
mod places;
mod policies;

use super::{Paint, printable};
use crdx_engine::report::Admission;
use crdx_text::Syntax;
use crdx_text::spans::Spans;
use crdx_text::yaml::write::to_string;
use crdx_value::{Map, Value};
use policies::{Policies, PolicyPaths};
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
    /// The effect of admission policies.
    pub admission: Option<&'a Admission>,
}

/// The pruned and the defaulted fields of the request, by the paths in the object that is shown.
struct OfRequest {
    pruned: Vec<String>,
    defaulted: Vec<String>,
}

impl OfRequest {
    fn new(sides: &Sides<'_>, policies: &Policies<'_>) -> Self {
        let shown = |paths: &[&str]| paths.iter().filter_map(|path| policies.places.path(path)).collect();
        Self { pruned: shown(sides.pruned), defaulted: shown(sides.defaulted) }
    }
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
    let mut shown = sides.after.clone();
    let policies =
        sides.admission.map(|admission| Policies::new(admission, sides.before, &mut shown)).unwrap_or_default();
    let of_request = OfRequest::new(sides, &policies);
    let not_stored = policies.not_stored.iter().map(|(path, _)| path);
    let wanted: BTreeSet<&str> = of_request.pruned.iter().chain(not_stored).map(String::as_str).collect();
    if !wanted.is_empty() {
        put_back(&mut shown, &policies.places.arrange(sides.sent), &wanted, &mut String::new());
    }
    let (old, new) = (text(sides.before), to_string(&shown));
    let (marks, old_marks) = (Marks::new(&new, &of_request, &policies), Marks::of_removed(&old, &policies));
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
                Mark::Mutated(policy) | Mark::Removed(policy) => format!("  # policy {policy}"),
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
fn header(group: &[DiffOp], marks: &Marks<'_>) -> String {
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
enum Mark<'a> {
    #[default]
    None,
    Defaulted,
    Pruned,
    /// Set by the policy with this name.
    Mutated(&'a str),
    /// Removed by the policy with this name.
    Removed(&'a str),
}

impl Mark<'_> {
    /// Returns true for a line that is in the request and would not be stored.
    fn is_not_stored(self) -> bool {
        matches!(self, Self::Pruned | Self::Removed(_))
    }
}

/// The marks of the lines of a text.
#[derive(Default)]
struct Marks<'a>(Vec<Mark<'a>>);

impl<'a> Marks<'a> {
    /// Returns the marks of the object after the write.
    fn new(text: &str, of_request: &OfRequest, policies: &Policies<'a>) -> Self {
        let defaulted = of_request.defaulted.iter().map(|path| (path.as_str(), Mark::Defaulted));
        let mutated = policies.set.iter().map(|(path, policy)| (path.as_str(), Mark::Mutated(policy)));
        let pruned = of_request.pruned.iter().map(|path| (path.as_str(), Mark::Pruned));
        let marks = defaulted.chain(mutated).chain(pruned).chain(removed(&policies.not_stored));
        Self::of(text, &marks.collect::<Vec<_>>())
    }

    /// Returns the marks of the object before the write: what policies remove of the object in the request.
    fn of_removed(text: &str, policies: &Policies<'a>) -> Self {
        Self::of(text, &removed(&policies.removed).collect::<Vec<_>>())
    }

    fn of(text: &str, paths: &[(&str, Mark<'a>)]) -> Self {
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

    fn at(&self, line: usize) -> Mark<'a> {
        self.0.get(line).copied().unwrap_or_default()
    }

    fn pruned_in(&self, lines: std::ops::Range<usize>) -> usize {
        self.0.get(lines).unwrap_or_default().iter().filter(|mark| mark.is_not_stored()).count()
    }
}

fn removed<'p, 'a>(paths: &'p PolicyPaths<'a>) -> impl Iterator<Item = (&'p str, Mark<'a>)> {
    paths.iter().map(|(path, policy)| (path.as_str(), Mark::Removed(policy)))
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
    use crdx_engine::report::admission::{FieldChange, PolicyChange};
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    /// The changes of policies to fields: each has the name of its policy, its path, and the values before and after.
    fn admission(changes: &[(&str, &str, Option<&str>, Option<&str>)]) -> Admission {
        let change = |(policy, path, before, after): &(&str, &str, Option<&str>, Option<&str>)| {
            let [before, after] = [before, after].map(|value| value.map(read));
            let fields = vec![FieldChange { path: (*path).to_owned(), before, after }];
            PolicyChange { policy: (*policy).to_owned(), fields, ..PolicyChange::default() }
        };
        Admission { mutated: changes.iter().map(change).collect(), ..Admission::default() }
    }

    #[test]
    fn lines_are_marked() {
        let before = read(r#"{"kind":"K","spec":{"a":1,"list":[{"x":1}],"z":0}}"#);
        let after = read(r#"{"kind":"K","spec":{"a":2,"b":{"c":1},"list":[{"x":1}],"z":0}}"#);
        let sent = read(r#"{"kind":"K","spec":{"a":2,"list":[{"x":1,"xs":[1,2]}],"typo":true,"z":0}}"#);
        let stamp = admission(&[("stamp", "spec.a", Some("1"), Some("2"))]);
        let sides = Sides {
            name: "k",
            before: Some(&before),
            after: &after,
            sent: &sent,
            pruned: &["spec.list[0].xs", "spec.typo"],
            defaulted: &["spec.b"],
            admission: Some(&stamp),
        };
        assert_eq!(
            unified(&sides, false).unwrap(),
            "--- LIVE/k\n+++ MERGED/k\n@@ -1,6 +1,8 @@\n kind: K\n spec:\n-  a: 1\n+  a: 2  # policy stamp\n+  b:  # default\n+    c: 1  # default\n   list:\n   - x: 1\n!    xs:  # pruned\n!    - 1  # pruned\n!    - 2  # pruned\n!  typo: true  # pruned\n   z: 0\n"
        );
        assert_eq!(unified(&Sides { before: Some(&after), ..sides }, false), None);
        assert!(
            unified(&Sides { pruned: &[], admission: None, ..sides }, true)
                .unwrap()
                .contains("\x1b[32m+  a: 2\x1b[0m\n")
        );
    }

    const EMPTY: Sides<'_> = Sides {
        name: "k",
        before: None,
        after: &Value::Null,
        sent: &Value::Null,
        pruned: &[],
        defaulted: &[],
        admission: None,
    };

    #[test]
    fn what_a_policy_removes_is_marked() {
        let sent = read(
            r#"{"kind":"K","metadata":{"labels":{"a.b/c":"x"},"name":"m"},"spec":{"a":1,"deep":{"w":2,"x":1},"z":0}}"#,
        );
        let after = read(r#"{"kind":"K","metadata":{"name":"m"},"spec":{"a":1,"deep":{"x":1},"z":0}}"#);
        let strip = admission(&[
            ("strip", "metadata.labels", Some(r#"{"a.b/c":"x"}"#), None),
            ("strip", "spec.deep.w", Some("2"), None),
        ]);
        let sides = Sides { after: &after, sent: &sent, admission: Some(&strip), ..EMPTY };
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
    }

    #[test]
    fn items_that_a_policy_removes_are_shown() {
        let sent = read(r#"{"spec":{"a":["x","y","z"],"b":[{"n":1},{"n":2,"typo":1},{"n":3}]}}"#);
        let after = read(r#"{"spec":{"a":["x","w"],"b":[{"d":1,"n":3}]}}"#);
        let strip = admission(&[
            ("one", "spec.a", Some(r#"["x","y","z"]"#), Some(r#"["x"]"#)),
            ("one", "spec.b", Some(r#"[{"n":1},{"n":2},{"d":1,"n":3}]"#), Some(r#"[{"n":2},{"d":1,"n":3}]"#)),
            ("two", "spec.a", Some(r#"["x"]"#), Some(r#"["x","w"]"#)),
            ("two", "spec.b", Some(r#"[{"n":2},{"d":1,"n":3}]"#), Some(r#"[{"d":1,"n":3}]"#)),
        ]);
        let sides = Sides {
            after: &after,
            sent: &sent,
            pruned: &["spec.b[1].typo"],
            defaulted: &["spec.b[2].d"],
            admission: Some(&strip),
            ..EMPTY
        };
        // A new object: the items are in the manifest, and are not stored. Paths of defaults are those of the request.
        let text = "--- LIVE/k\n+++ MERGED/k\n@@ -0,0 +1,7 @@\n+spec:\n+  a:\n+  - x\n!  - \"y\"  # policy one\n!  - z  # policy one\n+  - w  # policy two\n+  b:\n\
            !  - \"n\": 1  # policy one\n!  - \"n\": 2  # policy two\n!    typo: 1  # policy two\n+  - d: 1  # default\n+    \"n\": 3\n";
        assert_eq!(unified(&sides, false).unwrap(), text);
    }

    #[test]
    fn items_of_the_existing_object_that_a_policy_removes_are_removed() {
        let before = read(r#"{"kind":"K","spec":{"list":["a","b"]}}"#);
        let after = read(r#"{"kind":"K","spec":{"list":["a"]}}"#);
        let strip = |old: &str| admission(&[("strip", "spec.list", Some(old), Some(r#"["a"]"#))]);
        let shown = |strip: &Admission| {
            let sides = Sides { before: Some(&before), after: &after, sent: &after, admission: Some(strip), ..EMPTY };
            unified(&sides, false).unwrap()
        };
        let lines = |text: &str| format!("--- LIVE/k\n+++ MERGED/k\n@@ -2,4 +2,3 @@\n spec:\n   list:\n{text}");
        assert_eq!(shown(&strip(r#"["a","b"]"#)), lines("   - a\n-  - b  # policy strip\n"));
        // The item of the request is another one than that of the existing object.
        assert_eq!(shown(&strip(r#"["a","c"]"#)), lines("   - a\n-  - b\n!  - c  # policy strip\n"));
    }

    /// Returns the diff of objects with a list. A field of one of the items in the request is pruned.
    fn pruned_in_list(lists: [&str; 3], pruned: &str, changes: &[(&str, &str)]) -> String {
        let [before, after, sent] = lists.map(|list| read(&format!(r#"{{"spec":{list}}}"#)));
        let changes: Vec<_> = changes.iter().map(|(old, new)| ("p", "spec", Some(*old), Some(*new))).collect();
        let sides = Sides {
            before: Some(&before),
            after: &after,
            sent: &sent,
            pruned: &[pruned],
            admission: Some(&admission(&changes)),
            ..EMPTY
        };
        unified(&sides, false).unwrap().split_once("spec:\n").unwrap().1.to_owned()
    }

    #[test]
    fn a_pruned_field_is_shown_in_its_item() {
        let sent = r#"[{"a":1},{"b":1},{"c":1,"typo":1},{"e":1}]"#;
        let stored = r#"[{"a":1},{"b":1},{"c":1},{"e":1}]"#;
        let old = r#"[{"a":1},{"b":1},{"c":1},{"d":1}]"#;
        let after = r#"[{"a":1},{"c":1},{"e":1}]"#;
        // The existing object has the item that the policy removes.
        let diff = pruned_in_list([old, after, sent], "spec[2].typo", &[(stored, after)]);
        assert_eq!(diff, " - a: 1\n-- b: 1  # policy p\n - c: 1\n-- d: 1\n!  typo: 1  # pruned\n+- e: 1\n");
        // A policy adds an item before it.
        let more = r#"[{"m":1},{"a":1},{"c":1},{"e":1}]"#;
        let diff = pruned_in_list([old, more, sent], "spec[2].typo", &[(stored, after), (after, more)]);
        assert!(diff.contains("+- m: 1  # policy p\n - a: 1\n"), "{diff}");
        assert!(diff.contains("  typo: 1  # pruned\n+- e: 1\n"), "{diff}");
        // The policy removes its item.
        let without = r#"[{"a":1},{"b":1},{"e":1}]"#;
        let diff = pruned_in_list([old, without, sent], "spec[2].typo", &[(stored, without)]);
        assert!(!diff.contains("typo"), "{diff}");
    }

    #[test]
    fn items_are_put_back_behind_the_one_before_them() {
        let lists = |first: &str, second: &str| {
            [(r#"["a","b","c","d"]"#, first), (first, second)].map(|(a, b)| (a.to_owned(), b.to_owned()))
        };
        for (second, existing, want) in [
            // The existing object has an item that is removed after it.
            (r#"["b","d"]"#, r#"["a"]"#, "-- a  # policy p\n+- b\n!- c  # policy p\n+- d\n"),
            (r#"["m","a","b","d"]"#, "[]", "+- m  # policy p\n+- a\n+- b\n!- c  # policy p\n+- d\n"),
        ] {
            let changes = lists(r#"["a","b","d"]"#, second);
            let changes: Vec<_> = changes.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
            let diff = pruned_in_list([existing, second, r#"["a","b","c","d"]"#], "none", &changes);
            assert_eq!(diff, want);
        }
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

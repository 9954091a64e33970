//! Findings that many objects share: the first objects are shown in full, the others are counted.

use crdx_engine::report::{Diagnostic, ObjectReport, PrunedField, SourceLocation, Verdict};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The number of objects with equal findings that are shown in full.
const SHOWN: usize = 3;
/// The maximum number of different findings that are compared; further ones are shown in full.
const MAX_GROUPS: usize = 10_000;

/// The findings so far.
#[derive(Debug, Default)]
pub struct Repeated {
    /// The index of a group by the hash of its findings.
    known: HashMap<u64, usize>,
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    /// The first object, which is shown.
    first: String,
    /// Objects, or documents that cannot be read.
    noun: &'static str,
    /// The findings of the objects: errors, warnings or dropped fields.
    what: &'static str,
    count: usize,
    /// The first object that is not shown, with its location.
    next: String,
}

impl Repeated {
    /// Counts the findings of an object, which include `dropped` fields. Returns true if enough objects with the same findings were shown.
    pub fn hides(&mut self, item: &ObjectReport, dropped: &[&PrunedField]) -> bool {
        let mut hasher = DefaultHasher::new();
        item.identity.kind.hash(&mut hasher);
        for Diagnostic { kind, message, help, .. } in item.errors.iter().chain(&item.hidden).chain(&item.warnings) {
            (kind, message, help).hash(&mut hasher);
        }
        for field in dropped {
            field.path.hash(&mut hasher);
        }
        if item.verdict == Verdict::CannotTell {
            (&item.reason, &item.help).hash(&mut hasher);
        }
        let what = match (item.errors.is_empty(), item.warnings.is_empty()) {
            _ if item.verdict == Verdict::CannotTell => "error",
            (false, _) => "errors",
            (true, false) => "warnings",
            (true, true) => "dropped fields",
        };
        let noun = if item.identity.kind.is_empty() { "document" } else { "object" };
        self.hides_equal(hasher.finish(), (noun, what), &item.called(), &item.location)
    }

    /// Counts the findings of an object, which `key` identifies: `what` an object or document has. Returns true if enough objects
    /// with the same findings were shown. `called` is the name of the object, if it has one.
    pub fn hides_equal(
        &mut self,
        key: impl Hash,
        (noun, what): (&'static str, &'static str),
        called: &str,
        location: &SourceLocation,
    ) -> bool {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let hash = hasher.finish();
        let location = || location.without_excerpt().to_string();
        let Some(group) = self.known.get(&hash).and_then(|index| self.groups.get_mut(*index)) else {
            if self.groups.len() < MAX_GROUPS {
                self.known.insert(hash, self.groups.len());
                let first = if called.is_empty() { location() } else { called.to_owned() };
                self.groups.push(Group { first, noun, what, count: 1, next: String::new() });
            }
            return false;
        };
        group.count += 1;
        if group.count == SHOWN + 1 {
            group.next = if called.is_empty() { location() } else { format!("{called} ({})", location()) };
        }
        group.count > SHOWN
    }

    /// Returns a line for each group of objects that were not shown.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.groups.iter().filter(|group| group.count > SHOWN).map(|Group { first, noun, what, count, next }| {
            match count - SHOWN {
                1 => format!("and 1 more {noun} has the {what} of {first}: {next}"),
                n => format!("and {n} more {noun}s have the {what} of {first}, the first of them {next}"),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_engine::report::Identity;

    #[test]
    fn objects_with_equal_findings_are_counted() {
        let mut repeated = Repeated::default();
        let mut item = |n: usize, message: &str| {
            let mut item = ObjectReport::new(SourceLocation::line(&"a.yaml".into(), n), Verdict::Rejected, "");
            item.identity = Identity { kind: "Kite".to_owned(), name: format!("k{n}"), ..Identity::default() };
            item.errors.push(Diagnostic { message: message.to_owned(), ..Diagnostic::default() });
            repeated.hides(&item, &[])
        };
        let hidden: Vec<bool> = (0..5).map(|n| item(n, "spec.x: Required value")).collect();
        assert_eq!(hidden, [false, false, false, true, true]);
        assert!(!item(9, "other"));
        let lines: Vec<String> = repeated.lines().collect();
        assert_eq!(lines, ["and 2 more objects have the errors of Kite k0, the first of them Kite k3 (a.yaml:3)"]);
    }

    #[test]
    fn documents_that_cannot_be_read_are_counted() {
        let mut repeated = Repeated::default();
        let mut item = |n: usize, reason: &str| {
            let location = SourceLocation::line(&"a.yaml".into(), n);
            repeated.hides(&ObjectReport::new(location, Verdict::CannotTell, reason), &[])
        };
        let hidden: Vec<bool> = (1..=5).map(|n| item(n, "no kind")).collect();
        assert_eq!(hidden, [false, false, false, true, true]);
        assert!(!item(9, "no apiVersion"));
        let lines: Vec<String> = repeated.lines().collect();
        assert_eq!(lines, ["and 2 more documents have the error of a.yaml:1, the first of them a.yaml:4"]);
    }
}

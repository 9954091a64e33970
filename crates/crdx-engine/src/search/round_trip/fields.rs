//! The fields that change in the trips of many objects, each counted once.

use super::compare::{Change, ComparedFields, FieldPath};
use crdx_value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A field that changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedField {
    /// The path, such as `spec.list[*].name` or `spec.map.*`.
    pub path: String,
    /// What was seen first.
    pub seen: SeenChange,
}

/// How a field changes.
#[derive(Clone, Debug, PartialEq)]
pub enum SeenChange {
    /// The values before and after a trip; `None` if there is none.
    Values(Option<Value>, Option<Value>),
    /// All fields below it change, and this is their number.
    Below(usize),
    /// No object showed it: one of the versions prunes the field.
    Pruned,
}

/// Collects the fields that change.
#[derive(Debug, Default)]
pub struct ChangedFields {
    changed: BTreeMap<FieldPath, Change>,
    rewritten: BTreeSet<FieldPath>,
    /// The paths of values that some object keeps.
    kept: BTreeSet<FieldPath>,
}

impl ChangedFields {
    /// Adds the differences of an object. With `exact`, rewritten values count as changes. Returns true if there is a change.
    pub fn add(&mut self, comparison: ComparedFields, exact: bool) -> bool {
        self.kept.extend(comparison.kept);
        let mut has_change = false;
        for change in comparison.changes {
            if change.is_rewritten && !exact {
                self.rewritten.insert(change.path);
            } else {
                has_change = true;
                self.changed.entry(change.path.clone()).or_insert(change);
            }
        }
        has_change
    }

    /// Returns the fields, and the paths of rewritten ones. A field of which everything below changes stands for the fields
    /// below it. `pruned` are the fields that are known to be lost.
    pub fn fields(self, pruned: &[String]) -> (Vec<ChangedField>, Vec<String>) {
        let mut fields: Vec<ChangedField> = Vec::new();
        let mut left = self.changed.clone();
        while let Some((path, change)) = left.pop_first() {
            let above = self.highest(&path);
            left.retain(|other, _| !other.starts_with(above));
            let below = self.changed.keys().filter(|other| other.starts_with(above)).count();
            let seen = if above.len() == path.len() {
                SeenChange::Values(change.before, change.after)
            } else {
                SeenChange::Below(below)
            };
            fields.push(ChangedField { path: text(above), seen });
        }
        let is_seen = |path: &str| {
            fields.iter().any(|field| is_at_or_below(&field.path, path) || is_at_or_below(path, &field.path))
        };
        let more: Vec<&String> = pruned.iter().filter(|path| !is_seen(path)).collect();
        fields.extend(more.into_iter().map(|path| ChangedField { path: path.clone(), seen: SeenChange::Pruned }));
        let rewritten = self.rewritten.iter().filter(|path| !self.changed.contains_key(*path));
        let rewritten = rewritten.map(|path| text(path)).collect();
        (fields, rewritten)
    }

    /// Returns the highest field above a path, or the path itself, below which at least two fields change and none is kept.
    fn highest<'p>(&self, path: &'p [String]) -> &'p [String] {
        let prefixes = (2..path.len()).filter_map(|length| path.get(..length));
        let mut all_change = prefixes.filter(|above| {
            let is_kept = self.kept.iter().any(|kept| kept.starts_with(above));
            let below = self.changed.keys().filter(|other| other.starts_with(above)).take(2).count();
            !is_kept && below == 2
        });
        all_change.next().unwrap_or(path)
    }
}

fn is_at_or_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn text(path: &[String]) -> String {
    path.concat().trim_start_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FieldPath {
        text.split('.').map(|step| format!(".{step}")).collect()
    }

    fn found(changed: &[&str], kept: &[&str], pruned: &[&str]) -> Vec<(String, bool)> {
        let mut fields = ChangedFields::default();
        for one in changed {
            let change = Change { path: path(one), before: Some(Value::Int(1)), after: None, is_rewritten: false };
            fields.add(ComparedFields { changes: vec![change], kept: BTreeSet::new() }, false);
        }
        fields.add(ComparedFields { changes: Vec::new(), kept: kept.iter().map(|one| path(one)).collect() }, false);
        let pruned: Vec<String> = pruned.iter().map(|&path| path.to_owned()).collect();
        let is_whole = |field: &ChangedField| matches!(field.seen, SeenChange::Below(_));
        fields.fields(&pruned).0.into_iter().map(|field| (field.path.clone(), is_whole(&field))).collect()
    }

    #[test]
    fn a_field_stands_for_what_is_below_it_if_nothing_of_it_is_kept() {
        let all = ["spec.a.b", "spec.a.c.d", "spec.e"];
        let expected = [("spec.a".to_owned(), true), ("spec.e".to_owned(), false)];
        assert_eq!(found(&all, &["spec.f"], &[]), expected);
        let kept = found(&all, &["spec.a.x"], &[]);
        assert_eq!(kept.into_iter().map(|(path, _)| path).collect::<Vec<_>>(), all);
    }

    #[test]
    fn a_pruned_field_that_no_object_has_is_added() {
        let expected = [("spec.a.b".to_owned(), false), ("spec.z".to_owned(), false)];
        assert_eq!(found(&["spec.a.b"], &[], &["spec.a", "spec.z"]), expected);
    }
}

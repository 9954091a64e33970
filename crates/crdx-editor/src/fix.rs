//! Changes that correct a finding: a suggested name, the limits that make a rule cheap enough, or the server's answer in a suite.

use super::text::Text;
use crdx_engine::lint::advice::Advice;
use crdx_engine::lint::bounds::Bound;
use crdx_engine::schema_steps::schema_path;
use crdx_engine::simulation::object::Object;
use crdx_engine::suites::update::{edits, updated};
use crdx_engine::suites::{CaseOutcome, Suite};
use crdx_text::Syntax;
use crdx_value::Value;
use std::ops::Range;

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The title that editors show.
    pub title: String,
    /// The parts to replace, in bytes, with their new text.
    pub edits: Vec<(Range<usize>, String)>,
    /// True if it is what the author meant, so that an editor may apply it with others.
    pub is_preferred: bool,
}

/// Writes `new` for a name or value. A quoted one stays quoted.
pub fn replacement(text: &Text, range: Range<usize>, new: &str) -> Option<Fix> {
    let old = text.content().get(range.clone())?;
    let quote = old.get(..1).filter(|quote| matches!(*quote, "\"" | "'")).unwrap_or_default();
    let edits = vec![(range, format!("{quote}{new}{quote}"))];
    Some(Fix { title: format!("Change to `{new}`"), edits, is_preferred: true })
}

/// Writes the server's answer into a case of a suite, as `test --update` does; `None` if that is not possible. `outcomes` are
/// the results of the case on all servers.
pub fn accept(suite: &Suite, index: usize, outcomes: &[&CaseOutcome], text: &Text) -> Option<Fix> {
    let case = suite.cases.get(index)?;
    let mut all = outcomes.iter().map(|outcome| edits(case, outcome));
    let wanted = all.next()?.ok()?;
    if wanted.is_empty() || !all.all(|other| other.is_ok_and(|other| other == wanted)) {
        return None;
    }
    let (new, failed) = updated(suite, &[(index, wanted)]);
    let is_suite = Suite::read(&suite.source, new.as_bytes()).is_ok();
    let edit = change(text.content(), &new).filter(|_| failed.is_empty() && is_suite)?;
    let title = format!("Accept the server's answer to `{}`", case.name);
    Some(Fix { title, edits: vec![edit], is_preferred: false })
}

/// The lines that differ, and their new text.
fn change(old: &str, new: &str) -> Option<(Range<usize>, String)> {
    let start: usize = old
        .split_inclusive('\n')
        .zip(new.split_inclusive('\n'))
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len())
        .sum();
    let (old_rest, new_rest) = (old.get(start..)?, new.get(start..)?);
    let lines = |text: &'_ str| text.split_inclusive('\n').map(str::len).collect::<Vec<_>>();
    let mut end = 0;
    for (a, b) in lines(old_rest).into_iter().rev().zip(lines(new_rest).into_iter().rev()) {
        let tails = (old_rest.get(old_rest.len() - end - a..), new_rest.get(new_rest.len() - end - b..));
        if a != b || tails.0 != tails.1 {
            break;
        }
        end += a;
    }
    let edit = (start..old.len() - end, new_rest.get(..new_rest.len() - end)?.to_owned());
    (old != new).then_some(edit)
}

/// Sets the limits in every version with the schema; `None` if there are none, or the text of a schema cannot be changed
/// safely.
pub fn limits(object: &Object, advice: &Advice, text: &Text) -> Option<Fix> {
    let versions = object.value().at(&["spec", "versions"])?.as_array()?;
    let name = |version: &Value| version.str_at(&["name"]).unwrap_or_default().to_owned();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (index, _) in versions.iter().enumerate().filter(|(_, version)| advice.versions.contains(&name(version))) {
        for bound in &advice.bounds {
            let node = format!("spec.versions[{index}].schema.openAPIV3Schema{}", schema_path(&bound.steps));
            let edit = limit(object, &node, bound, text)?;
            // Versions may share a node through an alias.
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        }
    }
    let limits: Vec<String> =
        advice.bounds.iter().map(|bound| format!("{}: {} on {}", bound.keyword, bound.limit, bound.path())).collect();
    (!edits.is_empty()).then(|| Fix { title: format!("Set {}", limits.join(" and ")), edits, is_preferred: true })
}

/// Replaces the limit of a schema node, or writes it before the node's `type`.
fn limit(object: &Object, node: &str, bound: &Bound, text: &Text) -> Option<(Range<usize>, String)> {
    let document = &object.document;
    let (positions, chunk) = (document.field_positions(), &document.chunk);
    let existing = positions.locate(&format!("{node}.{}", bound.keyword));
    if existing.exact {
        let start = text.offset_of(existing.value.start.line, existing.value.start.column);
        let end = start + existing.value.range.len();
        let old = text.content().get(start..end)?;
        return old.bytes().all(|b| b.is_ascii_digit()).then(|| (start..end, bound.limit.to_string()));
    }
    let kind = positions.locate(&format!("{node}.type"));
    let key = kind.key.filter(|_| kind.exact)?;
    let before = chunk.text.get(..key.range.start)?;
    let start = text.offset_of(key.start.line, key.start.column);
    let (keyword, limit) = (bound.keyword, bound.limit);
    let line: &[u8] = before.rsplit(|b| *b == b'\n').next().unwrap_or_default();
    let new = match before.trim_ascii_end().last() {
        Some(b'{' | b',') if chunk.syntax == Syntax::Json => format!("\"{keyword}\": {limit}, "),
        Some(b'{' | b',') => format!("{keyword}: {limit}, "),
        _ if line.iter().all(|b| matches!(b, b' ' | b'-')) => {
            let line_break = if text.content().contains("\r\n") { "\r\n" } else { "\n" };
            format!("{keyword}: {limit}{line_break}{}", " ".repeat(line.len()))
        }
        _ => return None,
    };
    Some((start..start, new))
}

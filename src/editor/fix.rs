//! Changes that correct a finding: a suggested name, or the limits that make a rule cheap enough.

use super::text::Text;
use crdx::lint::advice::Advice;
use crdx::lint::bounds::Bound;
use crdx::lint::schema_path;
use crdx::simulation::object::Object;
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
}

/// Writes `new` for a name or value. A quoted one stays quoted.
pub fn replacement(text: &Text, range: Range<usize>, new: &str) -> Option<Fix> {
    let old = text.content().get(range.clone())?;
    let quote = old.get(..1).filter(|quote| matches!(*quote, "\"" | "'")).unwrap_or_default();
    Some(Fix { title: format!("Change to `{new}`"), edits: vec![(range, format!("{quote}{new}{quote}"))] })
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
    (!edits.is_empty()).then(|| Fix { title: format!("Set {}", limits.join(" and ")), edits })
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

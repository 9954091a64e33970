//! The fields that would be dropped or set by defaults, as text.

use crate::excerpt::{self, MessageSeverity};
use crate::{Paint, printable};
use crdx_engine::report::{ObjectReport, PrunedField};
use crdx_value::json;
use std::fmt::Write as _;

/// The maximum number of fields of a list that is shown without `-v`: the dropped fields of one object, or the defaulted
/// fields of all objects.
const FEW: usize = 10;

/// The maximum length of a value.
const VALUE: usize = 100;

/// Which lists of fields are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldLists {
    /// None: the command shows the fields in another way.
    #[default]
    None,
    /// Short ones.
    Few,
    /// All of them.
    All,
}

impl FieldLists {
    /// Returns the lists for a level of `-v`.
    pub fn of_verbosity(level: u8) -> Self {
        if level == 0 { Self::Few } else { Self::All }
    }

    /// Formats the fields that would be dropped and that no error or warning names.
    pub fn dropped(self, fields: &[&PrunedField], item: &ObjectReport, color: bool) -> String {
        let most = match self {
            Self::None => 0,
            Self::Few => FEW,
            Self::All => usize::MAX,
        };
        let note = |field: &&PrunedField| {
            let location = field.location.as_ref().unwrap_or(&item.location);
            let (releases, help) = (field.releases.as_ref(), field.help());
            let severity = field.severity.map_or(MessageSeverity::Note, MessageSeverity::from);
            excerpt::render_of(severity, releases, &field.message(), location, help.as_deref(), color)
        };
        let mut text: String = fields.iter().take(most).map(note).collect();
        match fields.len().saturating_sub(most) {
            hidden if hidden > 0 && self == Self::Few => {
                let noun = if hidden == 1 { "field" } else { "fields" };
                let _ = writeln!(text, "and {hidden} more {noun} would be dropped; -v lists all of them");
                text
            }
            _ => text,
        }
    }
}

/// Collects the defaulted fields of all objects while they are few.
#[derive(Debug, Default)]
pub struct Defaults {
    texts: String,
    fields: usize,
}

impl Defaults {
    /// Adds the fields of an object.
    pub fn add(&mut self, item: &ObjectReport, color: bool) {
        self.fields = self.fields.saturating_add(item.defaulted.len());
        if self.fields > FEW {
            self.texts.clear();
        } else if !item.defaulted.is_empty() {
            self.texts.push('\n');
            self.texts.push_str(&defaulted(item, color));
        }
    }

    /// Returns the text; empty if there are too many fields.
    pub fn text(&self) -> &str {
        &self.texts
    }
}

/// Formats the defaulted fields of an object, with their values.
pub fn defaulted(item: &ObjectReport, color: bool) -> String {
    let called = item.called();
    let heading = format!("{} gets defaults:", if called.is_empty() { "An object" } else { &called });
    let mut text = Paint::Bold.when(color, &printable::line(&heading)) + "\n";
    for (path, value) in &item.defaulted {
        let mut value = json::to_string(value);
        if let Some((end, _)) = value.char_indices().nth(VALUE) {
            value.truncate(end);
            value.push('…');
        }
        text.extend(["  ", &*printable::line(&format!("{path}: {value}")), "\n"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_engine::report::{Identity, SourceLocation, Verdict};
    use crdx_value::Value;

    fn item(defaulted: usize) -> ObjectReport {
        let mut item = ObjectReport::new(SourceLocation::default(), Verdict::Accepted, "");
        item.identity = Identity { kind: "Kite".to_owned(), name: "a".to_owned(), ..Identity::default() };
        item.defaulted = (0..defaulted).map(|n| (format!("spec.f{n}"), Value::Int(1))).collect();
        item
    }

    #[test]
    fn defaults_are_listed_while_they_are_few() {
        let mut defaults = Defaults::default();
        defaults.add(&item(2), false);
        assert_eq!(defaults.text(), "\nKite a gets defaults:\n  spec.f0: 1\n  spec.f1: 1\n");
        defaults.add(&item(9), false);
        defaults.add(&item(1), false);
        assert_eq!(defaults.text(), "");
    }

    #[test]
    fn the_dropped_fields_of_an_object_are_counted_when_they_are_many() {
        let field = |n: usize| PrunedField {
            path: format!("spec.f{n}"),
            location: None,
            hint: None,
            severity: None,
            releases: None,
        };
        let fields: Vec<PrunedField> = (0..12).map(field).collect();
        let fields: Vec<&PrunedField> = fields.iter().collect();
        let few = FieldLists::Few.dropped(&fields, &item(0), false);
        assert!(few.ends_with("and 2 more fields would be dropped; -v lists all of them\n"), "{few}");
        let all = FieldLists::All.dropped(&fields, &item(0), false);
        assert!(all.contains("unknown field \"spec.f11\" would be dropped"), "{all}");
        assert_eq!(FieldLists::None.dropped(&fields, &item(0), false), "");
    }
}

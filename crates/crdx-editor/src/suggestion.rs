//! A suggestion for completion.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The name or value.
    pub label: String,
    /// The text to insert.
    pub insert: String,
    /// The type of a field.
    pub detail: String,
    /// The description of a field.
    pub documentation: Option<String>,
    /// True for a required field; these come first.
    pub required: bool,
    /// The kind of the inserted text.
    pub what: Insertion,
}

/// The kind of text that a suggestion inserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// The name of a field.
    Field,
    Value,
    /// A whole object.
    Object,
}

impl Suggestion {
    /// A suggestion of a value; `detail` is its type, or where it comes from.
    pub fn value(label: String, detail: String) -> Self {
        Self { insert: label.clone(), label, detail, documentation: None, required: false, what: Insertion::Value }
    }
}

//! Selectable fields, which field selectors compare.

use super::{Item, JsonPath, go_value};
use crate::GoError;
use crate::Value;

/// An entry of `selectableFields`.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectableField {
    /// The name in field selectors: the path without the leading dot.
    pub name: String,
    /// The path, or its parse error, which makes every selection fail.
    path: Result<JsonPath, GoError>,
}

impl SelectableField {
    /// Parses `jsonPath`.
    pub fn new(json_path: &str) -> Self {
        Self {
            name: json_path.strip_prefix('.').unwrap_or(json_path).to_owned(),
            path: JsonPath::parse(&format!("{{{json_path}}}")).map(|path| path.allow_missing_keys(true)),
        }
    }

    /// The text of the field in `object`, formatted like Go's `%v`; empty if missing or null.
    ///
    /// # Errors
    /// Returns a text if the path is invalid or cannot be evaluated.
    pub fn text(&self, object: &Value) -> Result<String, GoError> {
        let path = self.path.as_ref().map_err(|e| format!("unexpected error parsing jsonPath: {e}"))?;
        let results = path.find(object).map_err(|e| format!("unexpected error finding value with jsonPath: {e}"))?;
        match results.first().map(Vec::as_slice) {
            None | Some([]) => Ok(String::new()),
            Some([_]) if results.len() == 1 => Ok(match results.first().and_then(|items| items.first()) {
                None | Some(Item::Missing | Item::Value(Value::Null)) => String::new(),
                Some(item) => go_value(*item),
            }),
            _ => Err("unexpectedly received more than one JSON path result".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    #[test]
    fn fields_are_texts() {
        let object =
            object([("spec", object([("n", Value::Int(3)), ("on", Value::Bool(true)), ("none", Value::Null)]))]);
        let field = SelectableField::new(".spec.n");
        assert_eq!((field.name.as_str(), field.text(&object)), ("spec.n", Ok("3".to_owned())));
        assert_eq!(SelectableField::new(".spec.on").text(&object).as_deref(), Ok("true"));
        assert_eq!(SelectableField::new(".spec.none").text(&object).as_deref(), Ok(""));
        assert_eq!(SelectableField::new(".spec.nope.nope").text(&object).as_deref(), Ok(""));
        assert!(SelectableField::new(".spec[").text(&object).is_err());
        assert!(SelectableField::new("..").text(&object).is_err());
    }
}

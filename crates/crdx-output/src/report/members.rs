//! Members that several parts of a JSON report have.

use crdx_engine::report::SourceLocation;
use crdx_value::{Map, Value};

/// Returns the members whose text is not empty.
pub(super) fn present(texts: &[(&str, &str)]) -> Map {
    let present = texts.iter().filter(|(_, text)| !text.is_empty());
    present.map(|(key, text)| ((*key).to_owned(), Value::from(*text))).collect()
}

/// Returns a source location.
pub fn location_object(location: &SourceLocation) -> Value {
    let mut members = Map::from([("source".to_owned(), Value::from(&*location.source))]);
    for (key, n) in [("line", location.line), ("column", location.column)] {
        if n > 0 {
            members.insert(key.to_owned(), Value::Int(n as i64));
        }
    }
    members.into()
}

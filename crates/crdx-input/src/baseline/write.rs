//! Writes a baseline.

use super::read::{BaselineError, VERSION};
use super::{Entry, FindingKey};
use crdx_files::replace::replace;
use crdx_text::yaml;
use crdx_value::{Map, Value, object};
use std::path::Path;

/// The first lines of the file.
const HEAD: &str = "# Written by `kubectl crdx … --write-baseline`: findings that do not fail a run. Say in `reason` why each is accepted.\n";

pub(super) fn write(path: &Path, entries: &[(&FindingKey, &Entry)]) -> Result<(), BaselineError> {
    let findings: Vec<Value> = entries.iter().map(|(key, entry)| finding(key, entry)).collect();
    let mut text = HEAD.to_owned();
    for (key, value) in [("version", Value::Int(VERSION)), ("findings", findings.into())] {
        text.push_str(&yaml::write::to_string(&object([(key, value)])));
    }
    replace(path, text.as_bytes()).map_err(|error| BaselineError::NotWritten { path: path.to_owned(), error })
}

fn finding(key: &FindingKey, entry: &Entry) -> Value {
    let mut members = Map::from([
        ("object".to_owned(), Value::from(key.subject.object.as_str())),
        ("type".to_owned(), key.kind.as_str().into()),
        ("message".to_owned(), key.message.as_str().into()),
        ("reason".to_owned(), entry.known.reason.as_str().into()),
        ("date".to_owned(), entry.known.date.as_str().into()),
    ]);
    if !key.subject.target.is_empty() {
        members.insert("target".to_owned(), key.subject.target.as_str().into());
    }
    members.into()
}

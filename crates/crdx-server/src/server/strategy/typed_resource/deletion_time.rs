//! The deletion time that an update sets. It has its fraction of a second until it is encoded.

use crdx_types::empties::Empties;
use crdx_value::{Value, object};

const KEY: &str = "deletionTimestamp";

/// Returns the metadata of an object whose deletion time has a fraction of a second, which its encoded form omits; `None`
/// if there is no fraction. The update of an object that has a deletion time keeps it (`rest.BeforeUpdate`).
pub(super) fn with_fraction(new: &Value, old: &Value, empties: &Empties) -> Option<Value> {
    let nanos = empties.child("metadata")?.child(KEY)?.nanos();
    if nanos == 0 || old.at(&["metadata", KEY]).is_some() {
        return None;
    }
    let mut members = new.get("metadata")?.as_object()?.clone();
    let time = members.get_mut(KEY)?;
    let text = format!("{}.{nanos:09}Z", time.as_str()?.trim_end_matches('Z'));
    *time = Value::String(text);
    Some(object([("metadata", Value::Object(members))]))
}

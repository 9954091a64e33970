//! The metadata that the server and kubectl write, which is no part of an object in a comparison.

use super::request;
use crdx_server::apply::field_manager::LAST_APPLIED;
use crdx_value::{self as value, Value};

/// Returns true if two states of an object differ at most in metadata written by the server and kubectl.
pub fn equals_apart_from_written_metadata(before: &Value, after: &Value) -> bool {
    fn content(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
        object.as_object().into_iter().flatten().filter(|(key, _)| *key != "metadata")
    }
    // Only the metadata is copied.
    let metadata = |object: &Value| {
        let metadata = object.get("metadata")?.clone();
        Some(without_written_metadata(value::object([("metadata", metadata)])))
    };
    content(before).eq(content(after)) && metadata(before) == metadata(after)
}

/// The object without the metadata that the server and kubectl write.
pub fn without_written_metadata(mut object: Value) -> Value {
    request::remove_server_metadata(&mut object);
    remove_last_applied(&mut object);
    object
}

/// Removes the last-applied annotation of `kubectl apply`, and the annotations map if it becomes empty.
pub(crate) fn remove_last_applied(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        && let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut)
        && annotations.remove(LAST_APPLIED).is_some()
        && annotations.is_empty()
    {
        metadata.remove("annotations");
    }
}

/// Removes values that differ between runs because the server sets them on create, and kubectl's last-applied
/// annotation unless it was requested.
#[cfg(feature = "simulator")]
pub(crate) fn hide_bookkeeping(object: &mut Value, show: bool) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in ["creationTimestamp", "managedFields", "resourceVersion", "uid"] {
            metadata.remove(key);
        }
    }
    if !show {
        remove_last_applied(object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_server::apply::client_side;
    use crdx_text::json;

    #[test]
    fn an_object_without_the_annotation_is_otherwise_the_same() {
        for annotations in [
            "null",
            "{}",
            r#"{"a":null,"b":"1"}"#,
            r#"{"a":1}"#,
            r#"{"kubectl.kubernetes.io/last-applied-configuration":"{}"}"#,
        ] {
            let read = |text: &str| json::read(text.as_bytes()).unwrap();
            let text =
                format!(r#"{{"metadata":{{"annotations":{annotations},"name":"x"}},"spec":{{"a":null,"b":[null]}}}}"#);
            let mut expected = client_side::to_create(read(&text));
            remove_last_applied(&mut expected);
            assert_eq!(client_side::to_create_unannotated(read(&text)), expected, "{annotations}");
        }
    }

    #[test]
    fn books_are_not_part_of_an_object() {
        let read = |text: &str| json::read(text.as_bytes()).unwrap();
        let kept = read(
            r#"{"metadata":{"name":"a","uid":"u","generation":3,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}},"spec":1}"#,
        );
        assert_eq!(without_written_metadata(kept), read(r#"{"metadata":{"name":"a"},"spec":1}"#));
        let own = read(r#"{"metadata":{"annotations":{"a":"b"}}}"#);
        assert_eq!(without_written_metadata(own.clone()), own);
    }
}

//! Helpers of the admission plugins that depend on the object alone (`plugin/pkg/admission`).

use crdx_value::Value;

/// `StorageObjectInUseProtection`
pub(crate) fn add_finalizer(object: &mut Value, finalizer: &str) {
    let path = ["metadata", "finalizers"];
    if !items(object, &path).iter().any(|other| other.as_str() == Some(finalizer)) {
        append(object, &path, finalizer.into());
    }
}

pub(crate) fn items<'o>(object: &'o Value, path: &[&str]) -> &'o [Value] {
    object.at(path).and_then(Value::as_array).unwrap_or_default()
}

pub(crate) fn append(object: &mut Value, path: &[&str], item: Value) {
    let mut items = items(object, path).to_vec();
    items.push(item);
    object.insert_at(path, items.into());
}

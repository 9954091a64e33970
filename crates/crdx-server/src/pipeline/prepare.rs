//! Sets status and generation before validation (`PrepareForCreate` and `PrepareForUpdate` in
//! `apiextensions-apiserver/pkg/registry/customresource/{strategy,status_strategy}.go`).

use super::ResourceVersion;
use crdx_value::{Map, Value};

/// Prepares a new object: drops the status if it is a subresource, and sets generation 1.
pub fn prepare_create(rv: &ResourceVersion, object: &mut Value) {
    if rv.facts.status_subresource
        && let Some(members) = object.as_object_mut()
    {
        members.remove("status");
    }
    set_generation(object, 1);
}

/// Prepares an update: keeps the old status if it is a subresource, and increments the generation if anything except
/// metadata changes. The caller has set the generation to the old one, like `rest.BeforeUpdate`.
pub fn prepare_update(rv: &ResourceVersion, object: &mut Value, old: &Value) {
    let Some(old_members) = old.as_object() else { return };
    if rv.facts.status_subresource {
        restore(object, old, "status");
    }
    if let Some(members) = object.as_object_mut() {
        let rest = |m: &Map| m.len() - usize::from(m.contains_key("metadata"));
        let unchanged = rest(members) == rest(old_members)
            && members.iter().filter(|(key, _)| *key != "metadata").all(|(key, v)| old_members.get(key) == Some(v));
        if unchanged {
            return;
        }
    }
    let generation = old.at(&["metadata", "generation"]).and_then(Value::as_int).unwrap_or(0);
    set_generation(object, generation.wrapping_add(1));
}

/// Prepares a status update: the old object with the new status and managedFields.
pub fn prepare_status_update(object: &mut Value, old: &Value) {
    let new = std::mem::replace(object, old.clone());
    let (mut status, mut managed_fields) = (None, None);
    if let Value::Object(mut members) = new {
        status = members.remove("status");
        if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
            managed_fields = metadata.remove("managedFields");
        }
    }
    let Some(members) = object.as_object_mut() else { return };
    replace(members, "status", status);
    match members.get_mut("metadata") {
        Some(Value::Object(metadata)) => replace(metadata, "managedFields", managed_fields),
        _ => {
            if let Some(fields) = managed_fields {
                let metadata = Map::from([("managedFields".to_owned(), fields)]);
                members.insert("metadata".to_owned(), Value::Object(metadata));
            }
        }
    }
}

/// Restores a top-level field of the old object, or its absence.
pub fn restore(object: &mut Value, old: &Value, field: &str) {
    if let Some(members) = object.as_object_mut() {
        replace(members, field, old.get(field).cloned());
    }
}

fn replace(members: &mut Map, key: &str, v: Option<Value>) {
    match v {
        Some(v) => {
            members.insert(key.to_owned(), v);
        }
        None => {
            members.remove(key);
        }
    }
}

/// `SetGeneration`: 0 removes it.
fn set_generation(object: &mut Value, generation: i64) {
    let Some(members) = object.as_object_mut() else { return };
    if generation == 0 && !members.contains_key("metadata") {
        return;
    }
    let metadata = members.entry("metadata".to_owned()).or_insert_with(|| Value::Object(Map::new()));
    if let Some(metadata) = metadata.as_object_mut() {
        replace(metadata, "generation", (generation != 0).then_some(Value::Int(generation)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::{foo, json, version};

    fn with_status(v: &Value, status: &str) -> Value {
        let mut v = v.clone();
        v.as_object_mut().unwrap().insert("status".to_owned(), json(status));
        v
    }

    #[test]
    fn changes_except_metadata_increment_the_generation() {
        let mut rv = version("{}");
        let old = with_status(&foo(r#"{"a":1}"#), "{}");
        let generation = |rv: &ResourceVersion, new: Value| {
            let mut new = new;
            prepare_update(rv, &mut new, &old);
            new.at(&["metadata", "generation"]).and_then(Value::as_int)
        };
        assert_eq!(generation(&rv, old.clone()), Some(1));
        assert_eq!(generation(&rv, with_status(&foo(r#"{"a":1.0}"#), "{}")), Some(2));
        assert_eq!(generation(&rv, with_status(&old, r#"{"x":1}"#)), Some(2));
        rv.facts.status_subresource = true;
        assert_eq!(generation(&rv, with_status(&old, r#"{"x":1}"#)), Some(1));
    }

    #[test]
    fn status_updates_change_only_the_status() {
        let old = foo(r#"{"a":1}"#);
        let mut new = with_status(&foo(r#"{"a":2}"#), r#"{"x":1}"#);
        new.get_mut("metadata").unwrap().as_object_mut().unwrap().insert("managedFields".to_owned(), json("[{}]"));
        prepare_status_update(&mut new, &old);
        assert_eq!(new.at(&["spec", "a"]), Some(&Value::Int(1)));
        assert_eq!(new.at(&["status", "x"]), Some(&Value::Int(1)));
        assert_eq!(new.at(&["metadata", "managedFields"]), Some(&json("[{}]")));
    }
}

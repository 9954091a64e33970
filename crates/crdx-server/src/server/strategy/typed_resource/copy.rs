//! Copies fields between two objects.

use crdx_value::Value;

/// Copies the field at a path, or its absence.
pub(super) fn copy(new: &mut Value, old: &Value, path: &[&str]) {
    let Some((last, parents)) = path.split_last() else { return };
    let Some(members) = parents.iter().try_fold(new, |value, key| value.get_mut(key)).and_then(Value::as_object_mut)
    else {
        return;
    };
    match old.at(path) {
        Some(value) => {
            members.insert((*last).to_owned(), value.clone());
        }
        None => {
            members.remove(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    #[test]
    fn an_absent_field_is_removed() {
        let read = |text: &str| json::read(text.as_bytes()).unwrap();
        let mut new = read(r#"{"spec":{"a":1,"b":2}}"#);
        let old = read(r#"{"spec":{"a":3}}"#);
        copy(&mut new, &old, &["spec", "a"]);
        copy(&mut new, &old, &["spec", "b"]);
        assert_eq!(new, old);
    }
}

//! Hides the values of Secrets as `kubectl diff` does (`Masker` in `k8s.io/kubectl/pkg/cmd/diff`).

use crdx_value::{Map, Value};

const SAME: &str = "***";
const BEFORE: &str = "*** (before)";
const AFTER: &str = "*** (after)";

/// Replaces the values in the data of a Secret. Values that differ stay different.
pub fn mask(before: Option<&mut Value>, after: Option<&mut Value>) {
    let (mut none, mut no_more) = (Map::new(), Map::new());
    let from = before.and_then(data).unwrap_or(&mut none);
    let to = after.and_then(data).unwrap_or(&mut no_more);
    for (key, value) in from.iter_mut() {
        let (mut shown, mut shown_after) = (SAME, SAME);
        if let Some(new) = to.get_mut(key) {
            if value != new {
                (shown, shown_after) = (BEFORE, AFTER);
            }
            *new = shown_after.into();
        }
        *value = shown.into();
    }
    for (_, value) in to.iter_mut().filter(|(key, _)| !from.contains_key(key)) {
        *value = SAME.into();
    }
}

fn data(secret: &mut Value) -> Option<&mut Map> {
    secret.get_mut("data")?.as_object_mut()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::json::to_string;

    #[test]
    fn values_are_hidden_and_differences_are_shown() {
        let read = |text: &str| json::read(text.as_bytes()).unwrap();
        let mut before = read(r#"{"data":{"a":"1","b":"2","gone":"3"},"kind":"Secret"}"#);
        let mut after = read(r#"{"data":{"a":"1","b":"5","new":"4"},"kind":"Secret"}"#);
        mask(Some(&mut before), Some(&mut after));
        assert_eq!(to_string(&before), r#"{"data":{"a":"***","b":"*** (before)","gone":"***"},"kind":"Secret"}"#);
        assert_eq!(to_string(&after), r#"{"data":{"a":"***","b":"*** (after)","new":"***"},"kind":"Secret"}"#);
        let mut new = read(r#"{"data":{"a":"1"}}"#);
        mask(None, Some(&mut new));
        assert_eq!(to_string(&new), r#"{"data":{"a":"***"}}"#);
        mask(None, None);
    }
}

//! Lists, as kubectl reads them: an object with the member `items` is a list, whatever its kind (`unstructuredJSONScheme`
//! in `k8s.io/apimachinery`), and a `List` of `v1` is validated before any of its items is sent (`validation.go` in
//! `k8s.io/kubectl/pkg/validation`).

use super::mistake;
use crdx_value::Value;

/// The reason why kubectl sends no object of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListError {
    /// The path of the wrong value in the document.
    pub field: String,
    /// The message.
    pub message: String,
}

impl ListError {
    /// The help line.
    pub fn hint(&self) -> &'static str {
        if self.field.starts_with("metadata") {
            "remove it, or correct its type"
        } else if self.field == "items" {
            "kubectl reads an object with the field items as a list, whatever its kind: items must be a list of objects"
        } else {
            "kubectl checks all items of a list before it sends one: it would send none of them"
        }
    }
}

/// Returns true if kubectl reads a document as a list. Without kind and apiVersion it is not an object.
pub fn is_list(document: &Value) -> bool {
    let has = |key| document.get(key).is_some();
    has("items") && (has("kind") || has("apiVersion"))
}

/// Returns true for a list without items.
pub fn is_empty(list: &Value) -> bool {
    match list.get("items") {
        None | Some(Value::Null) => true,
        items => items.and_then(Value::as_array).is_some_and(<[Value]>::is_empty),
    }
}

/// Returns the reasons why kubectl sends no object of a list.
pub fn errors(list: &Value) -> Vec<ListError> {
    let error = |field: &str, message: &str| ListError { field: field.to_owned(), message: message.to_owned() };
    if let Some((field, message)) = mistake(list) {
        return vec![error(field, &message)];
    }
    if let Some(field) = wrong_metadata(list) {
        return vec![error(&field, "kubectl cannot decode the metadata of the list: the value has a wrong type")];
    }
    let text = |key| list.str_at(&[key]).unwrap_or_default();
    let is_validated = text("kind") == "List" && text("apiVersion") == "v1";
    let items = match list.get("items") {
        Some(Value::Array(items)) => items,
        Some(Value::Null) | None if !is_validated => return Vec::new(),
        _ => return vec![error("items", "items is not a list")],
    };
    let item_error = |(index, item): (usize, &Value)| {
        let at = |field: &str| {
            let dot = if field.is_empty() { "" } else { "." };
            format!("items[{index}]{dot}{field}")
        };
        if item.as_object().is_none() {
            return Some(error(&at(""), "the item is not an object"));
        }
        if matches!(item.get("items"), Some(Value::Array(_))) {
            return Some(error(&at("items"), "the item is a list, and kubectl does not read lists in lists"));
        }
        // An empty string is an error of the item only.
        let (field, message) = mistake(item).filter(|_| is_validated)?;
        (item.get(field).and_then(Value::as_str) != Some("")).then(|| error(&at(field), &message))
    };
    items.iter().enumerate().filter_map(item_error).collect()
}

/// Returns the path of a value of a wrong type in the metadata of a list, which kubectl decodes like that of an object.
fn wrong_metadata(list: &Value) -> Option<String> {
    let metadata = list.get("metadata").filter(|metadata| !metadata.is_null())?;
    let Some(members) = metadata.as_object() else { return Some("metadata".to_owned()) };
    let is_text = |value: &Value| value.is_null() || value.as_str().is_some();
    let texts = ["name", "namespace", "generateName", "resourceVersion", "selfLink", "uid"];
    let text = texts.into_iter().find(|key| members.get(key).is_some_and(|value| !is_text(value)));
    let map = || {
        ["labels", "annotations"].into_iter().find(|key| match members.get(key) {
            None | Some(Value::Null) => false,
            Some(Value::Object(map)) => !map.values().all(is_text),
            Some(_) => true,
        })
    };
    text.or_else(map).map(|key| format!("metadata.{key}"))
}

/// Returns the reason why kubectl does not send an item: it finds no name in an object with the member `items`.
pub fn item_error(item: &Value) -> Option<(&'static str, String)> {
    item.get("items")
        .map(|_| ("items", "an item of a list with the field items: resource name may not be empty".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    const OK: &str = "{apiVersion: example.com/v1, kind: Kite, metadata: {name: ok}}";

    /// The fields with errors; `None` if the document is not a list.
    fn wrong(text: &str) -> Option<String> {
        let value = yaml::read(text.as_bytes()).unwrap();
        let errors = || errors(&value).into_iter().map(|error| error.field).collect::<Vec<_>>().join(" ");
        is_list(&value).then(errors)
    }

    /// The answers of kubectl 1.37 with a real server: see `tests/facts/kubectl-lists.jsonl`.
    #[test]
    fn lists_are_those_of_kubectl() {
        let kite = |items: &str| wrong(&format!("{{apiVersion: example.com/v1, kind: Kite, items: {items}}}"));
        for items in ["[]", "null", &format!("[{OK}]"), "[{metadata: {name: a}}]", "[{kind: Kite}]", "[{kind: 7}]"] {
            assert_eq!(kite(items).as_deref(), Some(""), "{items}");
        }
        for items in ["{a: b}", "abc", "3", "true"] {
            assert_eq!(kite(items).as_deref(), Some("items"), "{items}");
        }
        assert_eq!(kite("[a, {}, 3]").as_deref(), Some("items[0] items[2]"));
        assert_eq!(
            kite(&format!("[{OK}, {{apiVersion: v1, kind: List, items: []}}]")).as_deref(),
            Some("items[1].items")
        );
        assert_eq!(wrong("{apiVersion: example.com/v1, kind: Kite, Items: 3}"), None);
        assert_eq!(wrong("{apiVersion: v1, kind: List}"), None);
        assert_eq!(wrong("items: 3"), None);
        let of = |metadata: &str| {
            wrong(&format!("{{apiVersion: v1, kind: List, metadata: {metadata}, items: []}}")).unwrap()
        };
        assert_eq!(of("{name: a, labels: {a: b, c: null}, resourceVersion: ''}"), "");
        assert_eq!(
            [of("abc"), of("{labels: {a: 1}}"), of("{uid: 7}")],
            ["metadata", "metadata.labels", "metadata.uid"]
        );
    }

    #[test]
    fn a_list_of_v1_is_validated_before_it_is_sent() {
        let list = |items: &str| wrong(&format!("{{apiVersion: v1, kind: List, items: {items}}}")).unwrap();
        assert_eq!(list("[]"), "");
        assert_eq!(list(&format!("[{OK}]")), "");
        assert_eq!(list("null"), "items");
        assert_eq!(list("[{apiVersion: v1}, {kind: A}, {}, null, a]"), "items[0] items[1] items[2] items[3] items[4]");
        assert_eq!(
            list("[{apiVersion: v1, kind: 7}, {apiVersion: a/b/c, kind: A}]"),
            "items[0].kind items[1].apiVersion"
        );
        assert_eq!(list("[{apiVersion: v1, kind: ''}]"), "");
        assert_eq!(errors(&yaml::read(b"{kind: List, items: []}").unwrap())[0].message, "no apiVersion");
        assert_eq!(wrong("{apiVersion: 7, kind: List, items: []}").as_deref(), Some("apiVersion"));
    }
}

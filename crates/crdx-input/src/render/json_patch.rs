//! The values that the operations of a JSON patch set.

use crdx_value::Value;

/// Returns the path in a patch of the value that is set at a JSON pointer; `None` if no operation sets it, or several may.
pub fn value_at(patch: &Value, pointer: &str) -> Option<String> {
    let operations = patch.as_array()?.iter().enumerate();
    let mut found = operations.filter_map(|(index, operation)| {
        let sets = matches!(operation.str_at(&["op"]), Some("add" | "replace"));
        let inside = below(operation.str_at(&["path"])?, pointer).filter(|_| sets)?;
        // An appended item may be another one than that at the index.
        let value = inside.iter().try_fold(operation.get("value")?, |value, part| member(value, part));
        value?;
        let names = inside.join("][");
        Some(if names.is_empty() { format!("[{index}].value") } else { format!("[{index}].value[{names}]") })
    });
    found.next().filter(|_| found.next().is_none())
}

/// Returns the parts of a pointer below the path of an operation. A `-` matches the index of an appended item.
fn below(path: &str, pointer: &str) -> Option<Vec<String>> {
    let mut parts = pointer.split('/');
    for part in path.split('/') {
        let own = parts.next()?;
        let is_appended = part == "-" && own.parse::<usize>().is_ok();
        if own != part && !is_appended {
            return None;
        }
    }
    Some(parts.map(|part| part.replace("~1", "/").replace("~0", "~")).collect())
}

fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => value.get(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "[{op: add, path: /spec/ports/-, value: {name: http}}, {op: replace, path: /spec/image, value: ''}, {op: add, path: /spec/volumes, value: [{name: x}]}, {op: remove, path: /spec/x}]";

    #[test]
    fn an_operation_sets_what_is_below_its_path() {
        let patch = crdx_text::yaml::read(PATCH.as_bytes()).unwrap();
        let at = |pointer: &str| value_at(&patch, pointer);
        assert_eq!(at("/spec/image").as_deref(), Some("[1].value"));
        assert_eq!(at("/spec/volumes/0/name").as_deref(), Some("[2].value[0][name]"));
        assert_eq!(at("/spec/ports/1/name").as_deref(), Some("[0].value[name]"), "it is appended");
        for pointer in ["/spec/volumes/1/name", "/spec/imageX", "/spec/x", "/spec", "/spec/ports/1/port"] {
            assert_eq!(at(pointer), None, "{pointer}");
        }
        let twice =
            format!("{}, {{op: add, path: /spec/ports/-, value: {{name: http}}}}]", PATCH.trim_end_matches(']'));
        assert_eq!(value_at(&crdx_text::yaml::read(twice.as_bytes()).unwrap(), "/spec/ports/1/name"), None);
    }
}

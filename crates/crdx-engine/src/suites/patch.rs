//! `initialCRDPatches`: JSON patches as `vmware-archive/yaml-patch` applies them to the file of a CRD. A path may
//! select items of a list by a member, as in `/spec/versions/name=v1/served`.

use crdx_server::apply::json_patch::{self, Patch, PatchOperation};
use crdx_value::Value;

/// The operation that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {operation}: {cause}")]
pub struct PatchError {
    /// The number of the operation, from 1.
    pub operation: usize,
    /// The reason.
    pub cause: PatchFailure,
}

/// The reason why an operation cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchFailure {
    /// The operation is not known.
    #[error("unexpected op {0:?}; use add, remove or replace")]
    UnknownOperation(String),
    /// The path selects nothing.
    #[error("could not expand pointer: {0}")]
    NoMatch(String),
    /// The document has no value at the path.
    #[error("{op} operation does not apply: doc is missing key: {path}")]
    MissingKey {
        /// The operation.
        op: String,
        /// The path.
        path: String,
    },
    /// The value cannot be changed.
    #[error(transparent)]
    NotApplied(json_patch::PatchError),
}

/// Applies all operations to a CRD.
///
/// # Errors
/// Returns the error of the first operation that cannot be applied.
pub fn apply(patches: &[Value], crd: &Value) -> Result<Value, PatchError> {
    let mut document = crd.clone();
    for (index, patch) in patches.iter().enumerate() {
        let text = |key: &str| patch.str_at(&[key]).unwrap_or_default();
        let (op, path) = (text("op"), text("path"));
        let failed = |cause| PatchError { operation: index + 1, cause };
        if !matches!(op, "add" | "remove" | "replace") {
            return Err(failed(PatchFailure::UnknownOperation(op.to_owned())));
        }
        let paths = expand(path, &document);
        if paths.is_empty() {
            return Err(failed(PatchFailure::NoMatch(path.to_owned())));
        }
        for path in paths {
            let (parent, last) = path.rsplit_once('/').unwrap_or_default();
            let found = at(&document, parent).and_then(|parent| member(parent, last));
            if op != "add" && found.is_none() {
                return Err(failed(PatchFailure::MissingKey { op: op.to_owned(), path }));
            }
            let value = Some(patch.get("value").cloned().unwrap_or_default());
            let operation = PatchOperation { op: op.to_owned(), path: Ok(path), from: Ok(String::new()), value };
            Patch::unlimited()
                .apply(&operation, &mut document)
                .map_err(|error| failed(PatchFailure::NotApplied(error)))?;
        }
    }
    Ok(document)
}

/// Returns the paths that match a pattern: a segment `key=value` matches each item of a list whose field `key` is
/// `value`.
fn expand(path: &str, document: &Value) -> Vec<String> {
    let mut paths = vec![String::new()];
    for segment in path.split('/').skip(1) {
        let condition = segment.split_once('=');
        let next = paths.iter().flat_map(|path| match condition {
            None => vec![format!("{path}/{segment}")],
            Some((key, wanted)) => {
                let items = at(document, path).and_then(Value::as_array).unwrap_or_default();
                let fits = |item: &Value| item.str_at(&[key]) == Some(wanted);
                let found = items.iter().enumerate().filter(|(_, item)| fits(item));
                found.map(|(index, _)| format!("{path}/{index}")).collect()
            }
        });
        paths = next.collect();
    }
    paths
}

fn at<'v>(document: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('/').skip(1).try_fold(document, member)
}

fn member<'v>(value: &'v Value, segment: &str) -> Option<&'v Value> {
    match value {
        Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
        _ => value.get(&segment.replace("~1", "/").replace("~0", "~")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    fn patched(patches: &str) -> Result<Value, PatchError> {
        let crd = yaml::read(b"a: {list: [{name: x, m: 1}, {name: u, m: 2}]}").unwrap();
        let Value::Array(patches) = yaml::read(patches.as_bytes()).unwrap() else { panic!() };
        apply(&patches, &crd)
    }

    #[test]
    fn operations_apply_in_order() {
        let done = patched(
            "[{op: remove, path: /a/list/0}, {op: replace, path: /a/list/0/m, value: 3}, {op: add, path: /a/b, value: [1]}]",
        );
        assert_eq!(done, Ok(yaml::read(b"a: {b: [1], list: [{name: u, m: 3}]}").unwrap()));
    }

    #[test]
    fn items_are_selected_by_a_member() {
        let done = patched("[{op: remove, path: /a/list/name=u/m}]");
        assert_eq!(done, Ok(yaml::read(b"a: {list: [{name: x, m: 1}, {name: u}]}").unwrap()));
    }

    #[test]
    fn operations_that_do_not_apply_are_errors() {
        for (patches, error) in [
            ("[{op: remove, path: /a/c}]", "operation 1: remove operation does not apply: doc is missing key: /a/c"),
            (
                "[{op: replace, path: /a/list/7, value: 1}]",
                "operation 1: replace operation does not apply: doc is missing key: /a/list/7",
            ),
            ("[{op: remove, path: /a/list/name=z}]", "operation 1: could not expand pointer: /a/list/name=z"),
            ("[{op: test, path: /a, value: 1}]", "operation 1: unexpected op \"test\"; use add, remove or replace"),
        ] {
            assert_eq!(patched(patches).unwrap_err().to_string(), error);
        }
    }
}

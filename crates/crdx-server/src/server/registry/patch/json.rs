//! JSON patches (RFC 6902) with the semantics of `evanphx/json-patch` 4.
//!
//! The library differs from the RFC: `replace` of a missing member adds it; `copy` of a missing member adds null; a
//! missing `value` is null; the part of a path before the first slash is ignored; and indexes may be negative. The
//! server's error does not say why a patch cannot be applied.

use super::has_float;
use crate::apply::json_patch::text::Sources;
use crate::apply::json_patch::{self, Expected, Patch, PatchOperation, index, unescape};
use crate::apply::raw::Raw;
use crate::server::http::status::Refusal;
use crdx_text::strict::StrictError;
use crdx_value::Value;
use crdx_value::json::go_kind;
use crdx_value::release::Release;
use std::fmt::Write as _;

/// The maximum number of operations in a patch.
const MAX_OPERATIONS: usize = 10_000;

const FIELDS: [&str; 4] = ["op", "path", "from", "value"];

/// Returns the duplicate keys that are fields of an operation or are below its value. Others are not reported.
pub(super) fn duplicates(in_patch: &[StrictError]) -> Vec<StrictError> {
    in_patch.iter().filter(|error| duplicate_path(error).is_none_or(is_known_field)).cloned().collect()
}

/// The path of a duplicate key.
fn duplicate_path(error: &StrictError) -> Option<&str> {
    if let StrictError::DuplicateField(path) = error { Some(path) } else { None }
}

fn is_known_field(path: &str) -> bool {
    let Some((_, field)) = path.split_once("].") else { return true };
    FIELDS.iter().any(|f| field.strip_prefix(f).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])))
}

/// Decodes the operations strictly: rejects values of wrong types and returns the unknown fields.
pub(super) fn check(patch: &Value) -> Result<Vec<StrictError>, Refusal> {
    let refuse = |value: &Value, into: &str| {
        let text = format!("error decoding patch: json: cannot unmarshal {} into Go {into}", go_kind(value));
        Err(Refusal::bad_request(text))
    };
    let operations = match patch {
        Value::Null => return Ok(Vec::new()),
        Value::Array(operations) => operations,
        other => return refuse(other, "value of type []handlers.jsonPatchOp"),
    };
    let mut unknown = Vec::new();
    for (i, operation) in operations.iter().enumerate() {
        let members = match operation {
            Value::Null => continue,
            Value::Object(members) => members,
            other => return refuse(other, "value of type handlers.jsonPatchOp"),
        };
        for (key, value) in members {
            if !FIELDS.contains(&key.as_str()) {
                unknown.push(StrictError::UnknownField(format!("[{i}].{key}")));
            } else if key != "value" && !matches!(value, Value::String(_) | Value::Null) {
                return refuse(value, &format!("struct field jsonPatchOp.{key} of type string"));
            }
        }
    }
    Ok(unknown)
}

/// The result of a patch.
pub(super) struct Patched {
    /// The patched document.
    pub document: Value,
    /// The target of each operation's value: the index of the operation, and the path as written in strict decoding
    /// errors.
    pub targets: Vec<(usize, String)>,
}

impl Patched {
    /// The errors for duplicate keys in operation values, with the paths at which the values are in the patched
    /// document. The server reports these in addition to the errors for the patch itself.
    pub fn duplicates(&self, in_patch: &[StrictError]) -> Vec<StrictError> {
        let moved = |(i, target_path): &(usize, String)| -> Vec<StrictError> {
            let prefix = format!("[{i}].value");
            let rests = in_patch.iter().filter_map(|error| duplicate_path(error)?.strip_prefix(&prefix));
            rests
                .filter(|rest| rest.starts_with(['.', '[']))
                .map(|rest| format!("{target_path}{rest}").trim_start_matches('.').to_owned())
                .map(StrictError::DuplicateField)
                .collect()
        };
        self.targets.iter().flat_map(moved).collect()
    }
}

/// Applies the operations in order. `raw` is the patch with its source texts, `text` its whole text.
pub(super) fn apply(
    patch: &Value,
    raw: &Raw,
    text: &[u8],
    mut document: Value,
    release: Release,
) -> Result<Patched, Refusal> {
    let operations = json_patch::operations(patch).map_err(|error| Refusal::bad_request(error.to_string()))?;
    if operations.len() > MAX_OPERATIONS {
        return Err(Refusal::too_large(&format!(
            "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
            operations.len()
        )));
    }
    let mut applied = Patch::of_request(release);
    let mut targets = Vec::new();
    // A `test` may find a number that the patch itself has written, such as `1.0`.
    let sources = (*raw != Raw::Null && has_float(patch)).then(|| Sources::new(text, &document));
    let mut texts = sources.as_ref().map(Sources::start);
    for (i, operation) in operations.iter().enumerate() {
        if let Some(target_path) = target_path(operation, &document) {
            targets.push((i, target_path));
        }
        let written = raw.item(i).and_then(|o| o.get("value"));
        let compared = texts.as_mut().map(|texts| Expected::Compared(texts.step()));
        let expected = compared.unwrap_or(Expected::Text(written));
        applied.step(&PatchOperation::decode(operation), expected, &mut document).map_err(|error| {
            if error.is_unfinished() { Refusal::unfinished() } else { Refusal::patch_does_not_apply() }
        })?;
    }
    Ok(Patched { document, targets })
}

/// The path to which `add` or `replace` writes its value.
fn target_path(operation: &Value, document: &Value) -> Option<String> {
    if !matches!(operation.str_at(&["op"]), Some("add" | "replace")) {
        return None;
    }
    let mut out = String::new();
    let mut at = Some(document);
    for part in operation.str_at(&["path"])?.split('/').skip(1).map(unescape) {
        if let Some(Value::Array(items)) = at {
            let i = if part == "-" { items.len() } else { index(&part, items.len() + 1).ok()? };
            let _ = write!(out, "[{i}]");
            at = items.get(i);
        } else {
            out.push('.');
            out.push_str(&part);
            at = at.and_then(|v| v.get(&part));
        }
    }
    Some(out.trim_start_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    fn patched(document: &str, patch: &str) -> Option<String> {
        patched_by(Release::NEWEST, document, patch)
    }

    fn patched_by(release: Release, document: &str, patch: &str) -> Option<String> {
        let read = |text: &str| read(text.as_bytes()).unwrap();
        apply(&read(patch), &Raw::read(patch).unwrap(), patch.as_bytes(), read(document), release)
            .ok()
            .map(|v| crdx_value::json::to_string(&v.document))
    }

    #[test]
    fn operations_do_what_the_library_does() {
        let doc = r#"{"a":{"b":[1,2]},"n":null}"#;
        for (patch, expected) in [
            (r#"[{"op":"add","path":"/a/b/-","value":3}]"#, r#"{"a":{"b":[1,2,3]},"n":null}"#),
            (r#"[{"op":"add","path":"/a/b/-1","value":3}]"#, r#"{"a":{"b":[1,2,3]},"n":null}"#),
            (r#"[{"op":"add","path":"/a/b/0","value":3}]"#, r#"{"a":{"b":[3,1,2]},"n":null}"#),
            (r#"[{"op":"replace","path":"/x","value":3}]"#, r#"{"a":{"b":[1,2]},"n":null,"x":3}"#),
            (r#"[{"op":"remove","path":"/a/b/-1"}]"#, r#"{"a":{"b":[1]},"n":null}"#),
            (r#"[{"op":"move","from":"/a/b","path":"/n"}]"#, r#"{"a":{},"n":[1,2]}"#),
            (r#"[{"op":"copy","from":"/x","path":"/y"}]"#, r#"{"a":{"b":[1,2]},"n":null,"y":null}"#),
            (r#"[{"op":"test","path":"/a/b","value":[1,2]},{"op":"remove","path":"/n"}]"#, r#"{"a":{"b":[1,2]}}"#),
            (r#"[{"op":"add","path":"ignored/x~1~0y","value":1}]"#, r#"{"a":{"b":[1,2]},"n":null,"x/~y":1}"#),
            (
                r#"[{"op":"add","path":"/n","value":[1.0]},{"op":"test","path":"/n","value":[1.0]}]"#,
                r#"{"a":{"b":[1,2]},"n":[1]}"#,
            ),
        ] {
            assert_eq!(patched(doc, patch).as_deref(), Some(expected), "{patch}");
        }
        for patch in [
            r#"[{"op":"remove","path":"/x"}]"#,
            r#"[{"op":"replace","path":"/a/b/2","value":3}]"#,
            r#"[{"op":"add","path":"/x/y","value":3}]"#,
            r#"[{"op":"add","path":"/a/b/4","value":3}]"#,
            r#"[{"op":"test","path":"/a/b/0","value":1.0}]"#,
            r#"[{"op":"add","path":"/n","value":[1.0]},{"op":"test","path":"/n","value":[1]}]"#,
            r#"[{"op":"add","path":"","value":3}]"#,
            r#"[{"op":"nope","path":"/a"}]"#,
        ] {
            assert_eq!(patched(doc, patch), None, "{patch}");
        }
        assert_eq!(patched("{}", r#"[{"op":"replace","path":"","value":{}}]"#), Some("{}".to_owned()));
    }

    #[test]
    fn before_1_35_a_scalar_does_not_replace_the_document() {
        let patch = r#"[{"op":"replace","path":"","value":-1}]"#;
        assert_eq!(patched_by(Release::new(34).unwrap(), r#"{"a":1}"#, patch).as_deref(), Some(r#"{"a":1}"#));
        assert_eq!(patched_by(Release::new(35).unwrap(), r#"{"a":1}"#, patch), None);
    }

    #[test]
    fn operations_are_read_strictly() {
        let check = |text: &str| check(&read(text.as_bytes()).unwrap());
        assert_eq!(check(r#"[{"op":"add","y":1}]"#), Ok(vec![StrictError::UnknownField("[0].y".to_owned())]));
        assert_eq!(
            check(r#"[{"op":1}]"#).unwrap_err().message,
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"
        );
        let duplicate = |path: &str| StrictError::DuplicateField(path.to_owned());
        let found = ["[0].value.x", "[0].y", "[0].op", "[0].opx"].map(duplicate);
        assert_eq!(duplicates(&found), ["[0].value.x", "[0].op"].map(duplicate));
    }

    #[test]
    fn duplicates_are_reported_at_the_target_path() {
        let read = |text: &str| read(text.as_bytes()).unwrap();
        let patch = read(r#"[{"op":"add","path":"/spec/l/-","value":{"a":2}}]"#);
        let Ok(patched) = apply(&patch, &Raw::Null, b"", read(r#"{"spec":{"l":[1]}}"#), Release::NEWEST) else {
            panic!("refused")
        };
        let duplicate = |path: &str| StrictError::DuplicateField(path.to_owned());
        assert_eq!(patched.duplicates(&[duplicate("[0].value.a")]), [duplicate("spec.l[1].a")]);
    }
}

//! JSON patches (RFC 6902) with the semantics and error messages of `evanphx/json-patch` 4.
//!
//! The library differs from the RFC: `replace` of a missing member adds it; `copy` of a missing member adds null; a
//! missing `value` is null; the part of a path before the first slash is ignored; and indexes may be negative.

pub(crate) mod text;

use super::raw::Raw;
use crdx_value::json::go_kind;
use crdx_value::release::{Release, V1_35};
use crdx_value::steps::{Spent, Steps};
use crdx_value::{Value, json, quote};

/// An operation of a patch.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchOperation {
    /// `op`
    pub op: String,
    /// `path`
    pub path: Result<String, MemberError>,
    /// `from`
    pub from: Result<String, MemberError>,
    /// `value`
    pub value: Option<Value>,
}

/// The reason why `path` or `from` of an operation cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemberError {
    /// There is no path.
    #[error("operation missing path field: {MISSING}")]
    NoPath,
    /// There is no source.
    #[error("operation, missing from field: {MISSING}")]
    NoFrom,
    /// The character after a backslash, which is no escape of JSON.
    #[error("invalid character '{0}' in string escape code")]
    Escape(char),
}

impl PatchOperation {
    /// Decodes an operation of a request. Members that are not strings count as missing.
    pub fn decode(operation: &Value) -> Self {
        let text = |key: &str| operation.str_at(&[key]).map(str::to_owned);
        Self {
            op: text("op").unwrap_or_else(|| "unknown".to_owned()),
            path: text("path").ok_or(MemberError::NoPath),
            from: text("from").ok_or(MemberError::NoFrom),
            value: operation.get("value").cloned(),
        }
    }
}

/// The error for a value that is not a list of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("json: cannot unmarshal {found} into Go value of type jsonpatch.{expected}")]
pub struct UnmarshalError {
    found: &'static str,
    expected: &'static str,
}

/// The operations of a patch (`jsonpatch.DecodePatch`); null is a patch without operations.
///
/// # Errors
/// Returns Go's message if the value is not a list of objects.
pub fn operations(patch: &Value) -> Result<&[Value], UnmarshalError> {
    let operations = match patch {
        Value::Null => &[][..],
        Value::Array(operations) => operations,
        other => return Err(UnmarshalError { found: go_kind(other), expected: "Patch" }),
    };
    match operations.iter().find(|operation| !matches!(operation, Value::Object(_) | Value::Null)) {
        None => Ok(operations),
        Some(other) => Err(UnmarshalError { found: go_kind(other), expected: "Operation" }),
    }
}

/// The error of an operation that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatchError {
    message: String,
    kind: PatchErrorKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatchErrorKind {
    NotApplied,
    FailedTest,
    Unfinished,
}

impl PatchError {
    fn new(message: String) -> Self {
        Self { message, kind: PatchErrorKind::NotApplied }
    }

    /// Returns true if a `test` operation found a different value.
    pub(crate) fn is_failed_test(&self) -> bool {
        self.kind == PatchErrorKind::FailedTest
    }

    /// Returns true if the patch moves more items of lists than this program does for one patch.
    pub fn is_unfinished(&self) -> bool {
        self.kind == PatchErrorKind::Unfinished
    }
}

/// The maximum number of bytes that the `copy` operations of a patch of a request may add in total.
const COPY_LIMIT: usize = 3 * 1024 * 1024;

/// The state of a patch while it is applied.
#[derive(Clone, Debug)]
pub struct Patch {
    copied: usize,
    copy_limit: Option<usize>,
    /// The steps that are left for moving items of lists.
    steps: Steps,
    /// True for json-patch 4.12, in which replacing the whole document with a scalar has no effect.
    ignores_scalar_roots: bool,
}

impl Patch {
    /// Starts a patch that a client or webhook sends to a server of this release.
    pub fn of_request(release: Release) -> Self {
        Self { ignores_scalar_roots: !release.since(V1_35), ..Self::of_policy() }
    }

    /// Starts a patch that a mutating policy computes. The limit on copies is a variable of the library, so it applies
    /// here as well.
    pub(crate) fn of_policy() -> Self {
        Self { copy_limit: Some(COPY_LIMIT), ..Self::unlimited() }
    }

    /// Starts a patch whose copies are not limited.
    pub fn unlimited() -> Self {
        Self { copied: 0, copy_limit: None, steps: Steps::of_request(), ignores_scalar_roots: false }
    }

    /// Takes the steps for inserting an item into a list or removing one, which moves the others.
    fn move_items(&self, container: &Value) -> Result<(), PatchError> {
        /// The number of items that are moved in one step.
        const MOVED: usize = 8;
        let moved = container.as_array().map_or(0, <[Value]>::len) / MOVED;
        let spent = |spent: Spent| PatchError { message: spent.to_string(), kind: PatchErrorKind::Unfinished };
        self.steps.take(moved as u64).map_err(spent)
    }

    /// Applies an operation whose value was computed rather than read from a request.
    ///
    /// # Errors
    /// Returns the library's message.
    pub fn apply(&mut self, operation: &PatchOperation, document: &mut Value) -> Result<(), PatchError> {
        let written = if operation.op == "test" {
            operation.value.as_ref().and_then(|value| Raw::read(&json::to_string(value)))
        } else {
            None
        };
        self.step(operation, Expected::Text(written.as_ref()), document)
    }

    /// Applies an operation of a request. `expected` decides what `test` finds, because it compares source texts.
    ///
    /// # Errors
    /// Returns the library's message.
    pub fn step(
        &mut self,
        operation: &PatchOperation,
        expected: Expected<'_>,
        document: &mut Value,
    ) -> Result<(), PatchError> {
        let value = || operation.value.clone().unwrap_or_default();
        match operation.op.as_str() {
            "add" => {
                let path = path_of(operation, Some(MISSING))?;
                let (container, key) = find(document, path).ok_or_else(|| {
                    PatchError::new(format!("add operation does not apply: doc is missing path: \"{path}\": {MISSING}"))
                })?;
                self.move_items(container)?;
                add(container, &key, value())
                    .map_err(|e| PatchError::new(format!("error in add for path: '{path}': {e}")))
            }
            "remove" => {
                let path = path_of(operation, Some(MISSING))?;
                let (container, key) = find(document, path).ok_or_else(|| {
                    PatchError::new(format!(
                        "remove operation does not apply: doc is missing path: \"{path}\": {MISSING}"
                    ))
                })?;
                self.move_items(container)?;
                let removed = remove(container, &key);
                removed.map(|_| ()).map_err(|e| PatchError::new(format!("error in remove for path: '{path}': {e}")))
            }
            "replace" => match path_of(operation, None)? {
                "" => self.replace_document(document, value()),
                path => replace(document, path, value()),
            },
            "move" => {
                let from = from_of(operation)?;
                let (container, key) = find(document, from).ok_or_else(|| {
                    PatchError::new(format!(
                        "move operation does not apply: doc is missing from path: {from}: {MISSING}"
                    ))
                })?;
                self.move_items(container)?;
                let moved = remove(container, &key)
                    .map_err(|e| PatchError::new(format!("error in move for path: '{key}': {e}")))?;
                let path = path_of(operation, None)?;
                let (container, key) = find(document, path).ok_or_else(|| {
                    let reason =
                        format!("move operation does not apply: doc is missing destination path: {path}: {MISSING}");
                    PatchError::new(reason)
                })?;
                self.move_items(container)?;
                add(container, &key, moved)
                    .map_err(|e| PatchError::new(format!("error in move for path: '{path}': {e}")))
            }
            "copy" => self.copy(operation, document),
            "test" => test(operation, expected, document),
            other => Err(PatchError::new(format!("Unexpected kind: {other}"))),
        }
    }

    fn replace_document(&self, document: &mut Value, value: Value) -> Result<(), PatchError> {
        match value {
            Value::Object(_) | Value::Array(_) => *document = value,
            _ if self.ignores_scalar_roots => {}
            _ => {
                let reason = "replace operation value must be object or array: %!w(<nil>)";
                return Err(PatchError::new(reason.to_owned()));
            }
        }
        Ok(())
    }

    fn copy(&mut self, operation: &PatchOperation, document: &mut Value) -> Result<(), PatchError> {
        let from = from_of(operation)?;
        let (container, key) = find(document, from).ok_or_else(|| {
            PatchError::new(format!("copy operation does not apply: doc is missing from path: {from}: {MISSING}"))
        })?;
        let found =
            get(container, &key).map_err(|e| PatchError::new(format!("error in copy for from: '{from}': {e}")))?;
        let copy = found.cloned().unwrap_or_default();
        let path = path_of(operation, Some(MISSING))?;
        let (container, key) = find(document, path).ok_or_else(|| {
            PatchError::new(format!(
                "copy operation does not apply: doc is missing destination path: {path}: {MISSING}"
            ))
        })?;
        self.copied = self.copied.saturating_add(json::to_string(&copy).len());
        if let Some(limit) = self.copy_limit.filter(|limit| self.copied > *limit) {
            return Err(PatchError::new(format!(
                "Unable to complete the copy, the accumulated size increase of copy is {}, exceeding the limit {limit}",
                self.copied
            )));
        }
        self.move_items(container)?;
        add(container, &key, copy).map_err(|e| PatchError::new(format!("error while adding value during copy: {e}")))
    }
}

const MISSING: &str = "missing value";

/// The reason why a member or item cannot be accessed, with the library's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The container is neither an object nor a list.
    #[error("{MISSING}")]
    NoContainer,
    /// A key that is not the index of an item.
    #[error("strconv.Atoi: parsing {}: invalid syntax", quote::go_quote(.0))]
    NotANumber(String),
    /// An index that is not an int64.
    #[error("strconv.Atoi: parsing {}: value out of range", quote::go_quote(.0))]
    OutOfRange(String),
    /// A list does not have the index.
    #[error("Unable to access invalid index: {0}: invalid index referenced")]
    NoItem(i64),
    /// A key at which nothing can be added to a list, and the reason.
    #[error("value was not a proper array index: '{0}': {1}")]
    NoPosition(String, Box<AccessError>),
    /// An object does not have the member to remove.
    #[error("Unable to remove nonexistent key: {0}: {MISSING}")]
    NoMember(String),
}

/// The path of an operation; `instead` replaces the error message if the path cannot be decoded.
fn path_of<'o>(operation: &'o PatchOperation, instead: Option<&str>) -> Result<&'o str, PatchError> {
    operation.path.as_deref().map_err(|error| {
        let error = instead.map_or_else(|| error.to_string(), str::to_owned);
        PatchError::new(format!("{} operation failed to decode path: {error}", operation.op))
    })
}

fn from_of(operation: &PatchOperation) -> Result<&str, PatchError> {
    let failed =
        |reason: &MemberError| PatchError::new(format!("{} operation failed to decode from: {reason}", operation.op));
    operation.from.as_ref().map(String::as_str).map_err(failed)
}

fn replace(document: &mut Value, path: &str, value: Value) -> Result<(), PatchError> {
    let missing = |what: &str| {
        PatchError::new(format!("replace operation does not apply: doc is missing {what}: {path}: {MISSING}"))
    };
    let (container, key) = find(document, path).ok_or_else(|| missing("path"))?;
    get(container, &key).map_err(|_| missing("key"))?;
    match container {
        Value::Array(items) => {
            let at = index(&key, items.len()).map_err(|_| missing("key"))?;
            *items.get_mut(at).ok_or_else(|| missing("key"))? = value;
        }
        Value::Object(members) => {
            members.insert(key, value);
        }
        _ => return Err(missing("path")),
    }
    Ok(())
}

/// The value that a `test` operation expects.
#[derive(Clone, Copy, Debug)]
pub enum Expected<'r> {
    /// The source text of the value in the request with the document, whose numbers are as the server encodes them.
    Text(Option<&'r Raw>),
    /// Nothing: the texts have been compared before, with this result ([`text::Texts`]).
    Compared(bool),
}

fn test(operation: &PatchOperation, expected: Expected<'_>, document: &mut Value) -> Result<(), PatchError> {
    let path = path_of(operation, None)?;
    let holds = if path.is_empty() {
        match expected {
            Expected::Text(written) => written.is_some_and(|w| w.is(document)),
            Expected::Compared(holds) => holds,
        }
    } else {
        let (container, key) = find(document, path).ok_or_else(|| {
            PatchError::new(format!("test operation does not apply: is missing path: {path}: {MISSING}"))
        })?;
        let found =
            get(container, &key).map_err(|e| PatchError::new(format!("error in test for path: '{path}': {e}")))?;
        match (found.unwrap_or(&Value::Null), expected) {
            (_, Expected::Compared(holds)) => holds,
            (Value::Null, Expected::Text(None | Some(Raw::Null))) => true,
            (have, Expected::Text(Some(wanted))) => wanted.is(have),
            (_, Expected::Text(None)) => false,
        }
    };
    if holds {
        return Ok(());
    }
    Err(PatchError { message: format!("testing value {path} failed: test failed"), kind: PatchErrorKind::FailedTest })
}

/// The container that a path leads to, and the last key.
fn find<'d>(document: &'d mut Value, path: &str) -> Option<(&'d mut Value, String)> {
    let mut parts: Vec<String> = path.split('/').skip(1).map(unescape).collect();
    let key = parts.pop()?;
    let mut at = document;
    for part in parts {
        at = match at {
            Value::Object(members) => members.get_mut(&part),
            Value::Array(items) => {
                let i = index(&part, items.len()).ok()?;
                items.get_mut(i)
            }
            _ => None,
        }?;
    }
    matches!(at, Value::Object(_) | Value::Array(_)).then_some((at, key))
}

/// Removes the escapes from a path segment.
pub fn unescape(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    let mut chars = part.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('~', Some('1')) => out.push('/'),
            ('~', Some('0')) => out.push('~'),
            _ => {
                out.push(c);
                continue;
            }
        }
        chars.next();
    }
    out
}

/// `strconv.Atoi`
fn number(text: &str) -> Result<i64, AccessError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let failed = if is_number { AccessError::OutOfRange } else { AccessError::NotANumber };
    text.parse().map_err(|_| failed(text.to_owned()))
}

/// Parses the index of an existing item; a negative index counts from the end.
///
/// # Errors
/// Returns the library's message.
pub fn index(text: &str, length: usize) -> Result<usize, AccessError> {
    let number = number(text)?;
    let i = if number < 0 { number.saturating_add(length as i64) } else { number };
    usize::try_from(i).ok().filter(|i| *i < length).ok_or(AccessError::NoItem(number))
}

fn get<'v>(container: &'v Value, key: &str) -> Result<Option<&'v Value>, AccessError> {
    match container {
        Value::Object(members) => Ok(members.get(key)),
        Value::Array(items) => Ok(items.get(index(key, items.len())?)),
        _ => Err(AccessError::NoContainer),
    }
}

fn add(container: &mut Value, key: &str, value: Value) -> Result<(), AccessError> {
    match container {
        Value::Object(members) => {
            members.insert(key.to_owned(), value);
        }
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            number(key).map_err(|error| AccessError::NoPosition(key.to_owned(), Box::new(error)))?;
            let at = index(key, items.len() + 1)?;
            items.insert(at, value);
        }
        _ => return Err(AccessError::NoContainer),
    }
    Ok(())
}

fn remove(container: &mut Value, key: &str) -> Result<Value, AccessError> {
    match container {
        Value::Object(members) => members.remove(key).ok_or_else(|| AccessError::NoMember(key.to_owned())),
        Value::Array(items) => {
            let at = index(key, items.len())?;
            Ok(items.remove(at))
        }
        _ => Err(AccessError::NoContainer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    fn error(op: &str, path: &str, from: &str) -> String {
        let mut document = read(br#"{"a":{"b":[1,2]},"n":null}"#).unwrap();
        let from = if from.is_empty() { Err(MemberError::NoFrom) } else { Ok(from.to_owned()) };
        let value = Some(Value::Int(1));
        let operation = PatchOperation { op: op.to_owned(), path: Ok(path.to_owned()), from, value };
        Patch::unlimited().apply(&operation, &mut document).unwrap_err().to_string()
    }

    #[test]
    fn errors_are_those_of_the_library() {
        for (op, path, from, expected) in [
            ("add", "/x/y", "", "add operation does not apply: doc is missing path: \"/x/y\": missing value"),
            (
                "add",
                "/a/b/4",
                "",
                "error in add for path: '/a/b/4': Unable to access invalid index: 4: invalid index referenced",
            ),
            (
                "add",
                "/a/b/x",
                "",
                "error in add for path: '/a/b/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax",
            ),
            ("remove", "/x", "", "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value"),
            ("replace", "/a/b/2", "", "replace operation does not apply: doc is missing key: /a/b/2: missing value"),
            ("move", "/y", "", "move operation failed to decode from: operation, missing from field: missing value"),
            (
                "copy",
                "/y/z",
                "/a",
                "copy operation does not apply: doc is missing destination path: /y/z: missing value",
            ),
            ("nope", "/a", "", "Unexpected kind: nope"),
        ] {
            assert_eq!(error(op, path, from), expected, "{op} {path}");
        }
    }

    #[test]
    fn a_failed_test_operation_is_reported() {
        let mut document = read(br#"{"a":1}"#).unwrap();
        let test = |value: i64| PatchOperation {
            op: "test".to_owned(),
            path: Ok("/a".to_owned()),
            from: Err(MemberError::NoFrom),
            value: Some(Value::Int(value)),
        };
        assert_eq!(Patch::unlimited().apply(&test(1), &mut document), Ok(()));
        let error = Patch::unlimited().apply(&test(2), &mut document).unwrap_err();
        assert!(error.is_failed_test());
        assert_eq!(error.to_string(), "testing value /a failed: test failed");
    }
}

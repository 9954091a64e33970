//! Field paths and field errors, with exactly the server's messages.
//!
//! Follows `k8s.io/apimachinery/pkg/util/validation/field` (`path.go`, `errors.go`). Stages return an [`ErrorList`] as
//! data rather than as `Err`. Messages that depend on the release are determined when an error is created.

pub use crate::names;

use crate::base64::Encoding;
use crate::release::{Release, V1_32, V1_34};
use crate::steps::{Steps, memory};
use crate::{Value, json, number, print, quote};
use std::collections::HashSet;
use std::fmt::{self, Write as _};

/// A path in an object. Paths are built on the stack while walking, and are formatted only when an error needs them.
#[derive(Clone, Copy, Debug)]
pub struct FieldPath<'a> {
    parent: Option<&'a FieldPath<'a>>,
    segment: Segment<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Segment<'a> {
    /// The nil path, formatted as `<nil>` if nothing follows it.
    Root,
    /// `.name`
    Child(&'a str),
    /// `[3]`
    Index(usize),
    Key(&'a str),
}

/// The reason why validation was not finished.
pub const UNFINISHED: &str = "the validation needs more steps or memory than kubectl-crdx uses for one request";

/// The text of the nil path.
pub const NIL_PATH: &str = "<nil>";

/// The nil path: formatted as `<nil>` by itself, and as nothing in front of children.
pub const ROOT: FieldPath<'static> = FieldPath { parent: None, segment: Segment::Root };

impl<'a> FieldPath<'a> {
    /// A path that starts at `name`.
    pub const fn new(name: &'a str) -> Self {
        FieldPath { parent: None, segment: Segment::Child(name) }
    }
    /// `self.name`
    pub fn child(&'a self, name: &'a str) -> FieldPath<'a> {
        FieldPath { parent: Some(self), segment: Segment::Child(name) }
    }
    /// `self[index]`
    pub fn index(&'a self, index: usize) -> FieldPath<'a> {
        FieldPath { parent: Some(self), segment: Segment::Index(index) }
    }
    /// `self[key]`
    pub fn key(&'a self, key: &'a str) -> FieldPath<'a> {
        FieldPath { parent: Some(self), segment: Segment::Key(key) }
    }
    /// Returns true for the nil path.
    pub fn is_root(&self) -> bool {
        self.parent.is_none() && matches!(self.segment, Segment::Root)
    }
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return f.write_str(NIL_PATH);
        }
        // Uses an explicit stack, because a path may have 10,000 segments.
        let mut chain = Vec::with_capacity(16);
        chain.push(self);
        let mut at = self;
        while let Some(parent) = at.parent {
            chain.push(parent);
            at = parent;
        }
        let mut first = true;
        for node in chain.into_iter().rev() {
            match node.segment {
                Segment::Root => continue,
                // Go treats an element without a name as an index.
                Segment::Child("") => f.write_str("[]")?,
                Segment::Child(name) => {
                    if !first {
                        f.write_char('.')?;
                    }
                    f.write_str(name)?;
                }
                Segment::Index(i) => write!(f, "[{i}]")?,
                Segment::Key(key) => write!(f, "[{key}]")?,
            }
            first = false;
        }
        Ok(())
    }
}

/// The type of a field error; [`ErrorType::reason`] is the reason in `details.causes[].reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorType {
    /// `Not found`
    NotFound,
    /// `Required value`
    Required,
    /// `Duplicate value`
    Duplicate,
    /// `Invalid value`
    Invalid,
    /// `Unsupported value`
    NotSupported,
    /// `Forbidden`
    Forbidden,
    /// `Too long`
    TooLong,
    /// `Too short`
    TooShort,
    /// `Too many`
    TooMany,
    /// `Too few`
    TooFew,
    /// `Internal error`
    Internal,
    /// A value of a wrong type; formatted as `Invalid value`.
    TypeInvalid,
    /// No error of the server: validation needs more steps or more memory than the program uses, so whether the value is
    /// valid is not known.
    Unfinished,
}

impl ErrorType {
    /// The reason in `details.causes`.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooShort => "FieldValueTooShort",
            Self::TooMany => "FieldValueTooMany",
            Self::TooFew => "FieldValueTooFew",
            Self::Internal => "InternalError",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::Unfinished => "Timeout",
        }
    }
    /// The text in a message.
    pub fn text(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooShort => "Too short",
            Self::TooMany => "Too many",
            Self::TooFew => "Too few",
            Self::Internal => "Internal error",
            Self::Unfinished => "Timeout",
        }
    }
}

/// The value shown in an error.
#[derive(Clone, Debug, PartialEq)]
pub enum BadValue {
    /// No value is shown (`OmitValueType`, and error types that never show one).
    Omitted,
    /// Strings are formatted as `%q`, numbers and booleans as `%v`, and all other values as JSON.
    Value(Value),
    /// A text shown verbatim, such as the JSON of a Go struct.
    Raw(String),
}

impl BadValue {
    /// Any value. Before 1.34, objects and lists are formatted in Go syntax, and null as the text `"null"` (`ErrorBody`
    /// in `errors.go`).
    pub fn new(v: &Value, release: Release) -> Self {
        match v {
            Value::Null if !release.since(V1_34) => Self::from("null"),
            Value::Array(_) | Value::Object(_) if !release.since(V1_34) => Self::Raw(print::go_syntax(v)),
            _ => Self::Value(v.clone()),
        }
    }
}

impl BadValue {
    /// A list of strings, nil if it is empty. Before 1.34, it is formatted in Go syntax.
    pub fn strings<'a>(items: impl IntoIterator<Item = &'a str>, release: Release) -> Self {
        let items: Vec<&str> = items.into_iter().collect();
        match (release.since(V1_34), items.is_empty()) {
            (true, true) => Self::Value(Value::Null),
            (true, false) => Self::Value(Value::Array(items.into_iter().map(Value::from).collect())),
            (false, true) => Self::Raw("[]string(nil)".to_owned()),
            (false, false) => {
                let items: Vec<String> = items.into_iter().map(quote::go_quote).collect();
                Self::Raw(format!("[]string{{{}}}", items.join(", ")))
            }
        }
    }
}

impl BadValue {
    /// An unsigned integer. Before 1.34, it is formatted in Go syntax, in hexadecimal.
    pub fn unsigned(v: u64, release: Release) -> Self {
        Self::Raw(if release.since(V1_34) { v.to_string() } else { format!("{v:#x}") })
    }
}

impl BadValue {
    /// Bytes: base64. Before 1.34, they are formatted in Go syntax.
    pub fn bytes(bytes: &[u8], release: Release) -> Self {
        if release.since(V1_34) {
            return Self::from(Encoding::Standard.encode(bytes));
        }
        let items: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
        Self::Raw(format!("[]byte{{{}}}", items.join(", ")))
    }
}

impl From<bool> for BadValue {
    fn from(v: bool) -> Self {
        Self::Value(Value::Bool(v))
    }
}
impl From<&str> for BadValue {
    fn from(v: &str) -> Self {
        Self::Value(Value::from(v))
    }
}
impl From<String> for BadValue {
    fn from(v: String) -> Self {
        Self::Value(Value::String(v))
    }
}
impl From<i64> for BadValue {
    fn from(v: i64) -> Self {
        Self::Value(Value::Int(v))
    }
}

/// An error at a field, like `field.Error`.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// The error type.
    pub kind: ErrorType,
    /// The formatted path; `<nil>` for the nil path.
    pub field: String,
    /// The value shown.
    pub bad_value: BadValue,
    /// The detail that follows the value; may be empty.
    pub detail: String,
    /// The path of the value that the detail is about, if `field` is the nil path and the value is not the whole object.
    pub detail_path: Option<Box<str>>,
}

/// Errors in the order they were found. The server's order is partly random, so compare lists as multisets.
pub type ErrorList = Vec<FieldError>;

/// The steps for a byte of an error: its text is copied several times until it is printed.
pub const STEPS_OF_A_BYTE: u64 = 2;

/// Errors whose texts may need as many steps as one request has. Errors that repeat a list or a part of the object are not bounded by its
/// size.
#[derive(Debug)]
pub struct BoundedErrors {
    list: ErrorList,
    steps: Steps,
}

impl Default for BoundedErrors {
    fn default() -> Self {
        Self { list: ErrorList::new(), steps: Steps::of_request() }
    }
}

impl BoundedErrors {
    /// Adds an error. If its text needs more steps than are left, validation is not finished.
    pub fn push(&mut self, error: FieldError) {
        if self.steps.take(error.steps()).is_ok() {
            self.list.push(error);
        } else {
            self.list = ErrorList::new();
        }
    }

    /// Removes the errors so far. Their steps stay taken.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// Returns true if no steps are left. Validators need not look for further errors.
    pub fn is_full(&self) -> bool {
        self.steps.are_spent()
    }

    /// The number of errors.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns true if no error was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && !self.is_full()
    }

    /// The errors, or that validation was not finished.
    pub fn finish(self) -> ErrorList {
        if self.is_full() { vec![FieldError::unfinished(&ROOT)] } else { self.list }
    }
}

impl Extend<FieldError> for BoundedErrors {
    fn extend<T: IntoIterator<Item = FieldError>>(&mut self, errors: T) {
        errors.into_iter().for_each(|error| self.push(error));
    }
}

/// Keeps the first of several errors with the same text (`ErrorList.ToAggregate`).
pub fn remove_repeated(errors: &mut ErrorList) {
    if errors.len() > 1 {
        let mut seen = HashSet::with_capacity(errors.len());
        errors.retain(|error| seen.insert(error.to_string()));
    }
}

impl FieldError {
    /// Creates an error of any type; the shorthands below cover the common types.
    pub fn new(kind: ErrorType, path: &FieldPath<'_>, bad: impl Into<BadValue>, detail: impl Into<String>) -> Self {
        Self { kind, field: path.to_string(), bad_value: bad.into(), detail: detail.into(), detail_path: None }
    }
    /// `Invalid value: …`
    pub fn invalid(path: &FieldPath<'_>, bad: impl Into<BadValue>, detail: impl Into<String>) -> Self {
        Self::new(ErrorType::Invalid, path, bad, detail)
    }
    /// `Invalid value: …`, for a value of a wrong type
    pub fn type_invalid(path: &FieldPath<'_>, bad: impl Into<BadValue>, detail: impl Into<String>) -> Self {
        Self::new(ErrorType::TypeInvalid, path, bad, detail)
    }
    /// `Required value`
    pub fn required(path: &FieldPath<'_>, detail: impl Into<String>) -> Self {
        Self::new(ErrorType::Required, path, BadValue::Omitted, detail)
    }
    /// `Forbidden`
    pub fn forbidden(path: &FieldPath<'_>, detail: impl Into<String>) -> Self {
        Self::new(ErrorType::Forbidden, path, BadValue::Omitted, detail)
    }
    /// `Duplicate value: …`
    pub fn duplicate(path: &FieldPath<'_>, bad: impl Into<BadValue>) -> Self {
        Self::new(ErrorType::Duplicate, path, bad, "")
    }
    /// `Not found: …`
    pub fn not_found(path: &FieldPath<'_>, bad: impl Into<BadValue>) -> Self {
        Self::new(ErrorType::NotFound, path, bad, "")
    }
    /// `Unsupported value: …: supported values: "a", "b"`; the values are quoted as `%q`.
    pub fn not_supported(path: &FieldPath<'_>, bad: impl Into<BadValue>, supported: &[impl AsRef<str>]) -> Self {
        let mut detail = String::new();
        if !supported.is_empty() {
            detail.push_str("supported values: ");
            for (i, s) in supported.iter().enumerate() {
                if i > 0 {
                    detail.push_str(", ");
                }
                detail.push_str(&quote::go_quote(s.as_ref()));
            }
        }
        Self::new(ErrorType::NotSupported, path, bad, detail)
    }
    /// `Too long: may not be more than N bytes`; for a negative `max`, only `value is too long`. Before 1.32, the
    /// function (`TooLong`) and its message were different.
    pub fn too_long(path: &FieldPath<'_>, max: i64, release: Release) -> Self {
        if !release.since(V1_32) {
            let detail = format!("must have at most {max} bytes");
            return Self::new(ErrorType::TooLong, path, BadValue::Omitted, detail);
        }
        Self::longer_than(path, max, release)
    }
    /// `TooLongMaxLength`: since 1.32 the same as [`Self::too_long`], before that `may not be longer than N`. Since
    /// 1.34, the unit after 1 is singular.
    pub fn longer_than(path: &FieldPath<'_>, max: i64, release: Release) -> Self {
        let detail = match max {
            i64::MIN..=-1 => "value is too long".to_owned(),
            n if !release.since(V1_32) => format!("may not be longer than {n}"),
            1 if release.since(V1_34) => "may not be more than 1 byte".to_owned(),
            n => format!("may not be more than {n} bytes"),
        };
        Self::new(ErrorType::TooLong, path, BadValue::Omitted, detail)
    }
    /// `Too short: must be at least N characters`
    pub fn too_short(path: &FieldPath<'_>, value: &str, min: i64) -> Self {
        let detail = match min {
            i64::MIN..=-1 => "value is too short".to_owned(),
            1 => "must be at least 1 character".to_owned(),
            n => format!("must be at least {n} characters"),
        };
        Self::new(ErrorType::TooShort, path, value, detail)
    }
    /// `Too few: N: must have at least M items`
    pub fn too_few(path: &FieldPath<'_>, actual: i64, min: i64) -> Self {
        let detail = match min {
            i64::MIN..=-1 => "has too few items".to_owned(),
            1 => "must have at least 1 item".to_owned(),
            n => format!("must have at least {n} items"),
        };
        Self::new(ErrorType::TooFew, path, actual, detail)
    }
    /// `Too many: N: must have at most M items`; a negative `actual` is omitted. Since 1.34, the unit after 1 is
    /// singular.
    pub fn too_many(path: &FieldPath<'_>, actual: i64, max: i64, release: Release) -> Self {
        let detail = match max {
            i64::MIN..=-1 => "has too many items".to_owned(),
            1 if release.since(V1_34) => "must have at most 1 item".to_owned(),
            n => format!("must have at most {n} items"),
        };
        let bad = if actual < 0 { BadValue::Omitted } else { BadValue::from(actual) };
        Self::new(ErrorType::TooMany, path, bad, detail)
    }
    /// The validation of the value was not finished.
    pub fn unfinished(path: &FieldPath<'_>) -> Self {
        Self::new(ErrorType::Unfinished, path, BadValue::Omitted, UNFINISHED)
    }
    /// `Internal error: …`
    pub fn internal(path: &FieldPath<'_>, detail: impl Into<String>) -> Self {
        Self::new(ErrorType::Internal, path, BadValue::Omitted, detail)
    }

    /// The steps for the text of the error.
    pub fn steps(&self) -> u64 {
        let shown = match &self.bad_value {
            BadValue::Omitted => 0,
            BadValue::Raw(text) | BadValue::Value(Value::String(text)) => text.len(),
            BadValue::Value(value) => memory(value),
        };
        STEPS_OF_A_BYTE * (self.field.len() + self.detail.len() + shown) as u64
    }

    /// Returns true if `field` is the nil path.
    pub fn is_at_nil_path(&self) -> bool {
        self.field == NIL_PATH
    }

    /// The path of the value that the error is about; `None` for the whole object.
    pub fn value_path(&self) -> Option<&str> {
        if self.is_at_nil_path() { self.detail_path.as_deref() } else { Some(&self.field) }
    }

    /// `ErrorBody()`: the message without the field, as in `details.causes[].message`.
    pub fn body(&self) -> String {
        let mut s = self.kind.text().to_owned();
        let silent = matches!(
            self.kind,
            ErrorType::Required | ErrorType::Forbidden | ErrorType::TooLong | ErrorType::TooShort | ErrorType::Internal
        );
        if !silent {
            match &self.bad_value {
                BadValue::Omitted => {}
                BadValue::Raw(text) => {
                    s.push_str(": ");
                    s.push_str(text);
                }
                BadValue::Value(v) => {
                    s.push_str(": ");
                    match v {
                        Value::String(t) => s.push_str(&quote::go_quote(t)),
                        Value::Float(x) => s.push_str(&number::format_v(*x)),
                        _ => s.push_str(&json::to_string(v)),
                    }
                }
            }
        }
        if !self.detail.is_empty() {
            s.push_str(": ");
            s.push_str(&self.detail);
        }
        s
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_formatted_as_by_the_release() {
        let of = |release: &str| {
            let bytes = BadValue::bytes(b"a-", release.parse().unwrap());
            FieldError::invalid(&FieldPath::new("b"), bytes, "no").to_string()
        };
        assert_eq!(of("1.31"), "b: Invalid value: []byte{0x61, 0x2d}: no");
        assert_eq!(of("1.34"), "b: Invalid value: \"YS0=\": no");
    }

    #[test]
    fn paths_are_formatted_like_the_server() {
        let spec = FieldPath::new("spec");
        let list = spec.child("list");
        let item = list.index(3);
        assert_eq!(item.key("a.b").to_string(), "spec.list[3][a.b]");
        assert_eq!(ROOT.to_string(), "<nil>");
        assert_eq!(ROOT.child("spec").to_string(), "spec");
    }

    #[test]
    fn bodies_follow_the_kind_of_value() {
        let p = FieldPath::new("a");
        assert_eq!(FieldError::invalid(&p, "x\n", "bad").to_string(), "a: Invalid value: \"x\\n\": bad");
        assert_eq!(
            FieldError::invalid(&p, BadValue::Value(Value::Float(1e21)), "").to_string(),
            "a: Invalid value: 1e+21"
        );
        assert_eq!(
            FieldError::too_many(&p, 3, 1, Release::NEWEST).to_string(),
            "a: Too many: 3: must have at most 1 item"
        );
        assert_eq!(FieldError::required(&p, "").to_string(), "a: Required value");
        assert_eq!(
            FieldError::not_supported(&p, 1, &["x", "y"]).to_string(),
            "a: Unsupported value: 1: supported values: \"x\", \"y\""
        );
    }

    #[test]
    fn older_releases_print_compound_values_in_go_syntax() {
        let p = FieldPath::new("a");
        let items = vec![Value::Int(1), Value::Float(1.5), Value::from("x"), Value::Null, Value::Bool(true)];
        let value = crate::object([("b", Value::Array(items)), ("a", Value::Object(crate::Map::new()))]);
        let text = |value: &Value, minor| {
            FieldError::duplicate(&p, BadValue::new(value, Release::new(minor).unwrap())).to_string()
        };
        assert_eq!(text(&value, 34), r#"a: Duplicate value: {"a":{},"b":[1,1.5,"x",null,true]}"#);
        assert_eq!(
            text(&value, 33),
            r#"a: Duplicate value: map[string]interface {}{"a":map[string]interface {}{}, "b":[]interface {}{1, 1.5, "x", interface {}(nil), true}}"#
        );
        assert_eq!(
            (text(&Value::Null, 34), text(&Value::Null, 33)),
            ("a: Duplicate value: null".into(), "a: Duplicate value: \"null\"".into())
        );
    }

    #[test]
    fn limits_are_worded_by_release() {
        let p = FieldPath::new("a");
        let texts = |minor| {
            let release = Release::new(minor).unwrap();
            [
                FieldError::too_long(&p, 1, release),
                FieldError::longer_than(&p, 1, release),
                FieldError::too_many(&p, 2, 1, release),
            ]
            .map(|error| error.detail)
        };
        assert_eq!(
            texts(34),
            ["may not be more than 1 byte", "may not be more than 1 byte", "must have at most 1 item"]
        );
        assert_eq!(
            texts(33),
            ["may not be more than 1 bytes", "may not be more than 1 bytes", "must have at most 1 items"]
        );
        assert_eq!(texts(31), ["must have at most 1 bytes", "may not be longer than 1", "must have at most 1 items"]);
    }
}

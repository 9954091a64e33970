//! Checks a value against a Go type like Go's strict JSON decoder (`sigs.k8s.io/json`): reports the first value of a
//! wrong type with Go's message, and unknown fields.
//!
//! The decoder has some peculiarities: map keys are missing from the path of a wrong type, but not from the path of an
//! unknown field. Types with their own `UnmarshalJSON` (`items`, `additionalProperties`, `dependencies`) decode their
//! content leniently, and a wrong type in them ends decoding, so it takes precedence over earlier errors elsewhere.
//! Members are visited in sorted order; the caller determines the document order of errors.

use super::DecodeError;
use crdx_types::go_type::{Custom, GoStruct, GoType, Shape};
use crdx_types::types::Types;
use crdx_value::base64::Encoding;
use crdx_value::json::go_kind;
use crdx_value::release::{Release, V1_35};
use crdx_value::{Map, Value, number, time};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The maximum number of unknown fields that the server collects.
const MAX_UNKNOWN: usize = 100;
/// The maximum number of wrong types considered to find the first one.
const MAX_ERRORS: usize = 1000;

/// The text from which a value was read.
pub trait SourceText {
    /// The offset of a field in the text, which orders errors.
    fn position(&self, path: &str) -> usize;
    /// The number at a path, as it was written.
    fn number(&self, path: &str) -> Option<&str>;
    /// True if keys below a path are duplicates.
    fn has_duplicates_below(&self, _path: &str) -> bool {
        false
    }
}

/// The source of a value that was not read from a text: its members are visited in sorted order.
pub struct NoSource;

impl SourceText for NoSource {
    fn position(&self, _: &str) -> usize {
        0
    }
    fn number(&self, _: &str) -> Option<&str> {
        None
    }
}

/// The result of [`check`].
#[derive(Debug, Default)]
pub struct Checked {
    /// The error for the first value of a wrong type.
    pub error: Option<DecodeError>,
    /// Unknown fields.
    pub unknown: Vec<UnknownField>,
    /// The paths of values with duplicate keys that are decoded leniently.
    pub lenient: Vec<String>,
}

/// A field that the Go type does not have.
#[derive(Clone, Debug)]
pub struct UnknownField {
    /// The path, as in `spec.versions[0].schema`.
    pub path: String,
    /// The last part of the path.
    pub name: String,
    /// The Go struct that does not have the field.
    pub parent: GoStruct,
}

/// Checks `value`, which was read from `source`, against the type `root`.
pub fn check(value: &Value, root: GoType, release: Release, source: &dyn SourceText) -> Checked {
    let mut reader = CrdReader::new(String::new(), true, release, source);
    let error = reader.unmarshal(value, root).err();
    Checked {
        error: error.map(|(error, path)| DecodeError { message: error.to_string(), path }),
        unknown: reader.unknown,
        lenient: reader.lenient,
    }
}

/// A decoding error.
#[derive(Clone, Debug)]
enum UnmarshalError {
    /// `json.UnmarshalTypeError`
    Type { value: String, type_: String, struct_: &'static str, field: String },
    /// Any other error, as text.
    Plain(String),
}

impl std::fmt::Display for UnmarshalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Type { value, type_, struct_, field } if struct_.is_empty() && field.is_empty() => {
                write!(f, "json: cannot unmarshal {value} into Go value of type {type_}")
            }
            Self::Type { value, type_, struct_, field } => {
                write!(f, "json: cannot unmarshal {value} into Go struct field {struct_}.{field} of type {type_}")
            }
            Self::Plain(text) => f.write_str(text),
        }
    }
}

struct CrdReader<'r> {
    release: Release,
    /// True if unknown fields are collected.
    strict: bool,
    source: &'r dyn SourceText,
    struct_: &'static str,
    fields: Vec<&'static str>,
    path: String,
    errors: Vec<CheckError>,
    unknown: Vec<UnknownField>,
    lenient: Vec<String>,
    seen: BTreeSet<String>,
}

/// An error with its path.
struct CheckError {
    error: UnmarshalError,
    /// The path of the value that is decoded by the current decoder, which orders errors.
    path: String,
    /// The path of the invalid value, which may be inside the value at `path`.
    invalid: String,
    /// True if the error ends decoding.
    ends: bool,
}

impl<'r> CrdReader<'r> {
    fn new(path: String, strict: bool, release: Release, source: &'r dyn SourceText) -> Self {
        let (errors, unknown, lenient) = Default::default();
        Self {
            release,
            strict,
            source,
            struct_: "",
            fields: Vec::new(),
            path,
            errors,
            unknown,
            lenient,
            seen: BTreeSet::new(),
        }
    }

    /// Returns the error that the server reports, with the path of the invalid value: the first in document order among
    /// those that end decoding, otherwise the first of all.
    fn unmarshal(&mut self, value: &Value, type_: GoType) -> Result<(), (UnmarshalError, String)> {
        self.value(value, type_);
        let mut errors = std::mem::take(&mut self.errors);
        if errors.len() > 1 {
            errors.sort_by_cached_key(|error| (!error.ends, self.source.position(&error.path)));
        }
        errors.into_iter().next().map_or(Ok(()), |error| Err((error.error, error.invalid)))
    }

    fn in_context(&self, e: UnmarshalError) -> UnmarshalError {
        match e {
            UnmarshalError::Type { value, type_, field, .. } if !self.fields.is_empty() => {
                let mut path = self.fields.join(".");
                // Before 1.35, the decoder replaced the fields that an `UnmarshalJSON` reports by its own.
                if !field.is_empty() && self.release.since(V1_35) {
                    path.push('.');
                    path.push_str(&field);
                }
                UnmarshalError::Type { value, type_, struct_: self.struct_, field: path }
            }
            e => e,
        }
    }

    fn save(&mut self, error: UnmarshalError, ends: bool) {
        self.save_at(self.path.clone(), error, ends);
    }

    fn save_at(&mut self, invalid: String, error: UnmarshalError, ends: bool) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(CheckError { error: self.in_context(error), path: self.path.clone(), invalid, ends });
        }
    }

    fn wrong_type(&mut self, value: String, type_: String, ends: bool) {
        self.save(UnmarshalError::Type { value, type_, struct_: "", field: String::new() }, ends);
    }

    /// Checks a value of a type with its own `UnmarshalJSON`, which is decoded leniently.
    fn inner(&mut self, value: &Value, type_: Option<GoType>) {
        let Some(type_) = type_ else { return };
        self.decodes_leniently();
        let mut reader = CrdReader::new(self.path.clone(), false, self.release, self.source);
        if let Err((error, invalid)) = reader.unmarshal(value, type_) {
            self.save_at(invalid, error, true);
        }
    }

    fn decodes_leniently(&mut self) {
        if self.strict && self.source.has_duplicates_below(&self.path) {
            self.lenient.push(self.path.clone());
        }
    }

    fn value(&mut self, value: &Value, type_: GoType) {
        if value.is_null() {
            return;
        }
        match (type_.shape(), value) {
            (Shape::Custom(custom), _) => self.custom(value, custom),
            (Shape::Bool, Value::Bool(_))
            | (Shape::String, Value::String(_))
            | (Shape::Float, Value::Int(_) | Value::Float(_))
            | (Shape::Int(64), Value::Int(_)) => {}
            (Shape::Int(_), Value::Int(i)) if i32::try_from(*i).is_ok() => {}
            (Shape::Int(_), Value::Int(_) | Value::Float(_)) => self.wrong_number(value, type_.name()),
            (Shape::Bytes, Value::String(text)) => {
                if let Err(at) = Encoding::Standard.decode(text) {
                    self.save(UnmarshalError::Plain(format!("illegal base64 data at input byte {at}")), false);
                }
            }
            (Shape::List(item), Value::Array(items)) => self.items(items, |reader, one| reader.value(one, item)),
            // Go decodes bytes from numbers, too.
            (Shape::Bytes, Value::Array(items)) => self.items(items, Self::byte),
            (Shape::Map(item), Value::Object(members)) => {
                for (key, v) in members {
                    let length = self.enter(key);
                    self.value(v, item);
                    self.path.truncate(length);
                }
            }
            (Shape::Struct(s), Value::Object(members)) => self.object(members, s),
            _ => self.wrong_type(go_kind(value).to_owned(), type_.name(), false),
        }
    }

    fn byte(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::Int(i) if u8::try_from(*i).is_ok() => {}
            Value::Int(_) | Value::Float(_) => self.wrong_number(value, "uint8".to_owned()),
            _ => self.wrong_type(go_kind(value).to_owned(), "uint8".to_owned(), false),
        }
    }

    fn wrong_number(&mut self, value: &Value, type_: String) {
        let number = self.source.number(&self.path).map_or_else(|| literal(value), str::to_owned);
        self.wrong_type(format!("number {number}"), type_, false);
    }

    /// Checks a value of a type with its own `UnmarshalJSON`.
    fn custom(&mut self, value: &Value, custom: Custom) {
        use Custom::{SchemaOrBool, SchemaOrList, SchemaOrNames, Time};
        let types = Types::of_definitions(self.release);
        match (custom, value) {
            (SchemaOrList, Value::Array(_)) => self.inner(value, GoType::of_schema_field(types, "allOf")),
            (SchemaOrNames, Value::Array(_)) => self.inner(value, GoType::of_schema_field(types, "required")),
            (SchemaOrList | SchemaOrNames | SchemaOrBool, Value::Object(_)) => self.inner(value, GoType::schema(types)),
            (SchemaOrList | SchemaOrNames, _) | (SchemaOrBool, Value::Bool(_)) => {}
            (SchemaOrBool, _) => self.save(UnmarshalError::Plain("boolean or JSON schema expected".to_owned()), true),
            (Time, Value::String(text)) => {
                if let Err(error) = time::parse(text) {
                    self.save(UnmarshalError::Plain(error.into()), true);
                }
            }
            (Time, _) => self.wrong_type(go_kind(value).to_owned(), "string".to_owned(), true),
            // Any JSON: a CRD has no other types with their own `UnmarshalJSON`.
            (_, Value::Object(_) | Value::Array(_)) => self.decodes_leniently(),
            _ => {}
        }
    }

    fn items(&mut self, items: &[Value], each: impl Fn(&mut Self, &Value)) {
        let length = self.path.len();
        for (i, value) in items.iter().enumerate() {
            let _ = write!(self.path, "[{i}]");
            each(self, value);
            self.path.truncate(length);
        }
    }

    fn object(&mut self, members: &Map, s: GoStruct) {
        let outer = self.struct_;
        for (key, v) in members {
            let Some(field) = s.field(key) else {
                self.unknown_field(key, s);
                continue;
            };
            let depth = self.fields.len();
            self.fields.extend(field.embedded());
            self.fields.push(field.name());
            self.struct_ = s.name();
            let length = self.enter(field.name());
            self.value(v, field.type_());
            self.path.truncate(length);
            self.fields.truncate(depth);
            self.struct_ = outer;
        }
    }

    /// Appends a member to the path; returns the previous length of the path.
    fn enter(&mut self, key: &str) -> usize {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        length
    }

    fn unknown_field(&mut self, key: &str, parent: GoStruct) {
        if !self.strict || self.unknown.len() >= MAX_UNKNOWN {
            return;
        }
        let length = self.enter(key);
        if self.seen.insert(self.path.clone()) {
            self.unknown.push(UnknownField { path: self.path.clone(), name: key.to_owned(), parent });
        }
        self.path.truncate(length);
    }
}

/// The text of a number that was not read from a text; the usual one is assumed (`1.0` rather than `1e0`).
fn literal(v: &Value) -> String {
    match v {
        Value::Float(x) if x.fract() == 0.0 && x.abs() < 9e18 => format!("{}.0", number::format_json(*x)),
        Value::Float(x) => number::format_json(*x),
        Value::Int(i) => i.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(release: Release) -> GoType {
        GoType::schema(Types::of_definitions(release)).unwrap()
    }

    fn checked(text: &str) -> Checked {
        let value = crdx_text::json::read(text.as_bytes()).unwrap();
        check(&value, schema(Release::NEWEST), Release::NEWEST, &Text(text))
    }

    struct Text<'a>(&'a str);

    impl SourceText for Text<'_> {
        // Sufficient for fields with distinct names.
        fn position(&self, path: &str) -> usize {
            path.rsplit('.').next().and_then(|name| self.0.find(name)).unwrap_or(0)
        }
        fn number(&self, path: &str) -> Option<&str> {
            let text = self.0.get(self.position(path)..)?.split_once(':')?.1;
            text.split([',', '}']).next()
        }
        fn has_duplicates_below(&self, _: &str) -> bool {
            true
        }
    }

    #[test]
    fn numbers_are_shown_as_written() {
        let error = checked(r#"{"minLength":1e+19}"#).error.unwrap().message;
        assert!(error.contains("cannot unmarshal number 1e+19 into"), "{error}");
    }

    #[test]
    fn older_releases_report_the_field_with_the_unmarshaler() {
        let value = crdx_text::json::read(br#"{"items":{"type":3}}"#).unwrap();
        let of = |release| check(&value, schema(release), release, &NoSource).error.unwrap().message;
        assert!(of(Release::OLDEST).contains("JSONSchemaProps.items of type string"));
        assert!(of(Release::NEWEST).contains("JSONSchemaProps.items.type of type string"));
    }

    #[test]
    fn the_first_wrong_type_in_document_order_is_reported() {
        let of = |text: &str| checked(text).error.unwrap().message;
        assert!(of(r#"{"title":3,"description":5}"#).contains("JSONSchemaProps.title of type string"));
        assert!(of(r#"{"description":5,"title":3}"#).contains("JSONSchemaProps.description of type string"));
        // An error of a type with its own `UnmarshalJSON` ends decoding.
        assert!(of(r#"{"description":5,"items":{"type":3}}"#).contains("JSONSchemaProps.items.type of type string"));
        assert_eq!(of(r#"{"title":5,"additionalProperties":3}"#), "boolean or JSON schema expected");
    }

    #[test]
    fn errors_have_the_path_of_the_value() {
        let path = |text: &str| checked(text).error.unwrap().path;
        assert_eq!(path(r#"{"properties":{"a":{"title":3}}}"#), "properties.a.title");
        assert_eq!(path(r#"{"items":{"enum":[],"required":[1]}}"#), "items.required[0]");
        assert_eq!(path("[]"), "");
    }

    #[test]
    fn custom_unmarshalers_decode_leniently() {
        let found = checked(r#"{"no":1,"items":{"no":1},"properties":{"a":{"no":1}},"default":{"b":1}}"#);
        let unknown: Vec<&str> = found.unknown.iter().map(|field| field.path.as_str()).collect();
        assert_eq!(unknown, ["no", "properties.a.no"]);
        assert_eq!(found.lenient, ["default", "items"]);
        assert_eq!(found.error, None);
    }
}

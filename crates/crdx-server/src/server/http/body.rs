//! Decodes request bodies, with the error messages of the server's serializers (`runtime/serializer/json`).

pub(in crate::server) mod unreadable;

use crate::server::http::negotiate::Input;
use crate::server::http::options::FieldValidation;
use crate::server::http::protobuf::{self, DefaultType};
use crate::server::http::request::Body;
use crate::server::http::status::Refusal;
use crdx_text as text;
pub(in crate::server) use crdx_text::json::summary;
use crdx_text::malformed::MalformedStrings;
use crdx_text::strict::StrictError;
use crdx_types::meta;
use crdx_value::GoError;
use crdx_value::group_version::GroupVersionKind;
pub(in crate::server) use crdx_value::group_version::parse as parse_group_version;
use crdx_value::json::go_kind;
use crdx_value::release::{Release, V1_38};
use crdx_value::{Map, Value};
use std::borrow::Cow;
use unreadable::Unreadable;

/// The maximum size of a body in bytes.
pub const LIMIT: usize = 3 * 1024 * 1024;

/// A decoded body.
#[derive(Debug)]
pub(in crate::server) struct BodyDocument {
    /// The decoded JSON object.
    pub value: Value,
    /// The duplicate keys.
    pub strict: Vec<StrictError>,
    /// The strings of a Protobuf body that are not UTF-8.
    pub malformed: MalformedStrings,
    /// The type that the serializer read, if keys such as `Kind` may give it another one than `value` has.
    other_type: Option<GroupVersionKind>,
}

impl BodyDocument {
    fn new(value: Value, strict: Vec<StrictError>) -> Self {
        Self { value, strict, malformed: MalformedStrings::default(), other_type: None }
    }

    /// Gives the value the type that a typed object is decoded with.
    pub fn with_declared_type(mut self) -> Self {
        if let (Some(gvk), Some(members)) = (self.other_type.take(), self.value.as_object_mut()) {
            members.insert("apiVersion".to_owned(), gvk.api_version().into());
            members.insert("kind".to_owned(), gvk.kind.into());
        }
        self
    }

    /// The kind and apiVersion that a typed object is decoded with; empty if absent.
    pub fn declared_type(&self) -> (Cow<'_, str>, Cow<'_, str>) {
        if let Some(gvk) = &self.other_type {
            return (gvk.kind.as_str().into(), gvk.api_version().into());
        }
        let text = |key: &str| self.value.str_at(&[key]).unwrap_or_default().into();
        (text("kind"), text("apiVersion"))
    }

    /// A document without errors.
    pub fn from_value(value: Value) -> Self {
        Self::new(value, Vec::new())
    }
}

/// The bytes of a body; for a body passed as a value, its JSON. Returns a refusal for a body that is too large.
pub(in crate::server) fn bytes(body: &Body) -> Result<Cow<'_, [u8]>, Refusal> {
    let bytes = match body {
        Body::Empty => Cow::Borrowed(&[][..]),
        Body::Bytes(bytes) => Cow::Borrowed(bytes.as_slice()),
        Body::Value(value) => Cow::Owned(crdx_value::json::to_string(value).into_bytes()),
    };
    check_size(body)?;
    Ok(bytes)
}

/// The size of the body in bytes; 0 for a body passed as a value.
pub(in crate::server) fn length(body: &Body) -> usize {
    if let Body::Bytes(bytes) = body { bytes.len() } else { 0 }
}

/// Returns a refusal for a body that is too large.
pub(in crate::server) fn check_size(body: &Body) -> Result<(), Refusal> {
    if length(body) > LIMIT { Err(Refusal::too_large(&format!("limit is {LIMIT}"))) } else { Ok(()) }
}

/// Decodes a body, which must be a JSON object with apiVersion and kind. The type of a Protobuf body may be missing; it is
/// then `default`.
pub(in crate::server) fn object(
    body: &Body,
    input: Input,
    validation: FieldValidation,
    default: DefaultType<'_>,
    release: Release,
) -> Result<BodyDocument, Unreadable> {
    let mut document = match body {
        Body::Value(value) => BodyDocument::from_value(value.clone()),
        Body::Empty => read(&[], input, validation, default, release)?,
        Body::Bytes(bytes) => read(bytes, input, validation, default, release)?,
    };
    let text = if let (Body::Bytes(text), Input::Json) = (body, input) { Some(text.as_slice()) } else { None };
    document.other_type = interpret(&document.value, text, release).map_err(|error| Unreadable::Early(error.into()))?;
    Ok(document)
}

/// Moves the value out of the body of an in-process request, so that it is not copied.
pub(in crate::server) fn take(body: &mut Body, release: Release) -> Option<Value> {
    match body {
        Body::Value(value)
            if interpret(value, None, release) == Ok(None)
                && value.str_at(&["kind"]).is_some_and(|kind| !kind.is_empty()) =>
        {
            Some(std::mem::take(value))
        }
        _ => None,
    }
}

fn read(
    bytes: &[u8],
    input: Input,
    validation: FieldValidation,
    default: DefaultType<'_>,
    release: Release,
) -> Result<BodyDocument, Unreadable> {
    match input {
        Input::Json => {
            let read = text::json::read_strict(bytes).map_err(|e| {
                if e.kind == text::ErrorKind::NumberOutOfRange {
                    return Unreadable::Late(e.message);
                }
                let since =
                    release.since(V1_38).then(|| text::json::jsontext::syntax_error(bytes)).flatten().map(String::from);
                Unreadable::Early(format!(
                    "couldn't get version/kind; json parse error: {}",
                    since.unwrap_or(e.message)
                ))
            })?;
            let strict = if validation.is_enabled() { read.errors } else { Vec::new() };
            Ok(BodyDocument::new(read.value, strict))
        }
        Input::Protobuf => {
            let object = protobuf::read(bytes, default, release)?;
            Ok(BodyDocument { malformed: object.malformed, ..BodyDocument::from_value(object.value) })
        }
        Input::Yaml => {
            let read = text::yaml::read_strict(bytes).map_err(|e| Unreadable::Early(e.message))?;
            let strict = if validation.is_enabled() { read.error().into_iter().collect() } else { Vec::new() };
            Ok(BodyDocument::new(read.value, strict))
        }
    }
}

/// `SimpleMetaFactory.Interpret`: apiVersion and kind must be strings, in every spelling (`Kind`). `text` is the JSON that was
/// decoded, because the last of several spellings is used; without it, `value` is as Go writes it. The result is the type, if
/// there is another spelling.
pub(in crate::server) fn interpret(
    value: &Value,
    text: Option<&[u8]>,
    release: Release,
) -> Result<Option<GroupVersionKind>, GoError> {
    let invalid = |text: String| Err(format!("couldn't get version/kind; json parse error: {text}").into());
    let members = match value {
        Value::Object(members) => members,
        Value::Null => return Ok(None),
        other => {
            let kind = go_kind(other);
            return invalid(format!(
                "json: cannot unmarshal {kind} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
            ));
        }
    };
    if members.keys().any(|key| meta::is_other_spelling(key)) {
        let written = || Cow::Owned(crdx_value::json::to_string(value).into_bytes());
        let read = meta::read(&text.map_or_else(written, Cow::Borrowed), release.minor());
        return read.map(Some).map_err(|error| error.to_string().into());
    }
    for key in ["apiVersion", "kind"] {
        if let Some(value) = members.get(key)
            && !matches!(value, Value::String(_) | Value::Null)
        {
            let kind = go_kind(value);
            return invalid(format!("json: cannot unmarshal {kind} into Go struct field .{key} of type string"));
        }
    }
    if let Some(version) = members.get("apiVersion").and_then(Value::as_str) {
        parse_group_version(version)?;
    }
    Ok(None)
}

/// `runtime.NewMissingKindErr`, which quotes the body or, with `Ignore`, the decoded JSON.
pub(in crate::server) fn missing_kind(body: &Body, input: Input, validation: FieldValidation) -> String {
    let text = match bytes(body) {
        Ok(bytes) if input == Input::Yaml && !validation.is_enabled() => {
            text::yaml::read(&bytes).map(|v| crdx_value::json::to_string(&v)).unwrap_or_default()
        }
        bytes => bytes.map(|b| crdx_text::lossy(&b)).unwrap_or_default(),
    };
    format!("Object 'Kind' is missing in '{text}'")
}

/// The kind and version of a JSON body that cannot be decoded because of a number out of range; empty if it has none.
pub(in crate::server) fn declared_type(body: &Body) -> (String, String) {
    let value = bytes(body).ok().and_then(|bytes| text::json::read_with_any_number(&bytes).ok()).unwrap_or_default();
    let text = |key: &str| value.str_at(&[key]).unwrap_or_default();
    let version = parse_group_version(text("apiVersion")).map_or("", |(_, version)| version);
    (text("kind").to_owned(), version.to_owned())
}

/// Replaces `null` by `{}`, as the server's decoder does.
pub(in crate::server) fn or_empty(value: Value) -> Value {
    if value.is_null() { Value::Object(Map::new()) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: DefaultType<'_> = DefaultType { api_version: "v1", kind: "A" };

    #[test]
    fn apiversion_and_kind_must_be_strings() {
        let read = |text: &str| {
            object(&Body::Bytes(text.as_bytes().to_vec()), Input::Json, FieldValidation::Strict, TYPE, Release::NEWEST)
                .map(|d| d.strict)
        };
        assert_eq!(read(r#"{"kind":"A","a":1,"a":2}"#), Ok(vec![StrictError::DuplicateField("a".to_owned())]));
        assert_eq!(
            read(r#"{"kind":1}"#),
            Err(Unreadable::Early("couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string".to_owned()))
        );
        assert_eq!(read(r#"{"kind":"A","Kind":1}"#), read(r#"{"kind":1}"#));
    }

    #[test]
    fn the_last_spelling_of_kind_is_the_type() {
        let read = |body: Body| {
            object(&body, Input::Json, FieldValidation::Strict, TYPE, Release::NEWEST)
                .map(|d| d.declared_type().0.into_owned())
        };
        let text = r#"{"kind":"A","Kind":"B"}"#;
        assert_eq!(read(Body::Bytes(text.into())), Ok("B".to_owned()));
        // Go writes the members of a map sorted by name.
        assert_eq!(read(Body::Value(text::json::read(text.as_bytes()).unwrap())), Ok("A".to_owned()));
    }
}

//! Decodes a CRD from a body or a patch, with defaults and strict errors.

use crate::crd::{self, CustomResourceDefinition, NoSource, SourceText};
use crate::server::http::body;
use crate::server::http::body::unreadable::Unreadable;
use crate::server::http::context::Context;
use crate::server::http::negotiate::Input;
use crate::server::http::options::WriteOptions;
use crate::server::http::protobuf::DefaultType;
use crate::server::http::request::Body;
use crate::server::http::status::Refusal;
use crdx_text::Syntax;
use crdx_text::malformed::MalformedStrings;
use crdx_text::spans::{Found, Spans};
use crdx_text::strict::StrictError;
use crdx_value::GoError;
use crdx_value::quote::go_quote;
use crdx_value::{Map, Value};
use std::cell::OnceCell;

const KIND: &str = "CustomResourceDefinition";
const VERSION: &str = "apiextensions.k8s.io/v1";
const TYPE: DefaultType<'_> = DefaultType { api_version: VERSION, kind: KIND };

/// Decodes the CRD of a POST or PUT.
pub(super) fn request(
    ctx: &mut Context<'_>,
    input: Input,
    options: &WriteOptions,
) -> Result<CustomResourceDefinition, Refusal> {
    let document = ctx.body_object(input, options.field_validation, TYPE).map_err(|e| {
        if let (Input::Protobuf, Unreadable::Late(text)) = (input, &e) {
            return Refusal::bad_request(format!("{KIND} in version \"v1\" cannot be handled as a {KIND}: {text}"));
        }
        let text = e.into_text();
        let summary = body::bytes(&ctx.request.body).map(|b| body::summary(&b)).unwrap_or_default();
        Refusal::bad_request(format!(
            "the object provided is unrecognized (must be of type {KIND}): {text} ({summary})"
        ))
    })?;
    let document = document.with_declared_type();
    let (kind, api_version) = types(&document.value);
    let (kind, api_version) = (kind.to_owned(), api_version.to_owned());
    let version = body::parse_group_version(&api_version).map(|(_, v)| v.to_owned()).unwrap_or_default();
    let malformed = document.malformed;
    let refuse = |text: GoError| {
        let version = malformed.quote(&version);
        Refusal::bad_request(format!("{kind} in version {version} cannot be handled as a {KIND}: {text}"))
    };
    let text = match &ctx.request.body {
        Body::Bytes(text) if input == Input::Json => Text::Body(text),
        _ => Text::None(&malformed),
    };
    let mut definition = read(ctx, document.value, document.strict, text, options).map_err(refuse)?;
    if api_version != VERSION {
        return Err(Refusal::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({VERSION})"
        )));
    }
    definition.malformed = malformed;
    Ok(definition)
}

/// The JSON from which a CRD is read.
#[derive(Clone, Copy)]
pub(super) enum Text<'a> {
    /// The body of the request, in which the strict decoding errors were found.
    Body(&'a [u8]),
    /// The result of a patch.
    Patched(&'a str),
    /// The CRD was not read from JSON. These strings of it are not UTF-8.
    None(&'a MalformedStrings),
    /// The CRD was restored from a map; these are its unknown fields as they are shown.
    Restored(&'a [String]),
}

/// Decodes a value; the error is the decoder's message.
pub(super) fn read(
    ctx: &mut Context<'_>,
    value: Value,
    mut strict: Vec<StrictError>,
    text: Text<'_>,
    options: &WriteOptions,
) -> Result<CustomResourceDefinition, GoError> {
    let (kind, api_version) = types(&value);
    let quote = |type_: &str| if let Text::None(malformed) = text { malformed.quote(type_) } else { go_quote(type_) };
    if kind != KIND || !matches!(api_version, VERSION | "apiextensions.k8s.io/v1beta1") {
        return Err(format!(
            "no kind {} is registered for version {} in scheme {}",
            quote(kind),
            quote(api_version),
            ctx.release().scheme()
        )
        .into());
    }
    let refuse = |ctx: &mut Context<'_>, error: crd::DecodeError| {
        ctx.trace.undecodable_field = Some(error.path.into());
        error.message
    };
    let value = if value.is_null() { Value::Object(Map::new()) } else { value };
    let duplicates = strict.iter().filter(|_| matches!(text, Text::Body(_))).filter_map(|error| match error {
        StrictError::DuplicateField(path) => Some(path.clone()),
        _ => None,
    });
    let duplicates: Vec<String> = duplicates.collect();
    let json = |text| JsonSource { text, spans: OnceCell::new(), duplicates: &duplicates };
    let source: Box<dyn SourceText> = match text {
        Text::Body(text) => Box::new(json(text)),
        Text::Patched(text) => Box::new(json(text.as_bytes())),
        Text::None(_) | Text::Restored(_) => Box::new(NoSource),
    };
    let decoded =
        crd::decode_text(&value, ctx.release(), &*source).map_err(|error| GoError::from(refuse(ctx, error)))?;
    strict.retain(|error| {
        let StrictError::DuplicateField(duplicate) = error else { return true };
        !decoded.lenient.iter().any(|path| is_below(duplicate, path))
    });
    if options.field_validation.is_enabled() {
        match text {
            Text::Restored(shown) => strict.extend(shown.iter().cloned().map(StrictError::DroppedField)),
            _ => strict.extend(decoded.unknown.iter().cloned().map(StrictError::UnknownField)),
        }
    }
    ctx.trace.pruned = decoded.unknown;
    ctx.strict_errors(strict, options).map_err(|error| GoError::from(error.to_string()))?;
    Ok(decoded.crd)
}

/// The JSON from which a CRD was read.
struct JsonSource<'a> {
    text: &'a [u8],
    spans: OnceCell<Spans<'a>>,
    /// The paths of duplicate keys.
    duplicates: &'a [String],
}

impl JsonSource<'_> {
    fn locate(&self, path: &str) -> Found {
        self.spans.get_or_init(|| Spans::new(self.text, Syntax::Json)).locate(path)
    }
}

impl SourceText for JsonSource<'_> {
    fn position(&self, path: &str) -> usize {
        let found = self.locate(path);
        found.key.map_or(found.value.range.start, |key| key.range.start)
    }
    fn number(&self, path: &str) -> Option<&str> {
        let found = self.locate(path);
        std::str::from_utf8(self.text.get(found.value.range)?).ok().filter(|_| found.exact)
    }
    fn has_duplicates_below(&self, path: &str) -> bool {
        self.duplicates.iter().any(|duplicate| is_below(duplicate, path))
    }
}

fn is_below(field: &str, path: &str) -> bool {
    field.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// The kind and apiVersion, with defaults if they are missing.
fn types(value: &Value) -> (&str, &str) {
    let kind = value.str_at(&["kind"]).filter(|k| !k.is_empty()).unwrap_or(KIND);
    let api_version = value.str_at(&["apiVersion"]).filter(|v| !v.is_empty()).unwrap_or(VERSION);
    (kind, api_version)
}

//! PATCH: `endpoints/handlers/patch.go`. One file per kind of patch; [`apply`] is server-side apply, which
//! [`create_or_update`]s the object.

mod apply;
mod create_or_update;
mod json;
mod merge;

use super::Registry;
use crate::apply::raw::Raw;
use crate::server::http::answer::Answer;
use crate::server::http::body;
use crate::server::http::context::Context;
use crate::server::http::object_checks;
use crate::server::http::options::{self, Write, WriteOptions};
use crate::server::http::request::Body;
use crate::server::http::status::Refusal;
use crate::server::registry::patched_object::{PatchSource, PatchedObject};
use crate::server::registry::size::ManagedFields;
use crate::server::registry::strategy::Strategy;
use crate::server::registry::update::Update;
use crate::server::scope::GroupResource;
use crdx_text::strict::StrictError;
use crdx_text::{self as text, ErrorKind};
use crdx_value::Value;
use crdx_value::field::{FieldError, FieldPath};
use crdx_value::release::{Release, V1_37};

const MEDIA_TYPES: [&str; 3] =
    ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
const STRATEGIC: &str = "application/strategic-merge-patch+json";
/// The media types of patches of built-in kinds.
const TYPED_MEDIA_TYPES: [&str; 4] =
    ["application/json-patch+json", "application/merge-patch+json", STRATEGIC, "application/apply-patch+yaml"];

/// The kind of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum PatchType {
    /// RFC 6902
    Json,
    /// RFC 7386
    Merge,
    /// A strategic merge patch, of built-in kinds only
    Strategic,
    /// Server-side apply
    Apply,
}

/// The patch type of a request, from its `Content-Type`. This is checked before anything else.
pub(in crate::server) fn kind(content_type: Option<&str>) -> Result<PatchType, Refusal> {
    let text = content_type.unwrap_or_default();
    let text = match text.find(';') {
        Some(at) if at > 0 => text.get(..at).unwrap_or(text),
        _ => text,
    };
    match text {
        "application/json-patch+json" => Ok(PatchType::Json),
        "application/merge-patch+json" => Ok(PatchType::Merge),
        "application/apply-patch+yaml" => Ok(PatchType::Apply),
        _ => Err(Refusal::unsupported_media_type(&MEDIA_TYPES)),
    }
}

/// The patch type of a request for a built-in kind.
pub(in crate::server) fn typed_kind(content_type: Option<&str>) -> Result<PatchType, Refusal> {
    if content_type.and_then(|t| t.split(';').next()) == Some(STRATEGIC) {
        return Ok(PatchType::Strategic);
    }
    kind(content_type).map_err(|_| Refusal::unsupported_media_type(&TYPED_MEDIA_TYPES))
}

/// The patch type for a CRD.
pub(in crate::server) fn definition_kind(content_type: Option<&str>) -> Result<PatchType, Refusal> {
    typed_kind(content_type)
        .map_err(|refusal| Refusal::unrouted(refusal.code, refusal.reason, "415: Unsupported Media Type"))
}

impl<S: Strategy + ?Sized> Registry<'_, S> {
    /// Handles a PATCH.
    pub(super) fn patch(&self, ctx: &mut Context<'_>, kind: PatchType) -> Result<Answer, Refusal> {
        let strategy = &*self.strategy;
        ctx.name()?;
        let (patch, options) = read(ctx, kind)?;
        let Some(patch) = patch else { return self.apply(ctx, &options) };
        let mut transform = |ctx: &mut Context<'_>, existing: &Value| {
            let mut object = if patch.kind == PatchType::Strategic {
                let (document, strict) = (patch.document()?, patch.strict.clone());
                strategy.merge_strategically(ctx, existing.clone(), document, strict, &options)?
            } else {
                let release = ctx.release();
                let (object, strict) = patch.apply(existing.clone(), &options, release)?;
                let again = || patch.apply(existing.clone(), &options, release).map(|(o, _)| o).unwrap_or_default();
                let source = match patch.kind {
                    PatchType::Json => PatchSource::Json { text: &patch.text, existing },
                    _ => PatchSource::Merge { patch: &patch.raw, again: &again },
                };
                strategy.decode_patched(ctx, PatchedObject { object, source }, strict, &options)?
            };
            self.update_managed_fields(ctx, Some(existing), &mut object, &options);
            object_checks::match_namespace(&mut object, &ctx.target.namespace)?;
            object_checks::check_name(&object, &ctx.target.name)?;
            object_checks::dedup_owners(ctx, &mut object, true);
            Ok(object)
        };
        let update = Update { decoded: true, uid: "", managed_fields: ManagedFields::Dropped, options: &options };
        self.update(ctx, &update, &mut transform)
    }
}

/// Decodes a patch and its options; the patch is `None` for an apply.
fn read(ctx: &Context<'_>, kind: PatchType) -> Result<(Option<DecodedPatch>, WriteOptions), Refusal> {
    body::check_size(&ctx.request.body)?;
    let write = if kind == PatchType::Apply { Write::Apply } else { Write::Patch };
    let options = options::write_options(&ctx.query, write, ctx.release())?;
    if kind == PatchType::Apply {
        return Ok((None, options));
    }
    // A value without floats is the same when it is read back from its JSON.
    if let Body::Value(value) = &ctx.request.body
        && kind == PatchType::Merge
        && !has_float(value)
    {
        let document = Ok(value.clone());
        return Ok((
            Some(DecodedPatch { kind, document, raw: Raw::Null, text: Vec::new(), strict: Vec::new() }),
            options,
        ));
    }
    let bytes = body::bytes(&ctx.request.body)?;
    let document = match text::json::read_strict(&bytes) {
        Ok(document) => document,
        Err(error) if ctx.release().since(V1_37) && error.kind != ErrorKind::NumberOutOfRange => {
            return Err(Refusal::bad_request("invalid JSON patch".to_owned()));
        }
        Err(error) => {
            let document = Err(Refusal::bad_request(unreadable(error, kind, &options)));
            let patch = DecodedPatch { kind, document, raw: Raw::Null, text: Vec::new(), strict: Vec::new() };
            return Ok((Some(patch), options));
        }
    };
    let strict = if options.field_validation.is_enabled() { document.errors } else { Vec::new() };
    // Only `test` operations and numbers of merge patches need source texts.
    let tests = |o: &Value| o.str_at(&["op"]) == Some("test");
    let needs_source = match kind {
        PatchType::Json => document.value.as_array().is_some_and(|ops| ops.iter().any(tests)),
        PatchType::Merge => has_float(&document.value),
        PatchType::Strategic | PatchType::Apply => false,
    };
    let raw = if needs_source { Raw::read(&text::lossy(&bytes)).unwrap_or(Raw::Null) } else { Raw::Null };
    let text = if kind == PatchType::Json { bytes.into_owned() } else { Vec::new() };
    Ok((Some(DecodedPatch { kind, document: Ok(document.value), raw, text, strict }), options))
}

fn has_float(value: &Value) -> bool {
    match value {
        Value::Float(_) => true,
        Value::Array(items) => items.iter().any(has_float),
        Value::Object(members) => members.values().any(has_float),
        _ => false,
    }
}

/// A JSON or merge patch.
struct DecodedPatch {
    kind: PatchType,
    /// The decoded patch, or the refusal if it cannot be decoded, which an absent object precedes.
    document: Result<Value, Refusal>,
    /// The source texts of its scalars, if they are needed to apply it.
    raw: Raw,
    /// The text of a JSON patch.
    text: Vec<u8>,
    strict: Vec<StrictError>,
}

impl DecodedPatch {
    fn document(&self) -> Result<&Value, Refusal> {
        self.document.as_ref().map_err(Clone::clone)
    }

    /// Returns the patched object and the strict decoding errors of the patch.
    fn apply(
        &self,
        current: Value,
        options: &WriteOptions,
        release: Release,
    ) -> Result<(Value, Vec<StrictError>), Refusal> {
        let document = self.document()?;
        let looks = options.field_validation.is_enabled();
        match self.kind {
            PatchType::Json => {
                let mut strict = json::duplicates(&self.strict);
                if looks {
                    strict.extend(json::check(document)?);
                }
                let in_patch = |error| StrictError::JsonPatch(Box::new(error));
                let mut strict: Vec<_> = strict.into_iter().map(in_patch).collect();
                let patched = json::apply(document, &self.raw, &self.text, current, release)?;
                strict.extend(patched.duplicates(&self.strict));
                Ok((patched.document, strict))
            }
            PatchType::Merge | PatchType::Strategic | PatchType::Apply => {
                Ok((merge::apply(document, current, looks)?, self.strict.clone()))
            }
        }
    }
}

/// The message for a patch that cannot be decoded. Since 1.37, the syntax is checked first (`validateAndTranscodePatch`).
fn unreadable(error: text::Error, kind: PatchType, options: &WriteOptions) -> String {
    match kind {
        _ if error.kind == ErrorKind::NumberOutOfRange || options.field_validation.is_enabled() => {
            format!("error decoding patch: {}", error.message)
        }
        PatchType::Json => error.message,
        _ => "Invalid JSON Patch".to_owned(),
    }
}

/// A 422 for a patch; it has neither kind nor name.
pub(in crate::server) fn refuse(patched: &str, detail: impl Into<String>) -> Refusal {
    let error = FieldError::invalid(&FieldPath::new("patch"), patched, detail);
    Refusal::invalid(GroupResource { group: "", resource: "" }, "", vec![error])
}

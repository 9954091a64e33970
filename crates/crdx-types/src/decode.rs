//! Decodes a body for the endpoint of the request, with the error responses of `createHandler` in `k8s.io/apiserver`.

use super::meta;
use super::reader::{self, Findings, Missing, Strict};
use super::table::table;
use super::types::Types;
use crdx_text::strict::StrictDecodingError;
use crdx_text::{json, lossy};
use crdx_value::GoError;
use crdx_value::group_version::GroupVersionKind;
use crdx_value::quote;

/// The kind that an endpoint accepts.
pub type Endpoint = GroupVersionKind;

/// The name of the server's scheme in error messages.
const SCHEME: &str = "pkg/api/legacyscheme/scheme.go:30";

/// A decoded body, with the errors found under strict validation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// The `apiVersion` of the body; that of the endpoint if the body has none.
    pub api_version: String,
    /// Unknown and duplicate fields: errors under strict validation, warnings by default.
    pub strict: Vec<Strict>,
    /// Violations of the published schema that decoding does not report.
    pub missing: Vec<Missing>,
    /// The error for an apiVersion that differs from the endpoint's; reported after strict errors.
    wrong_version: Option<BadRequest>,
    /// The beginning of the message for strict errors.
    cannot_be_handled: String,
}

/// An error response with code 400.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadRequest {
    /// The message of the Status.
    pub message: String,
    /// The path of the invalid field, if there is one, with all indexes and map keys.
    pub path: Option<String>,
    /// The error of the decoder, which the message contains.
    pub error: String,
}

impl Decoded {
    /// The error response with `fieldValidation=Strict`, if any.
    pub fn strictly(&self) -> Option<BadRequest> {
        if self.strict.is_empty() {
            return self.wrong_version.clone();
        }
        let errors = self.strict.iter().map(Strict::error).collect();
        Some(self.refusal(StrictDecodingError(errors).to_string()))
    }

    /// The error response for an error of the decoder.
    pub fn refusal(&self, error: String) -> BadRequest {
        BadRequest { message: format!("{}{error}", self.cannot_be_handled), path: None, error }
    }

    /// The error response with `fieldValidation=Warn` or `Ignore`, if any.
    pub fn leniently(&self) -> Option<BadRequest> {
        self.wrong_version.clone()
    }
}

/// Decodes a body sent to `endpoint`, a kind in the release of `types`.
///
/// # Errors
/// Returns an error response that does not depend on `fieldValidation`.
pub fn decode(types: &'static Types, endpoint: &Endpoint, body: &[u8]) -> Result<Decoded, BadRequest> {
    decode_as(types, endpoint, body, meta::read(body, types.minor()))
}

/// Like [`decode`], for a body that [`json::read`] accepts.
///
/// # Errors
/// See [`decode`].
pub fn decode_valid(types: &'static Types, endpoint: &Endpoint, body: &[u8]) -> Result<Decoded, BadRequest> {
    decode_as(types, endpoint, body, meta::read_valid(body, types.minor()))
}

fn decode_as(
    types: &'static Types,
    endpoint: &Endpoint,
    body: &[u8],
    meta: Result<GroupVersionKind, GoError>,
) -> Result<Decoded, BadRequest> {
    let actual = meta.map_err(|error| {
        let (kind, summary) = (&endpoint.kind, json::summary(body));
        let message = format!("the object provided is unrecognized (must be of type {kind}): {error} ({summary})");
        BadRequest { message, path: None, error: error.into() }
    })?;
    let actual = with_defaults(actual, endpoint);
    let version = quote::go_quote(&actual.version);
    let cannot_be_handled = format!("{} in version {version} cannot be handled as a {}: ", actual.kind, endpoint.kind);
    let refuse = |error: &str, path| BadRequest {
        message: format!("{cannot_be_handled}{error}"),
        path,
        error: error.to_owned(),
    };
    if actual.version.is_empty() {
        return Err(refuse(&format!("Object 'apiVersion' is missing in '{}'", lossy(body)), None));
    }
    let row = table().registered(&actual.api_version(), &actual.kind, types.release());
    let Some(id) = row.and_then(|row| types.id(row.type_name)) else {
        return Err(refuse(&not_registered(&actual), None));
    };
    let Findings { strict, missing } =
        reader::read(types, id, body).map_err(|decode_error| refuse(&decode_error.message, Some(decode_error.path)))?;
    let (from, to) = (internal_type(&actual), internal_type(endpoint));
    if from != to {
        let error = format!("converting ({}) to ({to}): unknown conversion", types.go_name(id));
        return Err(refuse(&error, None));
    }
    let wrong_version = (actual.api_version() != endpoint.api_version()).then(|| {
        let (have, want) = (actual.api_version(), endpoint.api_version());
        let error = format!("the API version in the data ({have}) does not match the expected API version ({want})");
        BadRequest { message: error.clone(), path: Some("apiVersion".to_owned()), error }
    });
    Ok(Decoded { api_version: actual.api_version(), strict, missing, wrong_version, cannot_be_handled })
}

/// `gvkWithDefaults`
pub(super) fn with_defaults(mut actual: GroupVersionKind, endpoint: &Endpoint) -> GroupVersionKind {
    if actual.kind.is_empty() {
        actual.kind.clone_from(&endpoint.kind);
    }
    if actual.version.is_empty() && actual.group.is_empty() {
        actual.group.clone_from(&endpoint.group);
    }
    if actual.version.is_empty() && actual.group == endpoint.group {
        actual.version.clone_from(&endpoint.version);
    }
    actual
}

/// `notRegisteredErr`
fn not_registered(kind: &GroupVersionKind) -> String {
    let (name, scheme) = (quote::go_quote(&kind.kind), quote::go_quote(SCHEME));
    if kind.version == "__internal" {
        let group = quote::go_quote(&kind.group);
        return format!("no kind {name} is registered for the internal version of group {group} in scheme {scheme}");
    }
    let version = quote::go_quote(&kind.api_version());
    format!("no kind {name} is registered for version {version} in scheme {scheme}")
}

/// The Go type to which the server converts all versions of a kind.
fn internal_type(kind: &GroupVersionKind) -> String {
    let package = match kind.group.as_str() {
        "" => "core",
        "events.k8s.io" if kind.kind.starts_with("Event") => "core",
        "internal.apiserver.k8s.io" => "apiserverinternal",
        group => group.split('.').next().unwrap_or_default(),
    };
    format!("{package}.{}", kind.kind)
}

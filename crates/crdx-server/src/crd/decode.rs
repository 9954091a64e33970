//! Decodes a CRD from a [`Value`] like the server: strict JSON decoding, the v1 or v1beta1 types, defaulting, and
//! conversion to the internal form.
//!
//! [`check`] validates all types first and reports Go's error messages, so building the CRD afterwards need not report
//! errors.

mod build;
mod check;
mod restore;

use super::{CustomResourceDefinition, default};
use crate::pipeline::object_meta::MetadataError;
use crate::schema::decode::TypeMismatch;
pub use build::webhook_client_config;
pub use check::{NoSource, SourceText};
use crdx_types::go_type::{GoField, GoType};
use crdx_types::types::Types;
use crdx_value::Value;
use crdx_value::release::Release;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A decoded CRD.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The CRD, defaulted and in the internal form.
    pub crd: CustomResourceDefinition,
    /// The paths of unknown fields, in document order if positions are known.
    pub unknown: Vec<String>,
    /// The paths of values with duplicate keys that are decoded leniently: the keys are not reported.
    pub lenient: Vec<String>,
}

/// The error for a CRD that cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DecodeError {
    /// Go's message: `json: cannot unmarshal string into Go struct field …`.
    pub message: String,
    /// The path of the value that cannot be decoded; empty for the CRD itself.
    pub path: String,
}

impl From<TypeMismatch> for DecodeError {
    fn from(error: TypeMismatch) -> Self {
        Self { message: error.to_string(), path: String::new() }
    }
}

impl From<MetadataError> for DecodeError {
    fn from(error: MetadataError) -> Self {
        Self { path: error.field(), message: error.message }
    }
}

/// An unknown field, and the known fields of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The name of the unknown field.
    pub name: String,
    /// The names of the fields that the type has.
    pub known: Vec<&'static str>,
    /// The minor versions of the releases whose type has the field.
    pub releases: Option<RangeInclusive<u32>>,
}

/// The unknown fields of a CRD in a release, by path.
pub fn unknown_fields(object: &Value, release: Release) -> BTreeMap<String, Unknown> {
    let Some(root) = root(object, release) else { return BTreeMap::new() };
    let unknown = check::check(object, root, release, &NoSource).unknown;
    let described = |field: check::UnknownField| {
        let known = field.parent.fields().into_iter().map(GoField::name).collect();
        let releases = field.parent.releases_with(&field.name);
        (field.path, Unknown { name: field.name, known, releases })
    };
    unknown.into_iter().map(described).collect()
}

/// The Go type of a CRD, by its `apiVersion`.
fn root(object: &Value, release: Release) -> Option<GoType> {
    if is_beta(object) {
        let types = Types::for_release(release.minor().number().into());
        return GoType::named(types, "apiextensions/v1beta1.CustomResourceDefinition");
    }
    GoType::named(Types::of_definitions(release), "apiextensions/v1.CustomResourceDefinition")
}

fn is_beta(object: &Value) -> bool {
    object.str_at(&["apiVersion"]) == Some("apiextensions.k8s.io/v1beta1")
}

/// Restores a CRD that was not decoded from JSON: converts its numbers. Returns the paths of unknown fields as the server
/// shows them, which differ from those of [`decode`], too.
///
/// # Errors
/// Returns the error for the first value of a wrong type, which differs from that of [`decode`].
pub fn restore(object: &mut Value, release: Release) -> Result<Vec<String>, DecodeError> {
    root(object, release).map_or(Ok(Vec::new()), |root| restore::restore(object, root, release))
}

/// Decodes a CRD of `apiextensions.k8s.io/v1` or, by its `apiVersion`, `v1beta1`.
///
/// # Errors
/// Returns the error for the first value of a wrong type.
pub fn decode(object: &Value) -> Result<Decoded, DecodeError> {
    decode_text(object, Release::NEWEST, &NoSource)
}

/// Like [`decode`], with the message of a release, for a value read from `source`. The server reports the first error in
/// document order.
///
/// # Errors
/// See [`decode`].
pub fn decode_text(object: &Value, release: Release, source: &dyn SourceText) -> Result<Decoded, DecodeError> {
    let beta = is_beta(object);
    let checked = root(object, release).map(|root| check::check(object, root, release, source)).unwrap_or_default();
    if let Some(error) = checked.error {
        return Err(error);
    }
    let mut crd = build::crd(object, beta)?;
    if beta {
        default::v1beta1(&mut crd);
    } else {
        default::v1(&mut crd);
        crd.spec.hoist();
    }
    let mut unknown: Vec<String> = checked.unknown.into_iter().map(|field| field.path).collect();
    if unknown.len() > 1 {
        unknown.sort_by_cached_key(|path| source.position(path));
    }
    Ok(Decoded { crd, unknown, lenient: checked.lenient })
}

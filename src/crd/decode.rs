//! A CRD from a [`Value`], as the server's strict JSON reader, the v1 (or v1beta1) types, their defaults and their
//! conversion to the internal form make it.
//!
//! [`check`] judges the types first, with Go's words; what is built afterwards may therefore take everything lightly.

mod build;
mod check;
mod types;

use super::{CustomResourceDefinition, default};
use crate::value::{Value, quote};
use types::Type;

/// A CRD that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The CRD, with defaults, in the internal form.
    pub crd: CustomResourceDefinition,
    /// The paths of unknown fields, in document order if positions are known; [`unknown_field`] makes messages of them.
    pub unknown: Vec<String>,
    /// The paths of values that are decoded leniently: duplicate keys in them are not reported.
    pub lenient: Vec<String>,
}

/// `unknown field "spec.foo"`
pub fn unknown_field(path: &str) -> String {
    format!("unknown field {}", quote::go_quote(path))
}

/// Reads a CRD of `apiextensions.k8s.io/v1` or, by its `apiVersion`, `v1beta1`. `Err` holds Go's words for the first
/// wrong type (`json: cannot unmarshal string into Go struct field …`).
pub fn decode(object: &Value) -> Result<Decoded, String> {
    decode_text(object, &|_| 0)
}

/// As [`decode`]; `place` returns the offset of a field in the text, because the server reports the first error in the text.
pub fn decode_text(object: &Value, place: &dyn Fn(&str) -> usize) -> Result<Decoded, String> {
    let beta = object.str_at(&["apiVersion"]) == Some("apiextensions.k8s.io/v1beta1");
    let root = if beta { Type::Struct(|| &types::CRD_V1BETA1) } else { Type::Struct(|| &types::CRD_V1) };
    let mut checked = check::check(object, root, place);
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
    if checked.unknown.len() > 1 {
        checked.unknown.sort_by_cached_key(|path| place(path));
    }
    Ok(Decoded { crd, unknown: checked.unknown, lenient: checked.lenient })
}

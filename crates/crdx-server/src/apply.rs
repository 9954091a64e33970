//! Server-side apply and managedFields: field ownership, conflicts, and the result of an apply.
//!
//! Follows `sigs.k8s.io/structured-merge-diff` (`fieldpath`, `typed`, `merge`) and
//! `k8s.io/apimachinery/pkg/util/managedfields`:
//!
//! | module | content |
//! |---|---|
//! | [`path`], [`set`] | field paths, sets of paths, and their `fieldsV1` form |
//! | [`types`] | merge types of CRD schemas (scalars, atomic, set and map lists, granular and atomic maps) |
//! | [`definition`] | the merge type of CRDs |
//! | [`typed`] | operations on typed values: validate, list fields, compare, merge, remove, reconcile |
//! | [`updater`] | ownership after an update or an apply, and conflicts |
//! | [`scale`] | managedFields of the scale subresource |
//! | [`client_side`] | the request of client-side `kubectl apply` |
//! | [`json_patch`], [`raw`] | JSON patches, and JSON with its source texts |
//! | [`identity`], [`managed`], [`field_manager`] | `metadata.managedFields`: decoding, encoding, limits, and the
//! update by a request |

pub mod client_side;
pub mod field_manager;
pub mod identity;
pub mod json_patch;
pub mod managed;
pub mod path;
pub mod raw;
pub mod scale;
pub mod set;
pub mod typed;
pub mod types;
pub(crate) mod updater;

mod gofmt;

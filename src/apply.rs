//! Server-side apply and managedFields: who owns which field, and what an apply changes.
//!
//! Mirrors `sigs.k8s.io/structured-merge-diff` (`fieldpath`, `typed`, `merge`) and
//! `k8s.io/apimachinery/pkg/util/managedfields`:
//!
//! ```text
//! path, set   field paths and sets of them, and their `fieldsV1` text
//! types       a CRD's schema as merge types (scalars, atomic, set and keyed lists, granular and atomic maps)
//! definition  the merge type of definitions themselves
//! typed/*     what is done with a value of a type: validate, list its fields, compare, merge, remove, reconcile
//! updater     ownership after an update or an apply, and conflicts
//! scale       the same for the /scale subresource
//! client_side what `kubectl apply` sends when it merges by itself
//! json_patch, raw                     JSON patches, and JSON as it was written
//! identity, managed, field_manager    metadata.managedFields: read, written, capped; what a request makes of them
//! ```

pub mod client_side;
pub mod definition;
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
pub mod updater;

mod gofmt;

//! `metadata.managedFields`: who owns which field. Not kept yet: what a request says about it is dropped, as the server
//! drops what it cannot read.

use super::metadata;
use crate::value::Value;

/// Settles the managedFields of an object that is about to be written.
pub(super) fn settle(object: &mut Value) {
    metadata::set(object, "managedFields", None);
}

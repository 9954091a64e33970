//! The validation of the content of objects ([`crdx_builtin::validation`]), as the server calls it.

use crdx_builtin::validation;
use crdx_server::server::ContentValidation;
use crdx_types::empties::Empties;
use crdx_value::Value;
use crdx_value::field::ErrorList;
use crdx_value::release::Release;
use crdx_value::time::Timestamp;

/// The validation.
#[derive(Debug)]
pub(crate) struct Content;

impl ContentValidation for Content {
    fn validate(
        &self,
        kind: (&str, &str),
        object: &Value,
        empties: Option<&Empties>,
        old: Option<&Value>,
        release: Release,
    ) -> ErrorList {
        validation::validate(kind, object, empties, old, release)
    }

    fn warnings(&self, kind: (&str, &str), object: &Value, old: Option<&Value>, release: Release) -> Vec<String> {
        validation::warnings(kind, object, old, release)
    }

    fn covers_status(&self, group: &str, kind: &str) -> bool {
        validation::covers_status(group, kind)
    }

    fn validate_status(
        &self,
        kind: (&str, &str),
        object: &Value,
        empties: Option<&Empties>,
        old: &Value,
        at: (Release, Timestamp),
    ) -> ErrorList {
        validation::validate_status(kind, object, empties, old, at)
    }

    fn status_warnings(&self, kind: (&str, &str), object: &Value, release: Release) -> Vec<String> {
        validation::status_warnings(kind, object, release)
    }
}

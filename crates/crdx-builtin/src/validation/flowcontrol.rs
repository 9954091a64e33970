//! `flowcontrol.apiserver.k8s.io` (`pkg/apis/flowcontrol/validation`), and what its kinds have in common.

pub(crate) mod flow_schema;
pub(crate) mod priority_level_configuration;

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable;
use crdx_text::json;
use crdx_value::Value;
use crdx_value::release::V1_34;
use std::collections::HashSet;

/// Returns true if a specification is the one that every server has.
pub(crate) fn is_fixed(spec: &Value, fixed: &str) -> bool {
    json::read(fixed.as_bytes()).is_ok_and(|fixed| immutable::is_equal(spec, &fixed))
}

/// `ValidateFlowSchemaStatusUpdate` and `ValidatePriorityLevelConfigurationStatusUpdate`
pub(crate) fn status(errors: &mut Errors, object: &FieldValue<'_, '_>, _: &FieldValue<'_, '_>) {
    conditions(errors, object);
}

/// `ValidateFlowSchemaStatus` and `ValidatePriorityLevelConfigurationStatus`
pub(crate) fn conditions(errors: &mut Errors, object: &FieldValue<'_, '_>) {
    let status = object.child("status");
    let mut seen = HashSet::new();
    for condition in status.child("conditions").items() {
        let type_ = condition.child("type");
        if !seen.insert(type_.text()) {
            errors.duplicate(&type_);
        }
        if type_.text().is_empty() {
            errors.required(&type_, if errors.release.since(V1_34) { "" } else { "must not be empty" });
        }
    }
}

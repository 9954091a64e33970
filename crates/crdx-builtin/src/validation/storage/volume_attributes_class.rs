//! `VolumeAttributesClass`es.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable;
use crate::validation::storage::{ParametersPresence, parameters, provisioner};
use crdx_value::Value;
use crdx_value::field::{FieldError, FieldPath};

/// `ValidateVolumeAttributesClass` and `ValidateVolumeAttributesClassUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    if let Some(old) = old {
        for name in ["driverName", "parameters"] {
            let field = object.child(name);
            if !immutable::is_equal(field.value, old.get(name).unwrap_or(&Value::Null)) {
                let path = FieldPath::new(name);
                errors.list.push(FieldError::forbidden(&path, format!("updates to {name} are forbidden.")));
            }
        }
    }
    provisioner(errors, &object.child("driverName"));
    parameters(errors, &object.child("parameters"), ParametersPresence::Required);
}

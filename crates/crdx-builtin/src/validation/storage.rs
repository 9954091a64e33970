//! `storage.k8s.io` (`pkg/apis/storage/validation`), and what its classes have in common.

pub(crate) mod csi_driver;
pub(crate) mod csi_node;
pub(crate) mod csi_storage_capacity;
pub(crate) mod storage_class;
pub(crate) mod volume_attachment;
pub(crate) mod volume_attributes_class;

use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::field::names;

const MAX_PARAMETERS: usize = 512;
const MAX_PARAMETER_SIZE: usize = 256 << 10;

/// `validateProvisioner`
pub(crate) fn provisioner(errors: &mut Errors, name: &FieldValue<'_, '_>) {
    if errors.require_text(name) {
        let lowercase = name.text().to_lowercase();
        errors.messages_at(&name.path, &lowercase, names::qualified_name(&lowercase, errors.release));
    }
}

/// Says if parameters are required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParametersPresence {
    Optional,
    Required,
}

/// `validateParameters`
pub(crate) fn parameters(errors: &mut Errors, parameters: &FieldValue<'_, '_>, presence: ParametersPresence) {
    if parameters.len() > MAX_PARAMETERS {
        return errors.too_long(parameters, MAX_PARAMETERS as i64);
    }
    let mut size = 0;
    for (key, value) in parameters.entries() {
        if key.is_empty() {
            errors.invalid_value(&parameters.path, key, "field can not be empty.");
        }
        size += key.len() + value.text().len();
    }
    if size > MAX_PARAMETER_SIZE {
        errors.too_long(parameters, MAX_PARAMETER_SIZE as i64);
    }
    if presence == ParametersPresence::Required && parameters.len() == 0 {
        errors.required(parameters, "must contain at least one key/value pair");
    }
}

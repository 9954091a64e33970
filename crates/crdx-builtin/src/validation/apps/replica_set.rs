//! `ReplicaSet`s.

use crate::validation::apps::{replica_set_template, required_selector, selector_is_immutable};
use crate::validation::core::pod_template::template_options;
use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::Value;

/// `ValidateReplicaSet` and `ValidateReplicaSetUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (spec, options) = (object.child("spec"), template_options(errors, old));
    errors.nonnegative(&spec.child("replicas"));
    errors.nonnegative(&spec.child("minReadySeconds"));
    if required_selector(errors, &spec.child("selector"), "deployment", "invalid label selector") {
        replica_set_template(errors, &spec, &options);
    }
    selector_is_immutable(errors, object, old);
}

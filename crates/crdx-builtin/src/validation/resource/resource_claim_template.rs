//! `ResourceClaimTemplate`s.

use crate::validation::annotations;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::resource::AlreadyStored;
use crate::validation::resource::resource_claim::{claim_spec, specification_is_fixed};
use crdx_value::Value;
use crdx_value::release::Minor;

/// `ValidateResourceClaimTemplate` and `ValidateResourceClaimTemplateUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    specification_is_fixed(errors, &spec, old, ("resource.ResourceClaimTemplateSpec", Minor::NEVER));
    // An update is validated like a new template.
    annotations::template_metadata(errors, &spec.child("metadata"));
    claim_spec(errors, &spec.child("spec"), AlreadyStored::No);
}

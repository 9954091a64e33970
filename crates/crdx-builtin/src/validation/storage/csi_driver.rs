//! `CSIDriver`s.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable;
use crdx_value::Value;
use crdx_value::field::{FieldError, ROOT};
use crdx_value::release::V1_38;
use std::collections::HashSet;

/// `ValidateCSIDriver` and `ValidateCSIDriverUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    // Before 1.38, the server misspells the name of this field.
    let name = if errors.release.since(V1_38) { "attachRequired" } else { "attachedRequired" };
    let attached = FieldValue { path: spec.path.child(name), ..spec.child("attachRequired") };
    for field in [&attached, &spec.child("podInfoOnMount"), &spec.child("storageCapacity"), &spec.child("seLinuxMount")]
    {
        if !field.is_set() {
            errors.required(field, "");
        }
    }
    let policy = spec.child("fsGroupPolicy");
    if policy.is_set() {
        errors.supported(&policy, &["File", "None", "ReadWriteOnceWithFSType"]);
    }
    token_requests(errors, &spec.child("tokenRequests"));
    let modes = spec.child("volumeLifecycleModes");
    for mode in modes.texts().filter(|mode| !matches!(*mode, "Persistent" | "Ephemeral")) {
        errors.list.push(FieldError::not_supported(&modes.path, mode, &["Persistent", "Ephemeral"]));
    }
    let period = spec.child("nodeAllocatableUpdatePeriodSeconds");
    if period.int().is_some_and(|seconds| seconds < 10) {
        errors.invalid(&period, "must be greater than or equal to 10 seconds");
    }
    let in_secrets = spec.child("serviceAccountTokenInSecrets");
    if in_secrets.is_set() && spec.child("tokenRequests").len() == 0 {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        errors.invalid(&in_secrets, detail);
    }
    let Some(old) = old else { return };
    let old_spec = FieldValue::new(old.get("spec"), ROOT);
    immutable::typed(errors, &attached, &old_spec.child("attachRequired"), "*bool");
    let old_modes = old_spec.child("volumeLifecycleModes");
    immutable::declared_since(errors, &modes, &old_modes, "[]storage.VolumeLifecycleMode", V1_38);
}

/// `validateTokenRequests`
fn token_requests(errors: &mut Errors, requests: &FieldValue<'_, '_>) {
    let mut seen = HashSet::new();
    for request in requests.items() {
        let (audience, expiration) = (request.child("audience"), request.child("expirationSeconds"));
        if !seen.insert(audience.text()) {
            errors.duplicate(&audience);
            continue;
        }
        match expiration.int() {
            Some(seconds) if seconds < 600 => {
                errors.invalid(&expiration, "may not specify a duration less than 10 minutes");
            }
            Some(seconds) if seconds > 1 << 32 => {
                errors.invalid(&expiration, "may not specify a duration larger than 2^32 seconds");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::updated;

    #[test]
    fn lifecycle_modes_are_shown_with_their_type() {
        let driver = |modes: &str| {
            format!(
                r#"{{"spec":{{"attachRequired":true,"podInfoOnMount":true,"storageCapacity":true,"volumeLifecycleModes":{modes}}}}}"#
            )
        };
        let (old, new) = (driver(r#"["Persistent"]"#), driver(r#"["Persistent","Ephemeral"]"#));
        assert_eq!(
            updated("storage.k8s.io/v1", "CSIDriver", &old, &new, "1.31"),
            [
                r#"spec.volumeLifecycleModes: Invalid value: []storage.VolumeLifecycleMode{"Persistent", "Ephemeral"}: field is immutable"#
            ]
        );
    }

    #[test]
    fn errors_misspell_attach_required_before_1_38() {
        let driver = |attach: bool| format!(r#"{{"spec":{{"attachRequired":{attach}}}}}"#);
        let update = |release| updated("storage.k8s.io/v1", "CSIDriver", &driver(true), &driver(false), release);
        assert_eq!(update("1.37"), ["spec.attachedRequired: Invalid value: false: field is immutable"]);
        assert_eq!(update("1.38"), ["spec.attachRequired: Invalid value: false: field is immutable"]);
    }
}

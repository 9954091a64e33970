//! The growth of a `PersistentVolumeClaim`, which its `StorageClass` must allow (`plugin/pkg/admission/storage/persistentvolume/resize`
//! in `k8s.io/kubernetes`).

use crdx_cel::value::Quantity;
use crdx_types::amounts::quantity;
use crdx_value::Value;
use crdx_value::release::Release;

/// The annotation that names the class of a claim or a volume, from before `storageClassName` existed.
pub(crate) const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

/// The reason for which a claim may not grow if its class does not allow it.
pub const NOT_RESIZABLE: &str =
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";

/// The growth of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth<'v> {
    /// It does not grow.
    None,
    /// It grows, if the `StorageClass` with this name allows it.
    OfClass(&'v str),
    /// It may not grow, for this reason.
    Refused(&'static str),
}

/// Returns whether a claim grows in an update.
pub fn growth<'v>(new: &'v Value, old: &Value, release: Release) -> Growth<'v> {
    let storage = |claim: &Value| {
        let size = claim.at(&["spec", "resources", "requests", "storage"])?;
        quantity(size, release.minor())
    };
    let Some(size) = storage(new) else { return Growth::None };
    let old_size = storage(old).unwrap_or_else(|| Quantity::from_int(0));
    if size.compare(&old_size).is_le() {
        return Growth::None;
    }
    if old.str_at(&["status", "phase"]) != Some("Bound") {
        return Growth::Refused("Only bound persistent volume claims can be expanded");
    }
    match class(new) {
        "" => Growth::Refused(NOT_RESIZABLE),
        name if name != class(old) => Growth::Refused(NOT_RESIZABLE),
        name => Growth::OfClass(name),
    }
}

/// Returns true if a `StorageClass` allows claims to grow.
pub fn allows_growth(class: &Value) -> bool {
    class.get("allowVolumeExpansion") == Some(&Value::Bool(true))
}

/// The class of a claim; empty if it has none (`GetPersistentVolumeClaimClass`).
pub(crate) fn class(claim: &Value) -> &str {
    let annotation = claim.str_at(&["metadata", "annotations", CLASS_ANNOTATION]);
    annotation.or_else(|| claim.str_at(&["spec", "storageClassName"])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn claim(size: &str, class: &str, phase: &str) -> Value {
        let text = format!(
            r#"{{"spec":{{"storageClassName":"{class}","resources":{{"requests":{{"storage":"{size}"}}}}}},"status":{{"phase":"{phase}"}}}}"#
        );
        json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn only_a_larger_claim_needs_its_class() {
        let old = claim("1Gi", "fast", "Bound");
        assert_eq!(growth(&claim("1024Mi", "fast", "Bound"), &old, Release::NEWEST), Growth::None);
        assert_eq!(growth(&claim("500Mi", "fast", "Bound"), &old, Release::NEWEST), Growth::None);
        assert_eq!(growth(&claim("2Gi", "fast", "Bound"), &old, Release::NEWEST), Growth::OfClass("fast"));
        assert_eq!(growth(&claim("2Gi", "slow", "Bound"), &old, Release::NEWEST), Growth::Refused(NOT_RESIZABLE));
        let without = claim("1Gi", "", "Bound");
        assert_eq!(growth(&claim("2Gi", "", "Bound"), &without, Release::NEWEST), Growth::Refused(NOT_RESIZABLE));
    }

    #[test]
    fn a_claim_without_a_volume_does_not_grow() {
        let reason = "Only bound persistent volume claims can be expanded";
        assert_eq!(
            growth(&claim("2Gi", "a", "Pending"), &claim("1Gi", "a", "Pending"), Release::NEWEST),
            Growth::Refused(reason)
        );
    }

    #[test]
    fn a_class_allows_growth_explicitly() {
        let allows = |text: &str| allows_growth(&json::read(text.as_bytes()).unwrap());
        assert!(allows(r#"{"allowVolumeExpansion":true}"#));
        assert!(!allows(r#"{"allowVolumeExpansion":false}"#) && !allows("{}"));
    }
}

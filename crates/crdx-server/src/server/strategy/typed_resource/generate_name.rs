//! The prefix of a generated name in an update. Most strategies validate the whole metadata again (`ValidateObjectMeta`).

use crate::pipeline::metadata::{Metadata, NameRule, validate_prefix};
use crdx_value::field::{ErrorList, FieldPath};
use crdx_value::release::{Minor, Release, V1_34, V1_35, V1_36, V1_37};

/// The kinds whose updates are validated without the rule for their names (`ValidateObjectMetaUpdate`), since a release.
const WITHOUT_RULE: &[(&str, Minor)] = &[
    ("CSIDriver", Minor::ALWAYS),
    ("CertificateSigningRequest", Minor::ALWAYS),
    ("CronJob", Minor::ALWAYS),
    ("DaemonSet", V1_34),
    ("Deployment", Minor::ALWAYS),
    ("DeviceClass", V1_35),
    ("DeviceTaintRule", Minor::ALWAYS),
    ("Event", Minor::ALWAYS),
    ("HorizontalPodAutoscaler", Minor::ALWAYS),
    ("Job", V1_37),
    ("Lease", Minor::ALWAYS),
    ("LeaseCandidate", Minor::ALWAYS),
    ("NetworkPolicy", V1_36),
    ("PodCertificateRequest", Minor::ALWAYS),
    ("PodDisruptionBudget", Minor::ALWAYS),
    ("PodTemplate", Minor::ALWAYS),
    ("PriorityClass", Minor::ALWAYS),
    ("ReplicaSet", V1_34),
    ("ReplicationController", V1_35),
    ("ResourceQuota", Minor::ALWAYS),
    ("ResourceSlice", Minor::ALWAYS),
    ("Service", V1_34),
    ("ServiceCIDR", Minor::ALWAYS),
    ("StatefulSet", Minor::ALWAYS),
];

/// Validates the prefix with the rule of a kind, if updates of the kind are validated with it.
pub(super) fn validate_update(
    (kind, rule): (&str, NameRule),
    metadata: Metadata<'_>,
    path: &FieldPath<'_>,
    release: Release,
    errors: &mut ErrorList,
) {
    let is_without_rule = |(name, since): &(&str, Minor)| *name == kind && release.since(*since);
    if !WITHOUT_RULE.iter().any(is_without_rule) {
        errors.extend(validate_prefix(metadata, rule, path, release));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn errors(kind: &str, prefix: &str, release: &str) -> Vec<String> {
        let object = json::read(format!(r#"{{"metadata":{{"generateName":"{prefix}"}}}}"#).as_bytes()).unwrap();
        let mut errors = ErrorList::new();
        let path = FieldPath::new("metadata");
        let rule = NameRule::Subdomain;
        validate_update((kind, rule), Metadata::from_object(&object), &path, release.parse().unwrap(), &mut errors);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_prefix_is_validated_again_by_most_kinds() {
        assert_eq!(errors("ConfigMap", "a-", "1.37"), [""; 0]);
        assert_eq!(errors("ConfigMap", "", "1.37"), [""; 0]);
        let found = errors("ConfigMap", "A_", "1.37");
        assert!(found[0].starts_with(r#"metadata.generateName: Invalid value: "A_": a lowercase"#), "{found:?}");
    }

    #[test]
    fn some_kinds_ceased_to_validate_it() {
        for (kind, release, count) in [
            ("Deployment", "1.30", 0),
            ("Service", "1.33", 1),
            ("Service", "1.34", 0),
            ("Job", "1.36", 1),
            ("Job", "1.37", 0),
        ] {
            assert_eq!(errors(kind, "A_", release).len(), count, "{kind} {release}");
        }
    }
}

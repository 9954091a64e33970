//! Statuses of `StorageVersionMigration`s (`pkg/apis/storagemigration/validation`).

use super::conditions;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{immutable, versioned};

/// `ValidateStorageVersionMigrationStatusUpdate`
pub(super) fn migration(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let (status, old_status) = (object.child("status"), old.child("status"));
    let (version, list) = (status.child("resourceVersion"), status.child("conditions"));
    if !version.text().is_empty() && !is_well_formed(version.text()) {
        errors.invalid(&version, format!("resource version is not well formed: {}", version.text()));
    }
    conditions::conditions(errors, &list);
    let old_version = old_status.child("resourceVersion");
    if !old_version.text().is_empty() {
        immutable::text(errors, &version, &old_version);
    }
    let (succeeded, failed) = (is_true(&list, "Succeeded"), is_true(&list, "Failed"));
    let old_list = old_status.child("conditions");
    for (is_wrong, detail) in [
        (succeeded && failed, "Both success and failed conditions cannot be true at the same time"),
        (is_true(&old_list, "Succeeded") && !succeeded, "Success condition cannot be set to false once it is true"),
        (is_true(&old_list, "Failed") && !failed, "Failed condition cannot be set to false once it is true"),
    ] {
        if is_wrong {
            let shown = versioned::list("meta/v1.Condition", list.value, errors.release);
            errors.invalid_value(&list.path, shown, detail);
        }
    }
}

/// `isWellFormed` in `k8s.io/apimachinery/pkg/util/resourceversion`
fn is_well_formed(version: &str) -> bool {
    !version.starts_with('0') && version.bytes().all(|b| b.is_ascii_digit())
}

/// Returns true if the first condition of the type is true.
fn is_true(conditions: &FieldValue<'_, '_>, type_: &str) -> bool {
    let mut all = conditions.items();
    all.find(|one| one.child("type").text() == type_).is_some_and(|one| one.child("status").text() == "True")
}

#[cfg(test)]
mod tests {
    use crate::validation::statuses::tests::errors;

    fn status(version: &str, conditions: &[(&str, &str)]) -> String {
        let conditions: Vec<String> = conditions.iter().map(|(type_, status)| {
            format!(r#"{{"type":"{type_}","status":"{status}","reason":"A","lastTransitionTime":"2026-01-02T03:04:05Z"}}"#)
        }).collect();
        format!(r#"{{"status":{{"resourceVersion":"{version}","conditions":[{}]}}}}"#, conditions.join(","))
    }

    fn written(old: &str, new: &str) -> Vec<String> {
        errors(("storagemigration.k8s.io", "StorageVersionMigration"), old, new, "1.37")
    }

    #[test]
    fn the_resource_version_is_a_number_that_stays() {
        let old = status("12", &[]);
        assert_eq!(written(&status("", &[]), &old), [""; 0]);
        assert_eq!(
            written(&old, &status("012", &[])),
            [
                r#"status.resourceVersion: Invalid value: "012": resource version is not well formed: 012"#,
                r#"status.resourceVersion: Invalid value: "012": field is immutable"#,
            ]
        );
    }

    #[test]
    fn a_migration_ends_once() {
        let details = |old: &[(&str, &str)], new: &[(&str, &str)]| {
            let found = written(&status("1", old), &status("1", new));
            let last = |text: &String| text.rsplit(": ").next().unwrap().to_owned();
            found.iter().map(last).collect::<Vec<_>>()
        };
        let (success, failure) = (("Succeeded", "True"), ("Failed", "True"));
        assert_eq!(details(&[], &[success]), [""; 0]);
        assert_eq!(details(&[success], &[success, ("Failed", "False")]), [""; 0]);
        assert_eq!(
            details(&[], &[success, failure]),
            ["Both success and failed conditions cannot be true at the same time"]
        );
        assert_eq!(
            details(&[success], &[("Succeeded", "False")]),
            ["Success condition cannot be set to false once it is true"]
        );
        assert_eq!(details(&[failure], &[]), ["Failed condition cannot be set to false once it is true"]);
    }
}

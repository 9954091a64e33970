//! Statuses of `VolumeAttachment`s (`pkg/apis/storage/validation`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::storage::volume_attachment;

/// A write of the status is validated as an update (`ValidateVolumeAttachmentUpdate`).
pub(super) fn volume_attachment(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    volume_attachment::validate(errors, object, Some(old.value));
}

#[cfg(test)]
mod tests {
    use crate::validation::statuses::tests::errors;

    const ATTACHMENT: (&str, &str) = ("storage.k8s.io", "VolumeAttachment");

    fn written(status: &str, release: &str) -> Vec<String> {
        let spec = r#""spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}"#;
        errors(ATTACHMENT, &format!("{{{spec}}}"), &format!(r#"{{{spec},"status":{status}}}"#), release)
    }

    #[test]
    fn codes_of_errors_are_not_negative() {
        let status = r#"{"attached":false,"attachError":{"errorCode":-1},"detachError":{"errorCode":2}}"#;
        let error =
            "status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive".to_owned();
        assert_eq!(written(status, "1.37"), [error]);
    }

    #[test]
    fn messages_of_errors_are_short() {
        let status =
            |length: usize| format!(r#"{{"attached":false,"detachError":{{"message":"{}"}}}}"#, "x".repeat(length));
        assert_eq!(written(&status(1024), "1.37"), [""; 0]);
        assert_eq!(
            written(&status(1025), "1.37"),
            ["status.detachError.message: Too long: may not be more than 1024 bytes"]
        );
        assert_eq!(
            written(&status(1025), "1.36"),
            ["status.detachError.message: Too long: may not be more than 262144 bytes"]
        );
    }
}

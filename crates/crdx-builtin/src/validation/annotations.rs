//! Annotations and metadata of templates (`apimachinery/pkg/api/validation/objectmeta.go`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::field::{FieldError, names};

const MAX_SIZE: usize = 256 << 10;

/// `ValidateAnnotations`
pub fn validate(errors: &mut Errors, annotations: &FieldValue<'_, '_>) {
    for (key, _) in annotations.entries() {
        // The case does not matter.
        errors.messages_at(&annotations.path, key, names::qualified_name(&key.to_lowercase(), errors.release));
    }
    size(errors, annotations);
}

fn size(errors: &mut Errors, annotations: &FieldValue<'_, '_>) {
    let size: usize = annotations.entries().map(|(key, value)| key.len() + value.text().len()).sum();
    if size > MAX_SIZE {
        errors.too_long(annotations, MAX_SIZE as i64);
    }
}

/// `ValidateUserAnnotations`
pub(crate) fn domain_prefixed(errors: &mut Errors, annotations: &FieldValue<'_, '_>) {
    for (key, _) in annotations.entries() {
        let key = key.to_lowercase();
        let messages = names::qualified_name(&key, errors.release);
        if messages.is_empty() && !key.contains('/') {
            let detail = "must be a domain-prefixed key (such as \"acme.io/foo\")";
            errors.invalid_value(&annotations.path, key, detail);
        } else {
            errors.messages_at(&annotations.path, &key, messages);
        }
    }
    size(errors, annotations);
}

/// The metadata other than labels and annotations.
const NOT_IN_TEMPLATES: &[&str] = &[
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// `ValidateTemplateObjectMeta`: labels and annotations only. Other fields are errors at the parent.
pub(crate) fn template_metadata(errors: &mut Errors, metadata: &FieldValue<'_, '_>) {
    validate(errors, &metadata.child("annotations"));
    formats::labels(errors, &metadata.child("labels"));
    for &name in NOT_IN_TEMPLATES {
        let field = metadata.child(name);
        // The server derives the name from that of the Go field, `UID`.
        let shown = if name == "uid" { "uID" } else { name };
        if field.is_set() || field.is_given_empty() {
            errors.list.push(FieldError::forbidden(&metadata.path.child(shown), "cannot be set"));
        }
    }
}

//! Maps paths in the server's messages to paths in a CRD manifest. The server reports paths of its internal version, in
//! which fields shared by all versions are at the top level, and a conversion's webhook is directly below the
//! conversion.

use std::borrow::Cow;

/// Prefixes of the internal version and their form in `apiextensions.k8s.io/v1`.
const MANIFEST_PATHS: &[(&str, &str)] = &[
    ("spec.validation", "spec.versions[0].schema"),
    ("spec.schema", "spec.versions[0].schema"),
    ("spec.subresources", "spec.versions[0].subresources"),
    ("spec.additionalPrinterColumns", "spec.versions[0].additionalPrinterColumns"),
    ("spec.selectableFields", "spec.versions[0].selectableFields"),
    ("spec.conversion.webhookClientConfig", "spec.conversion.webhook.clientConfig"),
    ("spec.conversion.conversionReviewVersions", "spec.conversion.webhook.conversionReviewVersions"),
];

/// Returns the path in the manifest of a v1 CRD.
pub fn of_internal(path: &str) -> Cow<'_, str> {
    // The internal version uses the field names of v1beta1.
    if let Some(column) = path.strip_suffix(".JSONPath").filter(|p| p.contains("additionalPrinterColumns[")) {
        return Cow::Owned(format!("{}.jsonPath", of_internal(column)));
    }
    for (internal, text) in MANIFEST_PATHS {
        if let Some(rest) = path.strip_prefix(internal)
            && (rest.is_empty() || rest.starts_with(['.', '[']))
        {
            return Cow::Owned(format!("{text}{rest}"));
        }
    }
    Cow::Borrowed(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_fields_are_in_the_first_version() {
        assert_eq!(
            of_internal("spec.validation.openAPIV3Schema.properties[spec].type"),
            "spec.versions[0].schema.openAPIV3Schema.properties[spec].type"
        );
        assert_eq!(of_internal("spec.additionalPrinterColumns[2]"), "spec.versions[0].additionalPrinterColumns[2]");
        assert_eq!(
            of_internal("spec.additionalPrinterColumns[2].JSONPath"),
            "spec.versions[0].additionalPrinterColumns[2].jsonPath"
        );
        assert_eq!(of_internal("spec.validations"), "spec.validations");
        assert_eq!(of_internal("spec.versions[1].schema"), "spec.versions[1].schema");
    }
}

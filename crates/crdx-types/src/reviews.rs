//! Decodes the reviews that webhooks answer into their Go types, as client-go does.

use super::decode::with_defaults;
use super::meta;
use super::reader;
use super::types::Types;
use crdx_text::lossy;
use crdx_value::GoError;
use crdx_value::group_version::GroupVersionKind;
use crdx_value::quote;
use crdx_value::release::Release;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewKind {
    /// `AdmissionReview`
    Admission,
    /// `ConversionReview`
    Conversion,
}

impl ReviewKind {
    /// The API group.
    pub fn group(self) -> &'static str {
        match self {
            Self::Admission => "admission.k8s.io",
            Self::Conversion => "apiextensions.k8s.io",
        }
    }

    pub fn kind(self) -> &'static str {
        match self {
            Self::Admission => "AdmissionReview",
            Self::Conversion => "ConversionReview",
        }
    }

    /// The name of the Go type in the table; `None` for a version without this kind.
    fn type_name(self, version: &str) -> Option<&'static str> {
        match (self, version) {
            (Self::Admission, "v1") => Some("admission/v1.AdmissionReview"),
            (Self::Admission, "v1beta1") => Some("admission/v1beta1.AdmissionReview"),
            (Self::Conversion, "v1") => Some("apiextensions/v1.ConversionReview"),
            (Self::Conversion, "v1beta1") => Some("apiextensions/v1beta1.ConversionReview"),
            _ => None,
        }
    }
}

/// Checks that a body decodes as a review of this kind and version; a body without kind and apiVersion may be one.
///
/// # Errors
/// Returns the message of client-go's decoder.
pub fn check(release: Release, review: ReviewKind, version: &str, body: &[u8]) -> Result<(), GoError> {
    let expected = GroupVersionKind {
        group: review.group().to_owned(),
        version: version.to_owned(),
        kind: review.kind().to_owned(),
    };
    let actual = with_defaults(meta::read(body, release.minor())?, &expected);
    if actual.version.is_empty() {
        return Err(format!("Object 'apiVersion' is missing in '{}'", lossy(body)).into());
    }
    let name = match (actual.kind.as_str(), actual.group.as_str(), actual.version.as_str()) {
        ("Status", "", "v1") => Some("meta/v1.Status"),
        (kind, group, version) if kind == review.kind() && group == review.group() => review.type_name(version),
        _ => None,
    };
    let types = Types::for_release(release.minor().number().into());
    let Some(id) = name.and_then(|name| types.id(name)) else {
        let (kind, version) = (quote::go_quote(&actual.kind), quote::go_quote(&actual.api_version()));
        return Err(format!("no kind {kind} is registered for version {version} in scheme {}", release.scheme()).into());
    };
    reader::read(types, id, body).map_err(|error| error.message)?;
    if actual == expected {
        return Ok(());
    }
    Err(format!("converting ({}) to ({version}.{}): unknown conversion", types.go_name(id), review.kind()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reviews_are_decoded_into_their_types() {
        let admission = |version, body: &str| check(Release::NEWEST, ReviewKind::Admission, version, body.as_bytes());
        let v1 = r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":RESPONSE}"#;
        let response = |text: &str| admission("v1", &v1.replace("RESPONSE", text));
        assert_eq!(response(r#"{"allowed":true,"patch":"W10=","other":1}"#), Ok(()));
        assert_eq!(admission("v1beta1", "{}"), Ok(()));
        let mismatch = |kind: &str, field: &str, type_: &str| {
            Err(format!("json: cannot unmarshal {kind} into Go struct field {field} of type {type_}").into())
        };
        assert_eq!(response(r#"{"patch":7}"#), mismatch("number", "AdmissionResponse.response.patch", "[]uint8"));
        assert_eq!(
            response(r#"{"patchType":7}"#),
            mismatch("number", "AdmissionResponse.response.patchType", "v1.PatchType")
        );
        assert_eq!(
            admission("v1beta1", &v1.replace("RESPONSE", "{}")),
            Err("converting (v1.AdmissionReview) to (v1beta1.AdmissionReview): unknown conversion".into())
        );
        assert_eq!(
            admission("v1", r#"{"kind":"Status","apiVersion":"v1"}"#),
            Err("converting (v1.Status) to (v1.AdmissionReview): unknown conversion".into())
        );
        assert_eq!(
            check(Release::NEWEST, ReviewKind::Conversion, "v1", br#"{"response":{"convertedObjects":{}}}"#),
            mismatch("object", "ConversionResponse.response.convertedObjects", "[]runtime.RawExtension")
        );
        assert_eq!(
            admission("v1", r#"{"apiVersion":"v2"}"#),
            Err("no kind \"AdmissionReview\" is registered for version \"v2\" in scheme \"pkg/runtime/scheme.go:111\""
                .into())
        );
    }
}

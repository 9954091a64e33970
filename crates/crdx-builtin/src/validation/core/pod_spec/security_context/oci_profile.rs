//! Seccomp profiles in images, whose type is not supported yet (`Validate_SeccompProfile` in `pkg/apis/core/v1`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::image_reference::ImageReference;

const MAX_REFERENCE: i64 = 1024;
const MAX_PATH: i64 = 4096;
const FORM: &str = "<registry>/<repository>@<algorithm>:<digest>";

/// Validates the member `oci` of a profile of a type.
pub(super) fn validate(errors: &mut Errors, type_: &str, image: &FieldValue<'_, '_>) {
    union_member(errors, (type_, "OCI"), image);
    if !image.is_set() {
        return;
    }
    reference(errors, &image.child("ref"));
    let base = image.child("baseProfile");
    if base.is_set() {
        base_profile(errors, &base);
    }
}

/// A member that is present if the discriminator has a value (`DiscriminatedUnion`).
fn union_member(errors: &mut Errors, (type_, of_member): (&str, &str), member: &FieldValue<'_, '_>) {
    let must = match (type_ == of_member, member.is_set()) {
        (true, false) => "must",
        (false, true) => "may only",
        _ => return,
    };
    errors.invalid_value(&member.path, "", format!("{must} be specified when `type` is \"{of_member}\""));
}

/// `ValidateCustom_SecurityProfileOCI_Ref`
fn reference(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    if !errors.require_text(field) {
        return;
    }
    if is_longer(field, MAX_REFERENCE) {
        return errors.too_long(field, MAX_REFERENCE);
    }
    match ImageReference::parse(field.text()) {
        Err(error) => {
            errors.invalid(field, format!("must be a digest-pinned reference in canonical form ({FORM}): {error}"));
        }
        Ok(ImageReference { has_tag: true, .. }) => errors.invalid(field, "must not contain a tag"),
        Ok(ImageReference { has_digest: false, .. }) => {
            errors.invalid(field, format!("must be pinned by digest ({FORM})"))
        }
        Ok(_) => {}
    }
}

/// `Validate_SecurityProfileOCIBase`
fn base_profile(errors: &mut Errors, base: &FieldValue<'_, '_>) {
    let (type_, path) = (base.child("type"), base.child("localhostProfile"));
    union_member(errors, (type_.text(), "Localhost"), &path);
    errors.one_of(&type_, &["Localhost", "RuntimeDefault"]);
    if !path.is_set() {
        return;
    }
    if is_longer(&path, MAX_PATH) {
        return errors.too_long(&path, MAX_PATH);
    }
    if path.text().is_empty() {
        return errors.required(&path, "must not be empty");
    }
    if path.text().starts_with('/') {
        errors.invalid(&path, "must be a relative path");
    }
    if path.text().split('/').any(|part| part == "..") {
        errors.invalid(&path, "must not contain '..'");
    }
}

fn is_longer(field: &FieldValue<'_, '_>, max: i64) -> bool {
    field.text().chars().count() as i64 > max
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    #[test]
    fn profiles_in_images_are_known_since_1_38() {
        let errors = |profile: &str, release| {
            let context = format!(r#"{{"seccompProfile":{profile}}}"#);
            let spec = format!(r#"{{"containers":[{{"name":"c","image":"i"}}],"securityContext":{context}}}"#);
            created("v1", "Pod", &format!(r#"{{"spec":{spec}}}"#), release)
        };
        let other = r#"{"type":"Unconfined","oci":{"ref":"a"}}"#;
        assert_eq!(errors(other, "1.37"), [""; 0]);
        let unsupported = r#"spec.securityContext.seccompProfile.type: Unsupported value: "OCI": supported values: "Localhost", "RuntimeDefault", "Unconfined""#;
        let required = "spec.securityContext.seccompProfile.oci.ref: Required value";
        let not_canonical = r#"spec.securityContext.seccompProfile.oci.ref: Invalid value: "a": must be a digest-pinned reference in canonical form (<registry>/<repository>@<algorithm>:<digest>): repository name must be canonical"#;
        let text =
            r#"spec.securityContext.seccompProfile.oci: Invalid value: "": may only be specified when `type` is "OCI""#;
        assert_eq!(errors(other, "1.38"), [text, not_canonical]);
        assert_eq!(errors(r#"{"type":"OCI","oci":{}}"#, "1.38"), [unsupported, required]);
        let text =
            r#"spec.securityContext.seccompProfile.oci: Invalid value: "": must be specified when `type` is "OCI""#;
        assert_eq!(errors(r#"{"type":"OCI"}"#, "1.38"), [unsupported, text]);
    }

    #[test]
    fn a_base_profile_is_of_the_node_or_of_the_runtime() {
        let errors = |base: &str| {
            let image = format!(r#"{{"ref":"ghcr.io/a@sha256:{}","baseProfile":{base}}}"#, "a".repeat(64));
            let context = format!(r#"{{"seccompProfile":{{"type":"OCI","oci":{image}}}}}"#);
            let spec = format!(r#"{{"containers":[{{"name":"c","image":"i"}}],"securityContext":{context}}}"#);
            let found = created("v1", "Pod", &format!(r#"{{"spec":{spec}}}"#), "1.38");
            found
                .into_iter()
                .skip(1)
                .map(|error| error.replace("spec.securityContext.seccompProfile.oci.baseProfile.", ""))
                .collect::<Vec<_>>()
        };
        assert_eq!(errors(r#"{"type":"RuntimeDefault"}"#), [""; 0]);
        assert_eq!(
            errors(r#"{"type":"Localhost","localhostProfile":"/a/../b"}"#),
            [
                r#"localhostProfile: Invalid value: "/a/../b": must be a relative path"#,
                r#"localhostProfile: Invalid value: "/a/../b": must not contain '..'"#
            ]
        );
        assert_eq!(
            errors(r#"{"type":"x"}"#),
            [r#"type: Unsupported value: "x": supported values: "Localhost", "RuntimeDefault""#]
        );
        let missing = r#"localhostProfile: Invalid value: "": must be specified when `type` is "Localhost""#;
        assert_eq!(errors(r#"{"type":"Localhost"}"#), [missing]);
    }
}

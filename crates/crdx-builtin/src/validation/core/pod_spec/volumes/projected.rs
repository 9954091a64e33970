//! Projected volumes, and the files of volumes (`validateProjectedVolumeSource`, `validateKeyToPath` and
//! `validateDownwardAPIVolumeFile`).

use super::sources::{file_mode, file_owner};
use crate::validation::certificates::signer_names;
use crate::validation::core::pod_spec::env::{self, DownwardApi};
use crate::validation::core::pod_spec::options::PodOptions;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{
    annotations, formats,
    selectors::{self, LabelValues},
};
use crdx_value::release::{Gate, Release};
use std::collections::HashSet;

/// `validVolumeDownwardAPIFieldPathExpressions`
const VOLUME_FIELDS: &[&str] =
    &["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
const CLASSIC_KEY_TYPES: &[&str] = &["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];
const KEY_TYPES: &[&str] =
    &["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "MLDSA44", "MLDSA65", "MLDSA87"];
const DUPLICATE_PATH: &str = "conflicting duplicate paths";
/// Tokens expire after 2^32 seconds at the latest, and after ten minutes at the earliest.
const TOKEN_SECONDS: (i64, i64) = (10 * 60, 1 << 32);
const DAY: i64 = 24 * 60 * 60;

/// Returns true if the server keeps a source. Without their gates, it drops `clusterTrustBundle` and `podCertificate`.
fn is_kept(type_: &str, release: Release) -> bool {
    match type_ {
        "clusterTrustBundle" => release.enables(Gate::ClusterTrustBundleProjection),
        "podCertificate" => release.enables(Gate::PodCertificateRequest),
        _ => true,
    }
}

/// `validateProjectedVolumeSource`
pub fn validate(errors: &mut Errors, volume: &FieldValue<'_, '_>, options: &PodOptions) {
    file_mode(errors, &volume.child("defaultMode"));
    file_owner(errors, &volume.child("defaultUser"));
    let mut paths = HashSet::new();
    for source in volume.child("sources").items() {
        let mut count = 0;
        for type_ in
            ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"]
        {
            let projection = source.child(type_);
            if !projection.is_set() || !is_kept(type_, errors.release) {
                continue;
            }
            count += 1;
            match type_ {
                "secret" | "configMap" => files(errors, volume, &projection, &mut paths),
                "downwardAPI" => {
                    for file in projection.child("items").items() {
                        // The server reports these errors at the projection.
                        downward_file(errors, &FieldValue { path: projection.path, ..file });
                        add_path(errors, volume, &file.child("path"), &mut paths);
                    }
                }
                "serviceAccountToken" => token(errors, volume, &projection, options),
                "clusterTrustBundle" => trust_bundle(errors, volume, &projection, &mut paths),
                _ => pod_certificate(errors, (volume, &projection), &mut paths, options),
            }
        }
        if count > 1 {
            errors.forbidden(&source, "may not specify more than 1 volume type per source");
        }
    }
}

/// Reports a path that is used twice, at the volume.
fn add_path<'v>(
    errors: &mut Errors,
    volume: &FieldValue<'_, '_>,
    path: &FieldValue<'v, '_>,
    paths: &mut HashSet<&'v str>,
) {
    let text = path.text();
    if !text.is_empty() && !paths.insert(text) {
        errors.invalid_value(&volume.path, text, DUPLICATE_PATH);
    }
}

fn files<'v>(
    errors: &mut Errors,
    volume: &FieldValue<'_, '_>,
    projection: &FieldValue<'v, '_>,
    paths: &mut HashSet<&'v str>,
) {
    let name = projection.child("name");
    errors.require_text(&name);
    for item in projection.child("items").items() {
        key_to_path(errors, &item);
        let path = item.child("path").text();
        if !path.is_empty() && !paths.insert(path) {
            errors.invalid_value(&volume.path, name.text(), DUPLICATE_PATH);
        }
    }
}

/// `validateKeyToPath`
pub(crate) fn key_to_path(errors: &mut Errors, item: &FieldValue<'_, '_>) {
    let path = item.child("path");
    errors.require_text(&item.child("key"));
    errors.require_text(&path);
    formats::local_path(errors, &path);
    file_mode(errors, &item.child("mode"));
    file_owner(errors, &item.child("user"));
}

/// `validateDownwardAPIVolumeFile`
pub(crate) fn downward_file(errors: &mut Errors, file: &FieldValue<'_, '_>) {
    let (path, field, resource) = (file.child("path"), file.child("fieldRef"), file.child("resourceFieldRef"));
    errors.require_text(&path);
    formats::local_path(errors, &path);
    if field.is_set() {
        env::field_reference(errors, &field, VOLUME_FIELDS);
        if resource.is_set() {
            let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
            errors.invalid_value(&file.path, "resource", detail);
        }
    } else if resource.is_set() {
        env::resource_reference(errors, &resource, DownwardApi::Volume);
    } else {
        errors.required(file, "one of fieldRef and resourceFieldRef is required");
    }
    file_mode(errors, &file.child("mode"));
    file_owner(errors, &file.child("user"));
}

fn token(errors: &mut Errors, volume: &FieldValue<'_, '_>, token: &FieldValue<'_, '_>, options: &PodOptions) {
    let (expiration, (least, most)) = (token.child("expirationSeconds"), TOKEN_SECONDS);
    match expiration.int() {
        None => errors.required(&expiration, ""),
        Some(seconds) if seconds < least => {
            errors.invalid(&expiration, "may not specify a duration less than 10 minutes");
        }
        Some(seconds) if seconds > most => {
            errors.invalid(&expiration, "may not specify a duration larger than 2^32 seconds");
        }
        Some(_) => {}
    }
    file_owner(errors, &token.child("user"));
    // The server reports errors about the path at the volume.
    let path = FieldValue { path: volume.path.child("path"), ..token.child("path") };
    if errors.require_text(&path) && !options.allows_token_paths_outside {
        formats::local_path(errors, &path);
    }
}

fn trust_bundle<'v>(
    errors: &mut Errors,
    volume: &FieldValue<'_, '_>,
    bundle: &FieldValue<'v, '_>,
    paths: &mut HashSet<&'v str>,
) {
    let (name, signer, selector) = (bundle.child("name"), bundle.child("signerName"), bundle.child("labelSelector"));
    match (name.is_set(), signer.is_set()) {
        (true, true) => errors.invalid_typed(
            bundle,
            "*core.ClusterTrustBundleProjection",
            "only one of name and signerName may be used",
        ),
        (true, false) => {
            if name.text().is_empty() {
                errors.required(&name, "must be a valid object name");
            }
            let messages = signer_names::trust_bundle_name(name.text());
            let messages = messages.into_iter().map(|m| format!("not a valid clustertrustbundlename: {m}")).collect();
            errors.messages(&name, messages);
            if selector.is_set() {
                errors.invalid_typed(
                    &selector,
                    "*meta/v1.LabelSelector",
                    "labelSelector must be unset if name is specified",
                );
            }
        }
        (false, true) => {
            if signer.text().is_empty() {
                errors.required(&signer, "must be a valid signer name");
            }
            signer_names::signer_name(errors, &signer);
            selectors::label_selector(errors, &selector, LabelValues::Validate);
        }
        (false, false) => errors.required(bundle, "either name or signerName must be specified"),
    }
    file_owner(errors, &bundle.child("user"));
    let path = bundle.child("path");
    errors.require_text(&path);
    formats::local_path(errors, &path);
    if !paths.insert(path.text()) {
        errors.invalid_value(&volume.path, path.text(), DUPLICATE_PATH);
    }
}

/// `hasMLDSAPodCertificateProjection`
pub(crate) fn has_ml_dsa_keys(spec: &FieldValue<'_, '_>) -> bool {
    spec.child("volumes").items().any(|volume| {
        let sources = volume.child("projected");
        sources.child("sources").items().any(|source| {
            let key = source.child("podCertificate");
            KEY_TYPES.contains(&key.child("keyType").text())
                && !CLASSIC_KEY_TYPES.contains(&key.child("keyType").text())
        })
    })
}

fn pod_certificate<'v>(
    errors: &mut Errors,
    (volume, certificate): (&FieldValue<'_, '_>, &FieldValue<'v, '_>),
    paths: &mut HashSet<&'v str>,
    options: &PodOptions,
) {
    let signer = certificate.child("signerName");
    signer_names::signer_name(errors, &signer);
    annotations::domain_prefixed(errors, &certificate.child("userAnnotations"));
    let has_ml_dsa = errors.release.enables(Gate::PodCertificateMLDSA) || options.has_ml_dsa_keys;
    let types = if has_ml_dsa { KEY_TYPES } else { CLASSIC_KEY_TYPES };
    errors.supported(&certificate.child("keyType"), types);
    file_owner(errors, &certificate.child("user"));
    let expiration = certificate.child("maxExpirationSeconds");
    if let Some(seconds) = expiration.int() {
        let max = if signer_names::is_kubernetes_signer(signer.text()) { DAY } else { 91 * DAY };
        if seconds < 3600 {
            errors.invalid(&expiration, "if provided, maxExpirationSeconds must be >= 3600");
        }
        if seconds > max {
            errors.invalid(&expiration, format!("if provided, maxExpirationSeconds must be <= {max}"));
        }
    }
    let fields = ["credentialBundlePath", "keyPath", "certificateChainPath"].map(|name| certificate.child(name));
    for path in fields.iter().filter(|path| !path.text().is_empty()) {
        formats::local_path(errors, path);
        add_path(errors, volume, path, paths);
    }
    if fields.iter().all(|path| path.text().is_empty()) {
        errors.required(certificate, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath");
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, created_with, updated};

    /// Answers of kube-apiserver 1.38, in which the gate `PodCertificateMLDSA` is disabled.
    #[test]
    fn ml_dsa_keys_need_the_gate_or_an_existing_one() {
        let template = |key: &str, image: &str| {
            let source = format!(
                r#"{{"podCertificate":{{"signerName":"example.com/a","keyType":"{key}","credentialBundlePath":"x"}}}}"#
            );
            let volume = format!(r#"{{"name":"v","projected":{{"sources":[{source}]}}}}"#);
            format!(
                r#"{{"template":{{"spec":{{"containers":[{{"name":"c","image":"{image}"}}],"volumes":[{volume}]}}}}}}"#
            )
        };
        let (old, new) = (template("MLDSA44", "i"), template("MLDSA65", "j"));
        let supported = r#""RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519""#;
        let found = created("v1", "PodTemplate", &old, "1.38");
        assert!(
            found[0].ends_with(&format!("Unsupported value: \"MLDSA44\": supported values: {supported}")),
            "{found:?}"
        );
        let with = created_with("PodCertificateMLDSA", true, ("v1", "PodTemplate"), &old, "1.38");
        assert_eq!((with.len(), updated("v1", "PodTemplate", &old, &new, "1.38").len()), (0, 0));
        assert_eq!(updated("v1", "PodTemplate", &template("ED25519", "i"), &new, "1.38").len(), 1);
    }
}

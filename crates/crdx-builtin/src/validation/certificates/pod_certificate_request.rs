//! `PodCertificateRequest`s.

use crate::validation::certificates::signer_names::{is_kubernetes_signer, signer_name};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::x509::PublicKey;
use crate::validation::{annotations, formats, immutable, x509};
use crdx_value::Value;
use crdx_value::field::{BadValue, ROOT};
use crdx_value::release::V1_38;

const MALFORMED: &str = "must be a valid PKCS#10 CSR";
const MAX_REQUEST: usize = 10 << 10;
/// The shortest and the longest lifetimes in seconds.
const MIN_EXPIRATION: i64 = 3600;
const MAX_EXPIRATION: i64 = 91 * 86_400;
const MAX_KUBERNETES_EXPIRATION: i64 = 86_400;

/// `ValidatePodCertificateRequestCreate` and `ValidatePodCertificateRequestUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    if let Some(old) = old {
        let old = FieldValue::new(old.get("spec"), ROOT);
        return immutable::typed(errors, &spec, &old, "certificates.PodCertificateRequestSpec");
    }
    let signer = spec.child("signerName");
    signer_name(errors, &signer);
    let unverified = spec.child("unverifiedUserAnnotations");
    if unverified.is_set() {
        annotations::domain_prefixed(errors, &unverified);
    }
    for (name, uid) in [("podName", "podUID"), ("serviceAccountName", "serviceAccountUID"), ("nodeName", "nodeUID")] {
        formats::object_name(errors, &spec.child(name));
        let uid = spec.child(uid);
        if uid.text().is_empty() {
            errors.invalid_value(&uid.path, "", "must not be empty");
        }
        if uid.text().len() > 128 {
            errors.too_long(&uid, 128);
        }
    }
    let expiration = spec.child("maxExpirationSeconds");
    let Some(seconds) = expiration.int() else { return errors.required(&expiration, "must be set") };
    let max = if is_kubernetes_signer(signer.text()) { MAX_KUBERNETES_EXPIRATION } else { MAX_EXPIRATION };
    if !(MIN_EXPIRATION..=max).contains(&seconds) {
        errors.invalid(&expiration, format!("must be in the range [{MIN_EXPIRATION}, {max}]"));
    }
    keys(errors, &spec);
}

/// `validateStubPKCS10Request`, without the signature. The other fields with a key are not part of `v1`.
fn keys(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let stub = spec.child("stubPKCS10Request");
    let bytes = stub.bytes();
    if bytes.is_empty() {
        let detail = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
        errors.invalid_value(&spec.path, BadValue::Omitted, detail);
    } else if bytes.len() > MAX_REQUEST {
        errors.too_long(&stub, MAX_REQUEST as i64);
    } else {
        match x509::read_request(&bytes) {
            Ok(request) => strong_key(errors, &stub, request.key.algorithm),
            Err(_) => errors.invalid_value(&stub.path, BadValue::Omitted, MALFORMED),
        }
    }
}

/// The algorithm and the size of a key.
fn strong_key(errors: &mut Errors, field: &FieldValue<'_, '_>, key: PublicKey) {
    match key {
        PublicKey::Ed25519 | PublicKey::Curve | PublicKey::Rsa(3072 | 4096) => {}
        PublicKey::Rsa(bits) => {
            let shown = format!("{bits}-bit modulus");
            errors.invalid_value(&field.path, shown, "RSA keys must have modulus size 3072 or 4096");
        }
        PublicKey::OtherCurve(name) => {
            let detail = "elliptic public keys must use curve P256, P384, or P521";
            errors.invalid_value(&field.path, format!("curve {name}"), detail);
        }
        PublicKey::MlDsa(fault) if errors.release.since(V1_38) => {
            if fault.is_some() {
                errors.invalid_value(&field.path, BadValue::Omitted, MALFORMED);
            }
        }
        PublicKey::MlDsa(_) | PublicKey::Other => {
            let known =
                if errors.release.since(V1_38) { "Ed25519, ECDSA, RSA, and ML-DSA" } else { "Ed25519, ECDSA, and RSA" };
            let detail = format!("unknown public key type; supported types are {known}");
            errors.invalid_value(&field.path, BadValue::Omitted, detail);
        }
    }
}

//! `CertificateSigningRequest`s, `ClusterTrustBundle`s and `PodCertificateRequest`s (`pkg/apis/certificates/validation`).
//! The conditions of a request are validated by its strategy.

use super::certificates::{is_kubernetes_signer, signer_name};
use super::field_value::{Errors, FieldValue};
use super::x509::{self, PublicKey};
use super::{annotations, formats, immutable, pem};
use crdx_value::Value;
use crdx_value::base64::Encoding;
use crdx_value::field::{BadValue, FieldError, ROOT, names};
use crdx_value::quote;
use crdx_value::release::V1_34;
use std::collections::{BTreeMap, BTreeSet};

/// `allValidUsages`
const USAGES: &[&str] = &[
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];
const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";
const MAX_BUNDLE: usize = 1 << 20;
const MAX_REQUEST: usize = 10 << 10;
const OMITTED: &str = "<value omitted>";
/// The shortest and the longest lifetimes in seconds.
const MIN_EXPIRATION: i64 = 3600;
const MAX_EXPIRATION: i64 = 91 * 86_400;
const MAX_KUBERNETES_EXPIRATION: i64 = 86_400;

/// `ValidateCertificateSigningRequestCreate`. An update keeps the specification, whose errors are tolerated then.
pub(crate) fn signing_request(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    if old.is_some() {
        return;
    }
    let spec = object.child("spec");
    request(errors, &spec.child("request"));
    let usages = spec.child("usages");
    if usages.len() == 0 {
        errors.required(&usages, "");
    }
    for usage in usages.items() {
        errors.supported(&usage, USAGES);
    }
    let mut seen = BTreeSet::new();
    for usage in usages.items() {
        if !seen.insert(usage.text()) {
            errors.duplicate(&usage);
        }
    }
    let signer = spec.child("signerName");
    if signer.text() == LEGACY_SIGNER {
        errors.invalid(&signer, "the legacy signerName is not allowed via this API version");
    } else {
        signer_name(errors, &signer);
    }
    let expiration = spec.child("expirationSeconds");
    if expiration.int().is_some_and(|seconds| seconds < 600) {
        errors.invalid(&expiration, "may not specify a duration less than 600 seconds (10 minutes)");
    }
}

/// The certificate of a status that is written (`validateCertificate`); the strategy validates the rest. A certificate that
/// did not change, or that replaces an invalid one, may have any content.
pub(super) fn status(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let status = object.child("status");
    let old_status = old.child("status");
    let (new, before) = (status.child("certificate"), old_status.child("certificate"));
    if new.text() != before.text()
        && certificate(&decoded(&before)).is_ok()
        && let Err(reason) = certificate(&decoded(&new))
    {
        errors.invalid_value(&new.path, "<certificate data>", reason);
    }
}

/// The reason why a text is not a list of certificates in PEM
fn certificate(text: &[u8]) -> Result<(), String> {
    let (mut rest, mut found) = (text, text.is_empty());
    while let Some((block, after)) = pem::decode(rest) {
        if block.label != b"CERTIFICATE" {
            let label = quote::go_quote(&String::from_utf8_lossy(block.label));
            return Err(format!("only CERTIFICATE PEM blocks are allowed, found {label}"));
        }
        if block.has_headers {
            return Err("no PEM block headers are permitted".to_owned());
        }
        if block.contents.is_empty() {
            return Err("found CERTIFICATE PEM block containing 0 certificates".to_owned());
        }
        if x509::read_certificate(&block.contents).is_none() {
            return Err("x509: malformed certificate".to_owned());
        }
        (rest, found) = (after, true);
    }
    if found { Ok(()) } else { Err("must contain at least one CERTIFICATE PEM block".to_owned()) }
}

/// Bytes as the server shows them.
fn bytes_shown(field: &FieldValue<'_, '_>, errors: &Errors) -> BadValue {
    match field.value {
        Value::Null if errors.release.since(V1_34) => BadValue::Value(Value::Null),
        Value::Null => BadValue::Raw("[]byte(nil)".to_owned()),
        _ => BadValue::bytes(&decoded(field), errors.release),
    }
}

pub(super) fn decoded(field: &FieldValue<'_, '_>) -> Vec<u8> {
    Encoding::Standard.decode(field.text()).unwrap_or_default()
}

/// Returns the reason why the admission plugin `CertificateSubjectRestriction` refuses a valid request
/// (`plugin/pkg/admission/certificates/subjectrestriction` in `k8s.io/kubernetes`).
pub fn subject_refusal(request: &Value) -> Option<&'static str> {
    let spec = request.get("spec").filter(|spec| spec.str_at(&["signerName"]) == Some(CLIENT_SIGNER))?;
    let text = decoded(&FieldValue::new(spec.get("request"), ROOT));
    let block = request_block(&text)?;
    let organizations = x509::read_request(&block.contents).ok()?.organizations;
    let reason = "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed";
    organizations.contains(&b"system:masters".as_slice()).then_some(reason)
}

fn request_block(text: &[u8]) -> Option<pem::Block<'_>> {
    pem::decode(text).map(|(block, _)| block).filter(|block| block.label == b"CERTIFICATE REQUEST")
}

/// `validateCSR`, without the signature
fn request(errors: &mut Errors, request: &FieldValue<'_, '_>) {
    let text = decoded(request);
    let reason = match request_block(&text) {
        None => "PEM block type must be CERTIFICATE REQUEST",
        Some(block) => match x509::read_request(&block.contents) {
            Ok(_) => return,
            Err(reason) => reason,
        },
    };
    let shown = bytes_shown(request, errors);
    errors.list.push(FieldError::invalid(&request.path, shown, reason));
}

/// `ValidateClusterTrustBundle` and `ValidateClusterTrustBundleUpdate`
pub(crate) fn trust_bundle(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (metadata, spec) = (object.child("metadata"), object.child("spec"));
    let (name, signer, bundle) = (metadata.child("name"), spec.child("signerName"), spec.child("trustBundle"));
    if !name.text().is_empty() {
        let messages = match signer.text() {
            "" if name.text().contains(':') => {
                vec!["ClusterTrustBundle without signer name must not have \":\" in its name".to_owned()]
            }
            "" => names::name_is_subdomain(name.text(), false),
            text => name_with_signer(name.text(), text),
        };
        errors.messages(&name, messages);
    }
    if !signer.text().is_empty() {
        signer_name(errors, &signer);
    }
    let old = FieldValue::new(old.and_then(|old| old.get("spec")), ROOT);
    if !old.is_set() || old.child("trustBundle").text() != bundle.text() {
        anchors(errors, &bundle);
    }
    if old.is_set() {
        immutable::text(errors, &signer, &old.child("signerName"));
    }
}

/// `ValidateClusterTrustBundleName`, for a bundle with a signer
fn name_with_signer(name: &str, signer: &str) -> Vec<String> {
    let prefix = format!("{}:", signer.replace('/', ":"));
    match name.strip_prefix(&prefix) {
        Some(rest) => names::name_is_subdomain(rest, false),
        None => vec![format!("ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}")],
    }
}

/// `validateTrustBundle`
fn anchors(errors: &mut Errors, bundle: &FieldValue<'_, '_>) {
    if bundle.text().len() > MAX_BUNDLE {
        return errors.too_long(bundle, MAX_BUNDLE as i64);
    }
    let mut seen: BTreeMap<Vec<u8>, Vec<String>> = BTreeMap::new();
    let before = errors.list.len();
    let mut rest = bundle.text().as_bytes();
    let mut at = 0_usize;
    while let Some((block, after)) = pem::decode(rest) {
        rest = after;
        let detail = if block.label != b"CERTIFICATE" {
            let label = String::from_utf8_lossy(block.label);
            Some(format!("entry {at} has bad block type: {label}"))
        } else if block.has_headers {
            Some(format!("entry {at} has PEM block headers"))
        } else {
            match x509::read_certificate(&block.contents).map(|found| found.is_authority) {
                None => Some(format!("entry {at} does not parse as X.509")),
                Some(false) => Some(format!("entry {at} does not have the CA bit set")),
                Some(true) => None,
            }
        };
        match detail {
            Some(detail) => errors.invalid_value(&bundle.path, OMITTED, detail),
            None => seen.entry(block.contents).or_default().push(at.to_string()),
        }
        at += 1;
    }
    if errors.list.len() > before {
        return;
    }
    if seen.is_empty() {
        errors.invalid_value(&bundle.path, OMITTED, "at least one trust anchor must be provided");
    }
    for indices in seen.values().filter(|indices| indices.len() > 1) {
        let detail = format!("duplicate trust anchor (indices [{}])", indices.join(" "));
        errors.invalid_value(&bundle.path, OMITTED, detail);
    }
}

/// `ValidatePodCertificateRequestCreate` and `ValidatePodCertificateRequestUpdate`
pub(crate) fn pod_request(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
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
    let bytes = decoded(&stub);
    if bytes.is_empty() {
        let detail = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
        errors.invalid_value(&spec.path, BadValue::Omitted, detail);
    } else if bytes.len() > MAX_REQUEST {
        errors.too_long(&stub, MAX_REQUEST as i64);
    } else {
        match x509::read_request(&bytes) {
            Ok(request) => strong_key(errors, &stub, request.key.algorithm),
            Err(_) => errors.invalid_value(&stub.path, BadValue::Omitted, "must be a valid PKCS#10 CSR"),
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
        PublicKey::Other => {
            let detail = "unknown public key type; supported types are Ed25519, ECDSA, and RSA";
            errors.invalid_value(&field.path, BadValue::Omitted, detail);
        }
    }
}

#[cfg(test)]
mod tests;

//! `CertificateSigningRequest`s. Their strategy validates the conditions of the status.

use crate::validation::certificates::signer_names::signer_name;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::x509::PublicKey;
use crate::validation::{pem, x509};
use crdx_value::GoError;
use crdx_value::field::{BadValue, FieldError, ROOT};
use crdx_value::release::{Gate, V1_34, V1_38};
use crdx_value::{Value, quote};
use std::collections::BTreeSet;

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
/// `mldsaDisallowedUsages`
const NOT_WITH_ML_DSA: &[&str] =
    &["data encipherment", "decipher only", "encipher only", "key agreement", "key encipherment"];
/// `mldsaAtLeastOneOfUsages`
const ONE_WITH_ML_DSA: &[&str] = &["cert sign", "content commitment", "crl sign", "digital signature"];
const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";

/// `ValidateCertificateSigningRequestCreate`. An update keeps the specification, whose errors are tolerated then.
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    if old.is_some() {
        return;
    }
    let spec = object.child("spec");
    let key = request(errors, &spec.child("request"));
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
    match key {
        Some(PublicKey::MlDsa(_)) if errors.release.enables(Gate::CertificateSigningRequestMLDSA) => {
            usages_with_ml_dsa(errors, &usages);
        }
        Some(PublicKey::MlDsa(_)) => {
            let request = spec.child("request");
            let shown = bytes_shown(&request, errors);
            errors.invalid_value(&request.path, shown, "ML-DSA keys cannot be used for requests");
        }
        _ => {}
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

/// The usages of a request with an ML-DSA key
fn usages_with_ml_dsa(errors: &mut Errors, usages: &FieldValue<'_, '_>) {
    for usage in usages.items().filter(|usage| NOT_WITH_ML_DSA.contains(&usage.text())) {
        let names = NOT_WITH_ML_DSA.join(" ");
        errors.invalid(&usage, format!("When using ML-DSA keys, the usages [{names}] are not allowed"));
    }
    if !usages.texts().any(|usage| ONE_WITH_ML_DSA.contains(&usage)) {
        let names = ONE_WITH_ML_DSA.join(" ");
        errors.invalid(usages, format!("When using ML-DSA keys, at least one of [{names}] usages are required"));
    }
}

/// The certificate of a status that is written (`validateCertificate`); the strategy validates the rest. A certificate that
/// did not change, or that replaces an invalid one, may have any content.
pub(crate) fn status(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let status = object.child("status");
    let old_status = old.child("status");
    let (new, before) = (status.child("certificate"), old_status.child("certificate"));
    if new.text() != before.text()
        && certificate(&before.bytes()).is_ok()
        && let Err(reason) = certificate(&new.bytes())
    {
        errors.invalid_value(&new.path, "<certificate data>", reason);
    }
}

/// The reason why a text is not a list of certificates in PEM
fn certificate(text: &[u8]) -> Result<(), GoError> {
    let (mut rest, mut found) = (text, text.is_empty());
    while let Some((block, after)) = pem::decode(rest) {
        if block.label != b"CERTIFICATE" {
            let label = quote::go_quote(&String::from_utf8_lossy(block.label));
            return Err(format!("only CERTIFICATE PEM blocks are allowed, found {label}").into());
        }
        if block.has_headers {
            return Err("no PEM block headers are permitted".into());
        }
        if block.contents.is_empty() {
            return Err("found CERTIFICATE PEM block containing 0 certificates".into());
        }
        if x509::read_certificate(&block.contents).is_none() {
            return Err("x509: malformed certificate".into());
        }
        (rest, found) = (after, true);
    }
    if found { Ok(()) } else { Err("must contain at least one CERTIFICATE PEM block".into()) }
}

/// Bytes as the server shows them.
fn bytes_shown(field: &FieldValue<'_, '_>, errors: &Errors) -> BadValue {
    match field.value {
        Value::Null if errors.release.since(V1_34) => BadValue::Value(Value::Null),
        Value::Null => BadValue::Raw("[]byte(nil)".to_owned()),
        _ => BadValue::bytes(&field.bytes(), errors.release),
    }
}

/// Returns the reason why the admission plugin `CertificateSubjectRestriction` refuses a valid request
/// (`plugin/pkg/admission/certificates/subjectrestriction` in `k8s.io/kubernetes`).
pub fn subject_refusal(request: &Value) -> Option<&'static str> {
    let spec = request.get("spec").filter(|spec| spec.str_at(&["signerName"]) == Some(CLIENT_SIGNER))?;
    let text = FieldValue::new(spec.get("request"), ROOT).bytes();
    let block = request_block(&text)?;
    let organizations = x509::read_request(&block.contents).ok()?.organizations;
    let reason = "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed";
    organizations.contains(&b"system:masters".as_slice()).then_some(reason)
}

fn request_block(text: &[u8]) -> Option<pem::Block<'_>> {
    pem::decode(text).map(|(block, _)| block).filter(|block| block.label == b"CERTIFICATE REQUEST")
}

/// `validateCSR`, without the signature, except that Go cannot verify it with an unknown key. Returns the key of a valid
/// request.
fn request(errors: &mut Errors, request: &FieldValue<'_, '_>) -> Option<PublicKey> {
    let text = request.bytes();
    let read = match request_block(&text) {
        None => Err("PEM block type must be CERTIFICATE REQUEST"),
        Some(block) => x509::read_request(&block.contents).map(|request| request.key.algorithm),
    };
    let verified = read.and_then(|key| match key {
        PublicKey::MlDsa(fault) if errors.release.since(V1_38) => fault.map_or(Ok(key), Err),
        PublicKey::MlDsa(_) | PublicKey::Other => Err("x509: cannot verify signature: algorithm unimplemented"),
        _ => Ok(key),
    });
    match verified {
        Ok(key) => Some(key),
        Err(reason) => {
            let shown = bytes_shown(request, errors);
            errors.list.push(FieldError::invalid(&request.path, shown, reason));
            None
        }
    }
}

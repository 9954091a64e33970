//! `ClusterTrustBundle`s.

use crate::validation::certificates::signer_names::signer_name;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{immutable, pem, x509};
use crdx_value::Value;
use crdx_value::field::{
    ROOT,
    names::{self, NameForm},
};
use crdx_value::release::V1_38;
use std::collections::BTreeMap;

const MAX_BUNDLE: usize = 1 << 20;
const OMITTED: &str = "<value omitted>";

/// `ValidateClusterTrustBundle` and `ValidateClusterTrustBundleUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (metadata, spec) = (object.child("metadata"), object.child("spec"));
    let (name, signer, bundle) = (metadata.child("name"), spec.child("signerName"), spec.child("trustBundle"));
    if !name.text().is_empty() {
        let messages = match signer.text() {
            "" if name.text().contains(':') => {
                vec!["ClusterTrustBundle without signer name must not have \":\" in its name".to_owned()]
            }
            "" => names::name_is_subdomain(name.text(), NameForm::Whole),
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
        immutable::declared_since(errors, &signer, &old.child("signerName"), "string", V1_38);
    }
}

/// `ValidateClusterTrustBundleName`, for a bundle with a signer
fn name_with_signer(name: &str, signer: &str) -> Vec<String> {
    let prefix = format!("{}:", signer.replace('/', ":"));
    match name.strip_prefix(&prefix) {
        Some(rest) => names::name_is_subdomain(rest, NameForm::Whole),
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

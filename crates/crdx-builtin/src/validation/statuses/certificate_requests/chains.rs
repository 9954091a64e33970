//! The certificates of a request that is issued. Of an e-mail address in a certificate, only the form `NAME@DOMAIN` is
//! validated.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::pem;
use crate::validation::x509;
use crate::validation::x509::{Certificate, PublicKey};
use crdx_value::field::{BadValue, FieldPath};
use crdx_value::time::{self, Timestamp};

const MAX_CHAIN: usize = 100 << 10;
const NANOS: i64 = 1_000_000_000;
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const CONSISTENT: &str = "must be present and consistent with the issued certificate";

/// The rules of a status with the condition `Issued`. The server reports the first group of errors.
pub(super) fn issued(
    errors: &mut Errors,
    status: &FieldValue<'_, '_>,
    object: &FieldValue<'_, '_>,
    old: &FieldValue<'_, '_>,
) {
    let chain = status.child("certificateChain");
    if chain.text().len() > MAX_CHAIN {
        return errors.too_long(&chain, MAX_CHAIN as i64);
    }
    let Some((leaf, rest)) = pem::decode(chain.text().as_bytes()) else {
        let detail = "issued certificate chain must contain at least one certificate";
        return errors.invalid_value(&chain.path, chain.text(), detail);
    };
    if leaf.label != b"CERTIFICATE" {
        return errors.invalid(&chain, "issued certificate chain must consist entirely of CERTIFICATE PEM blocks");
    }
    let Some(certificate) = x509::read_certificate(&leaf.contents) else {
        return errors.invalid(&chain, "leaf certificate does not parse as valid X.509");
    };
    // Errors about names precede those about times, which end the validation.
    let before = errors.list.len();
    names(errors, &chain, &certificate);
    if !is_issued_to(errors, &chain, &certificate, old) {
        return;
    }
    let [start, refresh, end] = ["notBefore", "beginRefreshAt", "notAfter"].map(|name| status.child(name));
    let rules = [
        (&start, CONSISTENT),
        (&end, CONSISTENT),
        (&refresh, "must be present and in the range [notbefore+10min, notafter-10min]"),
    ];
    for (field, detail) in rules {
        if !field.is_set() {
            errors.required(field, detail);
        }
    }
    if errors.list.len() > before || !is_current(errors, &[start, refresh, end], &certificate, object) {
        return;
    }
    intermediates(errors, &chain, rest);
}

/// The names of the subject
fn names(errors: &mut Errors, chain: &FieldValue<'_, '_>, certificate: &Certificate<'_>) {
    for name in &certificate.dns_names {
        let rules = [
            (name.is_empty(), "leaf certificate should not contain empty DNSName"),
            (name.contains(".."), "leaf certificate's DNSName should not contain '..'"),
            (
                name.starts_with('.') || name.ends_with('.'),
                "leaf certificate's DNSName should not start or end with '.'",
            ),
        ];
        for (_, detail) in rules.iter().filter(|(is_wrong, _)| *is_wrong) {
            errors.invalid_value(&chain.path, *name, *detail);
        }
    }
    for address in &certificate.email_addresses {
        let parts = address.split_once('@');
        if !parts.is_some_and(|(name, domain)| !name.is_empty() && !domain.is_empty()) {
            errors.invalid_value(&chain.path, *address, "leaf certificate should not contain invalid EmailAddress");
        }
    }
}

/// Returns true if the certificate was issued to the key of the request.
fn is_issued_to(
    errors: &mut Errors,
    chain: &FieldValue<'_, '_>,
    certificate: &Certificate<'_>,
    old: &FieldValue<'_, '_>,
) -> bool {
    let spec = old.child("spec");
    let stub = spec.child("stubPKCS10Request").bytes();
    let Ok(x509::CertificateRequest { key: wanted, .. }) = x509::read_request(&stub) else {
        let path = FieldPath::new("spec.stubPKCS10Request");
        errors.invalid_value(&path, BadValue::Omitted, "must be a valid PKCS#10 CSR");
        return false;
    };
    let is_same = wanted.algorithm == PublicKey::Other || wanted.encoded == certificate.key.encoded;
    if !is_same {
        errors.invalid(chain, "leaf certificate was not issued to the requested public key");
    }
    is_same
}

/// The times of the status: those of the certificate, near the time of the request, and within the lifetime that the
/// request allows. Returns true without errors.
fn is_current(
    errors: &mut Errors,
    [start, refresh, end]: &[FieldValue<'_, '_>; 3],
    certificate: &Certificate<'_>,
    object: &FieldValue<'_, '_>,
) -> bool {
    let seconds = |field: &FieldValue<'_, '_>| time::parse(field.text()).map_or(0, |time| time.seconds);
    let (first, last) = (certificate.validity.0.seconds, certificate.validity.1.seconds);
    let (spec, now) = (object.child("spec"), errors.now);
    let max = spec.child("maxExpirationSeconds").int().unwrap_or_default();
    let lifetime = last - first;
    let chain = FieldPath::new("status.certificateChain");
    if seconds(start) != first {
        errors.invalid(start, "must be set to the NotBefore time encoded in the leaf certificate");
    } else if !is_near(first, now) {
        errors.invalid(start, "must be set to within 5 minutes of kube-apiserver's current time");
    } else if seconds(end) != last {
        errors.invalid(end, "must be set to the NotAfter time encoded in the leaf certificate");
    } else if lifetime < HOUR {
        errors.invalid_value(&chain, lifetime.saturating_mul(NANOS), "leaf certificate lifetime must be >= 1 hour");
    } else if lifetime > max {
        let detail = format!("leaf certificate lifetime must be <= spec.maxExpirationSeconds ({max})");
        errors.invalid_value(&chain, lifetime.saturating_mul(NANOS), detail);
    } else if seconds(refresh) < first + 10 * MINUTE {
        errors.invalid(refresh, "must be at least 10 minutes after status.notBefore");
    } else if seconds(refresh) > last - 10 * MINUTE {
        errors.invalid(refresh, "must be at least 10 minutes before status.notAfter");
    } else {
        return true;
    }
    false
}

/// `timeNear`, for a difference of five minutes
fn is_near(seconds: i64, now: Timestamp) -> bool {
    let span = 5 * MINUTE;
    let (start, end) = (now.seconds - span, now.seconds + span);
    // Times of certificates have no fractions of seconds.
    seconds > start && (seconds < end || seconds == end && now.nanos > 0)
}

/// The certificates after the first one
fn intermediates(errors: &mut Errors, chain: &FieldValue<'_, '_>, mut rest: &[u8]) {
    while let Some((block, after)) = pem::decode(rest) {
        rest = after;
        if block.label != b"CERTIFICATE" {
            let detail = "issued certificate chain must consist entirely of CERTFICATE PEM blocks";
            return errors.invalid(chain, detail);
        }
        if x509::read_certificate(&block.contents).is_none() {
            return errors.invalid(chain, "intermediate certificate does not parse as valid X.509");
        }
    }
}

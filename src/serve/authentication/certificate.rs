//! The user of a client certificate: its common name is the user name, its organizations are the groups
//! (`CommonNameUserConversion` in `k8s.io/apiserver/pkg/authentication/request/x509/x509.go`).

use crdx_server::server::UserInfo;
use x509_cert::Certificate;
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::der::asn1::{Ia5StringRef, ObjectIdentifier, PrintableStringRef, TeletexStringRef, Utf8StringRef};
use x509_cert::der::{Decode, Tag, Tagged};

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const ORGANIZATION: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.10");

/// The user that a certificate in DER names; `None` if it has no common name or cannot be parsed.
pub(super) fn user(certificate: &[u8]) -> Option<UserInfo> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let subject = certificate.tbs_certificate().subject();
    let of_type = |wanted: ObjectIdentifier| {
        let attributes = subject.iter().filter(move |attribute| attribute.oid == wanted);
        attributes.filter_map(text)
    };
    // Go keeps the last of several common names.
    let name = of_type(COMMON_NAME).last().filter(|name| !name.is_empty())?;
    Some(UserInfo::authenticated(name, of_type(ORGANIZATION).collect()))
}

fn text(attribute: &AttributeTypeAndValue) -> Option<String> {
    let value = &attribute.value;
    match value.tag() {
        Tag::Utf8String => value.decode_as::<Utf8StringRef<'_>>().ok().map(|text| text.as_str().to_owned()),
        Tag::PrintableString => value.decode_as::<PrintableStringRef<'_>>().ok().map(|text| text.as_str().to_owned()),
        Tag::Ia5String => value.decode_as::<Ia5StringRef<'_>>().ok().map(|text| text.as_str().to_owned()),
        Tag::TeletexString => value.decode_as::<TeletexStringRef<'_>>().ok().map(|text| text.as_str().to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, KeyPair};

    fn of_subject(names: &[(DnType, &str)]) -> Option<UserInfo> {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        for (kind, name) in names {
            params.distinguished_name.push(kind.clone(), *name);
        }
        user(params.self_signed(&KeyPair::generate().unwrap()).unwrap().der())
    }

    #[test]
    fn the_subject_names_the_user() {
        let found = of_subject(&[(DnType::OrganizationName, "system:masters"), (DnType::CommonName, "ädmin")]).unwrap();
        assert_eq!(found.username, "ädmin");
        assert_eq!(found.groups, ["system:masters", "system:authenticated"]);
        assert_eq!(of_subject(&[(DnType::OrganizationName, "x")]), None);
        assert_eq!(user(b"no certificate"), None);
    }
}

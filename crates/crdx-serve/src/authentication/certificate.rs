//! The user of a client certificate: its common name is the user name, its organizations are the groups
//! (`CommonNameUserConversion` in `k8s.io/apiserver/pkg/authentication/request/x509/x509.go`).

use crdx_builtin::validation::x509;
use crdx_server::server::UserInfo;
use crdx_value::release::Release;

/// The user that a certificate in DER names; `None` if it has no common name or cannot be parsed.
pub(super) fn user(certificate: &[u8], release: Release) -> Option<UserInfo> {
    let subject = x509::subject(certificate)?;
    let name = subject.common_name.filter(|name| !name.is_empty())?;
    Some(UserInfo::of_certificate(name, subject.organizations, certificate, release))
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
        user(params.self_signed(&KeyPair::generate().unwrap()).unwrap().der(), Release::NEWEST)
    }

    #[test]
    fn the_subject_names_the_user() {
        let found = of_subject(&[(DnType::OrganizationName, "system:masters"), (DnType::CommonName, "ädmin")]).unwrap();
        assert_eq!(found.username, "ädmin");
        assert_eq!(found.groups, ["system:masters", "system:authenticated"]);
        assert_eq!(of_subject(&[(DnType::OrganizationName, "x")]), None);
        assert_eq!(user(b"no certificate", Release::NEWEST), None);
    }
}

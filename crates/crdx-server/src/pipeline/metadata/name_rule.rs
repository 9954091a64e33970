//! The validation of object names.

use crate::schema::format;
use crdx_value::field::names::{self, NameForm};
use crdx_value::release::{Gate, Release, V1_35};
use std::net::IpAddr;

/// Jobs have the names of their `CronJob` and a time, and at most 63 characters.
const MAX_CRON_JOB: usize = 52;

/// Which names the objects of a resource may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// A DNS subdomain, for custom resources and most built-in kinds (`NameIsDNSSubdomain`).
    Subdomain,
    /// A URL path segment, for any resource.
    PathSegment,
    /// Like [`NameRule::PathSegment`], also for a prefix (`ValidateRBACName` in `pkg/apis/rbac/validation`).
    WholePathSegment,
    /// A DNS label (`NameIsDNSLabel`).
    Label,
    /// Names of Services: a DNS label with the gate `RelaxedServiceNameValidation`, without it one of RFC 1035.
    Service,
    /// A DNS subdomain; since 1.35 its prefix is a path segment (`LongName`).
    LongName,
    /// A DNS subdomain to which 11 characters can be added (`ValidateCronJobCreate`).
    CronJob,
    /// An IP address in canonical form (`ValidateIPAddressName` in `pkg/apis/networking/validation`).
    IpAddress,
}

impl NameRule {
    /// The errors of a name, or of the prefix of a name to be generated.
    pub(crate) fn messages(self, name: &str, form: NameForm, release: Release) -> Vec<String> {
        match self {
            Self::LongName if release.since(V1_35) && form == NameForm::Prefix => names::path_segment(name, form),
            Self::LongName if release.since(V1_35) => names::long_name(name),
            Self::Subdomain | Self::LongName => names::name_is_subdomain(name, form),
            Self::CronJob => {
                let mut messages = names::name_is_subdomain(name, form);
                if form == NameForm::Whole && name.len() > MAX_CRON_JOB {
                    messages.push(format!("must be no more than {MAX_CRON_JOB} characters"));
                }
                messages
            }
            Self::PathSegment => names::path_segment(name, form),
            Self::WholePathSegment => names::path_segment(name, NameForm::Whole),
            Self::Service if !release.enables(Gate::RelaxedServiceNameValidation) => {
                names::name_is_dns1035_label(name, form)
            }
            Self::Label | Self::Service => names::name_is_label(name, form),
            Self::IpAddress => ip_address(name),
        }
    }
}

/// `IsValidIP` in `k8s.io/apimachinery/pkg/util/validation/ip.go`
fn ip_address(text: &str) -> Vec<String> {
    if !format::is_sloppy_ip(text) {
        return vec!["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".to_owned()];
    }
    match text.parse::<IpAddr>() {
        Err(_) => vec!["must not have leading 0s".to_owned()],
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            vec!["must not be an IPv4-mapped IPv6 address".to_owned()]
        }
        Ok(address) if address.to_string() != text => vec![format!("must be in canonical form (\"{address}\")")],
        Ok(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_canonical() {
        for (name, message) in [
            ("10.0.0.1", None),
            ("2001:db8::1", None),
            ("a", Some("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")),
            ("10.0.0.01", Some("must not have leading 0s")),
            ("::ffff:1.2.3.4", Some("must not be an IPv4-mapped IPv6 address")),
            ("2001:DB8::1", Some("must be in canonical form (\"2001:db8::1\")")),
        ] {
            let found = NameRule::IpAddress.messages(name, NameForm::Whole, Release::NEWEST);
            assert_eq!(found.first().map(String::as_str), message, "{name}");
        }
    }

    #[test]
    fn the_release_decides_about_names_of_services() {
        let of = |minor| NameRule::Service.messages("1-a", NameForm::Whole, Release::new(minor).unwrap()).is_empty();
        assert!(!of(35) && of(36));
        assert!(NameRule::Label.messages("a-", NameForm::Prefix, Release::NEWEST).is_empty());
        assert!(!NameRule::WholePathSegment.messages(".", NameForm::Prefix, Release::NEWEST).is_empty());
    }
}

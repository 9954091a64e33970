//! IP addresses and CIDR values (`k8s.io/apimachinery/pkg/util/validation/ip.go`).

use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::release::Gate;
use std::net::IpAddr;

const NO_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NO_CIDR: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// `ParseIPSloppy`: octets of IPv4 addresses may have leading zeros.
pub(crate) fn parse_ip(text: &str) -> Option<IpAddr> {
    text.parse().ok().or_else(|| without_leading_zeros(text)?.parse().ok())
}

/// An IPv4 address, or an IPv6 address that ends with one, without leading zeros.
fn without_leading_zeros(text: &str) -> Option<String> {
    let (prefix, address) = text.rsplit_once(':').map_or(("", text), |(prefix, _)| text.split_at(prefix.len() + 1));
    let octet = |octet: &str| {
        let is_number = !octet.is_empty() && octet.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| match octet.trim_start_matches('0') {
            "" => "0".to_owned(),
            digits => digits.to_owned(),
        })
    };
    let octets = address.split('.').map(octet).collect::<Option<Vec<_>>>()?;
    (octets.len() == 4).then(|| format!("{prefix}{}", octets.join(".")))
}

/// True for an IPv6 address that contains an IPv4 address (`Is4In6`).
fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

/// True for an IPv4 address, or one in an IPv6 address (`netutils.IsIPv4`).
pub fn is_ipv4(address: IpAddr) -> bool {
    address.is_ipv4() || is_mapped(address)
}

/// `IsValidIPForLegacyField`. Strict with the gate `StrictIPCIDRValidation`.
pub(crate) fn legacy_ip(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    let text = field.text();
    let Some(address) = parse_ip(text) else { return errors.invalid_value(&field.path, text, NO_ADDRESS) };
    if errors.release.enables(Gate::StrictIPCIDRValidation) {
        strict_ip(errors, field, address);
    }
}

fn strict_ip(errors: &mut Errors, field: &FieldValue<'_, '_>, address: IpAddr) {
    if field.text().parse::<IpAddr>().is_err() {
        errors.invalid(field, "must not have leading 0s");
    } else if is_mapped(address) {
        errors.invalid(field, "must not be an IPv4-mapped IPv6 address");
    }
}

/// `IsValidIP`: a valid address in its canonical form
pub(crate) fn canonical_ip(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    let before = errors.list.len();
    let text = field.text();
    let Some(address) = parse_ip(text) else { return errors.invalid_value(&field.path, text, NO_ADDRESS) };
    strict_ip(errors, field, address);
    if errors.list.len() == before && text != address.to_string() {
        errors.invalid(field, format!("must be in canonical form (\"{address}\")"));
    }
}

/// An address and the length of its prefix (`ParseCIDRSloppy`).
pub(crate) fn parse_cidr(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    let is_number = !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit());
    let length: u32 = length.parse().ok().filter(|_| is_number)?;
    let address = parse_ip(address)?;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    u8::try_from(length).ok().filter(|length| u32::from(*length) <= bits).map(|length| (address, length))
}

/// `IsValidCIDRForLegacyField`. Strict with the gate `StrictIPCIDRValidation`.
pub(crate) fn legacy_cidr(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    let text = field.text();
    let Some((address, length)) = parse_cidr(text) else { return errors.invalid_value(&field.path, text, NO_CIDR) };
    if errors.release.enables(Gate::StrictIPCIDRValidation) {
        strict_cidr(errors, field, address, length);
    }
}

/// `IsValidCIDR`: a valid value in its canonical form
pub(crate) fn canonical_cidr(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    let before = errors.list.len();
    let text = field.text();
    let Some((address, length)) = parse_cidr(text) else { return errors.invalid_value(&field.path, text, NO_CIDR) };
    strict_cidr(errors, field, address, length);
    let canonical = format!("{address}/{length}");
    if errors.list.len() == before && text != canonical {
        errors.invalid(field, format!("must be in canonical form (\"{canonical}\")"));
    }
}

/// `IsValidInterfaceAddress`: an address in its canonical form, with the length of its prefix
pub(crate) fn interface_address(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    let text = field.text();
    let Some((address, length)) = parse_cidr(text) else {
        return errors.invalid(field, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
    };
    // An IPv4 address in an IPv6 address has the prefix of either; Go subtracts without a check.
    let length = i32::from(length);
    let length = if is_ipv4(address) && length > 32 { length - 96 } else { length };
    let canonical = format!("{}/{length}", address.to_canonical());
    if text != canonical {
        errors.invalid(field, format!("must be in canonical form (\"{canonical}\")"));
    }
}

fn strict_cidr(errors: &mut Errors, field: &FieldValue<'_, '_>, address: IpAddr, length: u8) {
    let text = field.text();
    let (shown, digits) = text.split_once('/').unwrap_or_default();
    if shown.parse::<IpAddr>().is_err() || digits != length.to_string() {
        errors.invalid(field, "must not have leading 0s in IP or prefix length");
    } else if is_mapped(address) {
        errors.invalid(field, "must not have an IPv4-mapped IPv6 address");
    } else if masked(address, length) != address {
        errors.invalid(field, "must not have bits set beyond the prefix length");
    }
}

/// The address with all bits beyond the prefix cleared.
pub fn masked(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or_default();
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length.min(128))).unwrap_or_default();
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_may_have_leading_zeros() {
        assert_eq!(parse_ip("010.002.003.004"), parse_ip("10.2.3.4"));
        assert_eq!(parse_ip("::ffff:010.2.3.4"), parse_ip("::ffff:10.2.3.4"));
        assert_eq!((parse_ip("10.2.3"), parse_ip("256.1.1.1"), parse_ip("")), (None, None, None));
    }

    #[test]
    fn an_interface_address_is_canonical() {
        let found = |text: &str| {
            let mut errors = Errors::new(crdx_value::release::Release::NEWEST);
            let value = crdx_value::Value::from(text);
            interface_address(&mut errors, &FieldValue::new(Some(&value), crdx_value::field::FieldPath::new("a")));
            errors.list.finish().iter().map(|error| error.detail.clone()).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(found("10.9.8.7/24"), "");
        assert_eq!(found("::ffff:1.2.3.4/120"), r#"must be in canonical form ("1.2.3.4/24")"#);
        assert_eq!(found("::ffff:1.2.3.4/40"), r#"must be in canonical form ("1.2.3.4/-56")"#);
    }

    #[test]
    fn prefixes_have_a_length() {
        let text = |text| parse_cidr(text).map(|(address, length)| masked(address, length).to_string());
        assert_eq!(text("10.9.8.7/16").as_deref(), Some("10.9.0.0"));
        assert_eq!(text("2001:db8::1/0").as_deref(), Some("::"));
        assert_eq!((text("10.0.0.0/33"), text("10.0.0.0/+8"), text("10.0.0.0")), (None, None, None));
    }
}

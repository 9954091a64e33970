//! IP addresses and CIDR values in forms other than the canonical one (`GetWarningsForIP` and `GetWarningsForCIDR`).

use super::Warnings;
use crate::validation::field_value::FieldValue;
use crate::validation::network::{masked, parse_cidr, parse_ip};
use crdx_value::Value;
use crdx_value::quote::go_quote;
use crdx_value::release::{V1_33, V1_36};
use std::net::IpAddr;

/// Parts of warnings before 1.33.
const FUTURE: &str = "was accepted, but will be invalid in a future Kubernetes release";
const LOOPS: &str = "may cause controller apply-loops";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";

/// `GetWarningsForIP`
pub(super) fn ip(warnings: &mut Warnings, field: &FieldValue<'_, '_>) {
    let text = field.text();
    let Some(sloppy) = parse_ip(text) else { return };
    let quoted = go_quote(text);
    match text.parse::<IpAddr>().ok().filter(|address| !is_mapped(*address)) {
        None => {
            let canonical = go_quote(&sloppy.to_canonical().to_string());
            warnings
                .at(&field.path, format!("non-standard IP address {quoted} {}: use {canonical}", rejected(warnings)));
        }
        Some(address) if address.is_ipv6() && address.to_string() != text => {
            let canonical = go_quote(&address.to_string());
            let text = format!("IPv6 address {quoted} should be in RFC 5952 canonical format ({canonical})");
            warnings.at(&field.path, text);
        }
        Some(_) => {}
    }
}

/// `GetWarningsForCIDR`
pub(super) fn cidr(warnings: &mut Warnings, field: &FieldValue<'_, '_>) {
    let text = field.text();
    let Some((address, length)) = parse_cidr(text) else { return };
    let (quoted, before) = (go_quote(text), warnings.list.len());
    let network = masked(address, length);
    let shown = go_quote(&format!("{}/{length}", network.to_canonical()));
    if network != address {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let single = go_quote(&format!("{}/{bits}", address.to_canonical()));
        let text = format!("CIDR value {quoted} is ambiguous in this context (should be {shown} or {single}?)");
        warnings.at(&field.path, text);
    }
    let (given, digits) = text.split_once('/').unwrap_or_default();
    let strict = given.parse::<IpAddr>().ok().filter(|address| !is_mapped(*address));
    match strict.filter(|_| digits == length.to_string()) {
        None => {
            let text = format!("non-standard CIDR value {quoted} {}: use {shown}", rejected(warnings));
            warnings.at(&field.path, text);
        }
        Some(address) if address.is_ipv6() && warnings.list.len() == before => {
            let canonical = format!("{address}/{length}");
            if canonical != text {
                let canonical = go_quote(&canonical);
                let text = format!("IPv6 CIDR value {quoted} should be in RFC 5952 canonical format ({canonical})");
                warnings.at(&field.path, text);
            }
        }
        Some(_) => {}
    }
}

/// The fate of values in other forms, which are invalid since 1.36 (`StrictIPCIDRValidation`).
fn rejected(warnings: &Warnings) -> &'static str {
    if warnings.release.since(V1_36) {
        "is invalid"
    } else {
        "will be considered invalid in a future Kubernetes release"
    }
}

fn is_mapped(address: IpAddr) -> bool {
    address.is_ipv6() && address.to_canonical().is_ipv4()
}

/// Warns about an address of a Service (`getWarningsForIP` in `pkg/api/service/warnings.go` before 1.33).
pub(super) fn of_service(warnings: &mut Warnings, field: &FieldValue<'_, '_>) {
    if warnings.release.since(V1_33) {
        return ip(warnings, field);
    }
    let text = field.text();
    let quoted = go_quote(text);
    match text.parse::<IpAddr>() {
        Err(_) => warnings.at(&field.path, format!("IP address {FUTURE}: {}", parse_error(text))),
        Ok(address) if address.is_ipv6() && address.to_string() != text => {
            warnings.at(&field.path, format!("IPv6 address {quoted} {} which {LOOPS}", not_canonical(&address)));
        }
        Ok(_) => {}
    }
}

/// Warns about a source range of a Service (`getWarningsForCIDR` in `pkg/api/service/warnings.go` before 1.33).
pub(super) fn range_of_service(warnings: &mut Warnings, field: &FieldValue<'_, '_>) {
    if warnings.release.since(V1_33) {
        return cidr(warnings, field);
    }
    let text = field.text();
    let Some((address, digits)) = text.split_once('/') else { return };
    let (quoted, length) = (go_quote(text), digits.parse::<u8>().unwrap_or_default());
    let error = match address.parse::<IpAddr>() {
        Err(_) => parse_error(address),
        Ok(_) if digits != length.to_string() => format!("bad bits after slash: {}", go_quote(digits)),
        Ok(address) => {
            let canonical = format!("{address}/{length}");
            if address.is_ipv6() && canonical != text {
                let text = format!("IPv6 prefix {quoted} {} which {LOOPS}", not_canonical(&canonical));
                warnings.at(&field.path, text);
            }
            return;
        }
    };
    warnings.at(&field.path, format!("IP prefix {FUTURE}: netip.ParsePrefix({quoted}): {error}"));
}

/// The error of Go's `netip.ParseAddr`. Older releases accept IPv6 addresses that end with an invalid IPv4 address only if
/// it has a leading zero, and any text as `loadBalancerIP`.
fn parse_error(text: &str) -> String {
    let quoted = go_quote(text);
    let reason = match text.find(['.', ':', '%']).map(|at| text.split_at(at).1.as_bytes()) {
        None => "unable to parse IP".to_owned(),
        Some([b'%', ..]) => "missing IPv6 address".to_owned(),
        Some([b':', ..]) => format!("IPv4 field has octet with leading zero (at {quoted})"),
        Some(_) => ipv4_error(text),
    };
    format!("ParseAddr({quoted}): {reason}")
}

/// `parseIPv4Fields` in Go's `netip`
fn ipv4_error(text: &str) -> String {
    let (mut value, mut digits, mut dots) = (0, 0, 0);
    for (at, character) in text.char_indices() {
        let rest = || go_quote(text.split_at(at).1);
        match (character, character.to_digit(10)) {
            (_, Some(_)) if digits == 1 && value == 0 => return "IPv4 field has octet with leading zero".to_owned(),
            (_, Some(digit)) => {
                value = value * 10 + digit;
                digits += 1;
                if value > 255 {
                    return "IPv4 field has value >255".to_owned();
                }
            }
            ('.', None) if digits == 0 || at + 1 == text.len() => {
                return format!("IPv4 field must have at least one digit (at {})", rest());
            }
            ('.', None) if dots == 3 => return "IPv4 address too long".to_owned(),
            ('.', None) => (value, digits, dots) = (0, 0, dots + 1),
            _ => return format!("unexpected character (at {})", rest()),
        }
    }
    "IPv4 address too short".to_owned()
}

fn not_canonical(canonical: &dyn ToString) -> String {
    format!("is not in RFC 5952 canonical format ({}),", go_quote(&canonical.to_string()))
}

/// `endpointsWarnings`
pub(super) fn endpoints(warnings: &mut Warnings, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    if !warnings.release.since(V1_33) {
        return;
    }
    let labels = object.value.at(&["metadata", "labels"]);
    let managed = labels.and_then(|labels| labels.str_at(&["endpoints.kubernetes.io/managed-by"]));
    if managed == Some("endpoint-controller") {
        return;
    }
    for subset in object.child("subsets").items() {
        for list in ["addresses", "notReadyAddresses"].map(|name| subset.child(name)) {
            list.items().for_each(|address| ip(warnings, &address.child("ip")));
        }
    }
}

/// `warnOnDeprecatedAddressType` and `warnOnBadIPs`
pub(super) fn endpoint_slice(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let address_type = object.child("addressType");
    if address_type.text() == "FQDN" && old.is_none() {
        warnings.add("spec.addressType: FQDN endpoints are deprecated");
    }
    let managed = object.value.at(&["metadata", "labels"]).and_then(|labels| labels.str_at(&[MANAGED_BY]));
    if !warnings.release.since(V1_33)
        || matches!(managed, Some("endpointslice-controller.k8s.io" | "endpointslicemirroring-controller.k8s.io"))
    {
        return;
    }
    for endpoint in object.child("endpoints").items() {
        endpoint.child("addresses").items().for_each(|address| ip(warnings, &address));
    }
}

/// `networkPolicyWarnings`
pub(super) fn network_policy(warnings: &mut Warnings, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    if !warnings.release.since(V1_33) {
        return;
    }
    let spec = object.child("spec");
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.child(rules).items() {
            for peer in rule.child(peers).items() {
                let block = peer.child("ipBlock");
                if block.is_set() {
                    cidr(warnings, &block.child("cidr"));
                    block.child("except").items().for_each(|except| cidr(warnings, &except));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::created;

    fn addresses(texts: &[&str]) -> Vec<String> {
        let object = format!(r#"{{"addressType":"IPv4","endpoints":[{{"addresses":{texts:?}}}]}}"#);
        created("discovery.k8s.io", "EndpointSlice", &object, "1.36")
    }

    #[test]
    fn addresses_should_be_canonical() {
        assert_eq!(addresses(&["1.2.3.4", "2001:db8::1"]), [""; 0]);
        assert_eq!(
            addresses(&["01.2.3.4", "::ffff:1.2.3.4", "2001:DB8::1"]),
            [
                r#"endpoints[0].addresses[0]: non-standard IP address "01.2.3.4" is invalid: use "1.2.3.4""#,
                r#"endpoints[0].addresses[1]: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4""#,
                r#"endpoints[0].addresses[2]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")"#,
            ]
        );
    }

    #[test]
    fn networks_should_have_no_bits_after_the_prefix() {
        let blocks = |cidr: &str| {
            let object = format!(r#"{{"spec":{{"ingress":[{{"from":[{{"ipBlock":{{"cidr":"{cidr}"}}}}]}}]}}}}"#);
            created("networking.k8s.io", "NetworkPolicy", &object, "1.36")
        };
        assert_eq!(blocks("10.0.0.0/8"), [""; 0]);
        assert_eq!(
            blocks("10.1.0.0/8"),
            [
                r#"spec.ingress[0].from[0].ipBlock.cidr: CIDR value "10.1.0.0/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.1.0.0/32"?)"#
            ]
        );
        assert_eq!(
            blocks("10.0.0.0/08"),
            [
                r#"spec.ingress[0].from[0].ipBlock.cidr: non-standard CIDR value "10.0.0.0/08" is invalid: use "10.0.0.0/8""#
            ]
        );
    }
    #[test]
    fn addresses_of_services_are_read_as_by_go_before_1_33() {
        let reason = |address: &str| {
            let service = format!(r#"{{"spec":{{"type":"LoadBalancer","loadBalancerIP":"{address}"}}}}"#);
            let start = format!(
                r#"spec.loadBalancerIP: IP address was accepted, but will be invalid in a future Kubernetes release: ParseAddr("{address}"): "#
            );
            let warnings = created("", "Service", &service, "1.32");
            warnings.iter().find_map(|warning| warning.strip_prefix(&start)).map(str::to_owned)
        };
        for (address, expected) in [
            ("10.0.0.1", None),
            ("10.0.0.01", Some("IPv4 field has octet with leading zero")),
            ("10.0.0.256", Some("IPv4 field has value >255")),
            ("10..0.1", Some(r#"IPv4 field must have at least one digit (at ".0.1")"#)),
            ("10.0.0.1.2", Some("IPv4 address too long")),
            ("10.0.1", Some("IPv4 address too short")),
            ("1.example", Some(r#"unexpected character (at "example")"#)),
            ("::ffff:10.0.0.01", Some(r#"IPv4 field has octet with leading zero (at "::ffff:10.0.0.01")"#)),
            ("x", Some("unable to parse IP")),
            ("%a", Some("missing IPv6 address")),
        ] {
            assert_eq!(reason(address).as_deref(), expected, "{address}");
        }
    }
}

//! Endpoints.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{formats, immutable, network};
use crdx_value::Value;
use std::net::IpAddr;

pub(crate) const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];

/// `ValidateEndpointsCreate` and `ValidateEndpointsUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let subsets = object.child("subsets");
    if is_unchanged(&subsets, old.and_then(|old| old.get("subsets"))) {
        return;
    }
    for subset in subsets.items() {
        let (ready, not_ready, ports) =
            (subset.child("addresses"), subset.child("notReadyAddresses"), subset.child("ports"));
        if ready.len() + not_ready.len() == 0 {
            errors.required(&subset, "must specify `addresses` or `notReadyAddresses`");
        }
        for address in ready.items().chain(not_ready.items()) {
            validate_address(errors, &address);
        }
        for port in ports.items() {
            validate_port(errors, &port, ports.len() > 1);
        }
    }
}

/// The server does not validate a list that an update does not change.
pub(crate) fn is_unchanged(list: &FieldValue<'_, '_>, old: Option<&Value>) -> bool {
    old.is_some_and(|old| immutable::is_equal(list.value, old))
}

/// `validateEndpointAddress`
fn validate_address(errors: &mut Errors, address: &FieldValue<'_, '_>) {
    let (ip, hostname, node) = (address.child("ip"), address.child("hostname"), address.child("nodeName"));
    network::legacy_ip(errors, &ip);
    if !hostname.text().is_empty() {
        formats::label(errors, &hostname);
    }
    if node.is_set() {
        formats::object_name(errors, &node);
    }
    endpoint_ip(errors, &ip);
}

/// `ValidateEndpointIP`
pub(crate) fn endpoint_ip(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    let text = field.text();
    let Some(address) = network::parse_ip(text) else {
        return errors.invalid_value(&field.path, text, "must be a valid IP address");
    };
    let address = match address {
        IpAddr::V6(inner) => inner.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    };
    let (is_link_local, is_link_local_multicast) = match address {
        IpAddr::V4(address) => (address.is_link_local(), address.octets().starts_with(&[224, 0, 0])),
        IpAddr::V6(address) => (
            address.segments().first().is_some_and(|segment| segment & 0xffc0 == 0xfe80),
            address.segments().first().is_some_and(|segment| segment & 0xff0f == 0xff02),
        ),
    };
    for (is_excluded, detail) in [
        (address.is_unspecified(), format!("may not be unspecified ({text})")),
        (address.is_loopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)".to_owned()),
        (is_link_local, "may not be in the link-local range (169.254.0.0/16, fe80::/10)".to_owned()),
        (is_link_local_multicast, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)".to_owned()),
    ] {
        if is_excluded {
            errors.invalid(field, detail);
        }
    }
}

/// `validateEndpointPort`
fn validate_port(errors: &mut Errors, port: &FieldValue<'_, '_>, requires_name: bool) {
    let (name, protocol) = (port.child("name"), port.child("appProtocol"));
    if !name.text().is_empty() {
        formats::label(errors, &name);
    } else if requires_name {
        errors.required(&name, "");
    }
    formats::port_number(errors, &port.child("port"));
    errors.one_of(&port.child("protocol"), PROTOCOLS);
    if protocol.is_set() {
        formats::qualified_name(errors, &protocol);
    }
}

//! `EndpointSlice`s.

use crate::validation::core::endpoints::{PROTOCOLS, endpoint_ip, is_unchanged};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{formats, immutable, network};
use crdx_value::Value;
use crdx_value::field::{
    FieldError, ROOT,
    names::{self, NameForm},
};
use crdx_value::release::{Gate, V1_33, V1_37, V1_38};
use std::collections::HashSet;

const MAX_TOPOLOGY: usize = 16;
const MAX_ADDRESSES: usize = 100;
const MAX_PORTS: usize = 20_000;
const MAX_ENDPOINTS: usize = 1000;
const MAX_HINTS: usize = 8;

/// `ValidateEndpointSliceCreate` and `ValidateEndpointSliceUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (type_, list) = (object.child("addressType"), object.child("endpoints"));
    let old_type = old.and_then(|old| old.get("addressType"));
    // Since 1.38, the type is only validated by generated code, which stops at an error about a changed value.
    let is_changed = old.is_some() && old_type != object.value.get("addressType");
    if !(is_changed && errors.release.since(V1_38)) || type_.text().is_empty() {
        errors.one_of(&type_, &["FQDN", "IPv4", "IPv6"]);
    }
    slice_ports(errors, &object.child("ports"));
    if !is_unchanged(&list, old.and_then(|old| old.get("endpoints"))) {
        slice_endpoints(errors, &list, type_.text());
    }
    if old.is_some() {
        immutable::declared(errors, &type_, &FieldValue::new(old_type, ROOT), "string");
    }
}

/// `validatePorts`
fn slice_ports(errors: &mut Errors, ports: &FieldValue<'_, '_>) {
    if ports.len() > MAX_PORTS {
        return errors.too_many(ports, ports.len(), MAX_PORTS as i64);
    }
    let mut seen = HashSet::new();
    for port in ports.items() {
        let (name, protocol, application) = (port.child("name"), port.child("protocol"), port.child("appProtocol"));
        if !name.text().is_empty() {
            formats::label(errors, &name);
        }
        if !seen.insert(name.text()) {
            errors.duplicate(&name);
        }
        if protocol.is_set() {
            errors.supported(&protocol, PROTOCOLS);
        } else {
            errors.required(&protocol, "");
        }
        if application.is_set() {
            formats::qualified_name(errors, &application);
        }
    }
}

/// `validateEndpoints`
fn slice_endpoints(errors: &mut Errors, list: &FieldValue<'_, '_>, type_: &str) {
    if list.len() > MAX_ENDPOINTS {
        return errors.too_many(list, list.len(), MAX_ENDPOINTS as i64);
    }
    for endpoint in list.items() {
        let addresses = endpoint.child("addresses");
        match addresses.len() {
            // The rule that the types declare is enforced since 1.37.
            0 if errors.release.since(V1_37) => errors.required(&addresses, ""),
            0 => errors.required(&addresses, "must contain at least 1 address"),
            1..=MAX_ADDRESSES => {}
            count => errors.too_many(&addresses, count, MAX_ADDRESSES as i64),
        }
        for address in addresses.items() {
            slice_address(errors, &addresses, &address, type_);
        }
        let (node, topology, hostname) =
            (endpoint.child("nodeName"), endpoint.child("deprecatedTopology"), endpoint.child("hostname"));
        if node.is_set() {
            formats::object_name(errors, &node);
        }
        if topology.len() > MAX_TOPOLOGY {
            errors.too_many(&topology, topology.len(), MAX_TOPOLOGY as i64);
        }
        formats::labels(errors, &topology);
        if hostname.is_set() {
            formats::label(errors, &hostname);
        }
        hints(errors, &endpoint.child("hints"));
    }
}

fn slice_address(errors: &mut Errors, list: &FieldValue<'_, '_>, address: &FieldValue<'_, '_>, type_: &str) {
    let before = errors.list.len();
    if matches!(type_, "IPv4" | "IPv6") && !errors.release.since(V1_33) {
        // `IsValidIPv4Address` and `IsValidIPv6Address`
        let parsed = network::parse_ip(address.text());
        if parsed.is_none_or(|ip| network::is_ipv4(ip) != (type_ == "IPv4")) {
            errors.invalid_value(&address.path, address.text(), format!("must be a valid {type_} address"));
        }
        return endpoint_ip(errors, address);
    }
    match type_ {
        "IPv4" => network::legacy_ip(errors, address),
        "IPv6" => network::canonical_ip(errors, address),
        "FQDN" => return domain_name(errors, address),
        _ => return,
    }
    if errors.list.len() > before {
        return;
    }
    let is_ipv4 = network::parse_ip(address.text()).is_some_and(network::is_ipv4);
    if is_ipv4 != (type_ == "IPv4") {
        // The server reports this error at the list.
        errors.invalid_value(&list.path, address.text(), format!("must be an {type_} address"));
    }
    endpoint_ip(errors, address);
}

/// `IsFullyQualifiedDomainName`
fn domain_name(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    if !errors.require_text(field) {
        return;
    }
    let name = field.text().strip_suffix('.').unwrap_or(field.text());
    let messages = names::dns1123_subdomain(name.as_bytes());
    if !messages.is_empty() {
        return errors.invalid_value(&field.path, name, messages.join(","));
    }
    if !name.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        return errors.invalid_value(&field.path, name, detail);
    }
    let invalid = name.split('.').map(|label| (label, names::dns1123_label(label.as_bytes())));
    if let Some((label, messages)) = invalid.into_iter().find(|(_, messages)| !messages.is_empty()) {
        errors.invalid_value(&field.path, label, messages.join(","));
    }
}

/// `validateHints`
fn hints(errors: &mut Errors, hints: &FieldValue<'_, '_>) {
    for (list, is_zone) in [("forZones", true), ("forNodes", false)] {
        let list = hints.child(list);
        // Without the gate, the server drops the hints for nodes.
        if !is_zone && !errors.release.enables(Gate::PreferSameTrafficDistribution) {
            continue;
        }
        if list.len() > MAX_HINTS {
            return errors.too_many(&list, list.len(), MAX_HINTS as i64);
        }
        let mut seen = HashSet::new();
        for hint in list.items() {
            let name = hint.child("name");
            if !seen.insert(name.text()) {
                errors.list.push(FieldError::duplicate(&name.path, name.text()));
            }
            let messages = if is_zone {
                names::label_value(name.text(), errors.release)
            } else {
                names::name_is_subdomain(name.text(), NameForm::Whole)
            };
            errors.messages(&name, messages);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    #[test]
    fn addresses_of_slices_are_worded_by_release() {
        let slice = r#"{"addressType":"IPv4","endpoints":[{"addresses":["a"]}],"ports":[]}"#;
        let errors = |release| created("discovery.k8s.io/v1", "EndpointSlice", slice, release);
        let text = |detail: &str| format!("endpoints[0].addresses[0]: Invalid value: \"a\": {detail}");
        assert_eq!(errors("1.32"), [text("must be a valid IPv4 address"), text("must be a valid IP address")]);
        assert_eq!(errors("1.33"), [text("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")]);
    }

    #[test]
    fn a_changed_address_type_is_not_shown_since_1_37() {
        let slice = |type_: &str| format!(r#"{{"addressType":"{type_}","endpoints":[],"ports":[]}}"#);
        let update = |release| updated("discovery.k8s.io/v1", "EndpointSlice", &slice("IPv4"), &slice("IPv6"), release);
        assert_eq!(update("1.37"), ["addressType: Invalid value: null: field is immutable"]);
        assert_eq!(update("1.36"), ["addressType: Invalid value: \"IPv6\": field is immutable"]);
    }

    #[test]
    fn missing_addresses_are_worded_by_release() {
        let slice = r#"{"addressType":"IPv4","endpoints":[{}],"ports":[]}"#;
        let create = |release| created("discovery.k8s.io/v1", "EndpointSlice", slice, release);
        assert_eq!(create("1.36"), ["endpoints[0].addresses: Required value: must contain at least 1 address"]);
        assert_eq!(create("1.37"), ["endpoints[0].addresses: Required value"]);
    }

    #[test]
    fn since_1_38_a_changed_address_type_may_be_of_any_value() {
        let slice = |type_: &str| format!(r#"{{"addressType":"{type_}","endpoints":[],"ports":[]}}"#);
        let update =
            |new: &str, release| updated("discovery.k8s.io/v1", "EndpointSlice", &slice("IPv4"), &slice(new), release);
        assert_eq!(update("*", "1.37").len(), 2);
        assert_eq!(update("*", "1.38"), ["addressType: Invalid value: null: field is immutable"]);
        assert_eq!(update("", "1.38").len(), 2);
    }
}

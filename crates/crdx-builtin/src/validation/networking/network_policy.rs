//! `NetworkPolicies` (`pkg/apis/networking/validation`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{
    formats, network,
    selectors::{self, LabelValues},
};
use crdx_value::Value;
use crdx_value::field::{FieldError, ROOT};
use crdx_value::release::V1_37;
use std::collections::HashSet;

/// What the existing policy of an update already contains.
struct Existing<'v> {
    allows_invalid_selectors: bool,
    cidrs: HashSet<&'v str>,
}

/// `ValidateNetworkPolicy` and `ValidateNetworkPolicyUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let existing = existing(errors, old);
    selectors::label_selector(
        errors,
        &spec.child("podSelector"),
        LabelValues::allow_invalid_if(existing.allows_invalid_selectors),
    );
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.child(rules).items() {
            for port in rule.child("ports").items() {
                validate_port(errors, &port);
            }
            for peer in rule.child(peers).items() {
                validate_peer(errors, &peer, &existing);
            }
        }
    }
    let types = spec.child("policyTypes");
    if types.len() > 2 {
        return errors.invalid_typed(&types, "[]networking.PolicyType", "may not specify more than two policyTypes");
    }
    for type_ in types.items() {
        errors.supported(&type_, &["Ingress", "Egress"]);
    }
}

fn existing<'v>(errors: &Errors, old: Option<&'v Value>) -> Existing<'v> {
    let old = FieldValue::new(old, ROOT);
    let spec = old.child("spec");
    let mut found = Errors::new(errors.release);
    selectors::label_selector(&mut found, &spec.child("podSelector"), LabelValues::Validate);
    let mut cidrs = HashSet::new();
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.child(rules).items() {
            for peer in rule.child(peers).items() {
                let block = peer.child("ipBlock");
                cidrs.insert(block.child("cidr").text());
                cidrs.extend(block.child("except").texts());
            }
        }
    }
    Existing { allows_invalid_selectors: !found.list.is_empty(), cidrs }
}

/// `ValidateNetworkPolicyPort`
fn validate_port(errors: &mut Errors, port: &FieldValue<'_, '_>) {
    let (protocol, number, end) = (port.child("protocol"), port.child("port"), port.child("endPort"));
    if protocol.is_set() {
        errors.supported(&protocol, &["TCP", "UDP", "SCTP"]);
    }
    match number.value {
        Value::Null => {
            if end.is_set() {
                errors.invalid(&end, "may not be specified when `port` is not specified");
            }
        }
        Value::String(name) => {
            if end.is_set() {
                errors.invalid(&end, "may not be specified when `port` is non-numeric");
            }
            errors.messages(&number, formats::port_name(name));
        }
        _ => {
            formats::port_number(errors, &number);
            if end.is_set() {
                if end.int() < number.int() {
                    // Before 1.37, the server shows the port.
                    let shown = if errors.release.since(V1_37) { end.int() } else { number.int() };
                    let detail = "must be greater than or equal to `port`";
                    errors.invalid_value(&end.path, shown.unwrap_or_default(), detail);
                }
                formats::port_number(errors, &end);
            }
        }
    }
}

/// `ValidateNetworkPolicyPeer`
fn validate_peer(errors: &mut Errors, peer: &FieldValue<'_, '_>, existing: &Existing<'_>) {
    let (pods, namespaces, block) = (peer.child("podSelector"), peer.child("namespaceSelector"), peer.child("ipBlock"));
    selectors::label_selector(errors, &pods, LabelValues::allow_invalid_if(existing.allows_invalid_selectors));
    selectors::label_selector(errors, &namespaces, LabelValues::allow_invalid_if(existing.allows_invalid_selectors));
    let has_selector = pods.is_set() || namespaces.is_set();
    if block.is_set() {
        ip_block(errors, &block, existing);
        if has_selector {
            errors.forbidden(peer, "may not specify both ipBlock and another peer");
        }
    } else if !has_selector {
        errors.required(peer, "must specify a peer");
    }
}

/// `ValidateIPBlock`
fn ip_block(errors: &mut Errors, block: &FieldValue<'_, '_>, existing: &Existing<'_>) {
    let cidr = block.child("cidr");
    if !errors.require_text(&cidr) {
        return;
    }
    let check = |errors: &mut Errors, field: &FieldValue<'_, '_>| {
        if !existing.cidrs.contains(field.text()) {
            network::legacy_cidr(errors, field);
        }
        network::parse_cidr(field.text())
    };
    let Some((address, length)) = check(errors, &cidr) else { return };
    for except in block.child("except").items() {
        let Some((inner, inner_length)) = check(errors, &except) else { continue };
        let is_inside = inner.is_ipv4() == address.is_ipv4()
            && network::masked(inner, length.min(inner_length)) == network::masked(address, length);
        if !is_inside || length >= inner_length {
            let error = FieldError::invalid(&except.path, except.text(), "must be a strict subset of `cidr`");
            errors.list.push(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    #[test]
    fn the_shown_end_of_a_range_of_ports_depends_on_the_release() {
        let policy = r#"{"spec":{"podSelector":{},"ingress":[{"ports":[{"port":90,"endPort":80}]}]}}"#;
        let error = |release| created("networking.k8s.io/v1", "NetworkPolicy", policy, release).remove(0);
        let text = |port| {
            format!("spec.ingress[0].ports[0].endPort: Invalid value: {port}: must be greater than or equal to `port`")
        };
        assert_eq!((error("1.36"), error("1.37")), (text(90), text(80)));
    }
}

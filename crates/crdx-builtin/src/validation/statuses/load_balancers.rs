//! Statuses of Services (`ValidateServiceStatusUpdate`) and Ingresses (`ValidateIngressStatusUpdate`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{formats, network};
use crdx_value::Value;
use crdx_value::release::V1_33;
use std::collections::HashSet;

/// `ValidateServiceStatusUpdate`
pub fn service(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let (spec, status) = (object.child("spec"), object.child("status"));
    let balancer = status.child("loadBalancer");
    let ingress = balancer.child("ingress");
    if spec.child("type").text() != "LoadBalancer" && ingress.len() > 0 {
        return errors.forbidden(&ingress, "may only be used when `spec.type` is 'LoadBalancer'");
    }
    let existing = addresses(old);
    for point in ingress.items() {
        address(errors, &point, &existing);
        let (has_ip, mode) = (!point.child("ip").text().is_empty(), point.child("ipMode"));
        if !mode.is_set() {
            if has_ip {
                errors.required(&mode, "must be specified when `ip` is set");
            }
        } else if !has_ip {
            errors.forbidden(&mode, "may not be specified when `ip` is not set");
        } else {
            errors.supported(&mode, &["Proxy", "VIP"]);
        }
        host_name(errors, &point);
    }
}

/// `ValidateIngressStatusUpdate`
pub fn ingress(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let status = object.child("status");
    let balancer = status.child("loadBalancer");
    let existing = addresses(old);
    for point in balancer.child("ingress").items() {
        address(errors, &point, &existing);
        host_name(errors, &point);
    }
}

/// The addresses of the ingress points of an object.
fn addresses<'v>(object: &FieldValue<'v, '_>) -> HashSet<&'v str> {
    let points = object.value.at(&["status", "loadBalancer", "ingress"]).and_then(Value::as_array).unwrap_or_default();
    points.iter().filter_map(|point| point.str_at(&["ip"])).collect()
}

/// Validates the address of an ingress point. Since 1.33, the existing addresses are kept.
fn address(errors: &mut Errors, point: &FieldValue<'_, '_>, existing: &HashSet<&str>) {
    let ip = point.child("ip");
    if ip.text().is_empty() || errors.release.since(V1_33) && existing.contains(ip.text()) {
        return;
    }
    network::legacy_ip(errors, &ip);
}

fn host_name(errors: &mut Errors, point: &FieldValue<'_, '_>) {
    let host = point.child("hostname");
    if host.text().is_empty() {
        return;
    }
    formats::subdomain(errors, &host);
    if network::parse_ip(host.text()).is_some() {
        errors.invalid(&host, "must be a DNS name, not an IP address");
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::statuses::tests::errors;

    #[test]
    fn only_load_balancers_have_ingress_points() {
        let new = r#"{"spec":{"type":"ClusterIP"},"status":{"loadBalancer":{"ingress":[{"hostname":"a"}]}}}"#;
        assert_eq!(
            errors(("", "Service"), "{}", new, "1.37"),
            ["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"]
        );
    }

    #[test]
    fn an_address_has_a_mode() {
        let service = |point: &str| {
            let new =
                format!(r#"{{"spec":{{"type":"LoadBalancer"}},"status":{{"loadBalancer":{{"ingress":[{point}]}}}}}}"#);
            errors(("", "Service"), "{}", &new, "1.37")
        };
        assert_eq!(
            service(r#"{"ip":"1.2.3.4"}"#),
            ["status.loadBalancer.ingress[0].ipMode: Required value: must be specified when `ip` is set"]
        );
        assert_eq!(
            service(r#"{"hostname":"a","ipMode":"VIP"}"#),
            ["status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not set"]
        );
        assert_eq!(service(r#"{"ip":"1.2.3.4","ipMode":"VIP"}"#), [""; 0]);
    }

    #[test]
    fn an_ingress_point_has_a_name_or_an_address() {
        let new = r#"{"status":{"loadBalancer":{"ingress":[{"hostname":"1.2.3.4"},{"ip":"x"}]}}}"#;
        let old = r#"{"status":{"loadBalancer":{"ingress":[{"ip":"x"}]}}}"#;
        let host = r#"status.loadBalancer.ingress[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address"#;
        assert_eq!(errors(("networking.k8s.io", "Ingress"), old, new, "1.37"), [host]);
        assert_eq!(errors(("networking.k8s.io", "Ingress"), "{}", new, "1.37").len(), 2);
    }
}

//! Warnings about writes of a status, since 1.33: addresses in forms other than the canonical one.

use super::{Warnings, addresses};
use crate::validation::field_value::FieldValue;
use crdx_value::Value;
use crdx_value::field::ROOT;
use crdx_value::release::{Release, V1_33};

/// Returns the warnings about a write of the status of an object (`WarningsOnUpdate` of the strategies of statuses).
pub fn status_warnings((group, kind): (&str, &str), object: &Value, release: Release) -> Vec<String> {
    let mut warnings = Warnings { release, list: Vec::new() };
    if !release.since(V1_33) {
        return warnings.list;
    }
    let root = FieldValue::new(Some(object), ROOT);
    let status = root.child("status");
    match (group, kind) {
        ("", "Pod") => {
            for list in ["podIPs", "hostIPs"].map(|name| status.child(name)) {
                list.items().for_each(|item| addresses::ip(&mut warnings, &item.child("ip")));
            }
        }
        ("", "Service") | ("networking.k8s.io", "Ingress") => {
            let balancer = status.child("loadBalancer");
            for point in balancer.child("ingress").items() {
                // These warnings name the item.
                addresses::ip(&mut warnings, &FieldValue { path: point.path, ..point.child("ip") });
            }
        }
        _ => {}
    }
    warnings.list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn warnings(group: &str, kind: &str, status: &str, release: &str) -> Vec<String> {
        let object = json::read(format!(r#"{{"status":{status}}}"#).as_bytes()).unwrap();
        status_warnings((group, kind), &object, release.parse().unwrap())
    }

    #[test]
    fn addresses_of_pods_should_be_canonical() {
        let status = r#"{"podIPs":[{"ip":"10.0.0.1"},{"ip":"FD00::1"}],"hostIPs":[{"ip":"010.0.0.1"}]}"#;
        assert_eq!(
            warnings("", "Pod", status, "1.33"),
            [
                r#"status.podIPs[1].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")"#,
                r#"status.hostIPs[0].ip: non-standard IP address "010.0.0.1" will be considered invalid in a future Kubernetes release: use "10.0.0.1""#,
            ]
        );
        assert_eq!(warnings("", "Pod", status, "1.32"), [""; 0]);
    }

    #[test]
    fn addresses_of_load_balancers_should_be_canonical() {
        let status = r#"{"loadBalancer":{"ingress":[{"hostname":"a"},{"ip":"192.0.2.01"}]}}"#;
        let warning =
            r#"status.loadBalancer.ingress[1]: non-standard IP address "192.0.2.01" is invalid: use "192.0.2.1""#;
        assert_eq!(warnings("", "Service", status, "1.37"), [warning]);
        assert_eq!(warnings("networking.k8s.io", "Ingress", status, "1.37"), [warning]);
        assert_eq!(warnings("", "Node", status, "1.37"), [""; 0]);
    }
}

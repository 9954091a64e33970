//! `DenyServiceExternalIPs` (`plugin/pkg/admission/network/denyserviceexternalips`).

use crdx_value::Value;

/// The reason to refuse a Service with external IP addresses that the existing one does not have.
pub fn refusal(service: &Value, old: Option<&Value>) -> Option<&'static str> {
    fn addresses(service: &Value) -> &[Value] {
        service.at(&["spec", "externalIPs"]).and_then(Value::as_array).unwrap_or_default()
    }
    let old = old.map(addresses).unwrap_or_default();
    let is_new = addresses(service).iter().any(|address| !old.contains(address));
    is_new.then_some("Use of external IPs is denied by admission control")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn only_new_addresses_are_refused() {
        let service = |ips: &str| read(format!(r#"{{"spec":{{"externalIPs":[{ips}]}}}}"#).as_bytes()).unwrap();
        let (none, one, two) = (service(""), service(r#""192.0.2.1""#), service(r#""192.0.2.2","192.0.2.1""#));
        assert_eq!([refusal(&none, None), refusal(&one, Some(&two)), refusal(&one, Some(&one))], [None; 3]);
        assert!(refusal(&one, None).is_some() && refusal(&two, Some(&one)).is_some());
    }
}

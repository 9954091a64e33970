//! Services (`validateService` and `ValidateServiceUpdate`).
//!
//! The server completes the addresses and the families of a Service before it validates it. An error there is the whole
//! answer.

mod addresses;

use crate::validation::core::endpoints;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{formats, network};
use crdx_value::field::{BadValue, ErrorList, FieldError, FieldPath, ROOT};
use crdx_value::release::{Gate, Release, V1_33, V1_34};
use crdx_value::{Value, json};
use std::collections::HashSet;

const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];
const TYPES: &[&str] = &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const KUBELET_PORT: i64 = 10_250;
const MAX_AFFINITY_SECONDS: i64 = 86_400;
const ONLY_LOAD_BALANCER: &str = "may only be used when `type` is 'LoadBalancer'";
const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const TOPOLOGY_MODE: &str = "service.kubernetes.io/topology-mode";

/// `ValidateServiceCreate` and `ValidateServiceUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let old_spec = old.map(|old| FieldValue::new(old.get("spec"), ROOT));
    if let Some(old_spec) = &old_spec {
        addresses::update(errors, &spec, old_spec);
        load_balancer_class(errors, &spec, Some(old_spec));
        let number = |spec: &FieldValue<'_, '_>| spec.child("healthCheckNodePort").int().unwrap_or_default();
        let needs = needs_health_check(&spec) && needs_health_check(old_spec);
        // An absent port is kept.
        if needs && number(&spec) != 0 && number(&spec) != number(old_spec) {
            errors.forbidden(&spec.child("healthCheckNodePort"), "field is immutable");
        }
    }
    annotations(errors, object);
    type_rules(errors, &spec);
    ports(errors, &spec);
    formats::labels(errors, &spec.child("selector"));
    session_affinity(errors, &spec);
    let existing: Vec<&str> =
        old_spec.iter().flat_map(|old| old.child("clusterIPs").texts().collect::<Vec<_>>()).collect();
    addresses::validate(errors, &spec, &existing);
    external_ips(errors, &spec, old_spec.as_ref());
    errors.one_of(&spec.child("type"), TYPES);
    node_ports(errors, &spec);
    source_ranges(errors, object, old);
    let allocates = spec.child("allocateLoadBalancerNodePorts");
    if allocates.is_set() && !is_load_balancer(&spec) {
        errors.forbidden(&allocates, ONLY_LOAD_BALANCER);
    }
    load_balancer_class(errors, &spec, None);
    traffic_policies(errors, &spec);
}

/// The errors about the addresses and families in the specification of a Service (`ValidateServiceClusterIPsRelatedFields`),
/// which the server reports before it completes them; `existing` are the addresses of the existing object.
pub fn service_addresses(spec: &Value, existing: &[String], release: Release) -> ErrorList {
    let mut errors = Errors::new(release);
    let existing: Vec<&str> = existing.iter().map(String::as_str).collect();
    addresses::validate(&mut errors, &FieldValue::new(Some(spec), FieldPath::new("spec")), &existing);
    errors.list.finish()
}

fn is_load_balancer(spec: &FieldValue<'_, '_>) -> bool {
    spec.child("type").text() == "LoadBalancer"
}

/// `isHeadlessService`
fn is_headless(spec: &FieldValue<'_, '_>) -> bool {
    let addresses = spec.child("clusterIPs");
    let first = addresses.texts().next().unwrap_or(spec.child("clusterIP").text());
    addresses.len() <= 1 && first == "None"
}

/// `ExternallyAccessible`
fn is_external(spec: &FieldValue<'_, '_>) -> bool {
    match spec.child("type").text() {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => spec.child("externalIPs").len() > 0,
        _ => false,
    }
}

/// `NeedsHealthCheck`
fn needs_health_check(spec: &FieldValue<'_, '_>) -> bool {
    is_load_balancer(spec) && spec.child("externalTrafficPolicy").text() == "Local"
}

fn annotations(errors: &mut Errors, object: &FieldValue<'_, '_>) {
    let metadata = object.child("metadata");
    let annotations = metadata.child("annotations");
    let get = |key: &str| annotations.value.get(key).and_then(Value::as_str);
    if let (Some(hints), Some(mode)) = (get(TOPOLOGY_HINTS), get(TOPOLOGY_MODE))
        && hints != mode
    {
        let detail = format!("must match annotations[{TOPOLOGY_HINTS}] when both are specified");
        errors.invalid_value(&annotations.path.key(TOPOLOGY_MODE), mode, detail);
    }
}

fn type_rules(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let (ports, addresses) = (spec.child("ports"), spec.child("clusterIPs"));
    let type_ = spec.child("type").text();
    if ports.len() == 0 && !is_headless(spec) && type_ != "ExternalName" {
        errors.required(&ports, "");
    }
    if type_ == "LoadBalancer" && !errors.release.since(V1_33) {
        kubelet_port_is_not_exposed(errors, &ports);
    }
    match type_ {
        "LoadBalancer" | "NodePort" if is_headless(spec) => {
            let detail = format!("may not be set to 'None' for {type_} services");
            errors.invalid_value(&addresses.path.index(0), "None", detail);
        }
        "ExternalName" => {
            for field in [&addresses, &spec.child("ipFamilies"), &spec.child("ipFamilyPolicy")] {
                if field.len() > 0 || !field.text().is_empty() {
                    errors.forbidden(field, "may not be set for ExternalName services");
                }
            }
            let name = spec.child("externalName");
            let text = name.text().strip_suffix('.').unwrap_or(name.text());
            if text.is_empty() {
                errors.required(&name, "");
            } else {
                let messages = crdx_value::field::names::dns1123_subdomain(text.as_bytes());
                errors.messages_at(&name.path, text, messages);
            }
        }
        _ => {}
    }
}

/// The port of the kubelet, which a load balancer could not expose before 1.33.
fn kubelet_port_is_not_exposed(errors: &mut Errors, ports: &FieldValue<'_, '_>) {
    for port in ports.items().filter(|port| port.child("port").int() == Some(KUBELET_PORT)) {
        let detail = format!("may not expose port {KUBELET_PORT} externally since it is used by kubelet");
        errors.invalid_value(&port.path, KUBELET_PORT, detail);
    }
}

/// `validateServicePort`, for all ports
fn ports(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let list = spec.child("ports");
    let mut names = HashSet::new();
    for port in list.items() {
        let (name, application) = (port.child("name"), port.child("appProtocol"));
        if !name.text().is_empty() {
            formats::label(errors, &name);
            if !names.insert(name.text()) {
                errors.duplicate(&name);
            }
        } else if list.len() > 1 {
            errors.required(&name, "");
        }
        formats::port_number(errors, &port.child("port"));
        errors.one_of(&port.child("protocol"), PROTOCOLS);
        formats::port_number_or_name(errors, &port.child("targetPort"));
        if application.is_set() {
            formats::qualified_name(errors, &application);
        }
    }
}

fn session_affinity(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let (affinity, config) = (spec.child("sessionAffinity"), spec.child("sessionAffinityConfig"));
    errors.one_of(&affinity, &["ClientIP", "None"]);
    match affinity.text() {
        "ClientIP" => {
            const NEEDED: &str = "when session affinity type is ClientIP";
            let client = config.child("clientIP");
            let timeout = client.child("timeoutSeconds");
            if let Some(missing) = [&config, &client, &timeout].into_iter().find(|field| !field.is_set()) {
                errors.required(missing, NEEDED);
            } else if !timeout.int().is_some_and(|seconds| (1..=MAX_AFFINITY_SECONDS).contains(&seconds)) {
                let detail = format!("must be greater than 0 and less than {MAX_AFFINITY_SECONDS}");
                errors.invalid(&timeout, detail);
            }
        }
        "None" => errors.forbid_if_set(&config, "must not be set when session affinity is None"),
        _ => {}
    }
}

fn external_ips(errors: &mut Errors, spec: &FieldValue<'_, '_>, old: Option<&FieldValue<'_, '_>>) {
    let old = old.map(|old| old.child("externalIPs"));
    let existing: HashSet<&str> = old.iter().flat_map(FieldValue::texts).collect();
    for address in spec.child("externalIPs").items() {
        let before = errors.list.len();
        if !existing.contains(address.text()) {
            network::legacy_ip(errors, &address);
        }
        if errors.list.len() == before {
            endpoints::endpoint_ip(errors, &address);
        }
    }
}

/// Node ports of the wrong type, and duplicates.
fn node_ports(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let (mut node_ports, mut ports) = (HashSet::new(), HashSet::new());
    let is_cluster_ip = spec.child("type").text() == "ClusterIP";
    for port in spec.child("ports").items() {
        let (node_port, protocol) = (port.child("nodePort"), port.child("protocol").text());
        let number = node_port.int().unwrap_or_default();
        if number != 0 {
            if is_cluster_ip {
                errors.forbidden(&node_port, "may not be used when `type` is 'ClusterIP'");
            }
            if !node_ports.insert((protocol, number)) {
                errors.list.push(FieldError::duplicate(&node_port.path, number));
            }
        }
        let number = port.child("port").int().unwrap_or_default();
        if !ports.insert((protocol, number)) {
            errors.list.push(FieldError::duplicate(&port.path, internal_port(protocol, number, errors)));
        }
    }
}

/// A port with only its protocol and number, as its internal type.
fn internal_port(protocol: &str, number: i64, errors: &Errors) -> BadValue {
    let protocol = json::to_string(&Value::from(protocol));
    BadValue::Raw(if errors.release.since(V1_34) {
        format!(r#"{{"Name":"","Protocol":{protocol},"AppProtocol":null,"Port":{number},"TargetPort":0,"NodePort":0}}"#)
    } else {
        format!(
            r#"core.ServicePort{{Name:"", Protocol:{protocol}, AppProtocol:(*string)(nil), Port:{number}, TargetPort:intstr.IntOrString{{Type:0, IntVal:0, StrVal:""}}, NodePort:0}}"#
        )
    })
}

/// The ranges of the field or of the annotation. The server writes the name of the field in uppercase.
fn source_ranges(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (spec, metadata) = (object.child("spec"), object.child("metadata"));
    let annotations = metadata.child("annotations");
    let ranges =
        FieldValue { path: spec.path.child("LoadBalancerSourceRanges"), ..spec.child("loadBalancerSourceRanges") };
    let check = |errors: &mut Errors, text: &str, path: FieldPath<'_>| {
        let value = Value::from(text.trim());
        network::legacy_cidr(errors, &FieldValue::new(Some(&value), path));
    };
    if ranges.len() > 0 {
        if !is_load_balancer(&spec) {
            errors.forbidden(&ranges, ONLY_LOAD_BALANCER);
        }
        let old_spec = FieldValue::new(old.and_then(|old| old.get("spec")), ROOT);
        let existing: HashSet<String> =
            old_spec.child("loadBalancerSourceRanges").texts().map(|range| range.trim().to_owned()).collect();
        for range in ranges.items().filter(|range| !existing.contains(range.text().trim())) {
            check(errors, range.text(), range.path);
        }
        return;
    }
    let annotation = annotations.value.get(SOURCE_RANGES);
    let Some(text) = annotation.and_then(Value::as_str) else { return };
    let field = FieldValue::new(annotation, annotations.path.key(SOURCE_RANGES));
    if !is_load_balancer(&spec) {
        errors.forbidden(&field, ONLY_LOAD_BALANCER);
    }
    let old_text = old.and_then(|old| old.str_at(&["metadata", "annotations", SOURCE_RANGES]));
    if old_text != Some(text) && !text.trim().is_empty() {
        for range in text.trim().split(',') {
            check(errors, range, field.path);
        }
    }
}

/// `validateLoadBalancerClassField`
fn load_balancer_class(errors: &mut Errors, spec: &FieldValue<'_, '_>, old: Option<&FieldValue<'_, '_>>) {
    let class = spec.child("loadBalancerClass");
    if let Some(old) = old
        && is_load_balancer(spec)
        && is_load_balancer(old)
        && class.value != old.child("loadBalancerClass").value
    {
        errors.invalid(&class, "may not change once set");
    }
    if class.is_set() {
        if is_load_balancer(spec) {
            formats::qualified_name(errors, &class);
        } else {
            errors.forbidden(&class, ONLY_LOAD_BALANCER);
        }
    }
}

/// `validateServiceExternalTrafficPolicy`, `validateServiceInternalTrafficFieldsValue` and
/// `validateServiceTrafficDistribution`
fn traffic_policies(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let (external, health) = (spec.child("externalTrafficPolicy"), spec.child("healthCheckNodePort"));
    if is_external(spec) {
        errors.one_of(&external, &["Cluster", "Local"]);
    } else if !external.text().is_empty() {
        errors.invalid(&external, "may only be set for externally-accessible services");
    }
    // The server allocates the port if it is needed and absent.
    let number = health.int().unwrap_or_default();
    if needs_health_check(spec) && number != 0 {
        formats::port_number(errors, &health);
    } else if number != 0 {
        let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        errors.invalid(&health, detail);
    }
    let internal = spec.child("internalTrafficPolicy");
    if internal.is_set() {
        errors.supported(&internal, &["Cluster", "Local"]);
    } else if matches!(spec.child("type").text(), "NodePort" | "LoadBalancer" | "ClusterIP") {
        errors.required(&internal, "");
    }
    let distribution = spec.child("trafficDistribution");
    if distribution.is_set() {
        let supported: &[&str] = if errors.release.enables(Gate::PreferSameTrafficDistribution) {
            &["PreferClose", "PreferSameZone", "PreferSameNode"]
        } else {
            &["PreferClose"]
        };
        errors.supported(&distribution, supported);
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    #[test]
    fn a_load_balancer_could_not_expose_the_kubelet_before_1_33() {
        let create = |type_: &str, release| {
            let spec = format!(r#"{{"type":"{type_}","ports":[{{"port":10250}}]}}"#);
            created("v1", "Service", &format!(r#"{{"metadata":{{"name":"s"}},"spec":{spec}}}"#), release)
        };
        let message =
            "spec.ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet";
        let is_reported = |errors: Vec<String>| errors.iter().any(|error| error == message);
        assert!(is_reported(create("LoadBalancer", "1.32")));
        assert!(!is_reported(create("LoadBalancer", "1.33")) && !is_reported(create("NodePort", "1.32")));
    }
    #[test]
    fn existing_addresses_are_validated_before_1_33() {
        let spec = r#"{"spec":{"clusterIP":"None","clusterIPs":["None","None"]}}"#;
        let message = r#"spec.clusterIPs[1]: Invalid value: "None": must be a valid IP address"#;
        let is_reported =
            |release| updated("v1", "Service", spec, spec, release).iter().any(|e| e.starts_with(message));
        assert!(is_reported("1.32") && !is_reported("1.33"));
    }
}

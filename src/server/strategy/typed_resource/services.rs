//! Cluster IPs and node ports of Services in a cluster with IPv4 (`pkg/registry/core/service/storage`).

use crate::server::registry::store::Collection;
use crate::value::{Map, Value};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};

/// The first cluster IP; the one before is that of the Service `kubernetes`.
const FIRST_ADDRESS: u32 = u32::from_be_bytes([10, 0, 0, 2]);
const ADDRESSES: u32 = 0xffff - 2;
const FIRST_PORT: u32 = 30_000;
const PORTS: u32 = 2768;

/// The addresses and ports that were allocated.
#[derive(Debug, Default)]
pub(in crate::server) struct Allocations {
    addresses: AtomicU32,
    ports: AtomicU32,
}

/// All Services, whose addresses and ports are in use.
pub(super) struct Services<'a> {
    pub allocations: &'a Allocations,
    pub objects: &'a Collection,
}

impl Services<'_> {
    /// Completes a new Service.
    pub fn create(&self, service: &mut Value) {
        self.complete(service, None);
    }

    /// Keeps what was allocated for a Service, and completes it (`patchAllocatedValues`).
    pub fn update(&self, service: &mut Value, old: &Value) {
        let Some(old) = old.get("spec").and_then(Value::as_object) else { return };
        if let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) {
            keep(spec, old);
        }
        self.complete(service, Some(old));
    }

    fn complete(&self, service: &mut Value, old: Option<&Map>) {
        let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else { return };
        if !needs_cluster_ip(spec) {
            return;
        }
        set_families(spec, old);
        if text(spec, "clusterIP").is_empty() {
            let address = self.free(&self.allocations.addresses, ADDRESSES, |service, n| {
                let address = Ipv4Addr::from(FIRST_ADDRESS + n).to_string();
                text(service, "clusterIP") == address
            });
            spec.insert("clusterIP".to_owned(), Ipv4Addr::from(FIRST_ADDRESS + address).to_string().into());
        }
        if spec.get("clusterIPs").and_then(Value::as_array).is_none_or(<[Value]>::is_empty) {
            let address = Value::from(text(spec, "clusterIP"));
            spec.insert("clusterIPs".to_owned(), vec![address].into());
        }
        let missing = |port: Option<&Value>| port.and_then(Value::as_int).unwrap_or_default() == 0;
        if needs_health_check_port(spec) && missing(spec.get("healthCheckNodePort")) {
            spec.insert("healthCheckNodePort".to_owned(), Value::Int(self.port()));
        }
        if needs_node_ports(spec) {
            let ports = spec
                .get_mut("ports")
                .and_then(|ports| if let Value::Array(ports) = ports { Some(ports) } else { None });
            for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
                if missing(port.get("nodePort")) {
                    port.insert("nodePort".to_owned(), Value::Int(self.port()));
                }
            }
        }
    }

    fn port(&self) -> i64 {
        let number = self.free(&self.allocations.ports, PORTS, |service, n| {
            let number = i64::from(FIRST_PORT + n);
            let own = ports(service).any(|port| node_port(port) == number);
            own || service.get("healthCheckNodePort").and_then(Value::as_int) == Some(number)
        });
        i64::from(FIRST_PORT + number)
    }

    /// The next number that no Service uses, or any if all are in use.
    fn free(&self, next: &AtomicU32, count: u32, uses: impl Fn(&Map, u32) -> bool) -> u32 {
        let services: Vec<_> = self.objects.all().iter().map(|stored| stored.raw()).collect();
        let is_used = |n| {
            let mut specs = services.iter().filter_map(|service| service.get("spec")?.as_object());
            specs.any(|spec| uses(spec, n))
        };
        let mut number = 0;
        for _ in 0..count {
            number = next.fetch_add(1, Ordering::Relaxed) % count;
            if !is_used(number) {
                break;
            }
        }
        number
    }
}

fn text<'v>(spec: &'v Map, field: &str) -> &'v str {
    spec.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn ports(spec: &Map) -> impl Iterator<Item = &Value> {
    spec.get("ports").and_then(Value::as_array).into_iter().flatten()
}

fn node_port(port: &Value) -> i64 {
    port.get("nodePort").and_then(Value::as_int).unwrap_or_default()
}

fn needs_cluster_ip(spec: &Map) -> bool {
    text(spec, "type") != "ExternalName"
}

fn needs_node_ports(spec: &Map) -> bool {
    match text(spec, "type") {
        "NodePort" => true,
        "LoadBalancer" => spec.get("allocateLoadBalancerNodePorts") != Some(&Value::Bool(false)),
        _ => false,
    }
}

fn needs_health_check_port(spec: &Map) -> bool {
    text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local"
}

/// `initIPFamilyFields`
fn set_families(spec: &mut Map, old: Option<&Map>) {
    let is_unselective =
        text(spec, "clusterIP") == "None" && spec.get("selector").and_then(Value::as_object).is_none_or(Map::is_empty);
    if text(spec, "ipFamilyPolicy").is_empty() {
        let before = old.map(|old| text(old, "ipFamilyPolicy")).filter(|policy| !policy.is_empty());
        let policy = before.unwrap_or(if is_unselective { "RequireDualStack" } else { "SingleStack" });
        spec.insert("ipFamilyPolicy".to_owned(), policy.into());
    }
    if spec.get("ipFamilies").and_then(Value::as_array).is_some_and(|families| !families.is_empty()) {
        return;
    }
    let addresses = spec.get("clusterIPs").and_then(Value::as_array).unwrap_or_default();
    let addresses = addresses.iter().filter_map(Value::as_str).filter(|address| *address != "None");
    let mut families: Vec<Value> =
        addresses.map(|address| if address.contains(':') { "IPv6" } else { "IPv4" }.into()).collect();
    if families.is_empty() {
        families.push("IPv4".into());
        if is_unselective && text(spec, "ipFamilyPolicy") != "SingleStack" {
            families.push("IPv6".into());
        }
    }
    spec.insert("ipFamilies".to_owned(), families.into());
}

/// Copies what was allocated for the old Service and the new one lacks, and removes what the new type does not have
/// (`patchAllocatedValues`, `dropTypeDependentFields`).
fn keep(spec: &mut Map, old: &Map) {
    const ADDRESS_FIELDS: [&str; 4] = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];
    if needs_cluster_ip(old) && needs_cluster_ip(spec) {
        for field in ADDRESS_FIELDS.into_iter().filter(|field| *field != "ipFamilyPolicy") {
            if let Some(value) = old.get(field).filter(|_| !spec.contains_key(field)) {
                spec.insert(field.to_owned(), value.clone());
            }
        }
    } else if needs_cluster_ip(old) {
        for field in ADDRESS_FIELDS {
            if spec.get(field) == old.get(field) {
                spec.remove(field);
            }
        }
    }
    let (had_ports, has_ports) = (needs_node_ports(old), needs_node_ports(spec));
    let is_kept = |number: i64| number != 0 && ports(spec).any(|port| node_port(port) == number);
    let by_name: Vec<(Option<Value>, i64)> = ports(old)
        .map(|port| (port.get("name").cloned(), node_port(port)))
        .filter(|(_, number)| !has_ports || !is_kept(*number))
        .collect();
    let same_ports = ports(old).map(node_port).eq(ports(spec).map(node_port));
    if let Some(Value::Array(new_ports)) = spec.get_mut("ports").filter(|_| had_ports) {
        for port in new_ports.iter_mut().filter_map(Value::as_object_mut) {
            let number = port.get("nodePort").and_then(Value::as_int).unwrap_or_default();
            if has_ports && number == 0 {
                if let Some((_, number)) =
                    by_name.iter().find(|(name, number)| *name == port.get("name").cloned() && *number != 0)
                {
                    port.insert("nodePort".to_owned(), Value::Int(*number));
                }
            } else if !has_ports && same_ports {
                port.remove("nodePort");
            }
        }
    }
    let health = "healthCheckNodePort";
    match (needs_health_check_port(old), needs_health_check_port(spec)) {
        (true, true) if !spec.contains_key(health) => {
            if let Some(number) = old.get(health) {
                spec.insert(health.to_owned(), number.clone());
            }
        }
        (true, false) if spec.get(health) == old.get(health) => {
            spec.remove(health);
        }
        _ => {}
    }
}

//! Cluster IPs and node ports of Services in a cluster with IPv4 (`pkg/registry/core/service/storage`).

mod node_ports;

use crate::server::registry::store::Collection;
use crdx_value::{Map, Value};
pub(super) use node_ports::AllocationError;
use node_ports::NodePorts;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};

/// The first cluster IP; the one before is that of the Service `kubernetes`.
const FIRST_ADDRESS: u32 = u32::from_be_bytes([10, 0, 0, 2]);
const ADDRESSES: u32 = 0xffff - 2;
const NODE_PORT: &str = "nodePort";
const HEALTH_CHECK_PORT: &str = "healthCheckNodePort";

/// The addresses and ports that were allocated.
#[derive(Debug)]
pub(in crate::server) struct Allocations {
    addresses: AtomicU32,
    ports: AtomicU32,
    /// True if requests may name node ports outside the range.
    allows_any_port: bool,
}

impl Allocations {
    /// Creates the value before anything is allocated.
    pub fn new(allows_any_port: bool) -> Self {
        Self { addresses: AtomicU32::default(), ports: AtomicU32::default(), allows_any_port }
    }
}

/// All Services, whose addresses and ports are in use.
pub(super) struct Services<'a> {
    pub allocations: &'a Allocations,
    pub objects: &'a Collection,
    /// True for a dry run, which allocates nothing: the first node port is the one after the range.
    pub dry_run: bool,
}

impl Services<'_> {
    /// Completes a new Service (`allocateCreate`).
    ///
    /// # Errors
    /// Returns an error if a port of the request cannot be allocated.
    pub fn create(&self, service: &mut Value) -> Result<(), AllocationError> {
        self.complete(service, None)
    }

    /// Keeps what was allocated for a Service, and completes it (`patchAllocatedValues`, `allocateUpdate`).
    ///
    /// # Errors
    /// Returns an error if a port of the request cannot be allocated.
    pub fn update(&self, service: &mut Value, old: &Value) -> Result<(), AllocationError> {
        let Some(old) = old.get("spec").and_then(Value::as_object) else { return Ok(()) };
        if let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) {
            keep(spec, old);
        }
        self.complete(service, Some(old))
    }

    fn complete(&self, service: &mut Value, old: Option<&Map>) -> Result<(), AllocationError> {
        let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else { return Ok(()) };
        if !needs_cluster_ip(spec) {
            return Ok(());
        }
        if old.is_none() && !text(spec, "clusterIP").is_empty() && is_empty_list(spec, "clusterIPs") {
            // `NormalizeClusterIPs`
            let address = Value::from(text(spec, "clusterIP"));
            spec.insert("clusterIPs".to_owned(), vec![address].into());
        }
        set_families(spec, old);
        // Read only if something is allocated.
        let used = OnceCell::new();
        let used = || used.get_or_init(|| self.used());
        if text(spec, "clusterIP").is_empty() {
            let address = |n: u32| Ipv4Addr::from(FIRST_ADDRESS + n).to_string();
            let n = free(&self.allocations.addresses, ADDRESSES, |n| used().addresses.contains(&address(n)));
            spec.insert("clusterIP".to_owned(), address(n.unwrap_or_default()).into());
        }
        if is_empty_list(spec, "clusterIPs") {
            let address = Value::from(text(spec, "clusterIP"));
            spec.insert("clusterIPs".to_owned(), vec![address].into());
        }
        let is_used = |port: &i64| used().ports.contains(port);
        let ports = NodePorts {
            next: &self.allocations.ports,
            is_used: &is_used,
            dry_run: self.dry_run,
            allows_any_port: self.allocations.allows_any_port,
        };
        ports.complete(spec, old)
    }

    fn used(&self) -> Used {
        let mut used = Used::default();
        for service in self.objects.all().iter().map(|stored| stored.raw()) {
            let Some(spec) = service.get("spec").and_then(Value::as_object) else { continue };
            used.addresses.insert(text(spec, "clusterIP").to_owned());
            used.ports.extend(node_ports(spec));
        }
        used
    }
}

/// The addresses and ports of existing Services.
#[derive(Default)]
struct Used {
    addresses: HashSet<String>,
    ports: HashSet<i64>,
}

/// The next number that is not used; `None` if all are used.
fn free(next: &AtomicU32, count: u32, is_used: impl Fn(u32) -> bool) -> Option<u32> {
    let mut numbers = (0..count).map(|_| next.fetch_add(1, Ordering::Relaxed) % count);
    numbers.find(|n| !is_used(*n))
}

fn text<'v>(spec: &'v Map, field: &str) -> &'v str {
    spec.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn number(members: &Map, field: &str) -> i64 {
    members.get(field).and_then(Value::as_int).unwrap_or_default()
}

fn ports(spec: &Map) -> impl Iterator<Item = &Map> {
    spec.get("ports").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// The allocated ports of a Service.
fn node_ports(spec: &Map) -> impl Iterator<Item = i64> {
    let all = ports(spec).map(|port| number(port, NODE_PORT)).chain([number(spec, HEALTH_CHECK_PORT)]);
    all.filter(|number| *number != 0)
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

fn is_empty_list(spec: &Map, field: &str) -> bool {
    spec.get(field).and_then(Value::as_array).is_none_or(<[Value]>::is_empty)
}

/// `initIPFamilyFields`
fn set_families(spec: &mut Map, old: Option<&Map>) {
    let is_unselective =
        text(spec, "clusterIP") == "None" && spec.get("selector").and_then(Value::as_object).is_none_or(Map::is_empty);
    if spec.get("ipFamilyPolicy").is_none_or(Value::is_null) {
        let before = old.map(|old| text(old, "ipFamilyPolicy")).filter(|policy| !policy.is_empty());
        let policy = before.unwrap_or(if is_unselective { "RequireDualStack" } else { "SingleStack" });
        spec.insert("ipFamilyPolicy".to_owned(), policy.into());
    }
    if spec.get("ipFamilies").and_then(Value::as_array).is_some_and(|families| !families.is_empty()) {
        return;
    }
    let addresses = spec.get("clusterIPs").and_then(Value::as_array).unwrap_or_default();
    let addresses = addresses.iter().filter_map(Value::as_str).filter(|address| *address != "None");
    if addresses.clone().any(|address| address.contains(':')) {
        // The family is not configured, which validation reports.
        return;
    }
    let mut families: Vec<Value> = addresses.map(|_| "IPv4".into()).collect();
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
    let numbers = |spec| ports(spec).map(|port| number(port, NODE_PORT));
    let given: Vec<i64> = numbers(spec).collect();
    let allocated = |port: &Map| {
        let same = ports(old).find(|old| old.get("name") == port.get("name"))?;
        Some(number(same, NODE_PORT)).filter(|number| *number != 0 && !given.contains(number))
    };
    let same_ports = numbers(old).eq(given.iter().copied());
    if had_ports && let Some(Value::Array(new_ports)) = spec.get_mut("ports") {
        for port in new_ports.iter_mut().filter_map(Value::as_object_mut) {
            if has_ports && number(port, NODE_PORT) == 0 {
                if let Some(number) = allocated(port) {
                    port.insert(NODE_PORT.to_owned(), Value::Int(number));
                }
            } else if !has_ports && same_ports {
                port.remove(NODE_PORT);
            }
        }
    }
    match (needs_health_check_port(old), needs_health_check_port(spec)) {
        (true, true) if !spec.contains_key(HEALTH_CHECK_PORT) => {
            if let Some(number) = old.get(HEALTH_CHECK_PORT) {
                spec.insert(HEALTH_CHECK_PORT.to_owned(), number.clone());
            }
        }
        (true, false) if spec.get(HEALTH_CHECK_PORT) == old.get(HEALTH_CHECK_PORT) => {
            spec.remove(HEALTH_CHECK_PORT);
        }
        _ => {}
    }
    let is_balanced = |spec: &Map| text(spec, "type") == "LoadBalancer";
    let is_external = |spec: &Map| match text(spec, "type") {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !is_empty_list(spec, "externalIPs"),
        _ => false,
    };
    for (field, had, has) in [
        ("allocateLoadBalancerNodePorts", is_balanced(old), is_balanced(spec)),
        ("loadBalancerClass", is_balanced(old), is_balanced(spec)),
        ("externalTrafficPolicy", is_external(old), is_external(spec)),
    ] {
        if had && !has && spec.get(field) == old.get(field) {
            spec.remove(field);
        }
    }
}

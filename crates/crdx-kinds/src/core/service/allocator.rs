//! Cluster IPs and node ports of Services (`pkg/registry/core/service/storage`).

mod families;
mod node_ports;

use super::network::ServiceNetwork;
use crdx_builtin::validation::service_addresses;
use crdx_server::cluster_state::SERVICES;
pub use crdx_server::server::AllocationError;
use crdx_server::server::{AllocationRequest, Allocator};
use crdx_types::service_families::{IpFamily, ServiceFamilies, ServiceRange};
use crdx_value::field::{BadValue, ErrorList, FieldError, FieldPath};
use crdx_value::hash::fnv1a;
use crdx_value::quote::go_quote;
use crdx_value::release::{Release, V1_33, V1_36};
use crdx_value::{Map, Value};
use families::{ADDRESSES, FAMILIES, set_texts, texts};
use node_ports::{DEFAULT_NODE_PORTS, NodePorts};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};

/// The first address that is allocated; the one before is that of the Service `kubernetes`.
const FIRST_ADDRESS: u32 = 2;
/// The maximum number of addresses that are allocated from a range.
const MAX_ADDRESSES: u32 = 0xffff - 2;
const NODE_PORT: &str = "nodePort";
const INTERNAL_TRAFFIC: &str = "internalTrafficPolicy";
const HEALTH_CHECK_PORT: &str = "healthCheckNodePort";
const OUT_OF_RANGE: &str = "the provided network does not match the current range";
const ALLOCATED: &str = "provided IP is already allocated";

/// The addresses and ports that were allocated, and the flags of the server.
#[derive(Debug)]
pub(crate) struct Allocations {
    /// The network of the flags; `None` if the cluster has to be asked.
    network: Option<ServiceNetwork>,
    /// The first and the last node port.
    node_ports: (u16, u16),
    /// True if the server does not store all objects of its cluster. Requests may then name node ports outside the range.
    is_partial: bool,
    counters: Counters,
}

/// The numbers of addresses and ports that were allocated.
#[derive(Debug, Default)]
struct Counters {
    addresses: AtomicU32,
    ports: AtomicU32,
}

impl Allocations {
    /// Creates the value before anything is allocated; `ranges` is empty if they are not known.
    pub fn new(ranges: &[ServiceRange], node_ports: Option<(u16, u16)>, is_partial: bool) -> Self {
        let network = (!ranges.is_empty()).then(|| ServiceNetwork::of_ranges(ranges));
        Self {
            network,
            node_ports: node_ports.unwrap_or(DEFAULT_NODE_PORTS),
            is_partial,
            counters: Counters::default(),
        }
    }
}

impl Allocator for Allocations {
    /// Completes a new Service (`allocateCreate`), or keeps what was allocated for a Service and completes it
    /// (`patchAllocatedValues`, `allocateUpdate`).
    fn allocate(
        &self,
        service: &mut Value,
        old: Option<&Value>,
        request: &AllocationRequest<'_>,
    ) -> Result<(), AllocationError> {
        let network = match &self.network {
            Some(network) => Cow::Borrowed(network),
            None => Cow::Owned(ServiceNetwork::read(request.list)?),
        };
        // An object that is stored only for one request must not depend on the requests before it.
        let of_object = self.is_partial.then(|| Counters::of_object(service));
        let counters = of_object.as_ref().unwrap_or(&self.counters);
        let services = Services { network: &network, flags: self, counters, request };
        let Some(old) = old else { return services.complete(service, None) };
        let Some(old) = old.get("spec").and_then(Value::as_object) else { return Ok(()) };
        let restored = families::restored(old, network.families);
        let old = restored.as_ref().unwrap_or(old);
        if let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) {
            keep(spec, old);
        }
        services.complete(service, Some(old))
    }
}

/// All Services, whose addresses and ports are in use.
struct Services<'a> {
    network: &'a ServiceNetwork,
    flags: &'a Allocations,
    counters: &'a Counters,
    request: &'a AllocationRequest<'a>,
}

impl Services<'_> {
    fn complete(&self, service: &mut Value, old: Option<&Map>) -> Result<(), AllocationError> {
        let name = service.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
        let Some(spec) = service.get_mut("spec") else { return Ok(()) };
        let Some(members) = spec.as_object_mut() else { return Ok(()) };
        families::normalize(members, old);
        if !needs_cluster_ip(members) {
            // It is not shown, though the stored form may have it (`defaultOnReadInternalTrafficPolicy`).
            if matches!(text(members, INTERNAL_TRAFFIC), "Cluster" | "Local") {
                members.remove(INTERNAL_TRAFFIC);
            }
            return Ok(());
        }
        let existing = old.map(|old| texts(old, ADDRESSES)).unwrap_or_default();
        let validate = |spec: &Value| {
            if self.request.validates {
                service_addresses(spec, &existing, self.request.release)
            } else {
                ErrorList::new()
            }
        };
        families::initialize(spec, old, self.network.families, self.request.release, &validate)
            .map_err(AllocationError::Invalid)?;
        let Some(spec) = spec.as_object_mut() else { return Ok(()) };
        // Read only if something is allocated.
        let stored = OnceCell::new();
        let stored = || stored.get_or_init(|| self.stored());
        let others = if self.flags.is_partial && names_new(spec, old) { self.others()? } else { Used::default() };
        let has_address =
            |address: &IpAddr| [&others, stored()].into_iter().any(|used| used.addresses.contains(address));
        self.allocate_addresses(spec, (&name, old), &has_address)?;
        let is_used = |port: &i64| [&others, stored()].into_iter().any(|used| used.ports.contains(port));
        let ports = NodePorts {
            range: self.flags.node_ports,
            next: &self.counters.ports,
            is_used: &is_used,
            dry_run: self.request.dry_run,
            allows_any_port: self.flags.is_partial,
        };
        ports.complete(spec, old)
    }

    /// `allocClusterIPs`, and on an update `updateClusterIPs`: a Service that had an address only gets a second one.
    fn allocate_addresses(
        &self,
        spec: &mut Map,
        (name, old): (&str, Option<&Map>),
        is_used: &dyn Fn(&IpAddr) -> bool,
    ) -> Result<(), AllocationError> {
        let (families, mut addresses) = (texts(spec, FAMILIES), texts(spec, ADDRESSES));
        let old = old.filter(|old| needs_cluster_ip(old));
        let is_complete = match old {
            Some(old) => {
                let lacks_second = texts(old, FAMILIES).len() == 1 && families.len() == 2;
                is_headless(old) || families::keeps_preference(spec, old) || !lacks_second
            }
            None => addresses.first().is_some_and(|address| address == "None"),
        };
        if is_complete {
            return Ok(());
        }
        self.check_requested(&addresses, old.map_or(0, |old| texts(old, ADDRESSES).len()), is_used)?;
        addresses.resize(addresses.len().max(families.len()), String::new());
        for (address, family) in addresses.iter_mut().zip(&families).filter(|(address, _)| address.is_empty()) {
            let family = IpFamily::of_name(family).unwrap_or(IpFamily::V4);
            *address = self.next_address(name, family, is_used)?.to_string();
        }
        if let Some(first) = addresses.first() {
            spec.insert("clusterIP".to_owned(), first.as_str().into());
        }
        set_texts(spec, ADDRESSES, addresses);
        Ok(())
    }

    /// Allocates an address of a family (`AllocateNextService` in `ipallocator`). A dry run gets that of the network.
    fn next_address(
        &self,
        name: &str,
        family: IpFamily,
        is_used: &dyn Fn(&IpAddr) -> bool,
    ) -> Result<IpAddr, AllocationError> {
        let range = self.network.range(family);
        if self.request.dry_run {
            return Ok(range.address(0));
        }
        let count = range.last_index().saturating_sub(FIRST_ADDRESS - 1).min(MAX_ADDRESSES);
        let address = |n: u32| range.address(FIRST_ADDRESS + n);
        free(&self.counters.addresses, count, |n| is_used(&address(n))).map(address).ok_or_else(|| {
            // The message names the Service since 1.36.
            let of = if self.request.release.since(V1_36) {
                format!(" for Service {}", go_quote(name))
            } else {
                String::new()
            };
            AllocationError::Internal(format!("failed to allocate a serviceIP{of}: range is full"))
        })
    }

    /// Checks the addresses of a request (`AllocateService` in `ipallocator`), except the first `allocated` ones.
    fn check_requested(
        &self,
        addresses: &[String],
        allocated: usize,
        is_used: &dyn Fn(&IpAddr) -> bool,
    ) -> Result<(), AllocationError> {
        let requested = addresses.iter().skip(allocated).filter_map(|text| Some((text, text.parse().ok()?)));
        for (text, address) in requested {
            let reason = if self.network.is_out_of_range(address) && !self.is_in_stored_range(address) {
                self.out_of_range(address)
            } else if !self.request.dry_run && is_used(&address) {
                // A dry run does not look for the other Services.
                ALLOCATED.to_owned()
            } else {
                continue;
            };
            let shown = BadValue::strings(addresses.iter().map(String::as_str), self.request.release);
            let spec = FieldPath::new("spec");
            let error =
                FieldError::invalid(&spec.child(ADDRESSES), shown, format!("failed to allocate IP {text}: {reason}"));
            return Err(AllocationError::Invalid(vec![error]));
        }
        Ok(())
    }

    /// Returns true if a stored `ServiceCIDR` has an address, which counts since 1.33.
    fn is_in_stored_range(&self, address: IpAddr) -> bool {
        let mut has = false;
        if self.request.release.since(V1_33) {
            (self.request.each_service_cidr)(&mut |stored| {
                has |= ServiceRange::of_service_cidr(stored).iter().any(|range| range.has(address));
            });
        }
        has
    }

    /// The reason why an address outside all ranges is refused: allocators of several ranges, which exist since 1.33,
    /// look for the one of the address first (`MetaAllocator`), but not in a dry run.
    fn out_of_range(&self, address: IpAddr) -> String {
        if !self.request.dry_run && self.request.release.since(V1_33) {
            return OUT_OF_RANGE.to_owned();
        }
        let family = if address.is_ipv4() { IpFamily::V4 } else { IpFamily::V6 };
        let range = self.network.range(family);
        format!("the provided IP ({address}) is not in the valid range. The range of valid IPs is {range}")
    }

    /// The Services of the cluster that the server does not store.
    fn others(&self) -> Result<Used, AllocationError> {
        let mut used = Used::default();
        (self.request.list)(SERVICES, "")?.objects.iter().for_each(|service| used.add(service));
        Ok(used)
    }

    fn stored(&self) -> Used {
        let mut used = Used::default();
        (self.request.each_stored)(&mut |service| used.add(service));
        used
    }
}

/// Returns true if a new Service is rejected only because a cluster has `assumed` and not both families.
pub fn needs_other_families(service: &Value, assumed: ServiceFamilies, release: Release) -> bool {
    let fits = |families| {
        let mut spec = service.get("spec").cloned().unwrap_or_default();
        let Some(members) = spec.as_object_mut().filter(|spec| needs_cluster_ip(spec)) else { return true };
        families::normalize(members, None);
        let validate = |spec: &Value| service_addresses(spec, &[], release);
        families::initialize(&mut spec, None, families, release, &validate).is_ok()
    };
    !fits(assumed) && fits(ServiceFamilies { is_dual: true, ..assumed })
}

/// The addresses and ports of existing Services.
#[derive(Debug, Default)]
struct Used {
    addresses: HashSet<IpAddr>,
    ports: HashSet<i64>,
}

impl Used {
    fn add(&mut self, service: &Value) {
        let Some(spec) = service.get("spec").and_then(Value::as_object) else { return };
        self.addresses.extend(texts(spec, ADDRESSES).iter().filter_map(|text| text.parse::<IpAddr>().ok()));
        self.ports.extend(node_ports(spec));
    }
}

impl Counters {
    /// Counters whose start depends only on the namespace and the name of the object.
    fn of_object(object: &Value) -> Self {
        let text = |key| object.str_at(&["metadata", key]).unwrap_or_default().bytes();
        let start = fnv1a(text("namespace").chain([b'/']).chain(text("name"))) as u32;
        Self { addresses: start.into(), ports: start.into() }
    }
}

/// Returns true if a Service names an address or a port that it did not have.
fn names_new(spec: &Map, old: Option<&Map>) -> bool {
    let had_addresses = old.map(|old| texts(old, ADDRESSES)).unwrap_or_default();
    let had_ports: HashSet<i64> = old.into_iter().flat_map(node_ports).collect();
    let is_new = |address: &String| !had_addresses.contains(address) && address.parse::<IpAddr>().is_ok();
    texts(spec, ADDRESSES).iter().any(is_new) || node_ports(spec).any(|port| !had_ports.contains(&port))
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

fn is_headless(spec: &Map) -> bool {
    text(spec, "clusterIP") == "None"
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

/// Copies what was allocated for the old Service and the new one lacks, and removes what the new type does not have
/// (`patchAllocatedValues`, `dropTypeDependentFields`).
fn keep(spec: &mut Map, old: &Map) {
    const ADDRESS_FIELDS: [&str; 4] = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];
    if needs_cluster_ip(old) && needs_cluster_ip(spec) {
        let is_given = [!text(spec, "clusterIP").is_empty(), !is_empty_list(spec, ADDRESSES)];
        for (field, is_given) in ["clusterIP", ADDRESSES].into_iter().zip(is_given) {
            if let Some(value) = old.get(field).filter(|_| !is_given) {
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
    // A load balancer without allocated ports keeps those of the request.
    let may_have_ports = |spec: &Map| matches!(text(spec, "type"), "NodePort" | "LoadBalancer");
    let drops_ports = may_have_ports(old) && !may_have_ports(spec) && numbers(old).eq(given.iter().copied());
    if let Some(Value::Array(new_ports)) = spec.get_mut("ports") {
        for port in new_ports.iter_mut().filter_map(Value::as_object_mut) {
            if drops_ports {
                port.remove(NODE_PORT);
            } else if had_ports
                && has_ports
                && number(port, NODE_PORT) == 0
                && let Some(number) = allocated(port)
            {
                port.insert(NODE_PORT.to_owned(), Value::Int(number));
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

//! Node ports of Services (`initNodePorts`, `updateNodePorts` and `updateHealthCheckNodePort` in
//! `pkg/registry/core/service/storage/alloc.go`, and `portallocator`).

use super::{
    AllocationError, HEALTH_CHECK_PORT, NODE_PORT, free, needs_health_check_port, needs_node_ports, node_ports, number,
    ports, text,
};
use crdx_value::field::{FieldError, FieldPath};
use crdx_value::{GoError, Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU32;

/// The default of `--service-node-port-range`.
pub(super) const DEFAULT_NODE_PORTS: (u16, u16) = (30_000, 32_767);
/// The port before the first one that a dry run shows.
const LAST_PORT: i64 = 32_768;
const ALLOCATED: &str = "provided port is already allocated";

/// The ports of all Services.
pub(super) struct NodePorts<'a> {
    /// The first and the last port.
    pub range: (u16, u16),
    /// The number of ports that were allocated.
    pub next: &'a AtomicU32,
    /// Returns true for a port of a Service.
    pub is_used: &'a dyn Fn(&i64) -> bool,
    /// True for a dry run, which allocates nothing: the first node port is the one after the range, and the range is not
    /// checked.
    pub dry_run: bool,
    /// True if the range is not known.
    pub allows_any_port: bool,
}

impl NodePorts<'_> {
    /// Allocates the ports of a new or updated Service.
    pub fn complete(&self, spec: &mut Map, old: Option<&Map>) -> Result<(), AllocationError> {
        let requested = node_ports(spec).collect();
        let mut operation =
            PortAllocation { all: self, allocated: HashSet::new(), highest: None, is_full: false, requested };
        let is_external = matches!(text(spec, "type"), "NodePort" | "LoadBalancer");
        match old {
            Some(old) if is_external => operation.update(spec, old)?,
            None if is_external => operation.create(spec)?,
            _ => {}
        }
        if needs_health_check_port(spec) && !old.is_some_and(needs_health_check_port) {
            operation.health_check_port(spec)?;
        }
        Ok(())
    }
}

/// The allocation of the ports of one request (`PortAllocationOperation`).
struct PortAllocation<'a> {
    all: &'a NodePorts<'a>,
    allocated: HashSet<i64>,
    /// The highest port that was allocated.
    highest: Option<i64>,
    /// True if all ports of the range are used.
    is_full: bool,
    /// The ports of the request, which are not allocated for others. The real server takes ports at random.
    requested: HashSet<i64>,
}

impl PortAllocation<'_> {
    /// `Allocate`
    fn allocate(&mut self, port: i64) -> Result<(), GoError> {
        let (first, last) = self.all.range;
        let checks_range = !self.all.dry_run && !self.all.allows_any_port;
        if checks_range && !(i64::from(first)..=i64::from(last)).contains(&port) {
            let range = format!("{first}-{last}");
            return Err(format!("provided port is not in the valid range. The range of valid ports is {range}").into());
        }
        if (self.all.is_used)(&port) || self.allocated.contains(&port) {
            return Err(ALLOCATED.into());
        }
        self.record(port);
        Ok(())
    }

    fn record(&mut self, port: i64) {
        self.allocated.insert(port);
        self.highest = self.highest.max(Some(port));
    }

    /// `AllocateNext`
    fn allocate_next(&mut self) -> i64 {
        let (first, last) = self.all.range;
        let (count, number) = (u32::from(last.saturating_sub(first)) + 1, |n: u32| i64::from(u32::from(first) + n));
        let port = if self.all.dry_run {
            self.highest.unwrap_or(LAST_PORT) + 1
        } else {
            let is_used =
                |port| (self.all.is_used)(&port) || self.allocated.contains(&port) || self.requested.contains(&port);
            // A Service may have many more ports than the range, so the range is not searched again in vain.
            let found = if self.is_full { None } else { free(self.all.next, count, |n| is_used(number(n))) };
            self.is_full = found.is_none();
            number(found.unwrap_or_default())
        };
        self.record(port);
        port
    }

    fn allocate_at(&mut self, index: usize, port: i64) -> Result<(), AllocationError> {
        self.allocate(port).map_err(|detail| {
            let spec = FieldPath::new("spec");
            let ports = spec.child("ports");
            let item = ports.index(index);
            AllocationError::Invalid(vec![FieldError::invalid(&item.child(NODE_PORT), port, detail)])
        })
    }

    /// `initNodePorts`: ports with the same number have the same node port, unless it is given.
    fn create(&mut self, spec: &mut Map) -> Result<(), AllocationError> {
        let allocates = needs_node_ports(spec);
        let mut requested: HashMap<i64, i64> = HashMap::new();
        for port in ports(spec).filter(|port| number(port, NODE_PORT) != 0) {
            requested.entry(number(port, "port")).or_insert(number(port, NODE_PORT));
        }
        let mut shared: HashMap<i64, i64> = HashMap::new();
        let Some(Value::Array(ports)) = spec.get_mut("ports") else { return Ok(()) };
        for (index, members) in ports.iter_mut().enumerate() {
            let Some(members) = members.as_object_mut() else { continue };
            let (port, given) = (number(members, "port"), number(members, NODE_PORT));
            if given == 0 && !allocates {
                continue;
            }
            match shared.get(&port) {
                Some(&own) if given == 0 || given == own => {
                    members.insert(NODE_PORT.to_owned(), Value::Int(own));
                }
                Some(_) => self.allocate_at(index, given)?,
                None => {
                    let own = match requested.get(&port) {
                        Some(&requested) => {
                            self.allocate_at(index, requested)?;
                            requested
                        }
                        None => self.allocate_next(),
                    };
                    members.insert(NODE_PORT.to_owned(), Value::Int(own));
                    shared.insert(port, own);
                }
            }
        }
        Ok(())
    }

    /// `updateNodePorts`
    fn update(&mut self, spec: &mut Map, old: &Map) -> Result<(), AllocationError> {
        let allocates = needs_node_ports(spec);
        let before: HashSet<i64> = ports(old).map(|port| number(port, NODE_PORT)).filter(|port| *port != 0).collect();
        let (mut checked, mut seen) = (HashSet::new(), HashSet::new());
        let Some(Value::Array(ports)) = spec.get_mut("ports") else { return Ok(()) };
        for (index, members) in ports.iter_mut().enumerate() {
            let Some(members) = members.as_object_mut() else { continue };
            let mut port = number(members, NODE_PORT);
            if port == 0 && !allocates {
                continue;
            }
            if port == 0 {
                port = self.allocate_next();
                members.insert(NODE_PORT.to_owned(), Value::Int(port));
            } else if !before.contains(&port) && checked.insert(port) {
                self.allocate_at(index, port)?;
            }
            let protocol = text(members, "protocol");
            if !seen.insert((protocol.to_owned(), port)) {
                return Err(AllocationError::Unclassified(format!("duplicate nodePort: {{{protocol} {port}}}")));
            }
        }
        Ok(())
    }

    /// `allocHealthCheckNodePort`
    fn health_check_port(&mut self, spec: &mut Map) -> Result<(), AllocationError> {
        let given = number(spec, HEALTH_CHECK_PORT);
        if given == 0 {
            spec.insert(HEALTH_CHECK_PORT.to_owned(), Value::Int(self.allocate_next()));
            return Ok(());
        }
        self.allocate(given).map_err(|reason| {
            let text = format!("failed to allocate requested HealthCheck NodePort {given}: {reason}");
            AllocationError::Internal(text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::json::to_string;

    /// The `spec` of a Service after allocation, or the error; port 30000 belongs to another Service.
    fn completed(spec: &str, old: Option<&str>, dry_run: bool) -> String {
        let read = |text: &str| json::read(text.as_bytes()).unwrap().as_object().cloned().unwrap();
        let mut spec = read(spec);
        let next = &AtomicU32::new(0);
        let range = DEFAULT_NODE_PORTS;
        let ports = NodePorts { range, next, is_used: &|port| *port == 30_000, dry_run, allows_any_port: false };
        match ports.complete(&mut spec, old.map(read).as_ref()) {
            Ok(()) => to_string(&Value::Object(spec)),
            Err(error) => error.to_string(),
        }
    }

    const TAKEN: &str = "spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated";

    #[test]
    fn a_port_of_another_service_cannot_be_requested() {
        let spec = r#"{"ports":[{"nodePort":30000,"port":1}],"type":"NodePort"}"#;
        assert_eq!(completed(spec, None, false), TAKEN);
        assert_eq!(completed(spec, None, true), TAKEN);
        assert_eq!(completed(spec, Some(r#"{"type":"ClusterIP","ports":[{"port":1}]}"#), true), TAKEN);
        assert_eq!(completed(spec, Some(spec), true), spec, "its own port");
    }

    #[test]
    fn only_writes_that_are_no_dry_runs_check_the_range() {
        let spec = r#"{"ports":[{"nodePort":1,"port":1}],"type":"NodePort"}"#;
        assert_eq!(
            completed(spec, None, false),
            "spec.ports[0].nodePort: Invalid value: 1: provided port is not in the valid range. The range of valid ports is 30000-32767"
        );
        assert_eq!(completed(spec, None, true), spec);
    }

    #[test]
    fn a_service_may_have_more_ports_than_the_range() {
        let ports = (1..=20_000).map(|port| format!(r#"{{"port":{port}}}"#)).collect::<Vec<_>>().join(",");
        let ports = completed(&format!(r#"{{"type":"NodePort","ports":[{ports}]}}"#), None, false);
        let node_ports = ports.matches("\"nodePort\":").count();
        let repeated = ports.matches("\"nodePort\":30000").count();
        assert_eq!((node_ports, repeated), (20_000, 20_000 - 2767), "another Service has one port of the range");
    }

    #[test]
    fn ports_with_the_same_number_share_a_node_port() {
        let spec = r#"{"type":"NodePort","ports":[{"port":1},{"port":1,"nodePort":30009},{"port":2}]}"#;
        assert_eq!(
            completed(spec, None, false),
            r#"{"ports":[{"nodePort":30009,"port":1},{"nodePort":30009,"port":1},{"nodePort":30001,"port":2}],"type":"NodePort"}"#
        );
        let spec = r#"{"type":"NodePort","ports":[{"port":1,"nodePort":30009},{"port":2,"nodePort":30009}]}"#;
        assert!(completed(spec, None, false).starts_with("spec.ports[1].nodePort: Invalid value: 30009"));
    }

    #[test]
    fn an_update_names_each_node_port_once() {
        let old = r#"{"type":"NodePort","ports":[{"port":1,"nodePort":30009,"protocol":"TCP"}]}"#;
        let new = r#"{"type":"NodePort","ports":[{"port":1,"nodePort":30009,"protocol":"TCP"},{"port":2,"nodePort":30009,"protocol":"TCP"}]}"#;
        assert_eq!(completed(new, Some(old), false), "duplicate nodePort: {TCP 30009}");
    }

    #[test]
    fn health_check_ports_are_node_ports() {
        let spec = r#"{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30000}"#;
        assert_eq!(
            completed(spec, None, true),
            "failed to allocate requested HealthCheck NodePort 30000: provided port is already allocated"
        );
        assert_eq!(completed(spec, Some(spec), true).matches("30000").count(), 1);
    }
}

//! Ports of containers that other containers or ports have as well (`warningsForPodSpecAndMeta`).

use super::Warnings;
use crate::CONTAINER_LISTS;
use crate::validation::field_value::FieldValue;
use crdx_value::Value;
use crdx_value::field::FieldPath;
use crdx_value::quote::go_quote;
use crdx_value::release::V1_33;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The maximum number of ports with the same number and protocol that are compared with each other.
const MAX_COMPARED: usize = 1000;

/// Warns about ports with the same number or the same name.
pub(super) fn ports(warnings: &mut Warnings, spec: &FieldValue<'_, '_>) {
    let lists = CONTAINER_LISTS.map(|list| spec.child(list));
    let containers: Vec<_> = lists.iter().flat_map(FieldValue::items).collect();
    let lists: Vec<_> = containers.iter().map(|container| container.child("ports")).collect();
    let ports: Vec<_> = lists.iter().flat_map(FieldValue::items).map(Port::new).collect();
    numbers(warnings, &ports);
    if warnings.release.since(V1_33) {
        names(warnings, &ports);
    }
}

/// A port of a container.
struct Port<'v, 'p> {
    path: FieldPath<'p>,
    name: &'v str,
    number: i64,
    protocol: &'v str,
    host_ip: &'v str,
    host_port: i64,
}

impl<'v, 'p> Port<'v, 'p> {
    fn new(port: FieldValue<'v, 'p>) -> Self {
        let number = |name| port.value.get(name).and_then(Value::as_int).unwrap_or_default();
        let text = |name| port.value.str_at(&[name]).unwrap_or_default();
        Self {
            path: port.path,
            name: text("name"),
            number: number("containerPort"),
            protocol: text("protocol"),
            host_ip: text("hostIP"),
            host_port: number("hostPort"),
        }
    }
}

/// Warns about ports with the number and protocol of another port.
fn numbers(warnings: &mut Warnings, ports: &[Port<'_, '_>]) {
    let mut all: HashMap<(i64, &str), Vec<&Port<'_, '_>>> = HashMap::with_capacity(ports.len());
    for port in ports {
        if !port.host_ip.is_empty() && port.host_port == 0 {
            let shown = format!(
                "{{Name:{} HostPort:0 ContainerPort:{} Protocol:{} HostIP:{}}}",
                port.name, port.number, port.protocol, port.host_ip
            );
            warnings.at(&port.path, format!("hostIP set without hostPort: {shown}"));
        }
        let same = all.entry((port.number, port.protocol)).or_default();
        for other in same.iter().take(MAX_COMPARED) {
            if warnings.is_full() {
                break;
            }
            if let Some(conflict) = conflict(port, other) {
                warnings.at(&port.path, format!("{conflict} port definition with {}", other.path));
            }
        }
        same.push(port);
    }
}

/// Warns about ports with the name of another port.
fn names(warnings: &mut Warnings, ports: &[Port<'_, '_>]) {
    let mut names: HashMap<&str, &Port<'_, '_>> = HashMap::with_capacity(ports.len());
    for port in ports.iter().filter(|port| !port.name.is_empty()) {
        match names.entry(port.name) {
            Entry::Vacant(entry) => {
                entry.insert(port);
            }
            Entry::Occupied(entry) => {
                let (quoted, other) = (go_quote(port.name), entry.get().path);
                let text = format!("services and probes that select ports by name will use {other}");
                warnings.at(&port.path, format!("duplicate port name {quoted} with {other}, {text}"));
            }
        }
    }
}

/// Names the conflict between two ports with the same number and protocol; `None` if there is none.
fn conflict(port: &Port<'_, '_>, other: &Port<'_, '_>) -> Option<&'static str> {
    if (port.host_ip, port.host_port) == (other.host_ip, other.host_port) {
        Some("duplicate")
    } else if port.host_port == 0 || other.host_port == 0 {
        Some("overlapping")
    } else if port.host_port == other.host_port && port.host_ip.is_empty() != other.host_ip.is_empty() {
        Some("dangerously ambiguous")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::created;

    fn warnings(first: &str, second: &str) -> Vec<String> {
        let containers = format!(r#"[{{"name":"a","ports":[{first}]}},{{"name":"b","ports":[{second}]}}]"#);
        let pod = format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"containers":{containers}}}}}"#);
        created("", "Pod", &pod, "1.37")
    }

    #[test]
    fn ports_of_two_containers_conflict() {
        let port = |rest: &str| format!(r#"{{"containerPort":80,"protocol":"TCP"{rest}}}"#);
        let at = "spec.containers[1].ports[0]";
        let (plain, bound) = (port(""), port(r#","hostPort":1"#));
        assert_eq!(
            warnings(&plain, &plain),
            [format!("{at}: duplicate port definition with spec.containers[0].ports[0]")]
        );
        assert_eq!(
            warnings(&plain, &bound),
            [format!("{at}: overlapping port definition with spec.containers[0].ports[0]")]
        );
        assert_eq!(
            warnings(&bound, &port(r#","hostPort":1,"hostIP":"1.2.3.4""#)),
            [format!("{at}: dangerously ambiguous port definition with spec.containers[0].ports[0]")]
        );
        assert_eq!(warnings(&bound, &port(r#","hostPort":2"#)), [""; 0]);
    }

    #[test]
    fn only_as_many_conflicts_as_a_response_shows_are_collected() {
        let ports = vec![r#"{"containerPort":80,"protocol":"TCP"}"#; 20_000].join(",");
        let found = warnings(&ports, "");
        assert_eq!(found.len(), 4097);
        assert_eq!(found[1], "spec.containers[0].ports[2]: duplicate port definition with spec.containers[0].ports[0]");
    }

    #[test]
    fn names_of_ports_are_unique_in_a_pod() {
        let found = warnings(r#"{"containerPort":1,"name":"x"}"#, r#"{"containerPort":2,"name":"x"}"#);
        assert_eq!(
            found,
            [
                r#"spec.containers[1].ports[0]: duplicate port name "x" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]"#
            ]
        );
    }

    #[test]
    fn a_host_address_needs_a_host_port() {
        let found = warnings(r#"{"containerPort":1,"protocol":"TCP","hostIP":"1.2.3.4"}"#, "");
        assert_eq!(
            found,
            [
                "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:1 Protocol:TCP HostIP:1.2.3.4}"
            ]
        );
    }
}

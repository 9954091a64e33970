//! Ports of containers that other containers or ports have as well (`warningsForPodSpecAndMeta`).

use super::Warnings;
use crate::validation::field_value::FieldValue;
use crate::validation::pod_spec::each_container;
use crdx_value::quote::go_quote;
use crdx_value::release::V1_33;
use std::collections::HashMap;

struct Port<'v> {
    path: String,
    host_ip: &'v str,
    host_port: i64,
}

/// The maximum number of ports with the same number and protocol that are compared with each other.
const MAX_COMPARED: usize = 1000;

/// Warns about ports with the same number or the same name.
pub(super) fn ports(warnings: &mut Warnings, spec: &FieldValue<'_, '_>) {
    let mut all: HashMap<(i64, &str), Vec<Port<'_>>> = HashMap::new();
    each_container(spec, |container| {
        for port in container.child("ports").items() {
            let number = |name| port.value.get(name).and_then(crdx_value::Value::as_int).unwrap_or_default();
            let text = |name| port.value.str_at(&[name]).unwrap_or_default();
            let own = Port { path: port.path.to_string(), host_ip: text("hostIP"), host_port: number("hostPort") };
            if !own.host_ip.is_empty() && own.host_port == 0 {
                let shown = format!(
                    "{{Name:{} HostPort:0 ContainerPort:{} Protocol:{} HostIP:{}}}",
                    text("name"),
                    number("containerPort"),
                    text("protocol"),
                    own.host_ip
                );
                warnings.at(&port.path, format!("hostIP set without hostPort: {shown}"));
            }
            let same = all.entry((number("containerPort"), text("protocol"))).or_default();
            for other in same.iter().take(MAX_COMPARED) {
                if warnings.is_full() {
                    break;
                }
                if let Some(conflict) = conflict(&own, other) {
                    warnings.at(&port.path, format!("{conflict} port definition with {}", other.path));
                }
            }
            same.push(own);
        }
    });
    if warnings.release.since(V1_33) {
        names(warnings, spec);
    }
}

/// Warns about ports with the name of another port.
fn names(warnings: &mut Warnings, spec: &FieldValue<'_, '_>) {
    let mut names: HashMap<&str, String> = HashMap::new();
    each_container(spec, |container| {
        for port in container.child("ports").items() {
            let name = port.value.str_at(&["name"]).unwrap_or_default();
            if name.is_empty() {
                continue;
            }
            if let Some(other) = names.get(name) {
                let quoted = go_quote(name);
                let text = format!("services and probes that select ports by name will use {other}");
                warnings.at(&port.path, format!("duplicate port name {quoted} with {other}, {text}"));
            } else {
                names.insert(name, port.path.to_string());
            }
        }
    });
}

/// Names the conflict between two ports with the same number and protocol; `None` if there is none.
fn conflict(port: &Port<'_>, other: &Port<'_>) -> Option<&'static str> {
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

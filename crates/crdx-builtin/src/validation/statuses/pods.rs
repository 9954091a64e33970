//! Statuses of Pods (`ValidatePodStatusUpdate` in `pkg/apis/core/validation`). The server drops the statuses of volumes and
//! of resources that a node allocates to claims, because they need features that no release enables by default.

mod claims;
mod containers;

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{formats, immutable, network};
use crdx_value::field::{BadValue, FieldError};
use crdx_value::release::{Gate, Release, V1_32, V1_33, V1_34, V1_35, V1_37};
use std::collections::HashSet;

/// `ValidatePodStatusUpdate`
pub fn pod(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let (status, old_status, old_spec) = (object.child("status"), old.child("status"), old.child("spec"));
    let release = errors.release;
    // Before 1.33, the errors are at the metadata.
    let metadata = object.child("metadata");
    let owner = if release.since(V1_33) { &status } else { &metadata };
    let (conditions, path) = (status.child("conditions"), owner.path.child("conditions"));
    for (at, condition) in conditions.items().enumerate() {
        generation(errors, &condition);
        let type_ = condition.child("type");
        if !matches!(type_.text(), "PodScheduled" | "Ready" | "Initialized") {
            // The server reports the name of the Go field.
            let item = path.index(at);
            formats::qualified_name(errors, &FieldValue { path: item.child("Type"), ..type_ });
        }
    }
    let node = status.child("nominatedNodeName");
    let changes_node = node.text() != old_status.child("nominatedNodeName").text() && !node.text().is_empty();
    if changes_node {
        formats::object_name(errors, &node);
        if release.enables(Gate::ClearingNominatedNodeNameAfterBinding) && !old_spec.child("nodeName").text().is_empty()
        {
            errors.forbidden(&node, "may not be set on pods that are already bound to a node");
        }
    }
    generation(errors, &status);
    if release.since(V1_32) {
        immutable::text(errors, &status.child("qosClass"), &old_status.child("qosClass"));
    }
    restarts(errors, &status, &old_status, &old_spec);
    let spec = object.child("spec");
    let extended = status.child("extendedResourceClaimStatus");
    claims::statuses(errors, &status.child("resourceClaimStatuses"), &spec);
    claims::extended(errors, &extended, &spec);
    addresses(errors, &status.child("podIPs"), &old_status.child("podIPs"), "PodIP");
    if release.since(V1_37) {
        pod_address(errors, &status);
    }
    let host_ips = status.child("hostIPs");
    let first = host_ips.index(0);
    if host_ips.len() > 0 && first.child("ip").text() != status.child("hostIP").text() {
        errors.invalid(&first.child("ip"), "must be equal to `hostIP`");
    }
    addresses(errors, &host_ips, &old_status.child("hostIPs"), "HostIP");
    let lists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];
    let [main, init, ephemeral] = lists.map(|name| status.child(name));
    for list in [&main, &init, &ephemeral] {
        containers::users(errors, list, &spec);
    }
    containers::allocated_resources(errors, &main, &spec.child("containers"), &extended);
    containers::allocated_resources(errors, &init, &spec.child("initContainers"), &extended);
    containers::no_allocated_resources(errors, &ephemeral);
}

/// The observed generation of a status or condition, since 1.34: it is dropped before.
fn generation(errors: &mut Errors, owner: &FieldValue<'_, '_>) {
    let generation = owner.child("observedGeneration");
    if errors.release.since(V1_34) && generation.int().is_some_and(|value| value < 0) {
        errors.invalid(&generation, "must be a non-negative integer");
    }
}

/// Terminated containers that run again: `ValidateContainerStateTransition` and its counterparts
fn restarts(
    errors: &mut Errors,
    status: &FieldValue<'_, '_>,
    old_status: &FieldValue<'_, '_>,
    spec: &FieldValue<'_, '_>,
) {
    let release = errors.release;
    let policy = spec.child("restartPolicy").text();
    let mut check = |list: &str, may_restart: &dyn Fn(&str, i64) -> bool| {
        let new = status.child(list);
        for (at, old) in old_status.child(list).items().enumerate() {
            let (name, state) = (old.child("name").text(), old.child("state"));
            let exit_code = state.child("terminated").child("exitCode").int().unwrap_or_default();
            let runs_again = |one: FieldValue<'_, '_>| one.child("name").text() == name && !is_terminated(&one);
            if is_terminated(&old) && !may_restart(name, exit_code) && new.items().any(runs_again) {
                let item = new.path.index(at);
                let state = FieldValue::new(None, item.child("state"));
                errors.forbidden(&state, "may not be transitioned to non-terminated state");
            }
        }
    };
    if !all_may_restart(spec, release) {
        for (list, containers) in [("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")] {
            let containers = spec.child(containers);
            check(list, &|name, exit_code| {
                let container = containers.items().find(|one| one.child("name").text() == name);
                if release.since(V1_35) {
                    container.is_some_and(|container| should_restart(&container, policy, exit_code, release))
                } else {
                    let own = container.map(|container| container.child("restartPolicy").text()).unwrap_or_default();
                    restarts_by(policy, exit_code) || list == "initContainerStatuses" && own == "Always"
                }
            });
        }
    }
    check("ephemeralContainerStatuses", &|_, _| false);
}

fn is_terminated(status: &FieldValue<'_, '_>) -> bool {
    status.child("state").child("terminated").is_set()
}

/// `AllContainersCouldRestart`
fn all_may_restart(spec: &FieldValue<'_, '_>, release: Release) -> bool {
    let restarts_all = |container: FieldValue<'_, '_>| {
        let rules = container.child("restartPolicyRules");
        rules.items().any(|rule| rule.child("action").text() == "RestartAllContainers")
    };
    release.enables(Gate::RestartAllContainersOnContainerExits)
        && ["initContainers", "containers"].iter().any(|list| spec.child(list).items().any(restarts_all))
}

/// Returns true if a restart policy restarts a container that ended with this code. `Always` is the default.
fn restarts_by(policy: &str, exit_code: i64) -> bool {
    match policy {
        "OnFailure" => exit_code != 0,
        policy => policy != "Never",
    }
}

/// `ContainerShouldRestart`: by the rules of the container, its policy, or that of the Pod
fn should_restart(container: &FieldValue<'_, '_>, pod_policy: &str, exit_code: i64, release: Release) -> bool {
    let own = container.child("restartPolicy").text();
    if own.is_empty() {
        return restarts_by(pod_policy, exit_code);
    }
    let matches = |rule: &FieldValue<'_, '_>| {
        let codes = rule.child("exitCodes");
        let values = codes.child("values");
        let is_listed = values.items().any(|code| code.int() == Some(exit_code));
        match codes.child("operator").text() {
            "In" => is_listed,
            "NotIn" => !is_listed,
            _ => false,
        }
    };
    let rules = container.child("restartPolicyRules");
    let restarts = rules.items().find(matches).is_some_and(|rule| match rule.child("action").text() {
        "Restart" => true,
        "RestartAllContainers" => release.enables(Gate::RestartAllContainersOnContainerExits),
        _ => false,
    });
    let policy = if matches!(own, "Always" | "OnFailure" | "Never") { own } else { pod_policy };
    restarts || restarts_by(policy, exit_code)
}

/// Addresses of a Pod or its host (`validatePodIPs`, `validateHostIPs`): at most one of each family. Since 1.33, the
/// existing ones are kept. Until 1.32, a repeated address was also an error of its own.
fn addresses(errors: &mut Errors, list: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>, type_: &str) {
    let release = errors.release;
    let existing: HashSet<&str> = old.items().map(|one| one.value.str_at(&["ip"]).unwrap_or_default()).collect();
    let mut families = Vec::new();
    let mut no_address = None;
    for (at, item) in list.items().enumerate() {
        let ip = item.child("ip");
        if !(release.since(V1_33) && existing.contains(ip.text())) {
            network::legacy_ip(errors, &FieldValue { path: item.path, ..ip });
        }
        match network::parse_ip(ip.text()) {
            Some(address) => families.push(network::is_ipv4(address)),
            None => no_address = no_address.or(Some((at, ip.text()))),
        }
    }
    if list.len() <= 1 {
        return;
    }
    let is_of_host = type_ == "HostIP";
    if is_of_host {
        repeated_addresses(errors, list, type_);
    }
    if let Some((at, text)) = no_address {
        let detail = format!("failed to check for dual stack with error:invalid IP[{at}]: {text}");
        errors.list.push(FieldError::internal(&list.path, detail));
    }
    let is_pair = list.len() == 2 && families.contains(&true) && families.contains(&false);
    if !is_pair {
        let bad = shown(list, type_, release);
        errors.invalid_value(&list.path, bad, "may specify no more than one IP for each IP family");
    }
    if !is_of_host {
        repeated_addresses(errors, list, type_);
    }
}

/// The addresses that an earlier one of the list equals, until 1.32
fn repeated_addresses(errors: &mut Errors, list: &FieldValue<'_, '_>, type_: &str) {
    if errors.release.since(V1_33) {
        return;
    }
    let mut seen = HashSet::new();
    for item in list.items() {
        let ip = item.child("ip").text();
        if !seen.insert(ip) {
            errors.list.push(FieldError::duplicate(&item.path, BadValue::Raw(shown_item(ip, type_, errors.release))));
        }
    }
}

/// `podIP` is the first of `podIPs`, as the decoder makes it.
fn pod_address(errors: &mut Errors, status: &FieldValue<'_, '_>) {
    let (ip, list) = (status.child("podIP").text(), status.child("podIPs"));
    let first = list.index(0);
    if ip.is_empty() != (list.len() == 0) {
        let bad = shown(&list, "PodIP", errors.release);
        errors.invalid_value(&list.path, bad, "podIP and podIPs must either both be set or both be unset");
    } else if first.child("ip").text() != ip {
        errors.invalid(&first.child("ip"), "must be equal to `podIP`");
    }
}

/// An item of the internal type `PodIP` or `HostIP` as an error shows it.
fn shown_item(ip: &str, type_: &str, release: Release) -> String {
    if release.since(V1_34) { format!(r#"{{"IP":"{ip}"}}"#) } else { format!(r#"core.{type_}{{IP:"{ip}"}}"#) }
}

/// A list of the internal type `PodIP` or `HostIP` as an error shows it.
fn shown(list: &FieldValue<'_, '_>, type_: &str, release: Release) -> BadValue {
    let items: Vec<String> = list.items().map(|item| shown_item(item.child("ip").text(), type_, release)).collect();
    BadValue::Raw(if release.since(V1_34) {
        format!("[{}]", items.join(","))
    } else {
        format!("[]core.{type_}{{{}}}", items.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use crate::validation::statuses::tests::errors;

    fn pod(old: &str, new: &str, release: &str) -> Vec<String> {
        errors(("", "Pod"), old, new, release)
    }

    #[test]
    fn a_container_that_ended_stays_terminated() {
        let status = |code: i64| {
            format!(
                r#""status":{{"containerStatuses":[{{"name":"a","state":{{"terminated":{{"exitCode":{code}}}}}}}]}}"#
            )
        };
        let new = r#"{"status":{"containerStatuses":[{"name":"a","state":{"running":{}}}]}}"#;
        let old = |policy: &str, code: i64, own: &str| {
            format!(r#"{{"spec":{{"restartPolicy":"{policy}","containers":[{{"name":"a"{own}}}]}},{}}}"#, status(code))
        };
        let error = "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state";
        for release in ["1.37", "1.34"] {
            assert_eq!(pod(&old("Never", 1, ""), new, release), [error]);
            assert_eq!(pod(&old("OnFailure", 0, ""), new, release), [error]);
            assert_eq!(pod(&old("OnFailure", 1, ""), new, release), [""; 0]);
            assert_eq!(pod(&old("Always", 0, ""), new, release), [""; 0]);
        }
        let rules = r#","restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[3]}}]"#;
        assert_eq!(pod(&old("Never", 3, rules), new, "1.37"), [""; 0]);
        assert_eq!(pod(&old("Never", 4, rules), new, "1.37"), [error]);
    }

    #[test]
    fn the_quality_of_service_is_immutable() {
        let status = |class: &str| format!(r#"{{"status":{{"qosClass":"{class}"}}}}"#);
        assert_eq!(
            pod(&status("Burstable"), &status("Guaranteed"), "1.37"),
            [r#"status.qosClass: Invalid value: "Guaranteed": field is immutable"#]
        );
        assert_eq!(pod(&status("Burstable"), &status("Guaranteed"), "1.31"), [""; 0]);
    }

    #[test]
    fn a_pod_has_one_address_of_each_family() {
        let status = |ips: &str| format!(r#"{{"status":{{"podIP":"1.2.3.4","podIPs":[{ips}]}}}}"#);
        let two = status(r#"{"ip":"1.2.3.4"},{"ip":"1.2.3.5"}"#);
        assert_eq!(
            pod("{}", &two, "1.37"),
            [
                r#"status.podIPs: Invalid value: [{"IP":"1.2.3.4"},{"IP":"1.2.3.5"}]: may specify no more than one IP for each IP family"#
            ]
        );
        assert_eq!(
            pod("{}", &two, "1.33"),
            [
                r#"status.podIPs: Invalid value: []core.PodIP{core.PodIP{IP:"1.2.3.4"}, core.PodIP{IP:"1.2.3.5"}}: may specify no more than one IP for each IP family"#
            ]
        );
        assert_eq!(pod("{}", &status(r#"{"ip":"1.2.3.4"},{"ip":"::1"}"#), "1.37"), [""; 0]);
    }

    #[test]
    fn a_repeated_address_is_an_error_of_its_own_until_1_32() {
        let ips = r#"[{"ip":"1.2.3.4"},{"ip":"1.2.3.4"}]"#;
        let new = format!(r#"{{"status":{{"podIP":"1.2.3.4","podIPs":{ips},"hostIP":"1.2.3.4","hostIPs":{ips}}}}}"#);
        let kinds = |release: &str| -> Vec<String> {
            let found = pod("{}", &new, release);
            found.iter().map(|error| error.split(": ").take(2).collect::<Vec<_>>().join(": ")).collect()
        };
        assert_eq!(
            kinds("1.32"),
            [
                "status.podIPs: Invalid value",
                "status.podIPs[1]: Duplicate value",
                "status.hostIPs[1]: Duplicate value",
                "status.hostIPs: Invalid value"
            ]
        );
        assert!(pod("{}", &new, "1.32")[1].ends_with(r#": core.PodIP{IP:"1.2.3.4"}"#));
        assert_eq!(kinds("1.33"), ["status.podIPs: Invalid value", "status.hostIPs: Invalid value"]);
    }

    #[test]
    fn conditions_have_qualified_types() {
        let new = r#"{"status":{"conditions":[{"type":"Ready"},{"type":"a b"}]}}"#;
        let found = pod("{}", new, "1.37");
        assert!(found.len() == 1 && found[0].starts_with("status.conditions[1].Type: Invalid value: \"a b\": "));
        let found = pod("{}", new, "1.32");
        assert!(found.len() == 1 && found[0].starts_with("metadata.conditions[1].Type: Invalid value: \"a b\": "));
        assert!(pod("{}", new, "1.33")[0].starts_with("status.conditions[1].Type"));
    }
}

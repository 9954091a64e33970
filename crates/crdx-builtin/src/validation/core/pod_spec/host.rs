//! The parts of a Pod specification that depend on the namespaces of the host.

use super::{PodOptions, each_container};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::release::{Gate, V1_34, V1_37};

/// `validatePodHostNetworkDeps`
pub(crate) fn network_ports(errors: &mut Errors, spec: &FieldValue<'_, '_>, options: &PodOptions) {
    if !spec.child("hostNetwork").bool() {
        return;
    }
    for container in spec.child("containers").items() {
        for port in container.child("ports").items() {
            let host_port = port.child("hostPort");
            let number = host_port.int().unwrap_or_default();
            let differs = number != port.child("containerPort").int().unwrap_or_default();
            if differs && (options.is_pod || number != 0) {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                errors.invalid_value(&host_port.path, number, detail);
            }
        }
    }
}

/// `validateShareProcessNamespace`. Before 1.37, the field was part of the internal security context.
pub(crate) fn process_namespace(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let shares = spec.child("shareProcessNamespace");
    if shares.bool() && spec.child("hostPID").bool() {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        if errors.release.since(V1_37) {
            errors.invalid(&shares, detail);
        } else {
            let path = spec.path.child("securityContext");
            errors.invalid_value(&path.child("shareProcessNamespace"), true, detail);
        }
    }
}

/// `validateHostUsers`. Without the gate, the server drops the field.
pub fn users(errors: &mut Errors, spec: &FieldValue<'_, '_>, options: &PodOptions) {
    let host_users = spec.child("hostUsers");
    if !host_users.is_set() || host_users.bool() || !errors.release.enables(Gate::UserNamespacesSupport) {
        return;
    }
    let is_recent = errors.release.since(V1_34);
    let detail = if is_recent { "when `hostUsers` is false" } else { "when `pod.Spec.HostUsers` is false" };
    let may_share_network =
        options.allows_network_in_user_namespaces || errors.release.enables(Gate::UserNamespacesHostNetworkSupport);
    // The server writes the last two names in uppercase.
    for (field, shown) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if spec.child(field).bool() && !(field == "hostNetwork" && may_share_network) {
            errors.forbidden(&spec.child(shown), detail);
        }
    }
    // The devices of containers are validated since 1.34.
    if is_recent && !options.allows_devices_in_user_namespaces {
        each_container(spec, |container| {
            let devices = container.child("volumeDevices");
            if devices.len() > 0 {
                errors.forbidden(&devices, detail);
            }
        });
    }
}

/// `validatePodHostName`
pub(crate) fn name_override(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let name = spec.child("hostnameOverride");
    if !name.is_set() {
        return;
    }
    if spec.child("setHostnameAsFQDN").bool() {
        errors.forbidden(&name, "may not be specified when setHostnameAsFQDN is true");
    }
    if spec.child("hostNetwork").bool() {
        errors.forbidden(&name, "may not be specified when hostNetwork is true");
    }
    if name.text().len() > 64 {
        errors.too_long(&name, 64);
    }
    formats::subdomain(errors, &name);
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, created_with};

    #[test]
    fn a_pod_with_own_users_may_share_the_network_with_its_gate() {
        let pod = r#"{"metadata":{"name":"a"},"spec":{"hostUsers":false,"hostNetwork":true,"containers":[{"name":"a","image":"a"}]}}"#;
        let error = "spec.hostNetwork: Forbidden: when `hostUsers` is false";
        assert_eq!(created("v1", "Pod", pod, "1.37"), [error]);
        let gate = "UserNamespacesHostNetworkSupport";
        assert_eq!(created_with(gate, true, ("v1", "Pod"), pod, "1.37"), [""; 0]);
    }

    #[test]
    fn a_pod_with_own_users_has_no_devices_since_1_34() {
        let errors = |rest: &str, release: &str| {
            let pod = format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"hostUsers":false,{rest}}}}}"#);
            created("v1", "Pod", &pod, release)
        };
        let devices = r#""volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}],
            "containers":[{"name":"a","image":"a","volumeDevices":[{"name":"v","devicePath":"/x"}]}]"#;
        assert_eq!(errors(devices, "1.33"), [""; 0]);
        let error = "spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false";
        assert_eq!(errors(devices, "1.34"), [error]);
        let shared = r#""hostPID":true,"containers":[{"name":"a","image":"a"}]"#;
        assert_eq!(errors(shared, "1.32"), [""; 0]);
        assert_eq!(errors(shared, "1.33"), ["spec.HostPID: Forbidden: when `pod.Spec.HostUsers` is false"]);
        assert_eq!(errors(shared, "1.34"), ["spec.HostPID: Forbidden: when `hostUsers` is false"]);
    }
}

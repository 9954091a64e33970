//! Rules for Pods of an operating system (`validateOS`, `validateLinux`, `validateWindows` and
//! `validateWindowsHostProcessPod`).

use super::each_container;
use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::field::FieldError;
use crdx_value::release::{V1_34, V1_37};

const NOT_ON_LINUX: &str = "windows options cannot be set for a linux pod";
const NOT_ON_WINDOWS: &str = "cannot be set for a windows pod";

/// `validateWindows` about the security context of the Pod
const POD_FIELDS: &[&str] = &[
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
];

/// `validateWindows` about the host, with the fields of the security context that precede these fields before 1.37.
const HOST_FIELDS: &[(&str, &str)] = &[
    ("seLinuxOptions", "hostUsers"),
    ("seLinuxOptions", "hostPID"),
    ("seLinuxOptions", "hostIPC"),
    ("sysctls", "shareProcessNamespace"),
];

/// `validateWindows` about the security contexts of containers
const CONTAINER_FIELDS: &[&str] = &[
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// Validates the operating system and what it excludes.
pub fn validate(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let os = spec.child("os");
    if !os.is_set() {
        return;
    }
    let name = os.child("name");
    match name.text() {
        "" if errors.release.since(V1_34) => errors.required(&name, ""),
        "" => errors.required(&name, "cannot be empty"),
        "linux" => {
            errors.forbid_if_set(&spec.child("securityContext").child("windowsOptions"), NOT_ON_LINUX);
            each_container(spec, |container| {
                errors.forbid_if_set(&container.child("securityContext").child("windowsOptions"), NOT_ON_LINUX);
            });
        }
        "windows" => windows(errors, spec),
        other => errors.list.push(FieldError::not_supported(&os.path, other, &["linux", "windows"])),
    }
}

fn windows(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let context = spec.child("securityContext");
    // Before 1.37, fields of the host were part of the internal security context, and reported among its fields.
    let is_newest = errors.release.since(V1_37);
    for name in POD_FIELDS {
        errors.forbid_if_set(&context.child(name), NOT_ON_WINDOWS);
        for (_, field) in HOST_FIELDS.iter().filter(|(after, _)| !is_newest && after == name) {
            forbid_host_field(errors, spec, field);
        }
    }
    for (_, field) in HOST_FIELDS.iter().filter(|_| is_newest) {
        forbid_host_field(errors, spec, field);
    }
    each_container(spec, |container| {
        let context = container.child("securityContext");
        for field in CONTAINER_FIELDS {
            errors.forbid_if_set(&context.child(field), NOT_ON_WINDOWS);
        }
    });
}

fn forbid_host_field(errors: &mut Errors, spec: &FieldValue<'_, '_>, name: &str) {
    let field = spec.child(name);
    let is_given = if matches!(name, "hostPID" | "hostIPC") { field.bool() } else { field.is_set() };
    if is_given {
        errors.forbidden(&field, NOT_ON_WINDOWS);
    }
}

/// `validateWindowsHostProcessPod`
pub(crate) fn host_processes(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let host_process = |parent: &FieldValue<'_, '_>| {
        parent.value.at(&["securityContext", "windowsOptions", "hostProcess"]).and_then(crdx_value::Value::as_bool)
    };
    let of_pod = host_process(spec);
    let (mut count, mut host_processes) = (0, 0);
    each_container(spec, |container| {
        let own = host_process(container);
        count += 1;
        if let (Some(pod), Some(own)) = (of_pod, own)
            && pod != own
        {
            let context = container.path.child("securityContext");
            let options = context.child("windowsOptions");
            let detail = format!("pod hostProcess value must be identical if both are specified, was {pod}");
            errors.invalid_value(&options.child("hostProcess"), own, detail);
        }
        host_processes += usize::from(own.or(of_pod).unwrap_or_default());
    });
    if host_processes == 0 {
        return;
    }
    if host_processes != count {
        let detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.invalid_value(&spec.path, "", detail);
    }
    if !spec.child("hostNetwork").bool() {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.invalid_value(&spec.path.child("hostNetwork"), false, detail);
    }
    if !errors.release.allows_privileged() {
        errors.forbidden(spec, "hostProcess containers are disallowed by cluster policy");
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    #[test]
    fn fields_of_the_host_are_fields_of_the_specification_in_every_release() {
        let pod = r#"{"spec":{"os":{"name":"windows"},"hostIPC":true,"shareProcessNamespace":false}}"#;
        for release in ["1.31", "1.37"] {
            let errors = created("v1", "Pod", pod, release);
            for field in ["hostIPC", "shareProcessNamespace"] {
                let error = format!("spec.{field}: Forbidden: cannot be set for a windows pod");
                assert!(errors.contains(&error), "{release}: {errors:?}");
            }
        }
    }

    #[test]
    fn fields_of_the_host_are_reported_among_those_of_the_context_before_1_37() {
        let pod = r#"{"spec":{"os":{"name":"windows"},"hostPID":true,"hostIPC":false,"shareProcessNamespace":true,
            "securityContext":{"fsGroup":1,"runAsUser":1}}}"#;
        let fields = |release| {
            let errors = created("v1", "Pod", pod, release).into_iter();
            let ours = errors.filter_map(|error| {
                error.strip_suffix(": Forbidden: cannot be set for a windows pod").map(str::to_owned)
            });
            ours.collect::<Vec<_>>()
        };
        let (group, user) = ("spec.securityContext.fsGroup", "spec.securityContext.runAsUser");
        assert_eq!(fields("1.36"), ["spec.hostPID", group, "spec.shareProcessNamespace", user]);
        assert_eq!(fields("1.37"), [group, user, "spec.hostPID", "spec.shareProcessNamespace"]);
    }

    #[test]
    fn the_error_about_a_missing_name_has_a_detail_before_1_34() {
        let pod = r#"{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"a"}],"os":{"name":""}}}"#;
        assert_eq!(created("v1", "Pod", pod, "1.33"), ["spec.os.name: Required value: cannot be empty"]);
        assert_eq!(created("v1", "Pod", pod, "1.34"), ["spec.os.name: Required value"]);
    }
}

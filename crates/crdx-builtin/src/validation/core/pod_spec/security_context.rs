//! Security contexts of Pods and containers (`validatePodSpecSecurityContext` and `ValidateSecurityContext`).

mod oci_profile;
mod windows;

use super::PodOptions;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::field::FieldError;
use crdx_value::release::{Gate, V1_38};
use std::collections::HashSet;

/// The internal type.
const CONTEXT: &str = "*core.SecurityContext";
const PROFILE_TYPES: &[&str] = &["Localhost", "RuntimeDefault", "Unconfined"];
const MAX_APP_ARMOR_PROFILE: usize = 4095;
const MAX_SYSCTL: usize = 253;

/// The sysctls of the IPC namespace (`component-helpers/node/util/sysctl`).
const IPC_SYSCTLS: &[&str] = &[
    "kernel.sem",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.shmmni",
    "kernel.shm_rmid_forced",
    "kernel.shm",
    "kernel.msgmax",
    "kernel.msgmnb",
    "kernel.msgmni",
    "kernel.msg",
];

/// Validates the security context of a Pod.
pub fn pod(errors: &mut Errors, spec: &FieldValue<'_, '_>, options: &PodOptions) {
    let context = spec.child("securityContext");
    for id in ["fsGroup", "runAsUser", "runAsGroup"] {
        formats::user_or_group_id(errors, &context.child(id));
    }
    for group in context.child("supplementalGroups").items() {
        formats::user_or_group_id(errors, &group);
    }
    sysctls(errors, spec, &context.child("sysctls"), options);
    let release = errors.release;
    let selinux: &[&str] = if release.enables(Gate::SELinuxMount) || options.has_selinux_change_policy {
        &["MountOption", "Recursive"]
    } else {
        &["Recursive"]
    };
    for (name, supported, gate) in [
        ("fsGroupChangePolicy", &["Always", "OnRootMismatch"][..], None),
        ("supplementalGroupsPolicy", &["Merge", "Strict"], Some(Gate::SupplementalGroupsPolicy)),
        ("seLinuxChangePolicy", selinux, Some(Gate::SELinuxChangePolicy)),
    ] {
        // Without its gate, the server drops the field.
        let field = context.child(name);
        if field.is_set() && gate.is_none_or(|gate| release.enables(gate)) {
            errors.supported(&field, supported);
        }
    }
    seccomp_profile(errors, &context.child("seccompProfile"));
    windows::options(errors, &context.child("windowsOptions"));
    app_armor_profile(errors, &context.child("appArmorProfile"));
}

/// Validates the security context of a container.
pub fn container(errors: &mut Errors, context: &FieldValue<'_, '_>, spec: &FieldValue<'_, '_>, options: &PodOptions) {
    let privileged = context.child("privileged");
    if privileged.bool() && !errors.release.allows_privileged() {
        errors.forbidden(&privileged, "disallowed by cluster policy");
    }
    for id in ["runAsUser", "runAsGroup"] {
        formats::user_or_group_id(errors, &context.child(id));
    }
    let (proc_mount, host_users) = (context.child("procMount"), spec.child("hostUsers"));
    // Without the gate, the server sets the default.
    if proc_mount.is_set() && errors.release.enables(Gate::ProcMountType) {
        errors.supported(&proc_mount, &["Default", "Unmasked"]);
        if proc_mount.text() == "Unmasked" && host_users.value.as_bool().unwrap_or(true) {
            errors.invalid(&proc_mount, "`hostUsers` must be false to use `Unmasked`");
        }
    }
    seccomp_profile(errors, &context.child("seccompProfile"));
    if context.child("allowPrivilegeEscalation").value.as_bool() == Some(false) {
        if context.child("privileged").bool() {
            errors.invalid_typed(
                context,
                CONTEXT,
                "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
            );
        }
        if !options.allows_sys_admin {
            for _ in 0..count_sys_admin(context) {
                let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
                errors.invalid_typed(context, CONTEXT, detail);
            }
        }
    }
    windows::options(errors, &context.child("windowsOptions"));
    app_armor_profile(errors, &context.child("appArmorProfile"));
}

fn count_sys_admin(context: &FieldValue<'_, '_>) -> usize {
    let capabilities = context.child("capabilities");
    capabilities.child("add").texts().filter(|name| *name == "CAP_SYS_ADMIN").count()
}

/// `hasSysAdminAndPrivilegeEscalationFalse`, which is also true if the field is absent
pub(crate) fn adds_sys_admin(context: &FieldValue<'_, '_>) -> bool {
    context.child("allowPrivilegeEscalation").value.as_bool() != Some(true) && count_sys_admin(context) > 0
}

/// `validateSysctls`
fn sysctls(errors: &mut Errors, spec: &FieldValue<'_, '_>, list: &FieldValue<'_, '_>, options: &PodOptions) {
    const PATTERN: &str = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
    let mut seen = HashSet::new();
    for sysctl in list.items() {
        let name = sysctl.child("name");
        if errors.require_text(&name) {
            if !is_sysctl_name(name.text()) {
                let detail = format!("must have at most {MAX_SYSCTL} characters and match regex {PATTERN}");
                errors.invalid(&name, detail);
            } else if seen.contains(name.text()) {
                errors.duplicate(&name);
            }
        }
        if let Some(namespace) = shared_namespace(spec, name.text()).filter(|_| !options.allows_host_sysctls) {
            let detail = format!("may not be specified when '{namespace}' is true");
            errors.invalid_value(&name.path, name.text(), detail);
        }
        seen.insert(name.text());
    }
}

/// `IsValidSysctlName`
fn is_sysctl_name(name: &str) -> bool {
    let is_edge = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let is_segment = |segment: &[u8]| {
        segment.first().is_some_and(is_edge)
            && segment.last().is_some_and(is_edge)
            && segment.iter().all(|b| is_edge(b) || matches!(b, b'-' | b'_'))
    };
    name.len() <= MAX_SYSCTL && name.as_bytes().split(|b| matches!(b, b'.' | b'/')).all(is_segment)
}

/// The field that shares the namespace of a sysctl with the host, if it is set (`ValidateHostSysctl`).
fn shared_namespace(spec: &FieldValue<'_, '_>, sysctl: &str) -> Option<&'static str> {
    let name = normalized(sysctl);
    let prefix = name.split('*').next().unwrap_or_default();
    if spec.child("hostNetwork").bool() && prefix.starts_with("net.") {
        return Some("hostNetwork");
    }
    let is_ipc = IPC_SYSCTLS.contains(&prefix) || prefix.starts_with("fs.mqueue.");
    (spec.child("hostIPC").bool() && is_ipc).then_some("hostIPC")
}

/// `NormalizeName`: the separator that comes first separates the segments.
fn normalized(sysctl: &str) -> String {
    match sysctl.find(['.', '/']) {
        Some(at) if sysctl.as_bytes().get(at) == Some(&b'/') => sysctl
            .chars()
            .map(|c| match c {
                '/' => '.',
                '.' => '/',
                other => other,
            })
            .collect(),
        _ => sysctl.to_owned(),
    }
}

/// Returns true if a sysctl of the Pod is shared with the host.
pub(crate) fn uses_host_sysctls(spec: &FieldValue<'_, '_>) -> bool {
    let context = spec.child("securityContext");
    context.child("sysctls").items().any(|sysctl| shared_namespace(spec, sysctl.child("name").text()).is_some())
}

/// `validateSeccompProfileField`
fn seccomp_profile(errors: &mut Errors, profile: &FieldValue<'_, '_>) {
    if !profile.is_set() {
        return;
    }
    let (type_, localhost) = (profile.child("type"), profile.child("localhostProfile"));
    profile_type(errors, &type_, "type is required when seccompProfile is set");
    match (type_.text(), localhost.is_set()) {
        ("Localhost", true) => formats::relative_path(errors, &localhost),
        ("Localhost", false) => errors.required(&localhost, "must be set when seccomp type is Localhost"),
        (_, true) => {
            // The server shows the whole profile.
            let whole = FieldValue { path: localhost.path, ..*profile };
            errors.invalid_typed(&whole, "*core.SeccompProfile", "can only be set when seccomp type is Localhost");
        }
        (_, false) => {}
    }
    if errors.release.since(V1_38) {
        oci_profile::validate(errors, type_.text(), &profile.child("oci"));
    }
}

fn profile_type(errors: &mut Errors, type_: &FieldValue<'_, '_>, missing: &str) {
    match type_.text() {
        "" => errors.required(type_, missing),
        text if !PROFILE_TYPES.contains(&text) => {
            errors.list.push(FieldError::not_supported(&type_.path, text, PROFILE_TYPES));
        }
        _ => {}
    }
}

/// `ValidateAppArmorProfileField`
fn app_armor_profile(errors: &mut Errors, profile: &FieldValue<'_, '_>) {
    const MISSING: &str = "must be set when AppArmor type is Localhost";
    if !profile.is_set() {
        return;
    }
    let (type_, localhost) = (profile.child("type"), profile.child("localhostProfile"));
    match type_.text() {
        "Localhost" if !localhost.is_set() => errors.required(&localhost, MISSING),
        "Localhost" => {
            let text = localhost.text();
            if text.trim() != text {
                errors.invalid(&localhost, "must not be padded with whitespace");
            } else if text.is_empty() {
                errors.required(&localhost, MISSING);
            }
            if text.len() > MAX_APP_ARMOR_PROFILE {
                errors.too_long(&localhost, MAX_APP_ARMOR_PROFILE as i64);
            }
        }
        "RuntimeDefault" | "Unconfined" if localhost.is_set() => {
            errors.invalid(&localhost, "can only be set when AppArmor type is Localhost");
        }
        _ => profile_type(errors, &type_, "type is required when appArmorProfile is set"),
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, errors_of, updated};
    use crdx_value::release::Release;

    /// `useAllowSysAdminWhenPrivilegeEscalationFalse` in `pkg/api/pod/util.go`
    #[test]
    fn a_capability_of_an_existing_container_is_kept_since_1_37() {
        let template = |context: &str, image: &str| {
            let container = format!(r#"{{"name":"c","image":"{image}","securityContext":{context}}}"#);
            format!(r#"{{"metadata":{{"name":"t"}},"template":{{"spec":{{"containers":[{container}]}}}}}}"#)
        };
        let refused = r#"{"allowPrivilegeEscalation":false,"capabilities":{"add":["CAP_SYS_ADMIN"]}}"#;
        let errors = |old: &str, new: &str, release| {
            updated("v1", "PodTemplate", &template(old, "i"), &template(new, "j"), release).len()
        };
        assert_eq!((errors(refused, refused, "1.36"), errors(refused, refused, "1.37")), (1, 0));
        assert_eq!(errors("{}", refused, "1.37"), 1);
        let absent = r#"{"capabilities":{"add":["CAP_SYS_ADMIN"]}}"#;
        assert_eq!(errors(absent, refused, "1.37"), 0);
    }

    #[test]
    fn before_1_37_only_recursive_selinux_changes_were_allowed_in_new_pods() {
        let template = |context: &str, image: &str| {
            let spec = format!(r#"{{"containers":[{{"name":"c","image":"{image}"}}],"securityContext":{context}}}"#);
            format!(r#"{{"metadata":{{"name":"t"}},"template":{{"spec":{spec}}}}}"#)
        };
        let mount = r#"{"seLinuxChangePolicy":"MountOption"}"#;
        let created = |release| created("v1", "PodTemplate", &template(mount, "i"), release).len();
        assert_eq!((created("1.32"), created("1.36"), created("1.37")), (0, 1, 0));
        let updated =
            |old: &str| updated("v1", "PodTemplate", &template(old, "i"), &template(mount, "j"), "1.36").len();
        assert_eq!((updated(mount), updated("{}")), (0, 1));
    }

    #[test]
    fn a_server_may_forbid_privileged_containers() {
        let release = Release::NEWEST.with_privileged(false);
        let pod = r#"{"spec":{"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"i","image":"i","securityContext":{"privileged":true}}]}}"#;
        assert_eq!(
            errors_of("v1", "Pod", pod, None, release),
            ["spec.initContainers[0].securityContext.privileged: Forbidden: disallowed by cluster policy"]
        );
        assert_eq!(created("v1", "Pod", pod, "1.37"), [""; 0]);
        let windows = r#"{"spec":{"hostNetwork":true,"securityContext":{"windowsOptions":{"hostProcess":true}},"containers":[{"name":"c","image":"i"}]}}"#;
        let error = "spec: Forbidden: hostProcess containers are disallowed by cluster policy";
        assert_eq!(errors_of("v1", "Pod", windows, None, release), [error]);
    }

    #[test]
    fn contexts_are_shown_with_their_internal_type() {
        let pod = r#"{"spec":{"containers":[{"name":"c","image":"i","securityContext":{"privileged":true,"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"seccompProfile":{"type":"RuntimeDefault"}}}]}}"#;
        assert_eq!(
            created("v1", "Pod", pod, "1.37"),
            [
                r#"spec.containers[0].securityContext: Invalid value: {"Capabilities":{"Add":null,"Drop":["ALL"]},"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":{"Type":"RuntimeDefault","LocalhostProfile":null},"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true"#
            ]
        );
    }

    #[test]
    fn other_parts_of_pods_are_shown_with_their_internal_types() {
        let pod = |rest: &str| format!(r#"{{"spec":{{"containers":[{{"name":"c","image":"i"}}]{rest}}}}}"#);
        let errors = |rest: &str, release| created("v1", "Pod", &pod(rest), release);
        let profile = r#","securityContext":{"seccompProfile":{"type":"RuntimeDefault","localhostProfile":"a"}}"#;
        let text = r#"Invalid value: {"Type":"RuntimeDefault","LocalhostProfile":"a"}: can only be set"#;
        assert!(errors(profile, "1.37")[0].contains(text), "{:?}", errors(profile, "1.37"));
        let claim = r#","resourceClaims":[{"name":"a"}]"#;
        let text = r#"{"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of"#;
        assert!(errors(claim, "1.37")[0].contains(text), "{:?}", errors(claim, "1.37"));
        let servers = r#","dnsConfig":{"nameservers":["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]}"#;
        let text = r#"Invalid value: []string{"1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"}: must not have more than"#;
        assert!(errors(servers, "1.31")[0].contains(text), "{:?}", errors(servers, "1.31"));
    }
}

//! The checks of the level `baseline` (`policy/check_*.go`).

use super::checked_pod::{CheckedPod, containers, items, name, plural, quoted, security, setters};
use crdx_value::{Value, quote};
use std::collections::BTreeSet;

const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Sysctls that are allowed, with the first version that allows them.
const SYSCTLS: [(&str, u64); 14] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
    ("net.ipv4.tcp_slow_start_after_idle", 37),
    ("net.ipv4.tcp_notsent_lowat", 37),
];

/// `appArmorProfile_1_0`
pub fn app_armor(pod: &CheckedPod<'_>) -> Option<String> {
    let mut values = BTreeSet::new();
    let mut is_bad = |object: &Value| {
        let profile = security(object, "appArmorProfile").map(|profile| profile.str_at(&["type"]).unwrap_or_default());
        let bad = profile.filter(|profile| !matches!(*profile, "RuntimeDefault" | "Localhost"));
        values.extend(bad.map(str::to_owned));
        bad.is_some()
    };
    let of_pod = is_bad(pod.spec);
    let names = pod.names_of(is_bad);
    let is_forbidden = |(key, value): &(&str, &str)| {
        key.starts_with("container.apparmor.security.beta.kubernetes.io/")
            && !(value.is_empty() || *value == "runtime/default" || value.starts_with("localhost/"))
    };
    let annotations: BTreeSet<String> = pod.annotations().filter(is_forbidden).map(assignment).collect();
    let mut setters: Vec<String> = setters(of_pod, &names).into_iter().collect();
    if !annotations.is_empty() {
        setters.push(plural("annotation", "annotations", annotations.len()).to_owned());
    }
    let values: Vec<String> = values.into_iter().chain(annotations).collect();
    let reason = plural("forbidden AppArmor profile", "forbidden AppArmor profiles", values.len());
    let setters = (!setters.is_empty()).then(|| setters.join(" and "))?;
    Some(format!("{reason} ({setters} must not set AppArmor profile type to {})", quoted(values)))
}

fn assignment((key, value): (&str, &str)) -> String {
    format!("{key}={}", quote::go_quote(value))
}

/// `capabilitiesBaseline_1_0`
pub fn capabilities(pod: &CheckedPod<'_>) -> Option<String> {
    let mut added = BTreeSet::new();
    let names = pod.names_of(|container| add_capabilities(container, &mut added, |name| CAPABILITIES.contains(&name)));
    let (who, what) = ((!names.is_empty()).then(|| containers(&names))?, quoted(added));
    Some(format!("non-default capabilities ({who} must not include {what} in securityContext.capabilities.add)"))
}

/// Collects the capabilities that a container adds and that are not allowed. Returns true if there are any.
pub fn add_capabilities<'a>(
    container: &'a Value,
    added: &mut BTreeSet<&'a str>,
    is_allowed: impl Fn(&str) -> bool,
) -> bool {
    let all = container.at(&["securityContext", "capabilities"]).into_iter().flat_map(|own| items(own, "add"));
    let forbidden: Vec<&str> = all.filter_map(Value::as_str).filter(|name| !is_allowed(name)).collect();
    added.extend(&forbidden);
    !forbidden.is_empty()
}

/// `hostNamespaces_1_0`
pub fn host_namespaces(pod: &CheckedPod<'_>) -> Option<String> {
    let is_set = |field: &&str| pod.spec.get(field).and_then(Value::as_bool) == Some(true);
    let set: Vec<String> = ["hostNetwork", "hostPID", "hostIPC"]
        .iter()
        .filter(|field| is_set(field))
        .map(|f| format!("{f}=true"))
        .collect();
    (!set.is_empty()).then(|| format!("host namespaces ({})", set.join(", ")))
}

/// `hostPathVolumes_1_0`
pub fn host_path_volumes(pod: &CheckedPod<'_>) -> Option<String> {
    let volumes = items(pod.spec, "volumes").filter(|volume| volume.get("hostPath").is_some());
    let names: Vec<&str> = volumes.map(name).collect();
    let volumes = plural("volume", "volumes", names.len());
    (!names.is_empty()).then(|| format!("hostPath volumes ({volumes} {})", quoted(&names)))
}

/// `hostPorts_1_0`
pub fn host_ports(pod: &CheckedPod<'_>) -> Option<String> {
    let mut ports = BTreeSet::new();
    let names = pod.names_of(|container| {
        let own = items(container, "ports").filter_map(|port| port.get("hostPort").and_then(Value::as_int));
        let own: Vec<String> = own.filter(|port| *port != 0).map(|port| port.to_string()).collect();
        let is_bad = !own.is_empty();
        ports.extend(own);
        is_bad
    });
    let who = (!names.is_empty()).then(|| containers(&names))?;
    let (uses, count) = (plural("uses", "use", names.len()), ports.len());
    let ports = ports.into_iter().collect::<Vec<_>>().join(", ");
    Some(format!("hostPort ({who} {uses} {} {ports})", plural("hostPort", "hostPorts", count)))
}

/// `hostProbesAndHostLifecycleV1Dot34`
pub fn host_probes(pod: &CheckedPod<'_>) -> Option<String> {
    const HANDLERS: [&[&str]; 5] = [
        &["livenessProbe"],
        &["readinessProbe"],
        &["startupProbe"],
        &["lifecycle", "postStart"],
        &["lifecycle", "preStop"],
    ];
    let (mut names, mut hosts) = (BTreeSet::new(), BTreeSet::new());
    for container in pod.containers() {
        let handlers = HANDLERS.iter().filter_map(|path| container.at(path));
        let of = |handler| {
            ["httpGet", "tcpSocket"].into_iter().filter_map(move |action| Value::str_at(handler, &[action, "host"]))
        };
        let own: Vec<&str> = handlers.flat_map(of).filter(|host| !host.is_empty()).collect();
        if !own.is_empty() {
            names.insert(name(container));
            hosts.extend(own);
        }
    }
    let names: Vec<&str> = names.into_iter().collect();
    let who = (!names.is_empty()).then(|| containers(&names))?;
    let uses = plural("uses", "use", names.len());
    let what = plural("probe or lifecycle host", "probe or lifecycle hosts", hosts.len());
    Some(format!("probe or lifecycle host ({who} {uses} {what} {})", quoted(hosts)))
}

/// `privileged_1_0`
pub fn privileged(pod: &CheckedPod<'_>) -> Option<String> {
    let names = pod.names_of(|container| security(container, "privileged").and_then(Value::as_bool) == Some(true));
    let who = (!names.is_empty()).then(|| containers(&names))?;
    Some(format!("privileged ({who} must not set securityContext.privileged=true)"))
}

/// `procMount_1_0` and `procMount1_35baseline`
pub fn proc_mount(pod: &CheckedPod<'_>) -> Option<String> {
    if pod.version >= 35 && pod.has_user_namespace() {
        return None;
    }
    any_proc_mount(pod)
}

/// `procMount_1_0`
pub fn any_proc_mount(pod: &CheckedPod<'_>) -> Option<String> {
    let mut types = BTreeSet::new();
    let names = pod.names_of(|container| {
        let own = security(container, "procMount").and_then(Value::as_str).filter(|mount| *mount != "Default");
        types.extend(own);
        own.is_some()
    });
    let who = (!names.is_empty()).then(|| containers(&names))?;
    Some(format!("procMount ({who} must not set securityContext.procMount to {})", quoted(types)))
}

/// `seLinuxOptions`
pub fn se_linux(pod: &CheckedPod<'_>) -> Option<String> {
    let is_allowed = |type_: &str| match type_ {
        "" | "container_t" | "container_init_t" | "container_kvm_t" => true,
        "container_engine_t" => pod.version >= 31,
        _ => false,
    };
    let (mut types, mut sets_user, mut sets_role) = (BTreeSet::new(), false, false);
    let mut is_bad = |object: &Value| {
        let Some(options) = security(object, "seLinuxOptions") else { return false };
        let text = |key: &str| options.str_at(&[key]).unwrap_or_default();
        let (type_, has_user, has_role) = (text("type"), !text("user").is_empty(), !text("role").is_empty());
        types.extend((!is_allowed(type_)).then(|| type_.to_owned()));
        sets_user |= has_user;
        sets_role |= has_role;
        !is_allowed(type_) || has_user || has_role
    };
    let of_pod = is_bad(pod.spec);
    let names = pod.names_of(is_bad);
    let who = setters(of_pod, &names)?;
    let mut what = Vec::new();
    what.extend((!types.is_empty()).then(|| format!("{} {}", plural("type", "types", types.len()), quoted(&types))));
    what.extend(sets_user.then(|| "user may not be set".to_owned()));
    what.extend(sets_role.then(|| "role may not be set".to_owned()));
    Some(format!("seLinuxOptions ({who} set forbidden securityContext.seLinuxOptions: {})", what.join("; ")))
}

/// `seccompProfileBaseline_1_0` and `seccompProfileBaseline_1_19`
pub fn seccomp(pod: &CheckedPod<'_>) -> Option<String> {
    if pod.version < 19 { seccomp_annotations(pod) } else { bad_seccomp_profiles(pod) }
}

/// The profiles that a Pod must not set, if it sets any.
pub fn bad_seccomp_profiles(pod: &CheckedPod<'_>) -> Option<String> {
    let mut types = BTreeSet::new();
    let mut is_bad = |object: &Value| {
        let bad = seccomp_type(object).filter(|type_| !is_seccomp_type(type_));
        types.extend(bad.map(str::to_owned));
        bad.is_some()
    };
    let of_pod = is_bad(pod.spec);
    let who = setters(of_pod, &pod.names_of(is_bad))?;
    Some(format!("seccompProfile ({who} must not set securityContext.seccompProfile.type to {})", quoted(types)))
}

/// The type of the profile of a Pod or container.
pub fn seccomp_type(object: &Value) -> Option<&str> {
    security(object, "seccompProfile").map(|profile| profile.str_at(&["type"]).unwrap_or_default())
}

/// `validSeccomp`
pub fn is_seccomp_type(type_: &str) -> bool {
    matches!(type_, "Localhost" | "RuntimeDefault")
}

fn seccomp_annotations(pod: &CheckedPod<'_>) -> Option<String> {
    let of_containers =
        pod.containers().map(|own| format!("container.seccomp.security.alpha.kubernetes.io/{}", name(own)));
    let keys: BTreeSet<String> = of_containers.chain(["seccomp.security.alpha.kubernetes.io/pod".to_owned()]).collect();
    let is_allowed =
        |value: &str| matches!(value, "runtime/default" | "docker/default") || value.starts_with("localhost/");
    let annotations = pod.annotations().filter(|(key, value)| keys.contains(*key) && !is_allowed(value));
    let forbidden: BTreeSet<String> = annotations.map(assignment).collect();
    let annotations = plural("annotation", "annotations", forbidden.len());
    let forbidden = forbidden.into_iter().collect::<Vec<_>>().join(", ");
    (!forbidden.is_empty()).then(|| format!("seccompProfile (forbidden {annotations} {forbidden})"))
}

/// `sysctls`
pub fn sysctls(pod: &CheckedPod<'_>) -> Option<String> {
    let is_allowed = |name: &str| SYSCTLS.iter().any(|(allowed, since)| *allowed == name && *since <= pod.version);
    let own = pod.spec.get("securityContext").into_iter().flat_map(|context| items(context, "sysctls")).map(name);
    let forbidden: Vec<&str> = own.filter(|name| !is_allowed(name)).collect();
    (!forbidden.is_empty()).then(|| format!("forbidden sysctls ({})", forbidden.join(", ")))
}

/// `windowsHostProcess_1_0`
pub fn host_process(pod: &CheckedPod<'_>) -> Option<String> {
    let is_bad = |object: &Value| {
        let options = security(object, "windowsOptions");
        options.and_then(|options| options.get("hostProcess")).and_then(Value::as_bool) == Some(true)
    };
    let who = setters(is_bad(pod.spec), &pod.names_of(is_bad))?;
    Some(format!("hostProcess ({who} must not set securityContext.windowsOptions.hostProcess=true)"))
}

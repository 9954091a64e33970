//! The checks that only the level `restricted` has (`policy/check_*.go`).

use super::baseline::{add_capabilities, any_proc_mount, bad_seccomp_profiles, is_seccomp_type, seccomp_type};
use super::checked_pod::{CheckedPod, containers, items, name, plural, quoted, security, setters};
use crdx_value::Value;
use std::collections::BTreeSet;

/// The sources of volumes that are allowed.
const VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// The other sources of volumes; if a volume has several of them, the first one is named.
const RESTRICTED_VOLUMES: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

/// `allowPrivilegeEscalation_1_8` and `allowPrivilegeEscalation_1_25`
pub fn privilege_escalation(pod: &CheckedPod<'_>) -> Option<String> {
    if pod.version >= 25 && pod.is_windows() {
        return None;
    }
    let names = pod
        .names_of(|container| security(container, "allowPrivilegeEscalation").and_then(Value::as_bool) != Some(false));
    let who = (!names.is_empty()).then(|| containers(&names))?;
    Some(format!("allowPrivilegeEscalation != false ({who} must set securityContext.allowPrivilegeEscalation=false)"))
}

/// `capabilitiesRestricted_1_22` and `capabilitiesRestricted_1_25`
pub fn capabilities(pod: &CheckedPod<'_>) -> Option<String> {
    if pod.version >= 25 && pod.is_windows() {
        return None;
    }
    let keeps = pod.names_of(|container| {
        let own = security(container, "capabilities");
        !own.into_iter().flat_map(|own| items(own, "drop")).any(|dropped| dropped.as_str() == Some("ALL"))
    });
    let mut added = BTreeSet::new();
    let adds = pod.names_of(|container| add_capabilities(container, &mut added, |name| name == "NET_BIND_SERVICE"));
    let mut details = Vec::new();
    if !keeps.is_empty() {
        details.push(format!("{} must set securityContext.capabilities.drop=[\"ALL\"]", containers(&keeps)));
    }
    if !adds.is_empty() {
        let (who, what) = (containers(&adds), quoted(added));
        details.push(format!("{who} must not include {what} in securityContext.capabilities.add"));
    }
    (!details.is_empty()).then(|| format!("unrestricted capabilities ({})", details.join("; ")))
}

/// `CheckProcMountRestricted`
pub fn proc_mount(pod: &CheckedPod<'_>) -> Option<String> {
    any_proc_mount(pod)
}

/// `restrictedVolumes_1_0`
pub fn volumes(pod: &CheckedPod<'_>) -> Option<String> {
    // Servers before 1.33 do not allow images.
    let is_allowed = |source: &&str| *source != "image" || pod.binary >= 33;
    let is_bad = |volume: &&Value| !VOLUMES.iter().filter(|s| is_allowed(s)).any(|source| volume.get(source).is_some());
    let bad: Vec<&Value> = items(pod.spec, "volumes").filter(is_bad).collect();
    let source = |volume: &&Value| {
        let restricted = RESTRICTED_VOLUMES.into_iter().find(|source| volume.get(source).is_some());
        restricted.unwrap_or("unknown")
    };
    let types: BTreeSet<&str> = bad.iter().map(source).collect();
    let (volumes, uses) = (plural("volume", "volumes", bad.len()), plural("uses", "use", bad.len()));
    let what = plural("restricted volume type", "restricted volume types", types.len());
    let names = quoted(bad.iter().map(|volume| name(volume)));
    (!bad.is_empty()).then(|| format!("restricted volume types ({volumes} {names} {uses} {what} {})", quoted(types)))
}

/// `runAsNonRoot1_0` and `runAsNonRoot1_35`
pub fn run_as_non_root(pod: &CheckedPod<'_>) -> Option<String> {
    if pod.version >= 35 && pod.has_user_namespace() {
        return None;
    }
    let own = |object| security(object, "runAsNonRoot").and_then(Value::as_bool);
    let of_pod = own(pod.spec);
    let bad = pod.names_of(|container| own(container) == Some(false));
    if let Some(who) = setters(of_pod == Some(false), &bad) {
        return Some(format!("runAsNonRoot != true ({who} must not set securityContext.runAsNonRoot=false)"));
    }
    let unset = pod.names_of(|container| own(container).is_none() && of_pod != Some(true));
    let who = (!unset.is_empty()).then(|| containers(&unset))?;
    Some(format!("runAsNonRoot != true (pod or {who} must set securityContext.runAsNonRoot=true)"))
}

/// `runAsUser1_23` and `runAsUser1_35`
pub fn run_as_user(pod: &CheckedPod<'_>) -> Option<String> {
    if pod.version >= 35 && pod.has_user_namespace() {
        return None;
    }
    let is_root = |object: &Value| security(object, "runAsUser").and_then(Value::as_int) == Some(0);
    let who = setters(is_root(pod.spec), &pod.names_of(is_root))?;
    Some(format!("runAsUser=0 ({who} must not set runAsUser=0)"))
}

/// `seccompProfileRestricted_1_19` and `seccompProfileRestricted_1_25`
pub fn seccomp(pod: &CheckedPod<'_>) -> Option<String> {
    if pod.version >= 25 && pod.is_windows() {
        return None;
    }
    if let Some(bad) = bad_seccomp_profiles(pod) {
        return Some(bad);
    }
    let is_set = seccomp_type(pod.spec).is_some_and(is_seccomp_type);
    let unset = pod.names_of(|container| seccomp_type(container).is_none() && !is_set);
    let who = (!unset.is_empty()).then(|| containers(&unset))?;
    Some(format!(
        "seccompProfile (pod or {who} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")"
    ))
}

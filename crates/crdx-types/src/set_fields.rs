//! The fields that the API server may set or drop by itself: by defaulting, conversion, a registry strategy or an
//! admission plugin.
//!
//! `set_fields.txt`, which `scripts/builtin-types/set-fields.sh` generates from the server's source, lists the
//! lowercase names of all fields that such code assigns in any release and type. It has two lists, each a line followed
//! by indented names: `set`, fields that may get a value, and `drop`, fields that may lose theirs. This module adds the
//! types for which such a name was found to mean another type's field.

use std::collections::BTreeSet;
use std::sync::OnceLock;

const TEXT: &str = include_str!("set_fields.txt");

/// Fields of workloads that the server never sets, although a field of the same name is assigned elsewhere.
const NEVER_SET: &[(&str, &str)] = &[
    // Only converted from and to the internal security context of a Pod.
    ("core/v1.PodSpec", "hostIPC"),
    ("core/v1.PodSpec", "hostNetwork"),
    ("core/v1.PodSpec", "hostPID"),
    // Assigned on a resize only.
    ("core/v1.PodSpec", "initContainers"),
    // The default is that of a Pod's own security context.
    ("core/v1.Container", "securityContext"),
];

/// Fields of workloads that the server never drops, although a field of the same name is dropped elsewhere.
const NEVER_DROPPED: &[(&str, &str)] = &[
    ("apps/v1.DeploymentSpec", "strategy"),
    ("core/v1.Container", "resources"),
    ("core/v1.Container", "volumeMounts"),
    ("core/v1.ContainerPort", "protocol"),
    ("core/v1.PodSpec", "nodeName"),
    ("core/v1.PodSpec", "nodeSelector"),
    ("core/v1.PodSpec", "priorityClassName"),
    ("core/v1.PodSpec", "restartPolicy"),
    ("core/v1.PodSpec", "tolerations"),
    ("core/v1.ServicePort", "nodePort"),
    ("core/v1.ServicePort", "protocol"),
    ("core/v1.ServiceSpec", "externalName"),
    ("core/v1.ServiceSpec", "externalTrafficPolicy"),
    ("networking/v1.IngressBackend", "service"),
    ("networking/v1.NetworkPolicyPort", "protocol"),
];

/// Returns true if the server may set a field that is absent, or zero; `type_` is its name in the table of types.
pub fn may_be_set(type_: &str, field: &str) -> bool {
    lists().set.contains(field.to_ascii_lowercase().as_str()) && !NEVER_SET.contains(&(type_, field))
}

/// Returns true if the server may drop or replace the value of a field.
pub fn may_be_dropped(type_: &str, field: &str) -> bool {
    lists().drop.contains(field.to_ascii_lowercase().as_str()) && !NEVER_DROPPED.contains(&(type_, field))
}

struct Lists {
    set: BTreeSet<&'static str>,
    drop: BTreeSet<&'static str>,
}

fn lists() -> &'static Lists {
    static LISTS: OnceLock<Lists> = OnceLock::new();
    LISTS.get_or_init(|| {
        let list = |title: &str| {
            let lines = TEXT.lines().skip_while(|line| *line != title).skip(1);
            lines.map_while(|line| line.strip_prefix(' ')).collect()
        };
        Lists { set: list("set"), drop: list("drop") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_defaulting_sets_are_listed() {
        // Fields of SetDefaults_* functions, of `+default` markers, of strategies and of admission plugins.
        for field in [
            "replicas",
            "imagePullPolicy",
            "terminationMessagePath",
            "dnsPolicy",
            "revisionHistoryLimit",
            "protocol",
            "backoffLimit",
            "suspend",
            "clusterIP",
            "ipFamilies",
            "sessionAffinity",
            "volumeMounts",
            "serviceAccountName",
            "ingressClassName",
            "storageClassName",
            "volumeMode",
            "policyTypes",
            "priority",
            "defaultMode",
            "automountServiceAccountToken",
        ] {
            assert_eq!(may_be_set("t", field), field != "automountServiceAccountToken", "{field}");
        }
        assert!(!may_be_set("core/v1.Container", "livenessProbe") && !may_be_set("core/v1.PodSpec", "hostNetwork"));
        assert!(
            may_be_set("core/v1.PodSpec", "securityContext") && !may_be_set("core/v1.Container", "securityContext")
        );
        assert!(may_be_dropped("core/v1.PodSpec", "hostUsers") && !may_be_dropped("core/v1.Container", "image"));
    }
}

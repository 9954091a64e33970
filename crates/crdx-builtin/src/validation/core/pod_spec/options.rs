//! Differences between Pod specifications: whose they are, and what an existing object already contains
//! (`PodValidationOptions`, `GetValidationOptionsFromPodSpecAndMeta` in `pkg/api/pod`).

use super::each_container;
use crate::validation::core::resources;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{
    formats,
    selectors::{self, LabelValues},
};
use crdx_types::amounts::is_huge_page;
use crdx_value::Value;
use crdx_value::field::{FieldPath, ROOT, names};
use crdx_value::release::{Release, V1_33, V1_35, V1_37, V1_38};

/// The object whose specification is validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodSpecOwner {
    Pod,
    /// The template of a workload.
    Template,
}

/// What the validation of a Pod specification depends on. An error that the existing specification already has is
/// tolerated where a field of this struct says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct PodOptions {
    /// True for a Pod, false for a template.
    pub is_pod: bool,
    /// `AllowIndivisibleHugePagesValues`
    pub allows_indivisible_huge_pages: bool,
    /// `AllowInvalidLabelValueInSelector`
    pub allows_invalid_affinity_selectors: bool,
    /// `AllowInvalidLabelValueInRequiredNodeAffinity`
    pub allows_invalid_node_affinity: bool,
    /// `AllowInvalidTopologySpreadConstraintLabelSelector`
    pub allows_invalid_spread_selectors: bool,
    /// `AllowNonLocalProjectedTokenPath`
    pub allows_token_paths_outside: bool,
    /// `AllowNamespacedSysctlsForHostNetAndHostIPC`
    pub allows_host_sysctls: bool,
    /// `AllowUserNamespacesWithVolumeDevices`
    pub allows_devices_in_user_namespaces: bool,
    /// `AllowUserNamespacesHostNetworkSupport`, without the gate that allows it
    pub allows_network_in_user_namespaces: bool,
    /// `AllowInvalidPodDeletionCost`
    pub allows_invalid_deletion_cost: bool,
    /// `AllowSysAdminWhenPrivilegeEscalationFalse`
    pub allows_sys_admin: bool,
    /// `AllowEmptyImageVolumeReference`
    pub allows_empty_image_volumes: bool,
    /// `AllowOnlyRecursiveSELinuxChangePolicy` is false because the existing specification has a policy.
    pub has_selinux_change_policy: bool,
    /// `AllowMLDSAPodCertificateKeyTypes`, without the gate that allows them
    pub has_ml_dsa_keys: bool,
    /// `AllowExistingRestartContainerForNonSidecarInitContainer`
    pub allows_restart_of_init_containers: bool,
}

impl PodOptions {
    /// The options for a new specification.
    fn new(owner: PodSpecOwner) -> Self {
        Self { is_pod: owner == PodSpecOwner::Pod, ..Self::default() }
    }

    /// The options for an update: `old` is the existing specification, `metadata` that of its Pod or template.
    pub(crate) fn for_update(
        owner: PodSpecOwner,
        old: Option<&Value>,
        metadata: Option<&Value>,
        release: Release,
    ) -> Self {
        // Values of labels are validated since 1.33.
        let ignores_node_values = !release.since(V1_33);
        let Some(old) = old else {
            return Self { allows_invalid_node_affinity: ignores_node_values, ..Self::new(owner) };
        };
        let spec = FieldValue::new(Some(old), ROOT);
        let host_users = spec.child("hostUsers").value.as_bool().unwrap_or(true);
        let affinity = spec.child("affinity");
        let node_affinity = affinity.child("nodeAffinity");
        let mut options = Self {
            is_pod: owner == PodSpecOwner::Pod,
            allows_invalid_affinity_selectors: has_invalid_selector(&affinity, release),
            allows_invalid_node_affinity: ignores_node_values || has_invalid_node_values(&node_affinity, release),
            allows_invalid_spread_selectors: spec.child("topologySpreadConstraints").items().any(|constraint| {
                let mut errors = Errors::new(release);
                selectors::label_selector(&mut errors, &constraint.child("labelSelector"), LabelValues::Validate);
                !errors.list.is_empty()
            }),
            allows_network_in_user_namespaces: release.since(V1_35) && !host_users && spec.child("hostNetwork").bool(),
            has_ml_dsa_keys: has_ml_dsa_keys(&spec),
            allows_token_paths_outside: has_token_path_outside(&spec, release),
            has_selinux_change_policy: spec.child("securityContext").child("seLinuxChangePolicy").is_set(),
            allows_host_sysctls: super::security_context::uses_host_sysctls(&spec),
            allows_invalid_deletion_cost: super::annotations::deletion_cost(metadata).is_err(),
            ..Self::default()
        };
        options.allows_indivisible_huge_pages =
            release.since(V1_38) && has_indivisible_huge_pages(&spec.child("resources"), release);
        each_container(&spec, |container| {
            options.allows_devices_in_user_namespaces |= !host_users && container.child("volumeDevices").len() > 0;
            options.allows_sys_admin |=
                release.since(V1_37) && super::security_context::adds_sys_admin(&container.child("securityContext"));
            options.allows_indivisible_huge_pages |= has_indivisible_huge_pages(&container.child("resources"), release);
        });
        options.allows_empty_image_volumes = spec.child("volumes").items().any(|volume| {
            let image = volume.child("image");
            image.is_set() && image.child("reference").text().is_empty()
        });
        options.allows_restart_of_init_containers = spec.child("initContainers").items().any(|container| {
            container.child("restartPolicy").text() != "Always"
                && container
                    .child("resizePolicy")
                    .items()
                    .any(|p| p.child("restartPolicy").text() == "RestartContainer")
        });
        options
    }
}

fn has_invalid_selector(affinity: &FieldValue<'_, '_>, release: Release) -> bool {
    let errors = Errors::new(release);
    ["podAffinity", "podAntiAffinity"].into_iter().any(|name| {
        let affinity = affinity.child(name);
        let required = affinity.child("requiredDuringSchedulingIgnoredDuringExecution");
        let preferred = affinity.child("preferredDuringSchedulingIgnoredDuringExecution");
        let is_invalid =
            |term: &FieldValue<'_, '_>| selectors::has_invalid_value(&term.child("labelSelector"), &errors);
        required.items().any(|term| is_invalid(&term))
            || preferred.items().any(|term| is_invalid(&term.child("podAffinityTerm")))
    })
}

fn has_invalid_node_values(node_affinity: &FieldValue<'_, '_>, release: Release) -> bool {
    let required = node_affinity.child("requiredDuringSchedulingIgnoredDuringExecution");
    required.child("nodeSelectorTerms").items().any(|term| {
        let expressions = term.child("matchExpressions");
        expressions.items().any(|expression| {
            let values = expression.child("values");
            values.texts().any(|value| !names::label_value(value, release).is_empty())
        })
    })
}

/// `hasMLDSAPodCertificateProjection`
fn has_ml_dsa_keys(spec: &FieldValue<'_, '_>) -> bool {
    spec.child("volumes").items().any(|volume| {
        let projected = volume.child("projected");
        projected.child("sources").items().any(|source| {
            let certificate = source.child("podCertificate");
            matches!(certificate.child("keyType").text(), "MLDSA44" | "MLDSA65" | "MLDSA87")
        })
    })
}

fn has_token_path_outside(spec: &FieldValue<'_, '_>, release: Release) -> bool {
    let path = FieldPath::new("path");
    spec.child("volumes").items().any(|volume| {
        let projected = volume.child("projected");
        projected.child("sources").items().any(|source| {
            let mut errors = Errors::new(release);
            let token = source.child("serviceAccountToken");
            formats::local_path(&mut errors, &FieldValue { path, ..token.child("path") });
            !errors.list.is_empty()
        })
    })
}

fn has_indivisible_huge_pages(requirements: &FieldValue<'_, '_>, release: Release) -> bool {
    ["limits", "requests"].into_iter().any(|name| {
        let list = requirements.child(name);
        list.entries().any(|(name, value)| is_huge_page(name) && !resources::is_divisible(name, &value, release))
    })
}

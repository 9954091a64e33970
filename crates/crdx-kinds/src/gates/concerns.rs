//! The objects that feature gates concern whose state is not simulated, or whose fields are dropped as the server drops them,
//! but are not validated.

use crate::features::paths::Path;

/// The state of a gate in which its effect is not simulated.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    On,
    Off,
    Any,
}

/// Objects, by group and kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Objects {
    /// All of a group.
    Group(&'static str),
    /// All of a kind.
    Kind(&'static str, &'static str),
    /// Those of a kind with a field.
    With(&'static str, &'static str, Path),
    /// Those with a Pod specification that has a field.
    Pods(Path),
}

/// The objects that a gate concerns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Concern {
    pub gate: &'static str,
    pub state: State,
    pub objects: Objects,
}

const fn on(gate: &'static str, objects: Objects) -> Concern {
    Concern { gate, state: State::On, objects }
}

const fn off(gate: &'static str, objects: Objects) -> Concern {
    Concern { gate, state: State::Off, objects }
}

const fn any(gate: &'static str, objects: Objects) -> Concern {
    Concern { gate, state: State::Any, objects }
}

const CONTAINERS: &str = "containers|initContainers|ephemeralContainers";
const PROBES: &str = "livenessProbe|readinessProbe|startupProbe";
const RESOURCE: Objects = Objects::Group("resource.k8s.io");
const ADMISSION: &str = "admissionregistration.k8s.io";
const CLAIM: &str = "PersistentVolumeClaim";

pub(super) const CONCERNS: &[Concern] = &[
    any("AdmissionWebhookMatchConditions", Objects::Kind(ADMISSION, "ValidatingWebhookConfiguration")),
    any("AdmissionWebhookMatchConditions", Objects::Kind(ADMISSION, "MutatingWebhookConfiguration")),
    on("AllowOverwriteTerminationGracePeriodSeconds", Objects::Pods(&["terminationGracePeriodSeconds"])),
    any("AllowServiceExternalIPs", Objects::With("", "Service", &["spec", "externalIPs"])),
    off("AllowServiceLBStatusOnNonLB", Objects::With("", "Service", &["status", "loadBalancer"])),
    off("AnyVolumeDataSource", Objects::With("", CLAIM, &["spec", "dataSourceRef"])),
    off("AppArmor", Objects::Pods(&["securityContext", "appArmorProfile"])),
    off("AppArmorFields", Objects::Pods(&["securityContext", "appArmorProfile"])),
    off("AppArmorFields", Objects::Pods(&[CONTAINERS, "*", "securityContext", "appArmorProfile"])),
    on("AppArmorFields", Objects::Pods(&["securityContext", "appArmorProfile"])),
    on("AppArmorFields", Objects::Pods(&[CONTAINERS, "*", "securityContext", "appArmorProfile"])),
    off("CSINodeExpandSecret", Objects::With("", "PersistentVolume", &["spec", "csi", "nodeExpandSecretRef"])),
    any("AuthorizeWithSelectors", Objects::Kind(ADMISSION, "ValidatingAdmissionPolicy")),
    on("CSIVolumeHealth", Objects::With("", CLAIM, &["status", "healthStatus"])),
    on("CSIVolumeHealth", Objects::With("", "Pod", &["status", "volumeHealth"])),
    on("CSIVolumeHealth", Objects::With("storage.k8s.io", "CSINode", &["status"])),
    any(
        "CRDObservedGenerationTracking",
        Objects::With("apiextensions.k8s.io", "CustomResourceDefinition", &["status"]),
    ),
    any("CertificateSigningRequestMLDSA", Objects::Kind("certificates.k8s.io", "CertificateSigningRequest")),
    any("ClusterTrustBundle", Objects::Kind("certificates.k8s.io", "ClusterTrustBundle")),
    any("CompositePodGroup", Objects::Group("scheduling.k8s.io")),
    on("ContainerRestartRules", Objects::Pods(&[CONTAINERS, "*", "restartPolicy"])),
    any("CoordinatedLeaderElection", Objects::Group("coordination.k8s.io")),
    off("CronJobsScheduledAnnotation", Objects::With("batch", "CronJob", &["metadata", "annotations"])),
    on("CrossNamespaceVolumeDataSource", Objects::With("", CLAIM, &["spec", "dataSourceRef", "namespace"])),
    any("DRAAdminAccess", RESOURCE),
    on("DRAConsumableCapacity", RESOURCE),
    on("DRADerivedAttributes", RESOURCE),
    on("DRADeviceBindingConditions", RESOURCE),
    on("DRADeviceCompatibilityGroups", RESOURCE),
    any("DRADeviceTaintRules", Objects::Kind("resource.k8s.io", "DeviceTaintRule")),
    on("DRADeviceTaints", RESOURCE),
    on("DRAExtendedResource", RESOURCE),
    any("DRAFractionalCapacityRange", Objects::Kind("resource.k8s.io", "ResourceSlice")),
    on("DRAListTypeAttributes", RESOURCE),
    on("DRANodeAllocatableResources", RESOURCE),
    on("DRAOptionalNodeOperations", RESOURCE),
    on("DRAPartitionableDevices", RESOURCE),
    on("DRAPartitionableDevicesType", RESOURCE),
    any("DRAPrioritizedList", RESOURCE),
    any("DRAResourceClaimDeviceStatus", Objects::With("resource.k8s.io", "ResourceClaim", &["status", "devices"])),
    any("DRAResourceClaimGranularStatusAuthorization", Objects::With("resource.k8s.io", "ResourceClaim", &["status"])),
    any("DRAResourcePoolStatus", Objects::Kind("resource.k8s.io", "ResourcePoolStatusRequest")),
    any("DRAWorkloadResourceClaims", Objects::Group("scheduling.k8s.io")),
    any("DRAWorkloadResourceClaims", Objects::Kind("resource.k8s.io", "ResourceClaim")),
    any("DefaultHostNetworkHostPortsInPodTemplates", Objects::Pods(&["hostNetwork"])),
    on("DefaultPodSysctls", Objects::Pods(&["securityContext", "sysctls"])),
    any("DynamicResourceAllocation", RESOURCE),
    on("DynamicResourceAllocation", Objects::Pods(&["resourceClaims"])),
    any("ElasticIndexedJob", Objects::With("batch", "Job", &["spec", "completionMode"])),
    any("EvictionRequestAPI", Objects::Group("lifecycle.k8s.io")),
    on("EvictionRequestAPI", Objects::Pods(&["evictionResponders"])),
    any("ExcludeAdmissionWebhookVirtualResources", Objects::Kind(ADMISSION, "MutatingWebhookConfiguration")),
    any("ExcludeAdmissionWebhookVirtualResources", Objects::Kind(ADMISSION, "ValidatingWebhookConfiguration")),
    any("GangScheduling", Objects::Group("scheduling.k8s.io")),
    any("GenericWorkload", Objects::Group("scheduling.k8s.io")),
    on("GenericWorkload", Objects::Pods(&["schedulingGroup"])),
    on("GenericWorkload", Objects::Pods(&["workloadRef"])),
    any("GitRepoVolumeDriver", Objects::Pods(&["volumes", "*", "gitRepo"])),
    any("HPAContainerMetrics", Objects::Kind("autoscaling", "HorizontalPodAutoscaler")),
    any("ImageVolumeWithDigest", Objects::Pods(&["volumes", "*", "image"])),
    on("InPlacePodLevelResourcesVerticalScaling", Objects::With("", "Pod", &["spec", "resources"])),
    any("InPlacePodVerticalScaling", Objects::Pods(&[CONTAINERS, "*", "resizePolicy"])),
    any("InPlacePodVerticalScalingAllocatedStatus", Objects::With("", "Pod", &["status"])),
    on("InPlacePodVerticalScalingMemoryBackedVolumes", Objects::Kind("", "Pod")),
    on("InPlacePodVerticalScalingSchedulerPreemption", Objects::With("", "Node", &["spec", "podPreemptionPolicy"])),
    any("JobBackoffLimitPerIndex", Objects::With("batch", "Job", &["spec", "backoffLimitPerIndex"])),
    any("JobPodFailurePolicy", Objects::With("batch", "Job", &["spec", "podFailurePolicy"])),
    any("JobPodReplacementPolicy", Objects::With("batch", "Job", &["spec", "podReplacementPolicy"])),
    any("KubeletInUserNamespace", Objects::With("", "Node", &["status", "nodeInfo", "runningInUserNamespace"])),
    any("LoadBalancerIPMode", Objects::With("", "Service", &["status", "loadBalancer"])),
    any("LocalStorageCapacityIsolationFSQuotaMonitoring", Objects::Pods(&["volumes", "*", "emptyDir", "sizeLimit"])),
    any("LegacySidecarContainers", Objects::Pods(&["initContainers", "*", "restartPolicy"])),
    on("MatchLabelKeysInPodAffinity", Objects::Pods(&["affinity"])),
    any("MinDomainsInPodTopologySpread", Objects::Pods(&["topologySpreadConstraints", "*", "minDomains"])),
    any("MultiCIDRServiceAllocator", Objects::Kind("networking.k8s.io", "ServiceCIDR")),
    any("MultiCIDRServiceAllocator", Objects::Kind("networking.k8s.io", "IPAddress")),
    any("MultiCIDRServiceAllocator", Objects::With("", "Service", &["spec", "clusterIP"])),
    on("MutableCSINodeAllocatableCount", Objects::Group("storage.k8s.io")),
    any("MutatingAdmissionPolicy", Objects::Kind(ADMISSION, "MutatingAdmissionPolicy")),
    any("MutatingAdmissionPolicy", Objects::Kind(ADMISSION, "MutatingAdmissionPolicyBinding")),
    any("NodeLifecycleConditions", Objects::Kind("", "Node")),
    any("PDBUnhealthyPodEvictionPolicy", Objects::Kind("policy", "PodDisruptionBudget")),
    any("PersistentVolumeClaimUnusedSinceTime", Objects::With("", CLAIM, &["status"])),
    any("PersistentVolumeLastPhaseTransitionTime", Objects::With("", "PersistentVolume", &["status"])),
    any("PodCertificateMLDSA", Objects::Pods(&["volumes", "*", "projected", "sources", "*", "podCertificate"])),
    any("PodCertificateMLDSA", Objects::Kind("certificates.k8s.io", "PodCertificateRequest")),
    any("PodCertificateRequest", Objects::Kind("certificates.k8s.io", "PodCertificateRequest")),
    on("PodCertificateRequest", Objects::Pods(&["volumes", "*", "projected", "sources", "*", "podCertificate"])),
    on(
        "ClusterTrustBundleProjection",
        Objects::Pods(&["volumes", "*", "projected", "sources", "*", "clusterTrustBundle"]),
    ),
    any(
        "PodDeletionCost",
        Objects::With("", "Pod", &["metadata", "annotations", "controller.kubernetes.io/pod-deletion-cost"]),
    ),
    any("PodDisruptionConditions", Objects::With("", "Pod", &["status"])),
    any("PodGroupPreemptionPolicy", Objects::Group("scheduling.k8s.io")),
    any("PodHostIPs", Objects::With("", "Pod", &["status"])),
    on("PodLevelResources", Objects::Pods(&["resources"])),
    any("PodLifecycleSleepAction", Objects::Pods(&[CONTAINERS, "*", "lifecycle", "postStart|preStop", "sleep"])),
    any(
        "PodLifecycleSleepActionAllowZero",
        Objects::Pods(&[CONTAINERS, "*", "lifecycle", "postStart|preStop", "sleep"]),
    ),
    any("PodSchedulingReadiness", Objects::Pods(&["schedulingGates"])),
    any(
        "PreventStaticPodAPIReferences",
        Objects::With("", "Pod", &["metadata", "annotations", "kubernetes.io/config.mirror"]),
    ),
    any("ProbeHostPodSecurityStandards", Objects::Pods(&[CONTAINERS, "*", PROBES])),
    any("ReadWriteOncePod", Objects::Kind("", CLAIM)),
    any("ReadWriteOncePod", Objects::Kind("", "PersistentVolume")),
    on("RecoverVolumeExpansionFailure", Objects::With("", CLAIM, &["status"])),
    any("RelaxedDNSSearchValidation", Objects::Pods(&["dnsConfig", "searches"])),
    any("ResourceHealthStatusMessage", Objects::With("", "Pod", &["status"])),
    any("SELinuxMountReadWriteOncePod", Objects::Kind("storage.k8s.io", "CSIDriver")),
    on("RestartAllContainersOnContainerExits", Objects::With("", "Pod", &["status"])),
    any("SecurityProfileOCI", Objects::Pods(&["securityContext", "seccompProfile"])),
    any("SecurityProfileOCI", Objects::Pods(&[CONTAINERS, "*", "securityContext", "seccompProfile"])),
    any("SidecarContainers", Objects::Pods(&["initContainers", "*", "restartPolicy"])),
    any("SkipReadOnlyValidationGCE", Objects::Kind("", "PersistentVolume")),
    any(
        "StatefulSetAutoDeletePVC",
        Objects::With("apps", "StatefulSet", &["spec", "persistentVolumeClaimRetentionPolicy"]),
    ),
    any("StatefulSetStartOrdinal", Objects::With("apps", "StatefulSet", &["spec", "ordinals"])),
    any("StorageVersionAPI", Objects::Group("internal.apiserver.k8s.io")),
    any("StorageVersionMigrator", Objects::Group("storagemigration.k8s.io")),
    any("StrictCostEnforcementForVAP", Objects::Kind(ADMISSION, "ValidatingAdmissionPolicy")),
    any("StrictCostEnforcementForWebhooks", Objects::Kind(ADMISSION, "ValidatingWebhookConfiguration")),
    any("StrictCostEnforcementForWebhooks", Objects::Kind(ADMISSION, "MutatingWebhookConfiguration")),
    any("TopologyAwareWorkloadScheduling", Objects::Group("scheduling.k8s.io")),
    on("UserNamespacesHostNetworkSupport", Objects::Pods(&["hostUsers"])),
    any("UserNamespacesPodSecurityStandards", Objects::Pods(&["hostUsers"])),
    any("ValidatingAdmissionPolicy", Objects::Kind(ADMISSION, "ValidatingAdmissionPolicy")),
    any("ValidatingAdmissionPolicy", Objects::Kind(ADMISSION, "ValidatingAdmissionPolicyBinding")),
    any("VolumeAttributesClass", Objects::Kind("storage.k8s.io", "VolumeAttributesClass")),
    any("VolumeAttributesClass", Objects::With("", CLAIM, &["spec", "volumeAttributesClassName"])),
    any("VolumeAttributesClass", Objects::With("", "PersistentVolume", &["spec", "volumeAttributesClassName"])),
    on("VolumeLimitScaling", Objects::Kind("storage.k8s.io", "CSIDriver")),
    any("WorkloadAwarePreemption", Objects::Group("scheduling.k8s.io")),
    on("WorkloadWithJob", Objects::With("batch", "Job", &["spec", "scheduling"])),
    on("WorkloadWithJob", Objects::With("batch", "CronJob", &["spec", "jobTemplate", "spec", "scheduling"])),
    any(
        "ZeroLimitedNominalConcurrencyShares",
        Objects::Kind("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ),
];

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
pub(super) enum ConcernedObjects {
    /// All of a group.
    Group(&'static str),
    /// Those of scheduling.k8s.io, except `PriorityClass`es.
    Workloads,
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
    pub objects: ConcernedObjects,
}

const fn on(gate: &'static str, objects: ConcernedObjects) -> Concern {
    Concern { gate, state: State::On, objects }
}

const fn off(gate: &'static str, objects: ConcernedObjects) -> Concern {
    Concern { gate, state: State::Off, objects }
}

const fn any(gate: &'static str, objects: ConcernedObjects) -> Concern {
    Concern { gate, state: State::Any, objects }
}

const CONTAINERS: &str = "containers|initContainers|ephemeralContainers";
const PROBES: &str = "livenessProbe|readinessProbe|startupProbe";
const RESOURCE: ConcernedObjects = ConcernedObjects::Group("resource.k8s.io");
const ADMISSION: &str = "admissionregistration.k8s.io";
const CLAIM: &str = "PersistentVolumeClaim";

pub(super) const CONCERNS: &[Concern] = &[
    any("AdmissionWebhookMatchConditions", ConcernedObjects::Kind(ADMISSION, "ValidatingWebhookConfiguration")),
    any("AdmissionWebhookMatchConditions", ConcernedObjects::Kind(ADMISSION, "MutatingWebhookConfiguration")),
    on("AllowOverwriteTerminationGracePeriodSeconds", ConcernedObjects::Pods(&["terminationGracePeriodSeconds"])),
    any("AllowServiceExternalIPs", ConcernedObjects::With("", "Service", &["spec", "externalIPs"])),
    off("AllowServiceLBStatusOnNonLB", ConcernedObjects::With("", "Service", &["status", "loadBalancer"])),
    off("AnyVolumeDataSource", ConcernedObjects::With("", CLAIM, &["spec", "dataSourceRef"])),
    off("AppArmor", ConcernedObjects::Pods(&["securityContext", "appArmorProfile"])),
    off("AppArmorFields", ConcernedObjects::Pods(&["securityContext", "appArmorProfile"])),
    off("AppArmorFields", ConcernedObjects::Pods(&[CONTAINERS, "*", "securityContext", "appArmorProfile"])),
    on("AppArmorFields", ConcernedObjects::Pods(&["securityContext", "appArmorProfile"])),
    on("AppArmorFields", ConcernedObjects::Pods(&[CONTAINERS, "*", "securityContext", "appArmorProfile"])),
    off("CSINodeExpandSecret", ConcernedObjects::With("", "PersistentVolume", &["spec", "csi", "nodeExpandSecretRef"])),
    any("AuthorizeWithSelectors", ConcernedObjects::Kind(ADMISSION, "ValidatingAdmissionPolicy")),
    on("CSIVolumeHealth", ConcernedObjects::With("", CLAIM, &["status", "healthStatus"])),
    on("CSIVolumeHealth", ConcernedObjects::With("", "Pod", &["status", "volumeHealth"])),
    on("CSIVolumeHealth", ConcernedObjects::With("storage.k8s.io", "CSINode", &["status"])),
    any(
        "CRDObservedGenerationTracking",
        ConcernedObjects::With("apiextensions.k8s.io", "CustomResourceDefinition", &["status"]),
    ),
    any("ClusterTrustBundle", ConcernedObjects::Kind("certificates.k8s.io", "ClusterTrustBundle")),
    any("CompositePodGroup", ConcernedObjects::Workloads),
    on("ContainerRestartRules", ConcernedObjects::Pods(&[CONTAINERS, "*", "restartPolicy"])),
    any("CoordinatedLeaderElection", ConcernedObjects::Group("coordination.k8s.io")),
    off("CronJobsScheduledAnnotation", ConcernedObjects::With("batch", "CronJob", &["metadata", "annotations"])),
    any("DRAAdminAccess", RESOURCE),
    on("DRAConsumableCapacity", RESOURCE),
    on("DRADerivedAttributes", RESOURCE),
    on("DRADeviceBindingConditions", RESOURCE),
    on("DRADeviceCompatibilityGroups", RESOURCE),
    any("DRADeviceTaintRules", ConcernedObjects::Kind("resource.k8s.io", "DeviceTaintRule")),
    on("DRADeviceTaints", RESOURCE),
    on("DRAExtendedResource", RESOURCE),
    on("DRAListTypeAttributes", RESOURCE),
    on("DRANodeAllocatableResources", RESOURCE),
    on("DRAOptionalNodeOperations", RESOURCE),
    on("DRAPartitionableDevices", RESOURCE),
    on("DRAPartitionableDevicesType", RESOURCE),
    any("DRAPrioritizedList", RESOURCE),
    any(
        "DRAResourceClaimDeviceStatus",
        ConcernedObjects::With("resource.k8s.io", "ResourceClaim", &["status", "devices"]),
    ),
    any(
        "DRAResourceClaimGranularStatusAuthorization",
        ConcernedObjects::With("resource.k8s.io", "ResourceClaim", &["status"]),
    ),
    any("DRAResourcePoolStatus", ConcernedObjects::Kind("resource.k8s.io", "ResourcePoolStatusRequest")),
    any("DRAWorkloadResourceClaims", ConcernedObjects::Workloads),
    any("DRAWorkloadResourceClaims", ConcernedObjects::Kind("resource.k8s.io", "ResourceClaim")),
    any("DefaultHostNetworkHostPortsInPodTemplates", ConcernedObjects::Pods(&["hostNetwork"])),
    on("DefaultPodSysctls", ConcernedObjects::Pods(&["securityContext", "sysctls"])),
    any("DynamicResourceAllocation", RESOURCE),
    on("DynamicResourceAllocation", ConcernedObjects::Pods(&["resourceClaims"])),
    any("ElasticIndexedJob", ConcernedObjects::With("batch", "Job", &["spec", "completionMode"])),
    any("EvictionRequestAPI", ConcernedObjects::Group("lifecycle.k8s.io")),
    on("EvictionRequestAPI", ConcernedObjects::Pods(&["evictionResponders"])),
    any("ExcludeAdmissionWebhookVirtualResources", ConcernedObjects::Kind(ADMISSION, "MutatingWebhookConfiguration")),
    any("ExcludeAdmissionWebhookVirtualResources", ConcernedObjects::Kind(ADMISSION, "ValidatingWebhookConfiguration")),
    any("GangScheduling", ConcernedObjects::Workloads),
    any("GenericWorkload", ConcernedObjects::Workloads),
    on("GenericWorkload", ConcernedObjects::Pods(&["schedulingGroup"])),
    on("GenericWorkload", ConcernedObjects::Pods(&["workloadRef"])),
    any("GitRepoVolumeDriver", ConcernedObjects::Pods(&["volumes", "*", "gitRepo"])),
    any("HPAContainerMetrics", ConcernedObjects::Kind("autoscaling", "HorizontalPodAutoscaler")),
    on("ImageVolumeWithDigest", ConcernedObjects::With("", "Pod", &["status"])),
    on("InPlacePodLevelResourcesVerticalScaling", ConcernedObjects::With("", "Pod", &["spec", "resources"])),
    any("InPlacePodVerticalScaling", ConcernedObjects::Pods(&[CONTAINERS, "*", "resizePolicy"])),
    any("InPlacePodVerticalScalingAllocatedStatus", ConcernedObjects::With("", "Pod", &["status"])),
    on("InPlacePodVerticalScalingMemoryBackedVolumes", ConcernedObjects::Kind("", "Pod")),
    on(
        "InPlacePodVerticalScalingSchedulerPreemption",
        ConcernedObjects::With("", "Node", &["spec", "podPreemptionPolicy"]),
    ),
    any("JobBackoffLimitPerIndex", ConcernedObjects::With("batch", "Job", &["spec", "backoffLimitPerIndex"])),
    any("JobPodFailurePolicy", ConcernedObjects::With("batch", "Job", &["spec", "podFailurePolicy"])),
    any("JobPodReplacementPolicy", ConcernedObjects::With("batch", "Job", &["spec", "podReplacementPolicy"])),
    any(
        "KubeletInUserNamespace",
        ConcernedObjects::With("", "Node", &["status", "nodeInfo", "runningInUserNamespace"]),
    ),
    any("LoadBalancerIPMode", ConcernedObjects::With("", "Service", &["status", "loadBalancer"])),
    any(
        "LocalStorageCapacityIsolationFSQuotaMonitoring",
        ConcernedObjects::Pods(&["volumes", "*", "emptyDir", "sizeLimit"]),
    ),
    any("LegacySidecarContainers", ConcernedObjects::Pods(&["initContainers", "*", "restartPolicy"])),
    on("MatchLabelKeysInPodAffinity", ConcernedObjects::Pods(&["affinity"])),
    any("MinDomainsInPodTopologySpread", ConcernedObjects::Pods(&["topologySpreadConstraints", "*", "minDomains"])),
    any("MultiCIDRServiceAllocator", ConcernedObjects::Kind("networking.k8s.io", "ServiceCIDR")),
    any("MultiCIDRServiceAllocator", ConcernedObjects::Kind("networking.k8s.io", "IPAddress")),
    any("MultiCIDRServiceAllocator", ConcernedObjects::With("", "Service", &["spec", "clusterIP"])),
    on("MutableCSINodeAllocatableCount", ConcernedObjects::Group("storage.k8s.io")),
    any("MutatingAdmissionPolicy", ConcernedObjects::Kind(ADMISSION, "MutatingAdmissionPolicy")),
    any("MutatingAdmissionPolicy", ConcernedObjects::Kind(ADMISSION, "MutatingAdmissionPolicyBinding")),
    any("NodeLifecycleConditions", ConcernedObjects::Kind("", "Node")),
    any("PDBUnhealthyPodEvictionPolicy", ConcernedObjects::Kind("policy", "PodDisruptionBudget")),
    any("PersistentVolumeClaimUnusedSinceTime", ConcernedObjects::With("", CLAIM, &["status"])),
    any("PersistentVolumeLastPhaseTransitionTime", ConcernedObjects::With("", "PersistentVolume", &["status"])),
    any("PodCertificateRequest", ConcernedObjects::Kind("certificates.k8s.io", "PodCertificateRequest")),
    on(
        "PodCertificateRequest",
        ConcernedObjects::Pods(&["volumes", "*", "projected", "sources", "*", "podCertificate"]),
    ),
    on(
        "ClusterTrustBundleProjection",
        ConcernedObjects::Pods(&["volumes", "*", "projected", "sources", "*", "clusterTrustBundle"]),
    ),
    any(
        "PodDeletionCost",
        ConcernedObjects::With("", "Pod", &["metadata", "annotations", "controller.kubernetes.io/pod-deletion-cost"]),
    ),
    any("PodDisruptionConditions", ConcernedObjects::With("", "Pod", &["status"])),
    any("PodGroupPreemptionPolicy", ConcernedObjects::Workloads),
    any("PodHostIPs", ConcernedObjects::With("", "Pod", &["status"])),
    on("PodLevelResources", ConcernedObjects::Pods(&["resources"])),
    any(
        "PodLifecycleSleepAction",
        ConcernedObjects::Pods(&[CONTAINERS, "*", "lifecycle", "postStart|preStop", "sleep"]),
    ),
    any(
        "PodLifecycleSleepActionAllowZero",
        ConcernedObjects::Pods(&[CONTAINERS, "*", "lifecycle", "postStart|preStop", "sleep"]),
    ),
    any("PodSchedulingReadiness", ConcernedObjects::Pods(&["schedulingGates"])),
    any(
        "PreventStaticPodAPIReferences",
        ConcernedObjects::With("", "Pod", &["metadata", "annotations", "kubernetes.io/config.mirror"]),
    ),
    any("ProbeHostPodSecurityStandards", ConcernedObjects::Pods(&[CONTAINERS, "*", PROBES])),
    any("ReadWriteOncePod", ConcernedObjects::Kind("", CLAIM)),
    any("ReadWriteOncePod", ConcernedObjects::Kind("", "PersistentVolume")),
    on("RecoverVolumeExpansionFailure", ConcernedObjects::With("", CLAIM, &["status"])),
    any("RelaxedDNSSearchValidation", ConcernedObjects::Pods(&["dnsConfig", "searches"])),
    any("ResourceHealthStatusMessage", ConcernedObjects::With("", "Pod", &["status"])),
    any("SELinuxMountReadWriteOncePod", ConcernedObjects::Kind("storage.k8s.io", "CSIDriver")),
    on("RestartAllContainersOnContainerExits", ConcernedObjects::With("", "Pod", &["status"])),
    any("SecurityProfileOCI", ConcernedObjects::Pods(&["securityContext", "seccompProfile"])),
    any("SecurityProfileOCI", ConcernedObjects::Pods(&[CONTAINERS, "*", "securityContext", "seccompProfile"])),
    any("SidecarContainers", ConcernedObjects::Pods(&["initContainers", "*", "restartPolicy"])),
    any("SkipReadOnlyValidationGCE", ConcernedObjects::Kind("", "PersistentVolume")),
    any(
        "StatefulSetAutoDeletePVC",
        ConcernedObjects::With("apps", "StatefulSet", &["spec", "persistentVolumeClaimRetentionPolicy"]),
    ),
    any("StatefulSetStartOrdinal", ConcernedObjects::With("apps", "StatefulSet", &["spec", "ordinals"])),
    any("StorageVersionAPI", ConcernedObjects::Group("internal.apiserver.k8s.io")),
    any("StorageVersionMigrator", ConcernedObjects::Group("storagemigration.k8s.io")),
    any("StrictCostEnforcementForVAP", ConcernedObjects::Kind(ADMISSION, "ValidatingAdmissionPolicy")),
    any("StrictCostEnforcementForWebhooks", ConcernedObjects::Kind(ADMISSION, "ValidatingWebhookConfiguration")),
    any("StrictCostEnforcementForWebhooks", ConcernedObjects::Kind(ADMISSION, "MutatingWebhookConfiguration")),
    any("TopologyAwareWorkloadScheduling", ConcernedObjects::Workloads),
    any("UserNamespacesPodSecurityStandards", ConcernedObjects::Pods(&["hostUsers"])),
    any("ValidatingAdmissionPolicy", ConcernedObjects::Kind(ADMISSION, "ValidatingAdmissionPolicy")),
    any("ValidatingAdmissionPolicy", ConcernedObjects::Kind(ADMISSION, "ValidatingAdmissionPolicyBinding")),
    any("VolumeAttributesClass", ConcernedObjects::Kind("storage.k8s.io", "VolumeAttributesClass")),
    any("VolumeAttributesClass", ConcernedObjects::With("", CLAIM, &["spec", "volumeAttributesClassName"])),
    any(
        "VolumeAttributesClass",
        ConcernedObjects::With("", "PersistentVolume", &["spec", "volumeAttributesClassName"]),
    ),
    on("VolumeLimitScaling", ConcernedObjects::Kind("storage.k8s.io", "CSIDriver")),
    any("WorkloadAwarePreemption", ConcernedObjects::Workloads),
    on("WorkloadWithJob", ConcernedObjects::With("batch", "Job", &["spec", "scheduling"])),
    on("WorkloadWithJob", ConcernedObjects::With("batch", "CronJob", &["spec", "jobTemplate", "spec", "scheduling"])),
    any(
        "ZeroLimitedNominalConcurrencyShares",
        ConcernedObjects::Kind("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ),
];

//! The behaviour of each built-in kind on the server: generation, status of new objects, field selectors and field owners
//! (`pkg/registry/*/*/strategy.go`, and the field label conversions in `pkg/apis/*/v1/conversion.go`).

use crate::pipeline::metadata::NameRule;
use crate::server::strategy::subresource::Subresource;
use crdx_value::release::{Minor, V1_31, V1_33, V1_37};

/// The behaviour of a kind.
#[derive(Debug)]
pub(in crate::server) struct Behaviour {
    /// The plural and group: `deployments.apps`.
    resource: &'static str,
    /// Which names objects may have (`Validate…Name` in `pkg/apis/*/validation`).
    pub name: NameRule,
    /// The first release that sets `metadata.generation`.
    pub generation_since: Minor,
    /// Which writes set it.
    pub generation: GenerationRule,
    /// The field of the metadata whose changes count as changes of the generation.
    pub counted_metadata: Option<&'static str>,
    /// The status of a new object.
    pub status: InitialStatus,
    /// The field labels of selectors besides the name; `None` if the kind has no conversion of field labels.
    pub fields: Option<&'static [FieldLabel]>,
    /// The first release that has this conversion.
    pub fields_since: Minor,
    /// True if an update must have a resourceVersion.
    pub needs_revision: bool,
    /// True if a PUT creates an object that does not exist, also one of the status (`AllowCreateOnUpdate`).
    pub creates_on_update: bool,
    /// True if an apply of the status creates an object that does not exist, because the store passes `forceAllowCreate` on.
    pub applies_new_status: bool,
    /// True if the names of finalizers need a domain, or are those of Kubernetes.
    pub qualifies_finalizers: bool,
    /// True if new objects name the user who creates them.
    pub names_user: bool,
    /// True if a DELETE gives the object a grace period, as that of a pod does.
    pub has_grace_period: bool,
    /// True if a DELETE returns the removed object (`ReturnDeletedObject`).
    pub returns_deleted: bool,
    /// The fields that a write of the status leaves unchanged, and never owns.
    pub status_keeps: &'static [&'static [&'static str]],
    /// The subresources besides `status` that are written as the whole object, with the first release that serves them by
    /// default.
    pub subresources: &'static [(Subresource, Minor)],
}

/// Which writes set `metadata.generation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum GenerationRule {
    /// It is 1 for a new object, and grows when the specification changes.
    Counted,
    /// It is 1.
    Constant,
    /// It grows when the specification changes; that of a new object is the one in the request.
    OnlyUpdates,
}

/// The status of a new object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum InitialStatus {
    /// The zero value.
    Empty,
    /// As in the request.
    Kept,
    /// The zero value with this phase.
    Phase(&'static str),
}

/// A field that selectors may name.
#[derive(Debug)]
pub(in crate::server) struct FieldLabel {
    pub label: &'static str,
    /// The paths of the field; the first one that is not empty is compared.
    pub paths: &'static [&'static [&'static str]],
    /// The text for an absent field.
    pub absent: &'static str,
}

const fn text(label: &'static str, paths: &'static [&'static [&'static str]]) -> FieldLabel {
    FieldLabel { label, paths, absent: "" }
}

const NAMESPACE: FieldLabel = text("metadata.namespace", &[&["metadata", "namespace"]]);

const DEFAULT: Behaviour = Behaviour {
    resource: "",
    name: NameRule::Subdomain,
    generation_since: Minor::NEVER,
    generation: GenerationRule::Counted,
    counted_metadata: None,
    status: InitialStatus::Empty,
    fields: None,
    fields_since: Minor::ALWAYS,
    needs_revision: false,
    creates_on_update: false,
    applies_new_status: false,
    qualifies_finalizers: true,
    names_user: false,
    has_grace_period: false,
    returns_deleted: false,
    status_keeps: &[&["spec"]],
    subresources: &[],
};

const RETURNED: Behaviour = Behaviour { returns_deleted: true, ..DEFAULT };
const GENERATION: Behaviour = Behaviour { generation_since: Minor::ALWAYS, ..DEFAULT };
/// The path in most kinds that create Pods.
const ALL_BUT_STATUS: &[&[&str]] = &[&["metadata"], &["spec"]];

static POD_FIELDS: &[FieldLabel] = &[
    NAMESPACE,
    text("spec.nodeName", &[&["spec", "nodeName"]]),
    text("spec.host", &[&["spec", "nodeName"]]),
    text("spec.restartPolicy", &[&["spec", "restartPolicy"]]),
    text("spec.schedulerName", &[&["spec", "schedulerName"]]),
    text("spec.serviceAccountName", &[&["spec", "serviceAccountName"]]),
    FieldLabel { label: "spec.hostNetwork", paths: &[&["spec", "hostNetwork"]], absent: "false" },
    text("status.phase", &[&["status", "phase"]]),
    text("status.podIP", &[&["status", "podIP"]]),
    text("status.podIPs", &[]),
    text("status.nominatedNodeName", &[&["status", "nominatedNodeName"]]),
];

static EVENT_FIELDS: &[FieldLabel] = &[
    NAMESPACE,
    text("involvedObject.kind", &[&["involvedObject", "kind"]]),
    text("involvedObject.namespace", &[&["involvedObject", "namespace"]]),
    text("involvedObject.name", &[&["involvedObject", "name"]]),
    text("involvedObject.uid", &[&["involvedObject", "uid"]]),
    text("involvedObject.apiVersion", &[&["involvedObject", "apiVersion"]]),
    text("involvedObject.resourceVersion", &[&["involvedObject", "resourceVersion"]]),
    text("involvedObject.fieldPath", &[&["involvedObject", "fieldPath"]]),
    text("reason", &[&["reason"]]),
    text("reportingComponent", &[&["reportingComponent"]]),
    text("source", &[&["source", "component"], &["reportingComponent"]]),
    text("type", &[&["type"]]),
];

static NEW_EVENT_FIELDS: &[FieldLabel] = &[
    NAMESPACE,
    text("regarding.kind", &[&["regarding", "kind"]]),
    text("regarding.namespace", &[&["regarding", "namespace"]]),
    text("regarding.name", &[&["regarding", "name"]]),
    text("regarding.uid", &[&["regarding", "uid"]]),
    text("regarding.apiVersion", &[&["regarding", "apiVersion"]]),
    text("regarding.resourceVersion", &[&["regarding", "resourceVersion"]]),
    text("regarding.fieldPath", &[&["regarding", "fieldPath"]]),
    text("reason", &[&["reason"]]),
    text("reportingController", &[&["reportingController"]]),
    text("type", &[&["type"]]),
];

static BEHAVIOURS: &[Behaviour] = &[
    Behaviour {
        resource: "events.",
        name: NameRule::PathSegment,
        qualifies_finalizers: false,
        creates_on_update: true,
        fields: Some(EVENT_FIELDS),
        ..DEFAULT
    },
    Behaviour { resource: "events.events.k8s.io", fields: Some(NEW_EVENT_FIELDS), creates_on_update: true, ..DEFAULT },
    Behaviour { resource: "endpoints.", creates_on_update: true, ..DEFAULT },
    Behaviour { resource: "limitranges.", creates_on_update: true, ..DEFAULT },
    Behaviour {
        resource: "namespaces.",
        status: InitialStatus::Phase("Active"),
        fields: Some(&[text("status.phase", &[&["status", "phase"]])]),
        ..DEFAULT
    },
    Behaviour {
        resource: "nodes.",
        status: InitialStatus::Kept,
        fields: Some(&[FieldLabel {
            label: "spec.unschedulable",
            paths: &[&["spec", "unschedulable"]],
            absent: "false",
        }]),
        ..DEFAULT
    },
    Behaviour {
        resource: "persistentvolumeclaims.",
        returns_deleted: true,
        status: InitialStatus::Phase("Pending"),
        ..DEFAULT
    },
    Behaviour {
        resource: "persistentvolumes.",
        returns_deleted: true,
        status: InitialStatus::Phase("Pending"),
        ..DEFAULT
    },
    Behaviour {
        resource: "pods.",
        has_grace_period: true,
        returns_deleted: true,
        generation_since: V1_33,
        status: InitialStatus::Phase("Pending"),
        fields: Some(POD_FIELDS),
        status_keeps: &[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]],
        // The gate InPlacePodVerticalScaling is enabled by default since 1.33 (`storage_core.go`).
        subresources: &[(Subresource::EphemeralContainers, Minor::ALWAYS), (Subresource::Resize, V1_33)],
        ..DEFAULT
    },
    Behaviour { resource: "podtemplates.", returns_deleted: true, ..GENERATION },
    Behaviour {
        resource: "replicationcontrollers.",
        name: NameRule::LongName,
        fields: Some(&[
            NAMESPACE,
            FieldLabel { label: "status.replicas", paths: &[&["status", "replicas"]], absent: "0" },
        ]),
        ..GENERATION
    },
    Behaviour { resource: "secrets.", fields: Some(&[NAMESPACE, text("type", &[&["type"]])]), ..DEFAULT },
    Behaviour {
        resource: "services.",
        returns_deleted: true,
        creates_on_update: true,
        name: NameRule::Service,
        fields: Some(&[
            NAMESPACE,
            text("spec.clusterIP", &[&["spec", "clusterIP"]]),
            text("spec.type", &[&["spec", "type"]]),
        ]),
        fields_since: V1_31,
        ..DEFAULT
    },
    Behaviour {
        resource: "apiservices.apiregistration.k8s.io",
        name: NameRule::PathSegment,
        qualifies_finalizers: false,
        needs_revision: true,
        status_keeps: ALL_BUT_STATUS,
        ..DEFAULT
    },
    Behaviour { resource: "daemonsets.apps", ..GENERATION },
    Behaviour {
        resource: "deployments.apps",
        counted_metadata: Some("annotations"),
        status_keeps: &[&["spec"], &["metadata", "labels"]],
        ..GENERATION
    },
    Behaviour { resource: "replicasets.apps", ..GENERATION },
    Behaviour { resource: "statefulsets.apps", name: NameRule::Label, ..GENERATION },
    Behaviour { resource: "horizontalpodautoscalers.autoscaling", generation_since: V1_37, ..DEFAULT },
    Behaviour { resource: "cronjobs.batch", name: NameRule::CronJob, ..GENERATION },
    Behaviour {
        resource: "jobs.batch",
        fields: Some(&[
            NAMESPACE,
            FieldLabel { label: "status.successful", paths: &[&["status", "succeeded"]], absent: "0" },
        ]),
        ..GENERATION
    },
    Behaviour {
        resource: "certificatesigningrequests.certificates.k8s.io",
        name: NameRule::PathSegment,
        names_user: true,
        subresources: &[(Subresource::Approval, Minor::ALWAYS)],
        fields: Some(&[text("spec.signerName", &[&["spec", "signerName"]])]),
        ..DEFAULT
    },
    Behaviour {
        resource: "clustertrustbundles.certificates.k8s.io",
        name: NameRule::PathSegment,
        fields: Some(&[text("spec.signerName", &[&["spec", "signerName"]])]),
        needs_revision: true,
        ..DEFAULT
    },
    Behaviour {
        resource: "podcertificaterequests.certificates.k8s.io",
        fields: Some(&[
            text("spec.signerName", &[&["spec", "signerName"]]),
            text("spec.podName", &[&["spec", "podName"]]),
            text("spec.nodeName", &[&["spec", "nodeName"]]),
        ]),
        needs_revision: true,
        status_keeps: ALL_BUT_STATUS,
        ..DEFAULT
    },
    Behaviour {
        resource: "leases.coordination.k8s.io",
        qualifies_finalizers: false,
        needs_revision: true,
        creates_on_update: true,
        ..DEFAULT
    },
    Behaviour { resource: "endpointslices.discovery.k8s.io", counted_metadata: Some("labels"), ..GENERATION },
    Behaviour { resource: "flowschemas.flowcontrol.apiserver.k8s.io", status_keeps: ALL_BUT_STATUS, ..GENERATION },
    Behaviour {
        resource: "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
        status_keeps: ALL_BUT_STATUS,
        ..GENERATION
    },
    Behaviour { resource: "ingressclasses.networking.k8s.io", ..GENERATION },
    Behaviour { resource: "ingresses.networking.k8s.io", ..GENERATION },
    Behaviour { resource: "networkpolicies.networking.k8s.io", ..GENERATION },
    Behaviour { resource: "servicecidrs.networking.k8s.io", status_keeps: ALL_BUT_STATUS, ..DEFAULT },
    Behaviour {
        resource: "runtimeclasses.node.k8s.io",
        qualifies_finalizers: false,
        needs_revision: true,
        creates_on_update: true,
        ..DEFAULT
    },
    Behaviour {
        resource: "poddisruptionbudgets.policy",
        name: NameRule::PathSegment,
        qualifies_finalizers: false,
        needs_revision: true,
        ..GENERATION
    },
    Behaviour { resource: "ipaddresses.networking.k8s.io", name: NameRule::IpAddress, ..DEFAULT },
    Behaviour { resource: "clusterrolebindings.rbac.authorization.k8s.io", ..ROLE },
    Behaviour { resource: "clusterroles.rbac.authorization.k8s.io", ..ROLE },
    Behaviour { resource: "rolebindings.rbac.authorization.k8s.io", ..ROLE },
    Behaviour { resource: "roles.rbac.authorization.k8s.io", ..ROLE },
    Behaviour {
        resource: "deviceclasses.resource.k8s.io",
        returns_deleted: true,
        name: NameRule::LongName,
        ..GENERATION
    },
    Behaviour {
        resource: "devicetaintrules.resource.k8s.io",
        needs_revision: true,
        status_keeps: ALL_BUT_STATUS,
        ..GENERATION
    },
    Behaviour {
        resource: "resourceclaims.resource.k8s.io",
        returns_deleted: true,
        status_keeps: ALL_BUT_STATUS,
        ..DEFAULT
    },
    Behaviour { resource: "resourceslices.resource.k8s.io", returns_deleted: true, ..GENERATION },
    Behaviour { resource: "priorityclasses.scheduling.k8s.io", generation: GenerationRule::Constant, ..GENERATION },
    Behaviour {
        resource: "csidrivers.storage.k8s.io",
        returns_deleted: true,
        needs_revision: true,
        generation: GenerationRule::OnlyUpdates,
        ..GENERATION
    },
    Behaviour {
        resource: "csinodes.storage.k8s.io",
        returns_deleted: true,
        needs_revision: true,
        status_keeps: ALL_BUT_STATUS,
        ..DEFAULT
    },
    Behaviour { resource: "csistoragecapacities.storage.k8s.io", needs_revision: true, ..DEFAULT },
    Behaviour {
        resource: "volumeattachments.storage.k8s.io",
        returns_deleted: true,
        needs_revision: true,
        status_keeps: ALL_BUT_STATUS,
        ..DEFAULT
    },
    Behaviour { resource: "resourcequotas.", ..RETURNED },
    Behaviour { resource: "serviceaccounts.", ..RETURNED },
    Behaviour { resource: "resourceclaimtemplates.resource.k8s.io", ..RETURNED },
    Behaviour { resource: "storageclasses.storage.k8s.io", ..RETURNED },
    Behaviour { resource: "volumeattributesclasses.storage.k8s.io", ..RETURNED },
    Behaviour {
        resource: "storageversionmigrations.storagemigration.k8s.io",
        needs_revision: true,
        status_keeps: ALL_BUT_STATUS,
        ..DEFAULT
    },
    Behaviour {
        resource: "validatingadmissionpolicies.admissionregistration.k8s.io",
        applies_new_status: true,
        qualifies_finalizers: false,
        needs_revision: true,
        status_keeps: ALL_BUT_STATUS,
        ..GENERATION
    },
    Behaviour { resource: "validatingadmissionpolicybindings.admissionregistration.k8s.io", ..ADMISSION },
    Behaviour { resource: "mutatingadmissionpolicies.admissionregistration.k8s.io", ..ADMISSION },
    Behaviour { resource: "mutatingadmissionpolicybindings.admissionregistration.k8s.io", ..ADMISSION },
    Behaviour { resource: "validatingwebhookconfigurations.admissionregistration.k8s.io", ..ADMISSION },
    Behaviour { resource: "mutatingwebhookconfigurations.admissionregistration.k8s.io", ..ADMISSION },
];

const ROLE: Behaviour = Behaviour { name: NameRule::WholePathSegment, creates_on_update: true, ..DEFAULT };
const ADMISSION: Behaviour = Behaviour { needs_revision: true, qualifies_finalizers: false, ..GENERATION };

impl Behaviour {
    /// The behaviour of a resource, or that of most resources.
    pub(crate) fn for_resource(plural: &str, group: &str) -> &'static Self {
        static MOST: Behaviour = DEFAULT;
        let is = |behaviour: &&Self| behaviour.resource.split_once('.') == Some((plural, group));
        BEHAVIOURS.iter().find(is).unwrap_or(&MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_types::resources::resources;

    #[test]
    fn every_behaviour_is_that_of_a_resource() {
        let all: Vec<_> = crdx_types::table::table().releases().flat_map(resources).collect();
        for behaviour in BEHAVIOURS {
            let is =
                |r: &crdx_types::resources::Resource| behaviour.resource.split_once('.') == Some((r.plural, r.group));
            assert!(all.iter().any(is), "{}", behaviour.resource);
        }
    }
}

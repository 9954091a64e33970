//! The behaviour of Kubernetes' built-in kinds that their Go types do not describe.

pub mod admin_access;
pub mod admission;
mod amounts;
pub mod default_class;
pub mod device;
pub mod limit_ranger;
pub mod mirror_pod;
pub mod pod_resize;
pub mod pod_security;
pub mod priority;
pub mod quality_of_service;
pub mod quotas;
pub mod runtime_class;
pub mod service_account;
pub mod topology_labels;
#[cfg(feature = "validation")]
pub mod validation;
pub mod volume_resize;

/// The lists of containers of a Pod specification, in the order in which the server visits them (`VisitContainersWithPath`).
pub const CONTAINER_LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

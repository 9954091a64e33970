//! The behaviour of Kubernetes' built-in kinds that their Go types do not describe.

mod amounts;
pub mod cluster_fields;
pub mod default_class;
pub mod limit_ranger;
pub mod pod_security;
pub mod quotas;
#[cfg(feature = "validation")]
pub mod validation;
pub mod volume_resize;

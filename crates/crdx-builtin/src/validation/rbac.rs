//! `rbac.authorization.k8s.io` (`pkg/apis/rbac/validation`).

pub(crate) mod cluster_role;
pub(crate) mod cluster_role_binding;
pub(crate) mod role;
pub(crate) mod role_binding;

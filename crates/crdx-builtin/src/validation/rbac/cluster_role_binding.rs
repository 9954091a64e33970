//! `ClusterRoleBinding`s.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::rbac::role::RoleScope;
use crate::validation::rbac::role_binding::binding;
use crdx_value::Value;

/// `ValidateClusterRoleBinding` and `ValidateClusterRoleBindingUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    binding(errors, object, old, &["ClusterRole"], RoleScope::Cluster);
}

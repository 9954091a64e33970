//! `ValidatingAdmissionPolicyBinding`s.

use crate::admissionregistration::{ADMISSION, POLICY_BINDINGS};
use crate::declared_kind::DeclaredKind;

/// The strategy.
pub(crate) static VALIDATING_ADMISSION_POLICY_BINDING: DeclaredKind =
    DeclaredKind { behaviour: ADMISSION, columns: Some(POLICY_BINDINGS), ..DeclaredKind::MOST };

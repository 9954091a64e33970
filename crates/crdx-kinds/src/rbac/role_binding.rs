//! `RoleBinding`s.

use crate::declared_kind::DeclaredKind;
use crate::rbac::{BEHAVIOUR, BINDINGS};

/// The strategy.
pub(crate) static ROLE_BINDING: DeclaredKind =
    DeclaredKind { behaviour: BEHAVIOUR, columns: Some(BINDINGS), ..DeclaredKind::MOST };

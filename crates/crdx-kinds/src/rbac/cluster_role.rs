//! `ClusterRole`s.

use crate::declared_kind::DeclaredKind;
use crate::printer::WITH_CREATION;
use crate::rbac::BEHAVIOUR;

/// The strategy.
pub(crate) static CLUSTER_ROLE: DeclaredKind =
    DeclaredKind { behaviour: BEHAVIOUR, columns: Some(WITH_CREATION), ..DeclaredKind::MOST };

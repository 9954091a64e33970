//! `CSIStorageCapacity` objects.

use crate::declared_kind::DeclaredKind;
use crdx_server::server::Behaviour;

/// The strategy.
pub(crate) static CSI_STORAGE_CAPACITY: DeclaredKind =
    DeclaredKind { behaviour: Behaviour { needs_revision: true, ..Behaviour::MOST }, ..DeclaredKind::MOST };

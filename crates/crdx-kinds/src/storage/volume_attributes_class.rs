//! `VolumeAttributesClass`es.

use crate::declared_kind::DeclaredKind;
use crdx_server::server::Behaviour;

/// The strategy.
pub(crate) static VOLUME_ATTRIBUTES_CLASS: DeclaredKind =
    DeclaredKind { behaviour: Behaviour::RETURNED, ..DeclaredKind::MOST };

//! `FlowSchema`s.

use crate::declared_kind::DeclaredKind;
use crdx_server::server::Behaviour;
use crdx_server::server::behaviour::ALL_BUT_STATUS;

/// The strategy.
pub(crate) static FLOW_SCHEMA: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { status_keeps: ALL_BUT_STATUS, ..Behaviour::GENERATION },
    ..DeclaredKind::MOST
};

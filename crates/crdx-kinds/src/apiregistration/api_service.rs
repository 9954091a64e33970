//! `APIService`s.

use crate::declared_kind::DeclaredKind;
use crdx_server::pipeline::metadata::NameRule;
use crdx_server::server::Behaviour;
use crdx_server::server::behaviour::ALL_BUT_STATUS;

/// The strategy.
pub(crate) static API_SERVICE: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        name: NameRule::PathSegment,
        qualifies_finalizers: false,
        needs_revision: true,
        repeats_errors: true,
        status_keeps: ALL_BUT_STATUS,
        ..Behaviour::MOST
    },
    ..DeclaredKind::MOST
};

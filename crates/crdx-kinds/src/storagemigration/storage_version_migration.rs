//! `StorageVersionMigration`s.

use crate::declared_kind::DeclaredKind;
use crdx_server::server::Behaviour;
use crdx_server::server::behaviour::ALL_BUT_STATUS;

/// The strategy.
pub(crate) static STORAGE_VERSION_MIGRATION: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { needs_revision: true, status_keeps: ALL_BUT_STATUS, ..Behaviour::MOST },
    ..DeclaredKind::MOST
};

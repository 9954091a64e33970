//! Leases.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crate::printer::{AGE, NAMED, column, text};
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::release::{Gate, Minor};

/// The strategy.
pub(crate) static LEASE: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        qualifies_finalizers: false,
        needs_revision: true,
        creates_on_update: true,
        relaxes_prefix_since: Minor::ALWAYS,
        ..Behaviour::MOST
    },
    columns: Some(COLUMNS),
    features: Features { fields: FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

const FEATURES: &[Feature] = &[
    feature(&[Gate::CoordinatedLeaderElection], &[&["spec", "strategy"]]),
    feature(&[Gate::CoordinatedLeaderElection], &[&["spec", "preferredHolder"]]),
];

static COLUMNS: &[PrinterColumn] =
    &[NAMED, column("Holder", "", |o, _| text(o, &["spec", "holderIdentity"]).into()), AGE];

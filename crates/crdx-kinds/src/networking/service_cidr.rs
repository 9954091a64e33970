//! `ServiceCIDR`s.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED, column, list};
use crdx_server::server::behaviour::ALL_BUT_STATUS;
use crdx_server::server::{Behaviour, KindStrategy, PrinterColumn};
use crdx_value::Value;
use crdx_value::release::{Gate, Minor, Release};

/// The strategy.
#[derive(Debug)]
pub(crate) struct ServiceCidr;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { relaxes_prefix_since: Minor::ALWAYS, status_keeps: ALL_BUT_STATUS, ..Behaviour::MOST },
    columns: Some(COLUMNS),
    ..DeclaredKind::MOST
};

impl KindStrategy for ServiceCidr {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn writes_status_with_spec(&self, release: Release) -> bool {
        !release.enables(Gate::ServiceCIDRStatusFieldWiping)
    }
}

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("CIDRs", "", |o, _| {
        list(o, &["spec", "cidrs"]).iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",").into()
    }),
    AGE,
];

//! `ConfigMap`s.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED, column, count};
use crdx_server::server::{Behaviour, PrinterColumn};

/// The strategy.
pub(crate) static CONFIG_MAP: DeclaredKind =
    DeclaredKind { behaviour: Behaviour::MOST, columns: Some(COLUMNS), ..DeclaredKind::MOST };

static COLUMNS: &[PrinterColumn] =
    &[NAMED, column("Data", "", |o, _| (count(o, &["data"]) + count(o, &["binaryData"])).into()), AGE];

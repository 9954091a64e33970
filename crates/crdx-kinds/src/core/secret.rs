//! Secrets.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED, column, count, text};
use crdx_server::server::{Behaviour, PrinterColumn};

/// The strategy.
pub(crate) static SECRET: DeclaredKind =
    DeclaredKind { behaviour: Behaviour::MOST, columns: Some(COLUMNS), ..DeclaredKind::MOST };

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Type", "", |o, _| text(o, &["type"]).into()),
    column("Data", "", |o, _| count(o, &["data"]).into()),
    AGE,
];

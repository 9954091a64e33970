//! `RuntimeClass`es.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED, column, text};
use crdx_server::server::{Behaviour, PrinterColumn};

/// The strategy.
pub(crate) static RUNTIME_CLASS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        qualifies_finalizers: false,
        needs_revision: true,
        creates_on_update: true,
        ..Behaviour::MOST
    },
    columns: Some(COLUMNS),
    ..DeclaredKind::MOST
};

static COLUMNS: &[PrinterColumn] = &[NAMED, column("Handler", "", |o, _| text(o, &["handler"]).into()), AGE];

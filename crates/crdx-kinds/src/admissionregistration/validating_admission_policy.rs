//! `ValidatingAdmissionPolicy` objects.

use crate::admissionregistration::{ADMISSION, param_kind};
use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED, column, list};
use crdx_server::server::behaviour::ALL_BUT_STATUS;
use crdx_server::server::{Behaviour, PrinterColumn};

/// The strategy.
pub(crate) static VALIDATING_ADMISSION_POLICY: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { applies_new_status: true, status_keeps: ALL_BUT_STATUS, ..ADMISSION },
    columns: Some(COLUMNS),
    ..DeclaredKind::MOST
};

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column(
        "Validations",
        "Validations indicates the number of validation rules defined in this configuration",
        |o, _| (list(o, &["spec", "validations"]).len() as i64).into(),
    ),
    column("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy", |o, _| {
        param_kind(o).into()
    }),
    AGE,
];

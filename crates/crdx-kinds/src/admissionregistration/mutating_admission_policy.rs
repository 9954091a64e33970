//! `MutatingAdmissionPolicy` objects.

use crate::admissionregistration::{ADMISSION, param_kind};
use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED, column, list};
use crdx_server::server::PrinterColumn;

/// The strategy.
pub(crate) static MUTATING_ADMISSION_POLICY: DeclaredKind =
    DeclaredKind { behaviour: ADMISSION, columns: Some(COLUMNS), ..DeclaredKind::MOST };

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Mutations", "Mutation indicates the number of mutations rules defined in this configuration", |o, _| {
        (list(o, &["spec", "mutations"]).len() as i64).into()
    }),
    column("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy", |o, _| {
        param_kind(o).into()
    }),
    AGE,
];

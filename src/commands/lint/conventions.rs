//! Adds the fields that do not follow a convention to the findings of a CRD.

use crdx_engine::lint::check::Linted;
use crdx_engine::lint::conventions::{Departure, departures};
use crdx_engine::report::{Diagnostic, Verdict};
use crdx_engine::simulation::identity::FieldLocator;
use crdx_server::crd;
use crdx_value::Value;

/// Adds the departures of a CRD that the server accepts.
pub fn add(linted: &mut Linted, definition: &Value, locator: &dyn FieldLocator) {
    if linted.item.verdict != Verdict::Accepted {
        return;
    }
    let Ok(decoded) = crd::decode(definition) else { return };
    let diagnostic = |Departure { convention, crd_field, message }: Departure| Diagnostic {
        kind: convention.as_str().to_owned(),
        location: Some(locator.field(&crd_field)),
        field: Some(crd_field),
        message,
        ..Diagnostic::default()
    };
    linted.item.warnings.extend(departures(&decoded.crd.spec).into_iter().map(diagnostic));
}

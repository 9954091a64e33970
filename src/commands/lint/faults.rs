//! Adds the faults of a CRD that an object or a proof shows to its findings.

use crdx_cel::eval::PER_CALL_LIMIT;
use crdx_engine::lint::check::Linted;
use crdx_engine::report::{Diagnostic, Verdict};
use crdx_engine::search::faults::{Evidence, Fault, FaultEffort, faults};
use crdx_engine::simulation::identity::FieldLocator;
use crdx_value::Value;
use crdx_value::json;
use crdx_value::release::Release;

/// Adds the faults of a CRD that the server accepts.
pub fn add(linted: &mut Linted, definition: &Value, locator: &dyn FieldLocator, release: Release, effort: FaultEffort) {
    if linted.item.verdict != Verdict::Accepted {
        return;
    }
    let expressions = linted.costs.iter().flat_map(|(cost, _)| &cost.expressions);
    let expensive = expressions.filter(|one| !one.message && one.each > PER_CALL_LIMIT);
    let expensive = expensive.map(|one| one.crd_field.as_str()).collect();
    let found = faults(definition, release, effort, &expensive);
    linted.item.warnings.extend(found.into_iter().map(|fault| diagnostic(fault, locator)));
}

fn diagnostic(fault: Fault, locator: &dyn FieldLocator) -> Diagnostic {
    let Fault { kind, crd_field, message, evidence } = fault;
    let (message, help) = match evidence {
        Evidence::Proof => (format!("{message} (proved)"), None),
        Evidence::Objects(objects) => {
            let texts: Vec<String> = objects.iter().map(json::to_string).collect();
            (message, Some(format!("for example {}", texts.join(", then "))))
        }
        Evidence::LongObject(_) => (message, None),
    };
    Diagnostic {
        kind: kind.as_str().to_owned(),
        location: Some(locator.field(&crd_field)),
        field: Some(crd_field),
        message,
        help,
        ..Diagnostic::default()
    }
}

//! The faults of a CRD that an object or a proof shows, as findings.

use super::costs::SchemaCost;
use crate::report::Diagnostic;
use crate::search::faults::{Evidence, Fault, FaultEffort, faults};
use crate::simulation::identity::FieldLocator;
use crdx_cel::eval::PER_CALL_LIMIT;
use crdx_server::crd::CustomResourceDefinition;
use crdx_value::json;
use crdx_value::release::Release;

/// Returns the faults of a CRD that the server accepts; `costs` are those of its rules.
pub fn found<'c>(
    crd: &CustomResourceDefinition,
    costs: impl Iterator<Item = &'c SchemaCost>,
    locator: &dyn FieldLocator,
    (release, effort): (Release, FaultEffort),
) -> Vec<Diagnostic> {
    let expressions = costs.flat_map(|cost| &cost.expressions);
    let expensive = expressions.filter(|one| !one.message && one.each > PER_CALL_LIMIT);
    let expensive = expensive.map(|one| (one.crd_field.as_str(), one.each)).collect();
    let found = faults(crd, release, effort, &expensive);
    found.into_iter().map(|fault| diagnostic(fault, locator)).collect()
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

//! Maps all locations of a report.

use super::{RenderedObject, Renderer};
use crdx_engine::lint::check::Linted;
use crdx_engine::report::{Diagnostic, ObjectReport, SourceLocation};

impl Renderer {
    /// Maps the locations of the report about an object.
    pub fn map_report(&self, report: &mut ObjectReport) {
        let ObjectReport { identity, location, errors, hidden, warnings, pruned, remarks, .. } = report;
        let (kind, name, namespace) = (identity.kind.as_str(), identity.name.as_str(), identity.namespace.as_deref());
        let subject = |field| RenderedObject { kind, name, namespace, field };
        self.replace(location, &subject(None));
        for Diagnostic { location, field, .. } in errors.iter_mut().chain(hidden).chain(warnings) {
            if let Some(location) = location {
                self.replace(location, &subject(field.as_deref()));
            }
        }
        for field in pruned {
            if let Some(location) = &mut field.location {
                self.replace(location, &subject(Some(&field.path)));
            }
        }
        for remark in remarks {
            if let Some(location) = remark.location_mut() {
                self.replace(location, &subject(None));
            }
        }
    }

    /// Maps the locations of the findings about a CRD or policy.
    pub fn map_linted(&self, linted: &mut Linted) {
        self.map_report(&mut linted.item);
        let identity = &linted.item.identity;
        let subject = RenderedObject {
            kind: &identity.kind,
            name: &identity.name,
            namespace: identity.namespace.as_deref(),
            field: None,
        };
        let costs = linted.costs.iter_mut().flat_map(|(_, locations)| locations);
        let changes = linted.breaking.iter_mut().map(|located| &mut located.location);
        let expressions = linted.expressions.iter_mut().map(|(_, location)| location);
        costs.chain(changes).chain(expressions).for_each(|location| self.replace(location, &subject));
    }

    fn replace(&self, location: &mut SourceLocation, subject: &RenderedObject<'_>) {
        if let Some(mapped) = self.map(location, subject) {
            *location = mapped;
        }
    }
}

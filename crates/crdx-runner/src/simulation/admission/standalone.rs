//! Policies for a command that simulates single objects, each on a separate server.

use super::Reading;
use crdx_engine::kubectl::FieldValidation;
use crdx_engine::kubectl::request::RequestOptions;
use crdx_engine::report::{ObjectReport, RunNote, SourceLocation};
use crdx_engine::simulation::admission::{Admission, Objects};
use crdx_engine::simulation::definitions::Definitions;
use crdx_server::server::{Server, Timestamp};
use crdx_value::Value;
use crdx_value::release::Release;
use std::sync::Arc;

impl Reading<'_> {
    /// Reads the objects, and passes those without an effect to `show`. `definitions` are the CRDs of other inputs.
    pub fn read_in_use(
        &self,
        definitions: &[Value],
        show: &mut dyn FnMut(ObjectReport),
        notes: &mut Vec<RunNote>,
    ) -> Objects {
        let objects = self.read(show, notes);
        let defines = |crd: &Value, group: &str, kind: &str| {
            crd.str_at(&["spec", "group"]) == Some(group) && crd.str_at(&["spec", "names", "kind"]) == Some(kind)
        };
        let is_defined = |group: &str, kind: &str| definitions.iter().any(|crd| defines(crd, group, kind));
        objects.without_effect(&self.options.paths, &is_defined).into_iter().for_each(show);
        objects
    }
}

/// Creates the policies among objects that a release enforces, with the CRDs of params from `definitions` and the cluster.
pub fn standalone(
    objects: &Objects,
    reading: &Reading<'_>,
    release: Release,
    definitions: Vec<Value>,
    now: Timestamp,
    show: &mut dyn FnMut(ObjectReport),
    notes: &mut Vec<RunNote>,
) -> Option<Admission> {
    let mut admission = reading.admission(objects, release, notes)?;
    let server = admission.configure(Server::builder(release, 0).created_at(now)).build();
    let mut known = Definitions::default();
    let request_options = RequestOptions { level: FieldValidation::Ignore, dry_run: false, table: false, now };
    let mut install = |crd: Value| {
        // The kind of a CRD that is refused stays unknown, which is reported if a policy needs it.
        let _ = known.install(&server, crd, &SourceLocation::default(), None, request_options);
    };
    let own = admission.definitions().iter().map(|object| object.value().clone());
    own.chain(definitions).for_each(&mut install);
    if let Some(connection) = reading.live.and_then(|live| live.connection().ok()) {
        let kinds: Vec<(&str, &str)> =
            admission.param_kinds().map(|kind| (kind.group.as_str(), kind.kind.as_str())).collect();
        connection.definitions_of(&kinds).into_iter().filter_map(|found| found.ok().flatten()).for_each(install);
    }
    let kinds: Vec<_> = admission.param_kinds().cloned().collect();
    for kind in kinds {
        if let Some(route) = known.route(&kind.group, &kind.kind) {
            admission.define(kind, Arc::clone(route));
        }
    }
    // Objects that the server refuses are shown here, and not again for each object.
    admission.store_with_definitions(&server, now, reading.namespace, show);
    Some(admission)
}

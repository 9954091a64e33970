//! The trips of all objects of a CRD.

use super::compare::ComparedFields;
use super::fields::ChangedFields;
use super::objects::{self, Visitor};
use super::pruned::lost_without_webhook;
use super::server::{TripEnd, TripServer, TripStep};
use super::{ChangedObject, RoundTripError, RoundTripOptions, Trip, TripFailure, TripReport, TripSetup, trips};
use crate::examples::{Checker, ExampleError};
use crate::search::kept_status::with_status_in_objects;
use crate::search::shrink::shrunk;
use crate::single_version::single_version;
use crdx_server::crd;
use crdx_value::Value;
use crdx_value::release::Release;
use crdx_value::steps::memory;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Tries the round trips of a CRD.
///
/// # Errors
/// Returns an error if the CRD cannot be served, or its webhook cannot be called.
pub fn round_trips(
    definition: &Value,
    options: RoundTripOptions,
    setup: TripSetup<'_>,
) -> Result<Vec<TripReport>, RoundTripError> {
    let crd = crd::decode(definition).map_err(ExampleError::from)?.crd;
    let called = setup.webhook.of_crd(definition, &crd)?;
    let (definition, caller) = called.map_or((definition.clone(), None), |(changed, caller)| (changed, Some(caller)));
    let definition = with_status_in_objects(definition);
    let server = TripServer::new(definition.clone(), &crd, caller, setup)?;
    let trips = trips(&crd.spec);
    let mut reports = Vec::new();
    for version in crd.spec.versions.iter().filter(|version| version.served) {
        let own: Vec<&Trip> = trips.iter().filter(|trip| trip.written == version.name).collect();
        let alone = single_version(definition.clone(), &version.name);
        let Some(alone) = alone.filter(|_| !own.is_empty()) else { continue };
        let checker = Checker::new(&alone, Some(&version.name), setup.release)?;
        let mut runs = Runs {
            checker: &checker,
            server: &server,
            release: setup.release,
            exact: options.exact,
            runs: own.into_iter().map(TripSearch::new).collect(),
            error: None,
        };
        objects::visit(&checker, options.effort, &mut runs);
        let lost = |trip: &Trip| if caller.is_some() { Vec::new() } else { lost_without_webhook(&crd.spec, trip) };
        reports.extend(runs.reports(lost)?);
    }
    Ok(reports)
}

/// The trips of one version.
struct Runs<'r> {
    checker: &'r Checker,
    server: &'r TripServer<'r>,
    release: Release,
    exact: bool,
    runs: Vec<TripSearch<'r>>,
    error: Option<RoundTripError>,
}

/// The results of a trip so far.
struct TripSearch<'r> {
    trip: &'r Trip,
    objects: usize,
    fields: ChangedFields,
    /// The smallest object that changes.
    changed: Option<Value>,
    /// The smallest object for each request that fails.
    failed: BTreeMap<TripStep, Value>,
}

impl<'r> TripSearch<'r> {
    fn new(trip: &'r Trip) -> Self {
        Self { trip, objects: 0, fields: ChangedFields::default(), changed: None, failed: BTreeMap::new() }
    }
}

/// Keeps the smaller object.
fn keep_smaller(best: &mut Option<Value>, object: &Value) {
    if best.as_ref().is_none_or(|best| memory(object) < memory(best)) {
        *best = Some(object.clone());
    }
}

impl Visitor for Runs<'_> {
    fn visit(&mut self, object: &Value, stored: &Arc<Value>) -> ControlFlow<()> {
        for run in &mut self.runs {
            match self.server.trip(run.trip, object, stored) {
                Ok(TripEnd::Read(before, after)) => {
                    let comparison = ComparedFields::of(&self.checker.schema, &before, &after, self.release);
                    if run.fields.add(comparison, self.exact) {
                        keep_smaller(&mut run.changed, object);
                    }
                }
                Ok(TripEnd::Failed(step, _)) => {
                    let mut best = run.failed.remove(&step);
                    keep_smaller(&mut best, object);
                    run.failed.extend(best.map(|best| (step, best)));
                }
                Err(error) => {
                    self.error = Some(error);
                    return ControlFlow::Break(());
                }
            }
            run.objects += 1;
        }
        ControlFlow::Continue(())
    }
}

impl Runs<'_> {
    fn reports(mut self, pruned: impl Fn(&Trip) -> Vec<String>) -> Result<Vec<TripReport>, RoundTripError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let runs = std::mem::take(&mut self.runs);
        let mut reports = Vec::new();
        for run in runs {
            let changed = run.changed.map(|object| self.smallest_change(run.trip, object)).transpose()?.flatten();
            let mut failures = Vec::new();
            for (step, object) in run.failed {
                failures.extend(self.smallest_failure(run.trip, step, object)?);
            }
            let (fields, rewritten) = run.fields.fields(&pruned(run.trip));
            reports.push(TripReport {
                trip: run.trip.clone(),
                objects: run.objects,
                fields,
                rewritten,
                changed,
                failures,
            });
        }
        Ok(reports)
    }

    fn smallest_change(&self, trip: &Trip, object: Value) -> Result<Option<ChangedObject>, RoundTripError> {
        self.shrunk(trip, object, |end| match end {
            TripEnd::Read(before, after) => {
                let changes = ComparedFields::of(&self.checker.schema, &before, &after, self.release).changes;
                let is_change = changes.iter().any(|change| self.exact || !change.is_rewritten);
                is_change.then_some((before, after))
            }
            TripEnd::Failed(..) => None,
        })
        .map(|found| found.map(|(object, (before, after))| ChangedObject { object, before, after }))
    }

    fn smallest_failure(
        &self,
        trip: &Trip,
        step: TripStep,
        object: Value,
    ) -> Result<Option<TripFailure>, RoundTripError> {
        self.shrunk(trip, object, |end| match end {
            TripEnd::Failed(failed, message) if failed == step => Some(message),
            TripEnd::Failed(..) | TripEnd::Read(..) => None,
        })
        .map(|found| found.map(|(object, message)| TripFailure { step, message: message.to_string(), object }))
    }

    /// Makes an object as small as possible while the end of its trip is of interest.
    fn shrunk<T>(
        &self,
        trip: &Trip,
        object: Value,
        of_interest: impl Fn(TripEnd) -> Option<T>,
    ) -> Result<Option<(Value, T)>, RoundTripError> {
        let mut error = None;
        let mut end = |object: &Value| {
            let stored = self.checker.send(object).ok().filter(|_| error.is_none())?;
            match self.server.trip(trip, object, &stored) {
                Ok(end) => of_interest(end),
                Err(reason) => {
                    error = Some(reason);
                    None
                }
            }
        };
        let smallest = shrunk(object, |object| end(object).is_some());
        let found = end(&smallest).map(|found| (smallest, found));
        error.map_or(Ok(found), Err)
    }
}

//! The round trips of a suite (`roundTrip`).

use super::fields::{FieldProblem, Fields};
use super::outcome::{CaseOutcome, Failure};
use super::subject::Subject;
use crate::search::Effort;
use crate::search::round_trip::webhook::ConversionWebhook;
use crate::search::round_trip::{RoundTripOptions, TripReport, TripSetup, round_trips};
use crdx_server::server::Timestamp;
use crdx_value::Value;
use crdx_value::release::Release;
use std::sync::Arc;

/// The number of objects of each version, if nothing else is given.
pub const TRIES: usize = 200;

/// `roundTrip` of a suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTripFields {
    /// `tries`
    pub tries: Option<usize>,
    /// `seed`
    pub seed: Option<u64>,
    /// `exact`
    pub exact: bool,
}

impl RoundTripFields {
    /// Reads `true`, `false` or a mapping. `None` if no round trips are wanted.
    pub(super) fn read(top: &mut Fields<'_>) -> Result<(Option<Self>, Vec<FieldProblem>), FieldProblem> {
        let value = match top.value("roundTrip") {
            None | Some(Value::Bool(false)) => return Ok((None, Vec::new())),
            Some(Value::Bool(true)) => return Ok((Some(Self::default()), Vec::new())),
            Some(value @ Value::Object(_)) => value,
            Some(_) => {
                let message = "roundTrip must be true, false or a mapping".to_owned();
                return Err(FieldProblem { path: "roundTrip".to_owned(), message });
            }
        };
        let mut fields = Fields::from_value(Some(value), "roundTrip")?;
        let tries = fields.number("tries")?.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        if tries == Some(0) {
            return Err(FieldProblem { path: fields.path("tries"), message: "tries must be at least 1".to_owned() });
        }
        let read = Self { tries, seed: fields.number("seed")?, exact: fields.flag("exact")? };
        Ok((Some(read), fields.unknown()))
    }
}

/// Settings of round trips from the command line; they override those of the suite.
#[derive(Clone, Debug, Default)]
pub struct RoundTripSetup {
    /// The conversion webhook.
    pub webhook: ConversionWebhook,
    /// The number of objects of each version.
    pub tries: Option<usize>,
    /// The seed of the search.
    pub seed: Option<u64>,
    /// True if rewritten values count as changes.
    pub exact: bool,
}

/// Makes the round trips of the CRD of a suite.
pub(super) fn outcome(
    subject: &Subject,
    setup: &RoundTripSetup,
    fields: RoundTripFields,
    (release, now): (Release, Timestamp),
) -> CaseOutcome {
    let Subject::CustomResource { file, .. } = subject else {
        return CaseOutcome {
            failure: Some(Failure::NoRoundTrips("a built-in kind has no CRD".to_owned())),
            ..CaseOutcome::default()
        };
    };
    let RoundTripSetup { webhook, tries, seed, exact } = setup;
    let options = RoundTripOptions {
        effort: Effort {
            objects: tries.or(fields.tries).unwrap_or(TRIES),
            seed: seed.or(fields.seed).unwrap_or_default(),
        },
        exact: *exact || fields.exact,
    };
    let trip_setup = TripSetup { webhook, release, now };
    match round_trips(file, options, trip_setup) {
        Ok(reports) => {
            let reports: Arc<[TripReport]> = reports.into();
            CaseOutcome { failure: failure(&reports), round_trips: reports, ..CaseOutcome::default() }
        }
        Err(error) => CaseOutcome { failure: Some(Failure::NoRoundTrips(error.to_string())), ..CaseOutcome::default() },
    }
}

fn failure(reports: &Arc<[TripReport]>) -> Option<Failure> {
    if reports.is_empty() {
        let message =
            "the CRD serves only its storage version, so its objects are never converted; leave roundTrip out";
        return Some(Failure::NoRoundTrips(message.to_owned()));
    }
    if reports.iter().any(TripReport::has_changes) {
        return Some(Failure::RoundTrips(Arc::clone(reports)));
    }
    let untried = reports.iter().find(|report| report.objects == 0)?;
    Some(Failure::NoRoundTrips(format!("no object of {} was found that the server accepts", untried.trip.written)))
}

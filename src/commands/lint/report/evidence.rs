//! Prints the object that shows a breaking change.

use crate::commands::counterexample;
use crdx_engine::lint::breaking::evidence::Evidence;
use crdx_output::printable;
use crdx_value::{Map, Value};
use std::fmt::Write as _;

/// The maximum number of details.
const MAX_DETAILS: usize = 3;

/// Returns the object and what happens to it, indented.
pub fn text(evidence: &Evidence) -> String {
    match evidence {
        Evidence::NotSearched => String::new(),
        Evidence::NoneFound(tries) => format!("  no object shows it: none found in {tries} tries\n"),
        Evidence::Object(found) => {
            let mut text = "  for example:\n".to_owned() + &counterexample::text(found, 4);
            for detail in found.details.iter().take(MAX_DETAILS) {
                let _ = writeln!(text, "  {}", printable::line(detail));
            }
            text
        }
    }
}

/// Returns the members of the JSON report.
pub fn members(evidence: &Evidence) -> Map {
    match evidence {
        Evidence::NotSearched => Map::new(),
        Evidence::NoneFound(tries) => {
            Map::from([("noneFoundIn".to_owned(), Value::Int(i64::try_from(*tries).unwrap_or(i64::MAX)))])
        }
        Evidence::Object(found) => Map::from([("example".to_owned(), Value::Object(counterexample::members(found)))]),
    }
}

//! The findings that a project accepts.

use crate::commands::error::Error;
use crate::commands::terminal;
use clap::Args as ClapArgs;
use crdx_engine::report::RunNote;
use crdx_input::baseline::{Baseline, BaselineError};
use crdx_value::time;
use std::path::PathBuf;

/// `--baseline`
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct BaselineFile {
    /// Do not fail for the findings that this file lists, each with a reason and a date; entries without a finding are reported
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub baseline: Option<PathBuf>,
    /// Write the findings of this run to the file of --baseline; reasons and dates of findings that it has are kept
    #[arg(long, help_heading = "Output")]
    pub write_baseline: bool,
}

impl BaselineFile {
    /// Opens the baseline, if there is one.
    ///
    /// # Errors
    /// The file cannot be used, or is missing on the command line.
    pub fn open(&self) -> Result<Option<Baseline>, Error> {
        let opened = match (&self.baseline, self.write_baseline) {
            (None, false) => return Ok(None),
            (None, true) => return Err(Error::usage("--write-baseline needs the file: give --baseline FILE")),
            (Some(path), false) => Baseline::open(path),
            (Some(path), true) => Baseline::open_to_write(path, date()),
        };
        opened.map(Some).map_err(|error| problem(&error))
    }
}

/// Ends the use of a baseline, and returns the notes about it.
///
/// # Errors
/// The file cannot be written.
pub fn finish_baseline(baseline: Option<Baseline>) -> Result<Vec<RunNote>, Error> {
    baseline.map_or_else(|| Ok(Vec::new()), |baseline| baseline.finish().map_err(|error| problem(&error)))
}

fn problem(error: &BaselineError) -> Error {
    Error::usage_with_help(error.to_string(), error.help())
}

/// Returns the date of today in UTC, `YYYY-MM-DD`.
fn date() -> String {
    time::format(terminal::now()).chars().take_while(|character| *character != 'T').collect()
}

//! Writes reports for pipelines. Cases are buffered, because the head of a report contains their counts.

use crate::input::buffered_text::BufferedText;
use crate::output::report::case::Case;
use crate::output::report::pipeline::{Format, Report};
use std::io::{self, Write};

/// A report being built.
#[derive(Debug)]
pub struct Cases {
    report: Report,
    buffered: BufferedText,
}

impl Cases {
    /// Creates the report of a command without cases.
    pub fn new(format: Format, command: &'static str) -> Self {
        Self { report: Report::new(format, command), buffered: BufferedText::default() }
    }

    /// Adds a case.
    pub fn add(&mut self, case: &Case) -> io::Result<()> {
        self.buffered.push(&self.report.case(case))
    }

    /// Writes the whole report.
    pub fn write_to(self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.report.head().as_bytes())?;
        self.buffered.write_to(out)?;
        out.write_all(self.report.tail().as_bytes())
    }
}

//! The severities of the findings of this program.

use clap::Args as ClapArgs;
use crdx_engine::report::severity::{Severities as Map, SeverityOf};

/// `--severity`
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct Severities {
    /// Report the findings of this program of this type as error, warning or note, or not at all (off); an error fails like a
    /// rejection; findings of the server do not change; may be repeated
    #[arg(long = "severity", value_name = "TYPE=SEVERITY", help_heading = "Output")]
    pub severities: Vec<SeverityOf>,
    /// Treat warnings as errors, those of the server, too, as with kubectl
    #[arg(long, help_heading = "Output")]
    pub warnings_as_errors: bool,
}

impl Severities {
    /// Returns the severities by type.
    pub fn map(&self) -> Map {
        Map::new(&self.severities).with_warnings_as_errors(self.warnings_as_errors)
    }
}

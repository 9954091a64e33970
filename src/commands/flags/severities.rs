//! The severities of the findings of this program.

use clap::Args as ClapArgs;
use crdx_engine::report::severity::{Severities as Map, SeverityOf};

/// `--severity`
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct Severities {
    /// Show the findings of this program of this type as error, warning or note, or not at all (off); findings of the server
    /// and exit codes do not change; may be repeated
    #[arg(long = "severity", value_name = "TYPE=SEVERITY", help_heading = "Output")]
    pub severities: Vec<SeverityOf>,
}

impl Severities {
    /// Returns the severities by type.
    pub fn map(&self) -> Map {
        Map::new(&self.severities)
    }
}

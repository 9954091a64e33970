//! The arguments of `kubectl crdx options`.

use clap::Args as ClapArgs;

/// `options`
#[derive(Debug, ClapArgs)]
pub struct Options {}

//! When to colour output.

use clap::ValueEnum;

/// `--color`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal that is not `dumb`, or if `FORCE_COLOR` or `CLICOLOR_FORCE` is set, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

//! What is printed.

use clap::ValueEnum;

/// `-o` where there is one choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnlyJson {
    /// For programs
    Json,
}

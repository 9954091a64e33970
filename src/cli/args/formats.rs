//! What is printed.

use clap::ValueEnum;

/// `-o`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For programs
    Json,
    /// Objects
    Yaml,
    /// Every printer column
    Wide,
    /// `kind.group/name`
    Name,
}

/// `-o` where there is one choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnlyJson {
    /// For programs
    Json,
}

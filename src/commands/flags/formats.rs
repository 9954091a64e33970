//! Output formats.

use clap::ValueEnum;

/// `-o` of a command that prints a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableOrJson {
    /// For people
    Table,
    /// For programs
    Json,
}

/// `-o` of a command that prints a text, as kubectl's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum JsonOrYaml {
    /// JSON
    Json,
    /// YAML
    Yaml,
}

/// `-o` where there is one choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnlyJson {
    /// For programs
    Json,
}

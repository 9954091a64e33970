//! The output formats of commands with verdicts, for humans and for pipelines.

use crate::output::report::pipeline;
use clap::ValueEnum;

/// `-o` of `validate`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ValidateFormat {
    /// A table, the default
    Table,
    /// For programs
    Json,
    /// Objects
    Yaml,
    /// Every printer column
    Wide,
    /// `kind.group/name`
    Name,
    /// One self-contained HTML page
    Html,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit's XML
    Junit,
    /// Annotations of a GitHub workflow
    Github,
    /// TAP version 14
    Tap,
}

/// `-o` of `diff`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// A unified diff, the default
    Table,
    /// For programs
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit's XML
    Junit,
    /// Annotations of a GitHub workflow
    Github,
    /// TAP version 14
    Tap,
}

/// `-o` of `lint`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    /// Text with tables, the default
    Table,
    /// For programs
    Json,
    /// One self-contained HTML page
    Html,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit's XML
    Junit,
    /// Annotations of a GitHub workflow
    Github,
    /// TAP version 14
    Tap,
}

/// `-o` of `rehearse`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RehearseFormat {
    /// A table, the default
    Table,
    /// For programs
    Json,
    /// One self-contained HTML page
    Html,
}

impl ValidateFormat {
    /// Returns the pipeline format, if it is one.
    pub fn pipeline(self) -> Option<pipeline::Format> {
        match self {
            Self::Sarif => Some(pipeline::Format::Sarif),
            Self::Junit => Some(pipeline::Format::Junit),
            Self::Github => Some(pipeline::Format::Github),
            Self::Tap => Some(pipeline::Format::Tap),
            Self::Table | Self::Json | Self::Yaml | Self::Wide | Self::Name | Self::Html => None,
        }
    }
}

impl DiffFormat {
    /// Returns the pipeline format, if it is one.
    pub fn pipeline(self) -> Option<pipeline::Format> {
        match self {
            Self::Table | Self::Json => None,
            Self::Sarif => Some(pipeline::Format::Sarif),
            Self::Junit => Some(pipeline::Format::Junit),
            Self::Github => Some(pipeline::Format::Github),
            Self::Tap => Some(pipeline::Format::Tap),
        }
    }
}

impl LintFormat {
    /// Returns the pipeline format, if it is one.
    pub fn pipeline(self) -> Option<pipeline::Format> {
        match self {
            Self::Table | Self::Json | Self::Html => None,
            Self::Sarif => Some(pipeline::Format::Sarif),
            Self::Junit => Some(pipeline::Format::Junit),
            Self::Github => Some(pipeline::Format::Github),
            Self::Tap => Some(pipeline::Format::Tap),
        }
    }
}

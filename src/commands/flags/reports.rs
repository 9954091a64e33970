//! The output formats of reports: one list, of which each command supports a part.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use crdx_output::report::pipeline;

/// `-o` of a command that prints a report
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people, the default
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
    /// Markdown, for a job summary or a comment
    Markdown,
    /// The code quality report of GitLab
    Gitlab,
    /// The diagnostics of reviewdog
    Rdjson,
}

impl ReportFormat {
    /// The formats of `validate`.
    pub const OF_VALIDATE: &'static [Self] = &[
        Self::Table,
        Self::Json,
        Self::Yaml,
        Self::Wide,
        Self::Name,
        Self::Html,
        Self::Sarif,
        Self::Junit,
        Self::Github,
        Self::Tap,
        Self::Markdown,
        Self::Gitlab,
        Self::Rdjson,
    ];
    /// The formats of `diff`.
    pub const OF_DIFF: &'static [Self] = &[
        Self::Table,
        Self::Json,
        Self::Sarif,
        Self::Junit,
        Self::Github,
        Self::Tap,
        Self::Markdown,
        Self::Gitlab,
        Self::Rdjson,
    ];
    /// The formats of `lint`.
    pub const OF_LINT: &'static [Self] = &[
        Self::Table,
        Self::Json,
        Self::Html,
        Self::Sarif,
        Self::Junit,
        Self::Github,
        Self::Tap,
        Self::Markdown,
        Self::Gitlab,
        Self::Rdjson,
    ];
    /// The formats of `rehearse`.
    pub const OF_REHEARSE: &'static [Self] = &[Self::Table, Self::Json, Self::Html, Self::Markdown];
    /// The formats of `prove`.
    pub const OF_PROVE: &'static [Self] = &[Self::Table, Self::Json, Self::Markdown];
    /// The formats of `test`.
    pub const OF_TEST: &'static [Self] = &[Self::Json, Self::Junit, Self::Github, Self::Tap, Self::Markdown];

    /// Returns a parser of an argument that accepts only these formats.
    pub fn parser(formats: &'static [Self]) -> impl TypedValueParser<Value = Self> {
        let names = formats.iter().filter_map(Self::to_possible_value);
        PossibleValuesParser::new(names).try_map(|name| <Self as ValueEnum>::from_str(&name, true))
    }

    /// Returns the pipeline format, if it is one.
    pub fn pipeline(self) -> Option<pipeline::PipelineFormat> {
        match self {
            Self::Sarif => Some(pipeline::PipelineFormat::Sarif),
            Self::Junit => Some(pipeline::PipelineFormat::Junit),
            Self::Github => Some(pipeline::PipelineFormat::Github),
            Self::Tap => Some(pipeline::PipelineFormat::Tap),
            Self::Markdown => Some(pipeline::PipelineFormat::Markdown),
            Self::Gitlab => Some(pipeline::PipelineFormat::Gitlab),
            Self::Rdjson => Some(pipeline::PipelineFormat::Rdjson),
            Self::Table | Self::Json | Self::Yaml | Self::Wide | Self::Name | Self::Html => None,
        }
    }
}

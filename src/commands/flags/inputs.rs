//! The objects to validate, and their CRDs.

use super::{Paths, Policies, Target};
use clap::{Args as ClapArgs, ValueEnum};
use crdx_engine::kubectl;
use crdx_engine::simulation::filter::KindPattern;
use crdx_input::configuration::TargetSettings;
use crdx_server::server::LabelSelector;
use crdx_value::GoError;
use crdx_value::release::Release;
use std::num::NonZeroUsize;

/// The inputs of `validate` and `diff`.
#[derive(Clone, Debug, ClapArgs)]
pub struct Inputs {
    /// The objects.
    #[command(flatten)]
    pub paths: Paths,
    /// Validate this directory on its own, as the objects of a cluster of its own; of a pattern, such as 'clusters/*', each
    /// match; or a target of .crdx.yaml by its name; may be repeated. Paths without --target belong to every target
    #[arg(long = "target", value_name = "DIR", help_heading = "Files")]
    pub targets: Vec<String>,
    /// The targets of the settings.
    #[arg(skip)]
    pub configured: Vec<TargetSettings>,
    /// The resolved targets; none if everything is validated together.
    #[arg(skip)]
    pub resolved: Vec<Target>,
    /// A file or directory with CustomResourceDefinitions, `-` for standard input; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Files")]
    pub crds: Vec<String>,
    /// Skip objects of this kind, given as KIND or KIND.GROUP; skipped CRDs still define their kinds; may be repeated
    #[arg(long, value_name = "KIND")]
    pub skip: Vec<KindPattern>,
    /// Only objects whose labels match, as with kubectl's -l: 'app=web', 'tier in (a, b)', '!canary'
    #[arg(short = 'l', long, value_name = "SELECTOR", value_parser = selector, allow_hyphen_values = true)]
    pub selector: Option<LabelSelector>,
    /// How the server treats duplicate and unknown fields, as kubectl's --validate
    #[arg(long, value_name = "LEVEL", default_value = "Strict", ignore_case = true)]
    pub field_validation: FieldValidation,
    /// Report an object whose CRD is not known as "skipped" instead of "cannot tell"
    #[arg(long)]
    pub ignore_missing_crds: bool,
    /// Accepted for older scripts, without effect: built-in kinds are validated
    #[arg(long, hide = true)]
    pub strict_builtin: bool,
    /// The number of threads [default: one per processor]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Admission policies.
    #[command(flatten)]
    pub policies: Policies,
}

/// `--field-validation`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum FieldValidation {
    /// Reject them
    Strict,
    /// Drop them with a warning
    Warn,
    /// Drop them
    Ignore,
}

impl From<FieldValidation> for kubectl::FieldValidation {
    fn from(flag: FieldValidation) -> Self {
        match flag {
            FieldValidation::Strict => Self::Strict,
            FieldValidation::Warn => Self::Warn,
            FieldValidation::Ignore => Self::Ignore,
        }
    }
}

/// Parses `-l` as kubectl does; the rules do not depend on the server's version.
fn selector(text: &str) -> Result<LabelSelector, GoError> {
    LabelSelector::parse(text, Release::NEWEST)
}

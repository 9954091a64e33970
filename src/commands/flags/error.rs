//! The errors of values on the command line.

use super::boolean::parse_bool;
#[cfg(feature = "serve")]
use crdx_serve::ServiceError;
use crdx_server::policies::authorizer::RulesError;
use crdx_text as text;
use crdx_value::release::{FeatureGatesError, ReleaseSetError};

/// Parses a boolean as kubectl does.
pub fn boolean(text: &str) -> Result<bool, ArgumentError> {
    parse_bool(text).ok_or_else(|| ArgumentError::NoBoolean(text.to_owned()))
}

/// The reason why the value of a flag is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// It does not have this form.
    #[error("give {0}")]
    Form(&'static str),
    /// It is not a boolean.
    #[error("{0:?} is neither true nor false")]
    NoBoolean(String),
    /// It is not a duration.
    #[error("write it as 30s, 2m or 1h")]
    NoDuration,
    /// It is not a list of versions.
    #[error(transparent)]
    Releases(#[from] ReleaseSetError),
    /// It sets no feature gates.
    #[error(transparent)]
    Gates(#[from] FeatureGatesError),
    /// It names several versions.
    #[error("this command simulates a single version; validate, lint, rehearse, test and lsp accept several")]
    SeveralVersions,
    /// It is not the address of a Service.
    #[cfg(feature = "serve")]
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The file cannot be read; the error of the operating system.
    #[error("cannot read {0}: {1}")]
    Unreadable(String, String),
    /// The file is not YAML.
    #[error("{0}: {1}")]
    Yaml(String, text::Error),
    /// The file has no rules.
    #[error("{0}: {1}")]
    Rules(String, RulesError),
}

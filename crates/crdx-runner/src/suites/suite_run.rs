//! The results of a suite on one server.

use crdx_engine::suites::{CaseOutcome, Suite};
use crdx_value::Value;
use crdx_value::release::Release;
use std::sync::Arc;

/// A suite that was run on one server, that is, with one CRD and one release.
#[derive(Debug)]
pub struct SuiteRun {
    pub suite: Arc<Suite>,
    /// The file of the CRD, or the resource of a built-in kind; empty if none was found.
    pub crd: Arc<str>,
    /// The CRD that was sent to the server; `None` for a built-in kind.
    pub definition: Option<Arc<Value>>,
    pub release: Release,
    /// The results of the cases by their index in the suite, or the reason why the suite did not run.
    pub cases: Result<Vec<(usize, CaseOutcome)>, SuiteFailure>,
}

/// The reason why a suite did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteFailure {
    /// The field of the suite that causes the failure.
    pub field: &'static str,
    pub message: String,
    /// A suggestion.
    pub help: Option<String>,
    /// True if the server rejected the CRD; otherwise the results are unknown.
    pub rejected: bool,
}

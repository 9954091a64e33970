//! The CRDs and policies of a session.

use super::check::Checker;
use super::live::Live;
use super::workspace;
use crate::cluster;
use crate::editor::Settings;
use crate::input;
use crate::simulation::{self, Plan};
use crdx::kubectl;
use crdx::kubectl::FieldValidation;
use crdx_server::server::Timestamp;
use crdx_value::release::ReleaseSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Reads the CRDs and policies of the settings, the workspace and the cluster.
pub fn checker(
    settings: &Settings,
    folders: &[PathBuf],
    namespace: &str,
    live: &Live,
    now: fn() -> Timestamp,
) -> Checker {
    let releases = settings.releases.clone().or_else(|| live.release().map(ReleaseSet::from));
    let plan = plan(Settings { releases, ..settings.clone() }, folders, namespace, now());
    let mut checker = Checker::new(plan, settings.crds.clone());
    for (kind, definition) in live.definitions() {
        checker.install_from_cluster(kind, definition);
    }
    checker
}

/// Returns the plan for files of the workspace. No cluster is contacted.
fn plan(settings: Settings, folders: &[PathBuf], namespace: &str, now: Timestamp) -> Plan {
    let mut crds = settings.crds;
    if !settings.skips_workspace {
        crds.extend(workspace::files_with_definitions(folders));
    }
    Plan {
        filenames: Vec::new(),
        crds,
        old: Vec::new(),
        kustomizations: Vec::new(),
        options: input::Options { recursive: true, only_regular_files: true, ..input::Options::default() },
        policies: simulation::admission::Options { paths: settings.policies, ..Default::default() },
        skip: Vec::new(),
        selector: None,
        field_validation: FieldValidation::Strict,
        ignore_missing_crds: false,
        strict_builtin: false,
        jobs: Some(NonZeroUsize::MIN),
        table: false,
        request_kind: kubectl::RequestKind::default(),
        show_bookkeeping: false,
        scale: false,
        compares: None,
        target: cluster::Target::default(),
        offline: true,
        releases: settings.releases,
        namespace: Some(namespace.to_owned()),
        now,
    }
}

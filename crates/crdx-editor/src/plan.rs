//! The CRDs and policies of a session.

use super::check::Checker;
use super::live::Live;
use super::workspace;
use crate::Settings;
use crdx_engine::kubectl;
use crdx_engine::kubectl::FieldValidation;
use crdx_engine::report::severity::Severities;
use crdx_input::Ignore;
use crdx_input::configuration::{self, ConfigurationError, SettingKey};
use crdx_runner::simulation::{self, Plan};
use crdx_server::server::{ServerSettings, Timestamp};
use crdx_value::release::ReleaseSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Reads the CRDs and policies of the settings, the workspace and the cluster. Also returns the error of an invalid file with
/// settings, which is then not used.
pub fn checker(
    settings: &Settings,
    folders: &[PathBuf],
    namespace: &str,
    live: &Live,
    now: fn() -> Timestamp,
) -> (Checker, Option<ConfigurationError>) {
    let (project, error) = match project_settings(settings, folders) {
        Ok(project) => (project, None),
        Err(error) => (configuration::Settings::default(), Some(error)),
    };
    let mut settings = with_project(settings.clone(), &project);
    settings.releases = settings.releases.or_else(|| live.release().map(ReleaseSet::from));
    let (crds, severities) = (settings.crds.clone(), settings.severities.clone());
    let plan = Plan {
        // The patterns and kinds were checked when the file was read.
        skip: project.values(SettingKey::Skip).iter().filter_map(|kind| kind.parse().ok()).collect(),
        ..plan(settings, folders, namespace, now())
    };
    let ignore =
        Ignore::in_directory(project.values(SettingKey::Ignore), project.directory.as_deref()).unwrap_or_default();
    let plan = Plan {
        options: crdx_input::InputOptions { ignore, directory: folders.first().cloned(), ..plan.options.clone() },
        ..plan
    };
    let mut checker = Checker::new(plan, crds);
    checker.severities = severities;
    for (kind, definition) in live.definitions() {
        checker.install_from_cluster(kind, definition);
    }
    (checker, error)
}

/// Reads the settings of the project: those of the first folder.
fn project_settings(settings: &Settings, folders: &[PathBuf]) -> Result<configuration::Settings, ConfigurationError> {
    match folders.first() {
        Some(folder) => {
            let project = settings.lookup.read(folder, false)?;
            let options = crdx_input::InputOptions {
                recursive: true,
                only_regular_files: true,
                ..crdx_input::InputOptions::default()
            };
            configuration::check_paths(&project, [SettingKey::Crds, SettingKey::Policies], &options)?;
            Ok(project)
        }
        None => Ok(configuration::Settings::default()),
    }
}

/// Completes settings that neither flags, variables nor the client set.
fn with_project(mut settings: Settings, project: &configuration::Settings) -> Settings {
    for (paths, key) in [(&mut settings.crds, SettingKey::Crds), (&mut settings.policies, SettingKey::Policies)] {
        if paths.is_empty() {
            *paths = project.values(key).to_vec();
        }
    }
    if settings.severities == Severities::default() {
        let severities = project.values(SettingKey::Severities).iter().filter_map(|text| text.parse().ok());
        settings.severities = Severities::new(&severities.collect::<Vec<_>>());
    }
    if settings.releases.is_none() {
        settings.releases = project.values(SettingKey::KubernetesVersion).first().and_then(|text| text.parse().ok());
    }
    settings
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
        old_kustomizations: Vec::new(),
        kustomizations: Vec::new(),
        options: crdx_input::InputOptions {
            recursive: true,
            only_regular_files: true,
            ..crdx_input::InputOptions::default()
        },
        policies: simulation::admission::PolicyOptions { paths: settings.policies, ..Default::default() },
        skip: Vec::new(),
        selector: None,
        field_validation: FieldValidation::Strict,
        ignore_missing_crds: false,
        jobs: Some(NonZeroUsize::MIN),
        table: false,
        request_kind: kubectl::RequestKind::default(),
        show_last_applied: false,
        scale: false,
        compares: None,
        target: crdx_cluster::ClusterFlags::default(),
        offline: true,
        releases: settings.releases,
        namespace: Some(namespace.to_owned()),
        server: ServerSettings::default(),
        now,
    }
}

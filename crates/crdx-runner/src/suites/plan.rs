//! Determines the servers on which a suite runs.

use super::load::Library;
use crate::suites::suite_run::SuiteFailure;
use crdx_engine::simulation::server_settings::ConfiguredServer;
use crdx_engine::suites::case_runner::ServerSetup;
use crdx_engine::suites::round_trips::RoundTripSetup;
use crdx_engine::suites::subject::{Subject, TestedResource};
use crdx_engine::suites::{Action, Suite, Variant, variant};
use crdx_server::server::{ServerSettings, SettingsError, Timestamp};
use crdx_value::release::{Release, ReleaseSet};
use std::sync::Arc;

/// The cases to run, and their servers.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Files and directories with CRDs, used instead of those that a suite names.
    pub crds: Vec<String>,
    /// Annotations that CRDs must have.
    pub annotations: Vec<(String, String)>,
    /// A part of the name of the case or the suite.
    pub filter: Option<String>,
    /// The releases; by default those of the suite, or the newest.
    pub releases: Option<ReleaseSet>,
    /// The settings of the servers.
    pub server: ServerSettings,
    /// The settings of round trips.
    pub round_trips: RoundTripSetup,
}

/// A suite to run on one server.
#[derive(Debug)]
pub struct Planned {
    pub suite: Arc<Suite>,
    /// The file of the CRD, or the resource of a built-in kind; empty if there is none.
    pub crd: Arc<str>,
    pub release: Release,
    /// The indices of the cases to run.
    pub cases: Vec<usize>,
    /// The server, or the reason why there is none.
    pub setup: Result<ServerSetup, SuiteFailure>,
    /// Suites with the same key can share a server.
    pub key: String,
}

/// Returns the runs of a suite; empty if its feature gates exclude every CRD, or the filter excludes every case.
pub fn plan(suite: &Arc<Suite>, selection: &Selection, library: &mut Library, now: Timestamp) -> Vec<Planned> {
    let wanted = |name: &str| selection.filter.as_ref().is_none_or(|text| name.contains(text.as_str()));
    let cases: Vec<usize> = suite
        .cases
        .iter()
        .enumerate()
        .filter(|(_, case)| wanted(&suite.name) || wanted(&case.name))
        .map(|(index, _)| index)
        .collect();
    if cases.is_empty() {
        return Vec::new();
    }
    let configured: Result<Vec<ConfiguredServer>, SettingsError> = releases(suite, selection)
        .into_iter()
        .map(|release| ConfiguredServer::new(&selection.server, release))
        .collect();
    let (configured, unusable) = match configured {
        Ok(configured) => (configured, None),
        Err(error) => (Vec::new(), Some(failure("server", error.to_string(), "change the flags of the server"))),
    };
    let releases: Vec<Release> = configured.iter().map(|server| server.release).collect();
    let planned = |crd: &Arc<str>, release: Release, setup, key| Planned {
        suite: Arc::clone(suite),
        crd: Arc::clone(crd),
        release,
        cases: cases.clone(),
        setup,
        key,
    };
    let no_source: Arc<str> = Arc::from("");
    let variants = unusable.map_or_else(|| variants(suite, selection, library), Err);
    let variants = match variants {
        Ok(variants) => variants,
        Err(failure) => {
            return vec![planned(
                &no_source,
                releases.first().copied().unwrap_or(Release::NEWEST),
                Err(failure),
                // Runs with the same key share a set-up.
                suite.source.to_string(),
            )];
        }
    };
    let policies = suite.policies.iter().flat_map(|path| library.objects(suite, path)).collect::<Vec<_>>();
    let names: Vec<&str> = variants.iter().map(Variant::name).collect();
    let additional_crds: Vec<Variant> = library.additional_crds(suite, &names);
    let manages_fields = suite.cases.iter().any(|case| case.action == Action::Apply);
    let plugins = |release| configured.iter().find(|server| server.release == release).map(|one| one.plugins.clone());
    let setup = |release, subject| ServerSetup {
        round_trips: selection.round_trips.clone(),
        plugins: if selection.server.is_default() { None } else { plugins(release) }.unwrap_or_default(),
        release,
        subject,
        additional_crds: additional_crds.iter().map(|crd| Arc::new(crd.installable())).collect(),
        policies: policies.clone(),
        manages_fields,
        now,
    };
    let own = if policies.is_empty() && additional_crds.is_empty() { "" } else { &suite.source };
    let version = suite.version.as_deref().unwrap_or_default();
    let key = |release, source: &str, name: &str| {
        let (is_folder, has_only_round_trips) = (suite.is_folder(), suite.has_only_round_trips());
        format!("{release} {source} {name} {version} {is_folder} {has_only_round_trips} {manages_fields} {own}")
    };
    let mut all = Vec::new();
    for release in releases {
        if variants.is_empty() {
            let subject = built_in(suite, release);
            let name = subject.as_ref().map_or_else(|_| suite.crd_name.clone(), TestedResource::name);
            let setup = subject.map(|resource| setup(release, Subject::BuiltIn(resource)));
            let key = key(release, "", &name);
            all.push(planned(&Arc::from(name), release, setup, key));
        }
        for one in &variants {
            let setup = definition(suite, &variants, one).map(|definition| {
                let (definition, file) = (Arc::new(definition), Arc::clone(&one.definition));
                setup(release, Subject::CustomResource { definition, file })
            });
            all.push(planned(&one.source, release, setup, key(release, &one.source, one.name())));
        }
    }
    all
}

/// Returns the releases on which a suite runs: those that the suite and the command line have in common.
fn releases(suite: &Suite, selection: &Selection) -> Vec<Release> {
    let own = suite.releases.as_ref();
    match &selection.releases {
        Some(given) => {
            given.iter().filter(|release| own.is_none_or(|own| own.iter().any(|one| one == *release))).collect()
        }
        None => own.map_or_else(|| vec![Release::NEWEST], |own| own.iter().collect()),
    }
}

/// Returns the resource of the built-in kind that a suite tests.
fn built_in(suite: &Suite, release: Release) -> Result<TestedResource, SuiteFailure> {
    let name = &suite.crd_name;
    let found = if suite.is_folder() {
        TestedResource::of_built_in_kind(name, release)
    } else {
        TestedResource::built_in(name, release)
    };
    let found = found.map(|resource| TestedResource { version: suite.version.clone(), ..resource });
    found.ok_or_else(|| {
        let message = format!("a server of Kubernetes {release} does not serve {name}");
        failure("crdName", message, "name the versions that serve it with `kubernetesVersions`")
    })
}

/// Returns true if some release serves the built-in kind that a suite names.
fn names_built_in_kind(suite: &Suite) -> bool {
    suite.crd.is_none() && Release::known().any(|release| built_in(suite, release).is_ok())
}

/// Returns the CRDs of a suite; none if it tests a built-in kind.
fn variants(suite: &Suite, selection: &Selection, library: &mut Library) -> Result<Vec<Variant>, SuiteFailure> {
    let candidates = library.candidates(suite, &selection.crds);
    let is_it = |variant: &Variant| {
        if suite.is_folder() {
            variant.kind() == suite.crd_name
        } else {
            suite.crd_name.is_empty() || variant.name() == suite.crd_name
        }
    };
    let mut variants: Vec<Variant> = candidates.into_iter().filter(is_it).collect();
    if variants.is_empty() && names_built_in_kind(suite) {
        return Ok(variants);
    }
    if variants.is_empty() {
        let called = if suite.crd_name.is_empty() { "CRD".to_owned() } else { format!("CRD {}", suite.crd_name) };
        let missing = if suite.is_folder() { format!("CRD for {}", suite.crd_name) } else { called };
        return Err(failure("crdName", format!("there is no {missing}"), "give its file or directory with --crds"));
    }
    if selection.crds.is_empty() && suite.crd.is_none() && suite.crds.is_empty() {
        variants.retain(|variant| variant.has_gates(&suite.feature_gates));
        if variants.is_empty() {
            let message = format!("no CRD {} is known to have the feature gates of the suite", suite.crd_name);
            return Err(failure("featureGates", message, "give the CRD with --crds, or leave the suite out"));
        }
    }
    for (key, value) in &selection.annotations {
        variants.retain(|variant| variant.is_annotated(key, value));
        if variants.is_empty() {
            let message = format!("no CRD {} has the annotation {key}={value}", suite.crd_name);
            return Err(failure("crdName", message, "leave out --annotation, or the suite"));
        }
    }
    Ok(variants)
}

/// Returns the CRD to install: with the version that the suite tests, or for documents and round trips with all versions.
fn definition(suite: &Suite, variants: &[Variant], one: &Variant) -> Result<crdx_value::Value, SuiteFailure> {
    if suite.is_folder() || suite.has_only_round_trips() {
        return Ok(one.installable());
    }
    let all: Vec<&Variant> = variants.iter().collect();
    let version = variant::version(suite, &all)
        .map_err(|error| failure("version", error.to_string(), "add `version` to the suite"))?;
    one.reduced(&version).ok_or_else(|| {
        let message = format!("the CRD {} has no version {version}", one.name());
        failure("version", message, "correct `version` in the suite")
    })
}

pub(super) fn failure(field: &'static str, message: String, help: &str) -> SuiteFailure {
    SuiteFailure { field, message, help: Some(help.to_owned()), rejected: false }
}

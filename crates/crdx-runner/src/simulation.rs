//! Simulates the server's response to every document of an input: the engine of `validate` and `diff`.
//!
//! [`run`](self::run()) runs a [`Plan`] and reports one [`ObjectReport`] per document, in the order of the input. `stream`
//! reads documents and passes them to threads, [`admission`] reads the policies, [`live`] queries the cluster, `lookahead`
//! reads many existing objects with one request, and `seen_kinds` collects the notes of a run. [`crdx_engine::simulation`]
//! simulates the objects.

pub mod admission;
pub mod live;
mod lookahead;
pub mod ordered;
mod saved_objects;
mod seen_kinds;
mod stream;
use crdx_cluster::LiveSettings;
use crdx_engine::cluster::Cluster;
use crdx_engine::documents::InputEntry;
use crdx_engine::kubectl::FieldValidation;
use crdx_engine::kubectl::RequestKind;
use crdx_engine::kubectl::request::RequestOptions;
use crdx_engine::report::{ObjectReport, RunNote, SourceLocation, Verdict};
use crdx_engine::simulation::admission::Admission;
use crdx_engine::simulation::built_in_server::BuiltInServer;
use crdx_engine::simulation::definitions::Definitions;
use crdx_engine::simulation::existing::ExistingObjects;
use crdx_engine::simulation::filter::{Filter, KindPattern};
use crdx_engine::simulation::known_cluster::given::GivenObjects;
use crdx_engine::simulation::object::Kind;
use crdx_engine::simulation::object_store::ObjectStore;
use crdx_engine::simulation::server_configuration::ServerConfiguration;
use crdx_engine::simulation::server_settings::ConfiguredServer;
use crdx_engine::simulation::{CompareOptions, OrderedState, Simulator, SimulatorSettings, Updates};
use crdx_input::catalog;
use crdx_input::render::Renderer;
use crdx_input::required::{Required, Sources};
use crdx_input::temp_store::TempStore;
use crdx_server::server::{AdmissionConfiguration, LabelSelector, ServerSettings, SettingsError, Timestamp};
use crdx_value::Value;
use crdx_value::release::{Release, ReleaseSet};
use live::Live;
use saved_objects::SavedObjects;
use seen_kinds::SeenKinds;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use stream::Run;

/// The plan of a simulation: the inputs, and the request to send for each object.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Files and directories with objects; `-` is standard input.
    pub filenames: Vec<String>,
    /// Files and directories with CRDs.
    pub crds: Vec<String>,
    /// Files and directories with the existing objects. If given, no objects are read from the cluster.
    pub old: Vec<String>,
    /// Directories with kustomizations that generate objects.
    pub kustomizations: Vec<PathBuf>,
    /// The options for reading files and directories.
    pub options: crdx_input::InputOptions,
    pub policies: admission::PolicyOptions,
    pub skip: Vec<KindPattern>,
    /// The label selector of objects; other objects are skipped.
    pub selector: Option<LabelSelector>,
    /// The treatment of unknown and duplicate fields by the server.
    pub field_validation: FieldValidation,
    /// True to skip objects without a CRD.
    pub ignore_missing_crds: bool,
    /// The number of threads; by default one per CPU.
    pub jobs: Option<NonZeroUsize>,
    /// True to request the Table of each object.
    pub table: bool,
    /// True to report the Scale of each object.
    pub scale: bool,
    /// The request that kubectl would send.
    pub request_kind: RequestKind,
    /// True to include the last-applied annotation in results.
    pub show_last_applied: bool,
    /// The options of a diff, if the objects before and after the request are reported.
    pub compares: Option<CompareOptions>,
    pub target: crdx_cluster::ClusterFlags,
    /// True if the cluster must not be contacted.
    pub offline: bool,
    /// The releases to simulate. The default is the cluster's release, or the newest one without a cluster.
    pub releases: Option<ReleaseSet>,
    /// The default namespace of objects. The default is the namespace of the context.
    pub namespace: Option<String>,
    /// The settings of the server.
    pub server: ServerSettings,
    /// The time of all requests.
    pub now: Timestamp,
}

impl Plan {
    /// Returns true if more is read from the cluster than missing CRDs: existing objects from files may be those of another
    /// cluster, but not of another one than that of the profile.
    fn reads_cluster(&self) -> bool {
        self.old.is_empty() || self.target.profile.is_some()
    }
}

#[derive(Clone, Debug)]
pub struct RunSummary {
    /// The releases that were simulated.
    pub releases: ReleaseSet,
    /// Notes about the run as a whole.
    pub notes: Vec<RunNote>,
}

/// Simulates every document and passes the items to `show` in order, one per document for any number of releases.
///
/// # Errors
/// Returns an error if standard input is given twice, or a temporary file cannot be written.
pub fn run(plan: &Plan, show: &mut (dyn FnMut(ObjectReport) + Send)) -> io::Result<RunSummary> {
    let options = crdx_input::InputOptions { whole_lists: true, ..plan.options.clone() };
    let input = Sources::open_all(&plan.filenames, options).and_kustomizations(&plan.kustomizations);
    run_entries(plan, input, show)
}

/// Simulates documents in place of those of the plan's files, as [`run`](self::run()) does.
///
/// # Errors
/// Returns the errors of [`run`](self::run()).
pub fn run_entries(
    plan: &Plan,
    input: impl Iterator<Item = InputEntry> + Send,
    show: &mut (dyn FnMut(ObjectReport) + Send),
) -> io::Result<RunSummary> {
    let inputs = [&plan.filenames, &plan.crds, &plan.old, &plan.policies.paths];
    let readers = inputs.into_iter().filter(|paths| paths.iter().any(|p| p == "-"));
    if readers.count() > 1 {
        return Err(io::Error::other(
            "standard input can be read once: give `-` to one of -f, --crds, --old and --policies",
        ));
    }
    let mut seen_kinds = SeenKinds::default();
    let mut show = |item: ObjectReport| {
        seen_kinds.add(&item, plan.request_kind.subresource);
        show(item);
    };
    let mut simulation = Simulation::prepare(Arc::new(plan.clone()), &mut show);
    // The error about `--crds` is reported; without these CRDs, all objects would have errors.
    if !simulation.lacks_definitions {
        simulation.simulate(input, &mut show)?;
    }
    Ok(simulation.finish(seen_kinds))
}

/// A server for each release, with the CRDs, policies and existing objects of a plan.
#[derive(Debug)]
pub struct Simulation {
    plan: Arc<Plan>,
    cluster: Option<Arc<Live>>,
    releases: ReleaseSet,
    /// The simulator of each release, oldest first.
    simulators: Vec<Simulator>,
    /// The CRDs of each release, in the order of `simulators`.
    known: Vec<OrderedState>,
    filter: Filter,
    /// True if the cluster's policies are evaluated.
    has_live_policies: bool,
    /// True if a path of `--crds` has no CRD, so that objects may lack their CRDs, or if the settings of the server are wrong.
    lacks_definitions: bool,
    notes: Vec<RunNote>,
}

impl Simulation {
    /// Reads the CRDs, policies and existing objects of a plan. Passes unusable inputs to `show`.
    pub fn prepare(plan: Arc<Plan>, show: &mut (dyn FnMut(ObjectReport) + Send)) -> Self {
        let given = plan;
        let plan = &*given;
        let mut notes = Vec::new();
        let cluster = (!plan.offline).then(|| Arc::new(Live::new(plan.target.clone())));
        let releases = plan.releases.clone().unwrap_or_else(|| release_of(plan, cluster.as_deref(), &mut notes));
        let live = match &cluster {
            Some(live)
                if plan.releases.is_none() && plan.reads_cluster() && crdx_cluster::is_configured(&plan.target) =>
            {
                live_settings(live, &releases)
            }
            _ => LiveSettings::default(),
        };
        notes.extend(live.notes.iter().map(|message| RunNote { kind: "serverSettings", message: message.clone() }));
        let (servers, is_unusable) = match configured(&plan.server, live, &releases) {
            Ok(servers) => (servers, false),
            Err(error) => {
                show(unusable_settings(&error));
                let default = configured(&ServerSettings::default(), LiveSettings::default(), &releases);
                (default.unwrap_or_default(), true)
            }
        };
        let releases = ReleaseSet::from_releases(servers.iter().map(|server| server.release)).unwrap_or(releases);
        let namespace = crdx_cluster::namespace_or_default(plan.namespace.as_deref(), &plan.target);
        let mut others = GivenObjects::default();
        let existing = existing_objects(plan, cluster.as_ref(), (&mut others, &namespace), show, &mut notes);
        let objects = match &existing {
            ExistingObjects::Cluster(_) if crdx_cluster::is_configured(&plan.target) => {
                cluster.as_ref().map(Live::objects)
            }
            _ if plan.target.profile.is_some() => cluster.as_ref().map(Live::objects),
            _ => None,
        };
        let reading = admission::Reading {
            options: &plan.policies,
            input: plan.options.clone(),
            // The cluster's policies are only used together with its objects.
            live: cluster.as_ref().filter(|_| objects.is_some() && !plan.policies.skips_cluster),
            objects,
            namespace: &namespace,
        };
        let has_live_policies = reading.live.is_some();
        let objects = reading.read(show, &mut notes);
        let manifests = static_manifests(plan, &releases);
        let with_manifests = (!manifests.is_empty()).then(|| reading.with_manifests(objects.clone(), &manifests, show));
        let all_objects = with_manifests.as_ref().unwrap_or(&objects);
        let others = Arc::new(all_objects.with_existing(others));
        let admissions = releases.iter().map(|release| {
            let reads_manifests = plan.server.admission.manifest_directories(release).next().is_some();
            let objects = if reads_manifests { all_objects } else { &objects };
            reading.admission(objects, release, &mut notes)
        });
        let admissions: Vec<Option<Admission>> = admissions.collect();
        // Only server-side apply needs field ownership.
        let owners = (plan.request_kind.verb == crdx_engine::kubectl::Verb::ServerSide)
            || plan.compares.is_some_and(|c| c.server_metadata)
            || all_objects.read_managed_fields();
        let simulator = |(configured, admission): (&ConfiguredServer, &Option<Admission>)| {
            let ConfiguredServer { release, plugins, unsimulated, served } = configured.clone();
            let service_ranges = served.service_ranges.clone();
            let configuration =
                ServerConfiguration { release, now: plan.now, tracks_fields: owners, plugins, service_ranges };
            let server = configuration.builder(admission.as_ref()).without_history().build();
            Simulator {
                settings: SimulatorSettings {
                    given: Arc::clone(&others),
                    live: reading.objects.clone(),
                    unsimulated,
                    served,
                    ..settings(plan, &namespace, cluster.clone())
                },
                server: Arc::new(server),
                updates: Updates {
                    request_kind: plan.request_kind.clone(),
                    existing: existing.again(),
                    compares: plan.compares,
                },
                store: new_store(),
                lock: Arc::default(),
                built_in: Arc::new(BuiltInServer::new(configuration.clone())),
                configuration,
                admission: OnceLock::new(),
            }
        };
        let simulators: Vec<Simulator> = servers.iter().zip(&admissions).map(simulator).collect();
        let known = simulators.iter().map(|_| OrderedState::new(new_store())).collect();
        let filter = Filter::new(&plan.skip, plan.selector.as_ref());
        let mut simulation = Self {
            plan: Arc::clone(&given),
            cluster,
            releases,
            simulators,
            known,
            filter,
            has_live_policies,
            lacks_definitions: false,
            notes,
        };
        let mut lacks_definitions = is_unusable;
        let (run, known) = simulation.run();
        if !plan.crds.is_empty() {
            let mut input = Sources::open(&plan.crds, plan.options.clone(), Required::Definition, "--crds");
            stream::take_definitions(&run, known, input.by_ref(), show);
            lacks_definitions |= input.lacks_required();
        }
        stream::take_policies(&run, known, admissions, show);
        simulation.lacks_definitions = lacks_definitions;
        let is_defined = |group: &str, kind: &str| simulation.definition(group, kind).is_some();
        let paths: Vec<String> = plan.policies.paths.iter().chain(&manifests).cloned().collect();
        all_objects.without_effect(&paths, &is_defined).into_iter().for_each(show);
        simulation
    }

    /// Simulates documents and passes the items to `show` in order. CRDs among them are created in the servers.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn simulate(
        &mut self,
        entries: impl Iterator<Item = InputEntry> + Send,
        show: &mut (dyn FnMut(ObjectReport) + Send),
    ) -> io::Result<()> {
        let (run, known) = self.run();
        stream::simulate_all(&run, known, entries, show)
    }

    /// Creates a simulation with the same servers and no simulated documents. It must not simulate CRDs, because they
    /// would be created in the servers of both simulations.
    #[must_use]
    pub fn again(&self) -> Self {
        Self {
            plan: Arc::clone(&self.plan),
            cluster: self.cluster.clone(),
            releases: self.releases.clone(),
            simulators: self.simulators.iter().map(Simulator::again).collect(),
            known: self.known.iter().map(OrderedState::again).collect(),
            filter: Filter::new(&self.plan.skip, self.plan.selector.as_ref()),
            has_live_policies: self.has_live_policies,
            lacks_definitions: self.lacks_definitions,
            notes: Vec::new(),
        }
    }

    /// Returns the same as [`Simulation::again`], with these existing objects.
    #[must_use]
    pub fn updating(&self, existing: &ExistingObjects) -> Self {
        let mut simulation = self.again();
        for simulator in &mut simulation.simulators {
            simulator.updates.existing = existing.again();
        }
        simulation
    }

    /// Creates a CRD that the cluster has, unless the kind has one.
    pub fn install_from_cluster(&mut self, kind: &Kind, definition: &Value) {
        for (simulator, known) in self.simulators.iter().zip(&mut self.known) {
            if !known.knows(kind) {
                known.install_from_cluster(simulator, kind, definition.clone());
            }
        }
    }

    pub fn releases(&self) -> &ReleaseSet {
        &self.releases
    }

    /// Returns the CRD of a kind on the newest release, as the server stores it.
    pub fn definition(&self, group: &str, kind: &str) -> Option<&Arc<Value>> {
        self.known.last()?.definitions().route(group, kind).map(|route| &route.definition)
    }

    /// Returns the source location of a CRD.
    pub fn definition_location(&self, name: &str) -> Option<&SourceLocation> {
        self.known.last()?.definitions().location(name)
    }

    /// Returns the stored CRDs.
    pub fn definitions(&self) -> impl Iterator<Item = &Arc<Value>> {
        self.known.last().into_iter().flat_map(|known| known.definitions().stored())
    }

    fn run(&mut self) -> (Run<'_>, &mut [OrderedState]) {
        let jobs = ordered::threads(self.plan.jobs);
        (
            Run { simulators: &self.simulators, filter: &self.filter, jobs, live: self.cluster.as_deref() },
            &mut self.known,
        )
    }

    fn finish(self, mut seen_kinds: SeenKinds) -> RunSummary {
        let Self { plan, cluster, releases, simulators, known, filter, has_live_policies, mut notes, .. } = self;
        let warnings = plan.options.warnings.take().into_iter();
        notes.extend(warnings.map(|message| RunNote { kind: "inputWarning", message }));
        let unread = [("skippedInputs", plan.options.skipped.message()), ("unselected", filter.message())];
        notes.extend(unread.into_iter().filter_map(|(kind, message)| Some(RunNote { kind, message: message? })));
        let rendered = plan.options.render.iter().flat_map(Renderer::notes);
        notes.extend(rendered.map(|(kind, message)| RunNote { kind, message }));
        notes
            .extend(plan.options.restrictions.iter().map(|text| RunNote { kind: RESTRICTIONS, message: text.clone() }));
        // An existing object that one release uses counts as used.
        let left = simulators
            .iter()
            .map(|simulator| simulator.updates.existing.left())
            .min_by_key(|left| left.as_ref().map(|l| l.count));
        if let Some(left) = left.flatten() {
            notes.push(RunNote { kind: "oldObjects", message: left.text() });
        }
        seen_kinds.add_given(simulators.iter().flat_map(|simulator| simulator.settings.given.classes_of_pods()));
        let mut admissions = simulators.iter().filter_map(|simulator| simulator.admission.get());
        if admissions.any(|admission| admission.has_webhooks()) {
            notes.extend(seen_kinds.built_in_note());
        }
        let definitions: Vec<&Definitions> = known.iter().map(OrderedState::definitions).collect();
        let reads_cluster = plan.reads_cluster() && cluster.as_deref().is_some_and(Live::is_configured);
        notes.extend(seen_kinds.notes(&definitions, cluster.as_deref(), has_live_policies, reads_cluster));
        if plan.releases.is_none()
            && !plan.reads_cluster()
            && let Some(connection) = cluster.as_deref().and_then(Live::opened)
            && let own = crdx_cluster::simulated(Ok(connection)).release
            && releases.single() != Some(own)
        {
            let message = format!(
                "the cluster runs Kubernetes {own}, and Kubernetes {releases} is simulated: give --kubernetes-version {own}"
            );
            notes.push(RunNote { kind: "version", message });
        }
        RunSummary { releases, notes }
    }
}

/// The type of the note about what the settings of the project leave out.
pub const RESTRICTIONS: &str = "restrictions";

/// Returns the default release: the cluster's, or the newest.
fn release_of(plan: &Plan, cluster: Option<&Live>, notes: &mut Vec<RunNote>) -> ReleaseSet {
    match cluster {
        // If existing objects come from files, only missing CRDs are read from the cluster.
        Some(live) if plan.reads_cluster() && crdx_cluster::is_configured(&plan.target) => {
            let crdx_cluster::Simulated { release, note } = crdx_cluster::simulated(live.connection());
            notes.extend(note.map(|message| RunNote { kind: "version", message }));
            release.into()
        }
        _ => Release::NEWEST.into(),
    }
}

/// Returns the directories with the policies that the server of any of the releases reads from files.
fn static_manifests(plan: &Plan, releases: &ReleaseSet) -> Vec<String> {
    // Releases ignore the directories, or read all of them.
    let newest = releases.iter().last().unwrap_or(Release::NEWEST);
    plan.server.admission.manifest_directories(newest).map(|(_, directory)| directory.to_owned()).collect()
}

/// Reads the settings of the cluster's server.
fn live_settings(live: &Live, releases: &ReleaseSet) -> LiveSettings {
    match (live.connection(), releases.single()) {
        (Ok(connection), Some(release)) => crdx_cluster::settings(connection, release),
        _ => LiveSettings::default(),
    }
}

/// Configures a server of each release with the settings of the cluster, which those of the plan replace.
fn configured(
    settings: &ServerSettings,
    live: LiveSettings,
    releases: &ReleaseSet,
) -> Result<Vec<ConfiguredServer>, SettingsError> {
    let LiveSettings { settings: own, admission_file, lacks_flags, may_serve_other_apis, .. } = live;
    // Whoever gives the plugins also gives the file, if there is one.
    let lacks_flags = lacks_flags && settings.enabled_plugins.is_empty();
    let settings = own.replaced_by(settings);
    // A copy of the file is given with the flag.
    let lacks_copy = settings.admission == AdmissionConfiguration::default();
    let file = admission_file.filter(|_| lacks_copy);
    let server = |release| {
        let mut configured = ConfiguredServer::new(&settings, release)?;
        if may_serve_other_apis {
            configured = configured.with_apis_of_cluster();
        }
        if lacks_flags && lacks_copy {
            configured = configured.with_unknown_configuration(&settings.enabled_plugins);
        }
        Ok(match &file {
            Some(path) => configured.with_unread_configuration(path),
            None => configured,
        })
    };
    releases.iter().map(server).collect()
}

/// The report of settings that no server accepts.
fn unusable_settings(error: &SettingsError) -> ObjectReport {
    let location = SourceLocation::source(&"the settings of the server".into());
    ObjectReport::new(location, Verdict::CannotTell, error.to_string())
}

fn existing_objects(
    plan: &Plan,
    cluster: Option<&Arc<Live>>,
    given: (&mut GivenObjects, &str),
    show: &mut (dyn FnMut(ObjectReport) + Send),
    notes: &mut Vec<RunNote>,
) -> ExistingObjects {
    match cluster {
        _ if !plan.old.is_empty() => {
            let files = Sources::open(&plan.old, plan.options.collecting(), Required::Object, "--old");
            ExistingObjects::from_files(files, Arc::new(TempStore::default()), given, show)
        }
        // A diff needs the existing objects.
        Some(live) if plan.target.profile.is_some() => {
            let message = "a profile has no existing objects, except those that admission reads: all others are assumed to be new; \
                 --old gives them";
            notes.push(RunNote { kind: "noCluster", message: message.to_owned() });
            ExistingObjects::Cluster(Arc::new(SavedObjects::new(Arc::clone(live))))
        }
        Some(live) if plan.compares.is_some() || crdx_cluster::is_configured(&plan.target) => {
            ExistingObjects::Cluster(Arc::clone(live) as Arc<dyn Cluster>)
        }
        Some(_) => {
            let message = "no cluster is configured, so every object is assumed to be new".to_owned();
            notes.push(RunNote { kind: "noCluster", message });
            ExistingObjects::None
        }
        None => ExistingObjects::None,
    }
}

fn settings(plan: &Plan, namespace: &str, cluster: Option<Arc<Live>>) -> SimulatorSettings {
    SimulatorSettings {
        namespace: namespace.to_owned(),
        request_options: RequestOptions {
            level: plan.field_validation,
            dry_run: true,
            table: plan.table,
            now: plan.now,
        },
        show_last_applied: plan.show_last_applied,
        scale: plan.scale,
        ignore_missing: plan.ignore_missing_crds,
        cluster: cluster.map(|cluster| cluster as Arc<dyn Cluster>),
        given: Arc::default(),
        live: None,
        unsimulated: Arc::default(),
        served: Arc::default(),
        projects_of_group: catalog::projects_of_group,
    }
}

/// Creates a store for the objects of an input.
fn new_store() -> Box<dyn ObjectStore> {
    Box::<TempStore>::default()
}

//! Simulates what the server would do with every document of an input: the engine of `validate` and `diff`.
//!
//! [`run`](self::run()) takes a [`Plan`] and reports one [`Item`] per document, in the order of the input. `stream` reads
//! documents and hands them to threads, [`shared`] is the state those threads share, [`admission`] the policies, [`live`]
//! the cluster, `existing` the existing objects, `turns` orders objects with the same name, [`submit`] sends one request,
//! [`answer`] reads the response, and `seen_kinds` collects the notes of a run.

pub mod admission;
pub mod answer;
pub mod builtin;
mod definitions;
mod existing;
pub mod filter;
mod generated_name;
mod hints;
pub mod identity;
pub mod live;
pub mod object;
pub mod ordered;
pub mod policy_rehearsal;
mod seen_kinds;
mod shared;
mod stream;
mod submit;
mod turns;

use crate::cluster;
use crate::input;
use crate::input::required::{Required, Sources};
use crate::input::temp_store::TempStore;
use crate::kubectl::FieldValidation;
use crate::kubectl::request::RequestOptions;
use crate::kubectl::update::RequestKind;
use crate::output::report::{Item, Note};
use crate::release::{Release, ReleaseSet};
use crate::server::{LabelSelector, Server, Timestamp};
use admission::Admission;
use definitions::Definitions;
use existing::ExistingObjects;
use filter::{Filter, KindPattern};
use live::Live;
use seen_kinds::SeenKinds;
use shared::{Known, Settings, Simulator};
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use stream::Run;
use submit::Updates;

/// The plan of a simulation: the inputs, and the request to send for each object.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Files and directories with objects; `-` is standard input.
    pub filenames: Vec<String>,
    /// Files and directories with CRDs.
    pub crds: Vec<String>,
    /// Files and directories with the existing objects. If given, the cluster is not asked for objects.
    pub old: Vec<String>,
    /// Directories with kustomizations that generate objects.
    pub kustomizations: Vec<PathBuf>,
    /// How files and directories are read.
    pub options: input::Options,
    /// What is asked of admission policies.
    pub policies: admission::Options,
    /// Kinds that are skipped.
    pub skip: Vec<KindPattern>,
    /// A selector for the labels of objects; others are left out.
    pub selector: Option<LabelSelector>,
    /// How the server treats unknown and duplicate fields.
    pub field_validation: FieldValidation,
    /// Whether objects without a CRD are skipped.
    pub ignore_missing_crds: bool,
    /// Whether a requirement of a built-in kind's published schema is an error instead of a warning.
    pub strict_builtin: bool,
    /// The number of threads; by default one per CPU.
    pub jobs: Option<NonZeroUsize>,
    /// Whether each object's Table is requested.
    pub table: bool,
    /// The request that kubectl would send.
    pub request_kind: RequestKind,
    /// Whether results include the last-applied annotation.
    pub show_bookkeeping: bool,
    /// Whether the objects before and after the request are reported, for a diff.
    pub compares: Option<Compares>,
    /// The cluster.
    pub target: cluster::Target,
    /// Whether the cluster may not be contacted.
    pub offline: bool,
    /// The releases that are simulated; by default that of the cluster, and without one the newest.
    pub releases: Option<ReleaseSet>,
    /// The namespace of objects without one; by default that of the context.
    pub namespace: Option<String>,
    /// The time of all requests.
    pub now: Timestamp,
}

/// Options of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Compares {
    /// Whether metadata written by the server is compared.
    pub books: bool,
}

/// The summary of a run.
#[derive(Clone, Debug)]
pub struct Told {
    /// The releases that were simulated.
    pub releases: ReleaseSet,
    /// Notes about the run as a whole.
    pub notes: Vec<Note>,
}

/// Simulates every document and passes the items to `show` in order: one per document, whatever the number of releases.
pub fn run(plan: &Plan, show: &mut (dyn FnMut(Item) + Send)) -> io::Result<Told> {
    let inputs = [&plan.filenames, &plan.crds, &plan.old, &plan.policies.paths];
    let readers = inputs.into_iter().filter(|paths| paths.iter().any(|p| p == "-"));
    if readers.count() > 1 {
        return Err(io::Error::other(
            "standard input can be read once: give `-` to one of -f, --crds, --old and --policies",
        ));
    }
    let mut notes = Vec::new();
    let mut seen_kinds = SeenKinds::default();
    let mut show = |item: Item| {
        seen_kinds.add(&item, plan.request_kind.subresource);
        show(item);
    };
    let target = plan.target.clone();
    let cluster = (!plan.offline).then(|| Arc::new(Live::new(target.clone())));
    let releases = plan.releases.clone().unwrap_or_else(|| match &cluster {
        // When existing objects come from files, the cluster is asked only for missing CRDs.
        Some(live) if plan.old.is_empty() && cluster::is_configured(&target) => {
            let cluster::Simulated { release, note } = cluster::simulated(live.connection());
            notes.extend(note.map(|message| Note { kind: "version", message }));
            release.into()
        }
        _ => Release::NEWEST.into(),
    });
    let existing = match &cluster {
        _ if !plan.old.is_empty() => {
            ExistingObjects::given(Sources::open(&plan.old, plan.options.clone(), Required::Object, "--old"), &mut show)
        }
        // A diff needs the existing objects.
        Some(live) if plan.compares.is_some() || cluster::is_configured(&target) => {
            ExistingObjects::Live(Arc::clone(live))
        }
        Some(_) => {
            let message = "no cluster is configured, so every object is taken to be new".to_owned();
            notes.push(Note { kind: "noCluster", message });
            ExistingObjects::Given(Mutex::default())
        }
        None => ExistingObjects::Given(Mutex::default()),
    };
    let namespace = plan.namespace.clone().or_else(|| cluster::namespace(&target));
    let namespace = namespace.unwrap_or_else(|| "default".to_owned());
    let reading = admission::Reading {
        options: &plan.policies,
        input: plan.options.clone(),
        // The cluster's policies belong to its objects.
        live: match &existing {
            ExistingObjects::Live(live) if cluster::is_configured(&target) && !plan.policies.skips_cluster => {
                Some(live)
            }
            _ => None,
        },
        namespace: &namespace,
    };
    let evaluated = reading.live.is_some();
    let objects = admission::Objects::read(&reading, &mut show, &mut notes);
    let admissions = releases.iter().map(|release| Admission::new(&objects, &reading, release, &mut notes));
    let mut admissions: Vec<Option<Admission>> = admissions.collect();
    // Only server-side apply needs field ownership.
    let owners = (plan.request_kind.verb == crate::kubectl::Verb::ServerSide)
        || plan.compares.is_some_and(|c| c.books)
        || objects.read_managed_fields();
    let jobs = plan.jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let simulator = |(release, admission): (Release, &Option<Admission>)| {
        let server = Server::new(release, 0);
        let server = if owners { server } else { server.without_managed_fields() };
        let server = match admission {
            Some(admission) => admission.equip(server, plan.now),
            None => server,
        };
        let settings = Settings {
            namespace: namespace.clone(),
            request_options: RequestOptions {
                level: plan.field_validation,
                dry_run: true,
                table: plan.table,
                now: plan.now,
            },
            show_bookkeeping: plan.show_bookkeeping,
            ignore_missing: plan.ignore_missing_crds,
            builtin: builtin::Rules {
                release,
                level: plan.field_validation,
                verb: plan.request_kind.verb,
                strict: plan.strict_builtin,
            },
            cluster: cluster.clone(),
        };
        let updates =
            Updates { request_kind: plan.request_kind.clone(), existing: existing.again(), compares: plan.compares };
        Simulator { settings, server, updates, temp_store: TempStore::default(), admission: OnceLock::new() }
    };
    let simulators: Vec<Simulator> = releases.iter().zip(&admissions).map(simulator).collect();
    let run = Run { simulators: &simulators, filter: Filter::new(&plan.skip, plan.selector.as_ref()), jobs };
    let mut known: Vec<Known> = simulators.iter().map(|_| Known::default()).collect();
    if !plan.crds.is_empty() {
        let input = Sources::open(&plan.crds, plan.options.clone(), Required::Definition, "--crds");
        stream::take_definitions(&run, &mut known, input, &mut show);
    }
    stream::take_policies(&run, &mut known, std::mem::take(&mut admissions), &mut show);
    let input = Sources::open_all(&plan.filenames, plan.options.clone()).and_kustomizations(&plan.kustomizations);
    stream::simulate_all(&run, &mut known, input, &mut show)?;
    let unread = [("skippedInputs", plan.options.skipped.message()), ("unselected", run.filter.message())];
    notes.extend(unread.into_iter().filter_map(|(kind, message)| Some(Note { kind, message: message? })));
    // An existing object that one release uses counts as used.
    let left = simulators
        .iter()
        .map(|simulator| simulator.updates.existing.left())
        .min_by_key(|left| left.as_ref().map(|l| l.count));
    if let Some(left) = left.flatten() {
        notes.push(Note { kind: "oldObjects", message: left.words() });
    }
    notes.extend(
        seen_kinds.builtin_note().filter(|_| simulators.iter().any(|simulator| simulator.admission.get().is_some())),
    );
    let definitions: Vec<&Definitions> = known.iter().map(Known::definitions).collect();
    notes.extend(seen_kinds.notes(&definitions, cluster.as_deref(), evaluated));
    if plan.releases.is_none()
        && !plan.old.is_empty()
        && let Some(connection) = cluster.as_deref().and_then(Live::opened)
        && let own = cluster::simulated(Ok(connection)).release
        && releases.single() != Some(own)
    {
        let message = format!(
            "the cluster runs Kubernetes {own}, and the answers are those of {releases}: give --kubernetes-version {own}"
        );
        notes.push(Note { kind: "version", message });
    }
    Ok(Told { releases, notes })
}

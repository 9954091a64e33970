//! What the server would do with every document of an input: the engine of `validate` and `diff`.
//!
//! [`run`](self::run()) takes a [`Plan`] and reports one [`Item`] per document, in the order of the input. Below it: `stream` reads documents and
//! hands them to threads, [`shared`] is what those threads share, [`live`] the cluster, `olds` the existing objects,
//! `turns` the order of objects with one name, [`judge`] one request and its answer, `met` what is reported at the end.

pub mod admission;
pub mod builtin;
mod definitions;
pub mod filter;
mod hints;
mod identity;
pub mod judge;
pub mod live;
mod met;
pub mod object;
mod olds;
pub mod ordered;
mod shared;
mod stream;
mod turns;

use crate::cluster;
use crate::input;
use crate::input::required::{Required, Sources};
use crate::input::shelf::Shelf;
use crate::kubectl::FieldValidation;
use crate::kubectl::request::Manner;
use crate::kubectl::update::Way;
use crate::output::report::{Item, Note};
use crate::release::{Release, ReleaseSet};
use crate::server::{LabelSelector, Server, Timestamp};
use admission::Admission;
use definitions::Definitions;
use filter::{Filter, KindPattern};
use judge::Updates;
use live::Live;
use met::Met;
use olds::Olds;
use shared::{Judge, Known, Settings};
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use stream::Run;

/// What is simulated: inputs, and the request that each object becomes.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Files and directories with objects; `-` is standard input.
    pub filenames: Vec<String>,
    /// Files and directories with CRDs.
    pub crds: Vec<String>,
    /// Files and directories with the objects as they are now. If there are any, the cluster is not asked for objects.
    pub old: Vec<String>,
    /// Directories with objects, which kustomize builds.
    pub kustomizations: Vec<PathBuf>,
    /// How files and directories are read.
    pub options: input::Options,
    /// What is asked of admission policies.
    pub policies: admission::Options,
    /// Kinds that are skipped.
    pub skip: Vec<KindPattern>,
    /// The labels of the objects that are wanted.
    pub selector: Option<LabelSelector>,
    /// How the server treats unknown and duplicate fields.
    pub field_validation: FieldValidation,
    /// Whether objects without a CRD are skipped.
    pub ignore_missing_crds: bool,
    /// Whether what the published schemas of built-in kinds ask for beyond decoding is an error rather than a warning.
    pub strict_builtin: bool,
    /// The number of threads; by default one per processor.
    pub jobs: Option<NonZeroUsize>,
    /// Whether each object's Table is wanted.
    pub table: bool,
    /// The request that is sent.
    pub way: Way,
    /// Whether results keep the last-applied annotation.
    pub show_bookkeeping: bool,
    /// Whether the objects before and after are wanted, to be compared.
    pub compares: Option<Compares>,
    /// The cluster.
    pub target: cluster::Target,
    /// Whether the cluster is never asked.
    pub offline: bool,
    /// The releases that are simulated; by default that of the cluster, and without one the newest.
    pub releases: Option<ReleaseSet>,
    /// The namespace of objects without one; by default that of the context.
    pub namespace: Option<String>,
    /// The time of all requests.
    pub now: Timestamp,
}

/// What is wanted for comparing.
#[derive(Clone, Copy, Debug)]
pub struct Compares {
    /// Whether with what the server notes in the metadata.
    pub books: bool,
}

/// What is to be said of a run as a whole.
#[derive(Clone, Debug)]
pub struct Told {
    /// The releases that were simulated.
    pub releases: ReleaseSet,
    /// Other things to know.
    pub notes: Vec<Note>,
}

/// Judges everything and shows the items in order: one for each document, whatever the number of releases.
pub fn run(plan: &Plan, show: &mut (dyn FnMut(Item) + Send)) -> io::Result<Told> {
    let inputs = [&plan.filenames, &plan.crds, &plan.old, &plan.policies.paths];
    let readers = inputs.into_iter().filter(|paths| paths.iter().any(|p| p == "-"));
    if readers.count() > 1 {
        return Err(io::Error::other(
            "standard input can be read once: give `-` to one of -f, --crds, --old and --policies",
        ));
    }
    let mut notes = Vec::new();
    let mut met = Met::default();
    let mut show = |item: Item| {
        met.add(&item, plan.way.subresource);
        show(item);
    };
    let target = plan.target.clone();
    let cluster = (!plan.offline).then(|| Arc::new(Live::new(target.clone())));
    let releases = plan.releases.clone().unwrap_or_else(|| match &cluster {
        // With old objects in files the cluster is asked for missing CRDs only.
        Some(live) if plan.old.is_empty() && cluster::is_configured(&target) => {
            let cluster::Simulated { release, note } = cluster::simulated(live.connection());
            notes.extend(note.map(|message| Note { kind: "version", message }));
            release.into()
        }
        _ => Release::NEWEST.into(),
    });
    let olds = match &cluster {
        _ if !plan.old.is_empty() => {
            Olds::given(Sources::open(&plan.old, plan.options.clone(), Required::Object, "--old"), &mut show)
        }
        // Who asks for a difference wants to know between what.
        Some(live) if plan.compares.is_some() || cluster::is_configured(&target) => Olds::Live(Arc::clone(live)),
        Some(_) => {
            let message = "no cluster is configured, so every object is taken to be new".to_owned();
            notes.push(Note { kind: "noCluster", message });
            Olds::Given(Mutex::default())
        }
        None => Olds::Given(Mutex::default()),
    };
    let namespace = plan.namespace.clone().or_else(|| cluster::namespace(&target));
    let namespace = namespace.unwrap_or_else(|| "default".to_owned());
    let reading = admission::Reading {
        options: &plan.policies,
        input: plan.options.clone(),
        // The cluster's policies belong to its objects.
        live: match &olds {
            Olds::Live(live) if cluster::is_configured(&target) && !plan.policies.skips_cluster => Some(live),
            _ => None,
        },
        namespace: &namespace,
    };
    let evaluated = reading.live.is_some();
    let objects = admission::Objects::read(&reading, &mut show, &mut notes);
    let admissions = releases.iter().map(|release| Admission::new(&objects, &reading, release, &mut notes));
    let mut admissions: Vec<Option<Admission>> = admissions.collect();
    // Only server-side apply asks who owns what.
    let owners = (plan.way.verb == crate::kubectl::Verb::ServerSide)
        || plan.compares.is_some_and(|c| c.books)
        || objects.read_managed_fields();
    let jobs = plan.jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let judge = |(release, admission): (Release, &Option<Admission>)| {
        let server = Server::new(release, 0);
        let server = if owners { server } else { server.without_managed_fields() };
        let server = match admission {
            Some(admission) => admission.equip(server, plan.now),
            None => server,
        };
        let settings = Settings {
            namespace: namespace.clone(),
            manner: Manner { level: plan.field_validation, dry_run: true, table: plan.table, now: plan.now },
            show_bookkeeping: plan.show_bookkeeping,
            ignore_missing: plan.ignore_missing_crds,
            builtin: builtin::Rules {
                release,
                level: plan.field_validation,
                verb: plan.way.verb,
                strict: plan.strict_builtin,
            },
            cluster: cluster.clone(),
        };
        let updates = Updates { way: plan.way.clone(), olds: olds.again(), compares: plan.compares };
        Judge { settings, server, updates, shelf: Shelf::default(), admission: OnceLock::new() }
    };
    let judges: Vec<Judge> = releases.iter().zip(&admissions).map(judge).collect();
    let run = Run { judges: &judges, filter: Filter::new(&plan.skip, plan.selector.as_ref()), jobs };
    let mut known: Vec<Known> = judges.iter().map(|_| Known::default()).collect();
    if !plan.crds.is_empty() {
        let input = Sources::open(&plan.crds, plan.options.clone(), Required::Definition, "--crds");
        stream::take_definitions(&run, &mut known, input, &mut show);
    }
    stream::take_policies(&run, &mut known, std::mem::take(&mut admissions), &mut show);
    let input = Sources::open_all(&plan.filenames, plan.options.clone()).and_kustomizations(&plan.kustomizations);
    stream::judge_all(&run, &mut known, input, &mut show)?;
    let unread = [("skippedInputs", plan.options.skipped.message()), ("unselected", run.filter.message())];
    notes.extend(unread.into_iter().filter_map(|(kind, message)| Some(Note { kind, message: message? })));
    // An old object that one release takes is not left.
    let left = judges.iter().map(|judge| judge.updates.olds.left()).min_by_key(|left| left.as_ref().map(|l| l.count));
    if let Some(left) = left.flatten() {
        notes.push(Note { kind: "oldObjects", message: left.words() });
    }
    notes.extend(met.builtin_note().filter(|_| judges.iter().any(|judge| judge.admission.get().is_some())));
    let definitions: Vec<&Definitions> = known.iter().map(Known::definitions).collect();
    notes.extend(met.notes(&definitions, cluster.as_deref(), evaluated));
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

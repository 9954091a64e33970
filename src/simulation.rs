//! What the server would do with every document of an input: the engine of `validate` and `diff`.
//!
//! [`run`](self::run()) takes a [`Plan`] and reports one [`Item`] per document, in the order of the input. Below it: `stream` reads documents and
//! hands them to threads, [`shared`] is what those threads share, [`live`] the cluster, `olds` the existing objects,
//! `turns` the order of objects with one name, [`judge`] one request and its answer, `met` what is reported at the end.

pub mod builtin;
mod definitions;
pub mod filter;
mod hints;
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
use crate::release::Release;
use crate::server::{LabelSelector, Server, Timestamp};
use filter::{Filter, KindPattern};
use judge::Updates;
use live::Live;
use met::Met;
use olds::Olds;
use shared::{Judge, Known, Settings};
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

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
    /// The release that is simulated; by default that of the cluster, and without one the newest.
    pub release: Option<Release>,
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
    /// The release that was simulated.
    pub release: Release,
    /// Other things to know.
    pub notes: Vec<Note>,
}

/// Judges everything and shows the items in order.
pub fn run(plan: &Plan, show: &mut (dyn FnMut(Item) + Send)) -> io::Result<Told> {
    let readers = [&plan.filenames, &plan.crds, &plan.old].into_iter().filter(|paths| paths.iter().any(|p| p == "-"));
    if readers.count() > 1 {
        return Err(io::Error::other("standard input can be read once: give `-` to one of -f, --crds and --old"));
    }
    let mut notes = Vec::new();
    let mut met = Met::default();
    let mut show = |item: Item| {
        met.add(&item, plan.way.subresource);
        show(item);
    };
    let target = plan.target.clone();
    let cluster = (!plan.offline).then(|| Arc::new(Live::new(target.clone())));
    let release = plan.release.unwrap_or_else(|| match &cluster {
        // With old objects in files the cluster is asked for missing CRDs only.
        Some(live) if plan.old.is_empty() && cluster::is_configured(&target) => {
            let cluster::Simulated { release, note } = cluster::simulated(live.connection());
            notes.extend(note.map(|message| Note { kind: "version", message }));
            release
        }
        _ => Release::NEWEST,
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
    let updates = Updates { way: plan.way.clone(), olds, compares: plan.compares };
    // Only server-side apply asks who owns what.
    let owners = (plan.way.verb == crate::kubectl::Verb::ServerSide) || plan.compares.is_some_and(|c| c.books);
    let server = Server::new(release, 0);
    let server = if owners { server } else { server.without_managed_fields() };
    let namespace = plan.namespace.clone().or_else(|| cluster::namespace(&target));
    let settings = Settings {
        namespace: namespace.unwrap_or_else(|| "default".to_owned()),
        manner: Manner { level: plan.field_validation, dry_run: true, table: plan.table, now: plan.now },
        show_bookkeeping: plan.show_bookkeeping,
        jobs: plan.jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN),
        ignore_missing: plan.ignore_missing_crds,
        builtin: builtin::Rules {
            release,
            level: plan.field_validation,
            verb: plan.way.verb,
            strict: plan.strict_builtin,
        },
        cluster: cluster.clone(),
    };
    let filter = Filter::new(&plan.skip, plan.selector.as_ref());
    let judge = Judge { settings, server, updates, filter, shelf: Shelf::default() };
    let mut known = Known::default();
    if !plan.crds.is_empty() {
        let input = Sources::open(&plan.crds, plan.options.clone(), Required::Definition, "--crds");
        stream::take_definitions(&judge, &mut known, input, &mut show);
    }
    let input = Sources::open_all(&plan.filenames, plan.options.clone()).and_kustomizations(&plan.kustomizations);
    stream::judge_all(&judge, &mut known, input, &mut show)?;
    let unread = [("skippedInputs", plan.options.skipped.message()), ("unselected", judge.filter.message())];
    notes.extend(unread.into_iter().filter_map(|(kind, message)| Some(Note { kind, message: message? })));
    if let Some(left) = judge.updates.olds.left() {
        notes.push(Note { kind: "oldObjects", message: left.words() });
    }
    notes.extend(met.notes(known.definitions(), cluster.as_deref()));
    if plan.release.is_none()
        && !plan.old.is_empty()
        && let Some(connection) = cluster.as_deref().and_then(Live::opened)
        && let own = cluster::simulated(Ok(connection)).release
        && own != release
    {
        let message = format!(
            "the cluster runs Kubernetes {own}, and the answers are those of {release}: give --kubernetes-version {own}"
        );
        notes.push(Note { kind: "version", message });
    }
    Ok(Told { release, notes })
}

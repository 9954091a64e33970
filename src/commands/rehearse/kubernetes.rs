//! `rehearse --kubernetes-version`: shows the effect of an upgrade of Kubernetes on everything that a cluster or files store. Each
//! object is created again and replaced with itself on a simulated server of every release of the upgrade.

mod stored_entries;

use super::args;
use super::report::kubernetes::KubernetesReport;
use super::report::kubernetes_request::RehearsedRequest;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags::{self, Color};
use crate::commands::sink::{Ending, Sink, Streams};
use crate::commands::terminal;
use crdx_cluster::Connection;
use crdx_engine::documents::InputEntry;
use crdx_engine::kubectl::{FieldValidation, RequestKind, Verb, request};
use crdx_engine::rehearsal::kubernetes::StoredRequest;
use crdx_engine::report::{ObjectReport, RunNote};
use crdx_input::InputOptions;
use crdx_input::required::{Required, Sources};
use crdx_output::secrets;
use crdx_runner::simulation::admission::PolicyOptions;
use crdx_runner::simulation::live::Live;
use crdx_runner::simulation::{self, Plan};
use crdx_value::Value;
use crdx_value::release::{Release, ReleaseSet};
use stored_entries::StoredEntries;

/// Rehearses the upgrade of Kubernetes.
///
/// # Errors
/// There is no result, or output cannot be written.
pub fn run(args: &args::Rehearse, releases: &ReleaseSet, color: Color) -> Result<Exit, Error> {
    let from_files = !args.filenames.is_empty() || !args.kustomize.is_empty();
    if args.filenames.iter().any(|name| name == "-") {
        let message = "standard input can be read once, and an upgrade of Kubernetes reads the objects several times";
        return Err(Error::usage_with_help(message, "write the objects to a file, and give it with -f"));
    }
    let live = Live::new(args.cluster.target());
    let connection = if from_files { None } else { Some(connect(args, &live)?) };
    let (releases, note) = steps_of_upgrade(releases, connection)?;
    let options = args.reading.options();
    let streams = Streams::new(args.output, color);
    let mut sink = Sink::new(KubernetesReport::new(&releases, streams.out.look(), args.quiet), args.output, streams);
    sink.begin()?;
    let plan = plan(args, &releases, options.clone())?;
    let severities = args.severities.map();
    let mut notes: Vec<RunNote> = note.map(|message| RunNote { kind: "version", message }).into_iter().collect();
    let mut baseline = args.baseline.open()?;
    for request in [StoredRequest::Create, StoredRequest::Update] {
        let plan = of_request(&plan, request, connection.is_none());
        let mut show = |mut item: ObjectReport| {
            // The create reported an input without an object.
            if request == StoredRequest::Update && connection.is_none() && item.identity.kind.is_empty() {
                return;
            }
            severities.apply(&mut item);
            secrets::hide_lines(&mut item);
            if let Some(difference) = &mut item.release_difference {
                secrets::hide_difference(&item.identity, difference);
            }
            (item.object, item.defaulted) = (None, Vec::new());
            if connection.is_some() {
                stored_entries::locate(&mut item);
            }
            let mut done = RehearsedRequest { request, item };
            if let Some(baseline) = &mut baseline {
                done.accept(baseline);
            }
            sink.add(&done);
        };
        let run = if let Some(connection) = connection {
            simulation::run_entries(&plan, entries(StoredEntries::new(connection)?, request), &mut show)?
        } else {
            let files = Sources::open(&plan.filenames, plan.options.collecting(), Required::Object, "-f");
            let files = files.and_kustomizations(&plan.kustomizations);
            simulation::run_entries(&plan, entries(files, request), &mut show)?
        };
        notes.extend(
            run.notes.into_iter().filter(|note| note.kind != "oldObjects" && !notes.contains(note)).collect::<Vec<_>>(),
        );
    }
    notes.extend(flags::finish_baseline(baseline)?);
    let report = sink.finish(&Ending { notes: &notes, releases: &releases })?;
    Ok(report.exit())
}

fn connect<'a>(args: &args::Rehearse, live: &'a Live) -> Result<&'a Connection, Error> {
    if args.cluster.is_offline() {
        let help = "give them with -f or -k, and the new CRDs or policies if they are to be rehearsed";
        return Err(Error::usage_with_help("--offline needs the stored objects in files", help));
    }
    Ok(live.connection()?)
}

/// Returns every release of the upgrade, and a note about the version of the cluster. A single version is the version after the upgrade; the
/// version before it is that of the cluster.
fn steps_of_upgrade(
    releases: &ReleaseSet,
    connection: Option<&Connection>,
) -> Result<(ReleaseSet, Option<String>), Error> {
    let (oldest, note) = match (releases.single(), connection) {
        (None, _) => (releases.oldest(), None),
        (Some(_), Some(connection)) => {
            let crdx_cluster::Simulated { release, note } = crdx_cluster::simulated(Ok(connection));
            (release, note)
        }
        (Some(release), None) => {
            let message = format!("objects in files are rehearsed for an upgrade, and {release} is one version");
            let before = release.minor().previous();
            let help = format!(
                "give the version before the upgrade, too, for example --kubernetes-version {before}..{release}"
            );
            return Err(Error::usage_with_help(message, &help));
        }
    };
    let newest = releases.newest();
    if oldest >= newest {
        let message = format!("the cluster runs Kubernetes {oldest}, which is not older than {newest}");
        return Err(Error::usage_with_help(
            message,
            "give the version after the upgrade, or those before and after it",
        ));
    }
    let between = Release::known().filter(|one| oldest < *one && *one < newest);
    let all = ReleaseSet::from_releases(between.chain([oldest, newest])).unwrap_or_else(|| releases.clone());
    Ok((all, note))
}

/// Returns the simulation for the objects of files, on servers of all releases.
fn plan(args: &args::Rehearse, releases: &ReleaseSet, options: InputOptions) -> Result<Plan, Error> {
    Ok(Plan {
        filenames: args.filenames.clone(),
        crds: args.crds.clone(),
        old: Vec::new(),
        old_kustomizations: Vec::new(),
        kustomizations: args.kustomize.clone(),
        options,
        // The policies of the cluster are objects of the upgrade; none is enforced.
        policies: PolicyOptions { skips_cluster: true, ..args.policies.options() },
        skip: Vec::new(),
        selector: None,
        field_validation: FieldValidation::Strict,
        ignore_missing_crds: false,
        jobs: args.jobs,
        table: false,
        scale: false,
        request_kind: RequestKind::default(),
        show_last_applied: false,
        compares: None,
        target: args.cluster.target(),
        offline: true,
        releases: Some(releases.clone()),
        namespace: args.cluster.namespace.clone(),
        server: args.server.settings()?,
        now: terminal::now(),
    })
}

/// Returns the simulation of a request for each object. Only updates have existing objects.
fn of_request(plan: &Plan, request: StoredRequest, from_files: bool) -> Plan {
    let verb = match request {
        StoredRequest::Create => Verb::Create,
        StoredRequest::Update => Verb::Replace,
    };
    let is_update = request == StoredRequest::Update;
    let has_old = is_update && from_files;
    Plan {
        request_kind: RequestKind { verb, ..RequestKind::default() },
        old: if has_old { plan.filenames.clone() } else { Vec::new() },
        old_kustomizations: if has_old { plan.kustomizations.clone() } else { Vec::new() },
        offline: from_files || !is_update,
        ..plan.clone()
    }
}

/// Returns the objects as the requests send them: a create has no metadata of the server, and an update none of an earlier state.
fn entries(
    entries: impl Iterator<Item = InputEntry> + Send,
    request: StoredRequest,
) -> impl Iterator<Item = InputEntry> + Send {
    entries.map(move |mut entry| {
        if let InputEntry::Document(document) = &mut entry {
            let is_definition = document.is_definition();
            let object = &mut document.value;
            match request {
                StoredRequest::Create if is_definition => request::remove_cluster_state(object),
                StoredRequest::Create => request::remove_decodable_server_metadata(object),
                StoredRequest::Update => {
                    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
                    metadata.and_then(|metadata| metadata.remove("resourceVersion"));
                }
            }
        }
        entry
    })
}

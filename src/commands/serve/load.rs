//! Loads the initial objects of a server: objects in files are applied, and a cluster's CRDs and objects are copied as
//! they are stored.

use super::args;
use crate::commands::flags;
use crate::commands::progress::Progress;
use crate::commands::terminal;
use crdx_cluster::{Connection, Error, Query, Resource};
use crdx_engine::documents::{Document, InputEntry, Note};
use crdx_engine::kubectl::FieldValidation;
use crdx_engine::kubectl::request::{self, RequestOptions};
use crdx_engine::kubectl::send;
use crdx_engine::lint::convert;
use crdx_engine::simulation::object_store::{ObjectStore as _, StoredAt, TEMP_FILE_HELP};
use crdx_input::required::{Required, Sources};
use crdx_input::temp_store::TempStore;
use crdx_output::printable::complain;
use crdx_serve::Webhooks;
use crdx_server::crd;
use crdx_server::policies;
use crdx_server::server::{Request, Response, ResponseBody, SeedError, Server, ServerSettings, Timestamp};
use crdx_text::Position;
use crdx_types::groups;
use crdx_value::Value;
use crdx_value::group_version;
use crdx_value::release::Release;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Returns the release to serve with its settings: those of the flags, of the cluster to load or of the profile. Prints a note about
/// the choice to standard error.
///
/// # Errors
/// Returns an error if a server does not accept the settings.
pub fn settings(args: &args::Serve) -> Result<(Release, ServerSettings), super::Error> {
    let own = args.settings.settings()?;
    let reads_cluster = args.load_from_cluster || !args.cluster.profile.is_empty();
    let release = args.kubernetes.kubernetes_version;
    if release.is_some() || args.cluster.is_offline() || !reads_cluster {
        return Ok((args.settings.release(release.unwrap_or(Release::NEWEST))?, own));
    }
    let connection = Connection::open(&args.cluster.target(), terminal::warn);
    let connection = connection.as_ref().map_err(Clone::clone);
    let crdx_cluster::Simulated { release, note } = crdx_cluster::simulated(connection.clone());
    if let Some(note) = note {
        complain!("note: {note}");
    }
    flags::server::of_cluster(&own, release, connection)
}

/// Reads files and applies their objects, CRDs first. Problems are reported, and the other objects are loaded.
///
/// # Errors
/// Returns all problems with whole files and, with `--strict-load`, with single documents.
pub fn files(
    server: &Server,
    webhooks: Option<&Webhooks>,
    args: &args::Serve,
    now: Timestamp,
) -> Result<(), Vec<String>> {
    if args.load.is_empty() && args.kustomize.is_empty() {
        return Ok(());
    }
    let options = args.reading.options().of_definitions();
    let mut load = Load {
        target: LoadTarget { server, webhooks },
        args,
        now,
        temp_store: TempStore::default(),
        pending: Vec::new(),
        problems: Vec::new(),
    };
    let entries = Sources::open(&args.load, options.clone(), Required::Object, "--load");
    let progress = Progress::new(true);
    for entry in progress.count(entries.and_kustomizations(&args.kustomize)) {
        match entry {
            InputEntry::Problem(note) if note.position.is_some() => load.leave_out(note.text()),
            InputEntry::Problem(note) | InputEntry::Warning(note @ Note { position: None, .. }) => {
                load.problems.push(note.text());
            }
            // Warnings about text are collected.
            InputEntry::Warning(_) => {}
            InputEntry::Document(document) => load.document(document)?,
        }
    }
    progress.clear();
    flags::report_notes(&options);
    load.objects()?;
    if load.problems.is_empty() { Ok(()) } else { Err(load.problems) }
}

/// The server that stores the objects, and the webhooks that it calls.
#[derive(Clone, Copy)]
struct LoadTarget<'a> {
    server: &'a Server,
    webhooks: Option<&'a Webhooks>,
}

impl LoadTarget<'_> {
    fn handle(&self, request: &Request) -> Result<Response, LoadError> {
        let Some(webhooks) = self.webhooks else { return Ok(self.server.handle(request)) };
        Ok(webhooks.handle(self.server, request)?)
    }
}

/// The reason why an object is not loaded.
#[derive(Debug, thiserror::Error)]
enum LoadError {
    /// The server's message.
    #[error("{0}")]
    Rejected(String),
    #[error("no CRD defines {kind} of {group}: load it, too")]
    NoDefinition { kind: String, group: String },
    #[error("webhooks cannot be called: {0}")]
    Webhooks(#[from] io::Error),
}

/// Applies documents: CRDs immediately, other objects after all CRDs.
struct Load<'a> {
    target: LoadTarget<'a>,
    args: &'a args::Serve,
    now: Timestamp,
    temp_store: TempStore,
    pending: Vec<Pending>,
    /// Problems that stop the server.
    problems: Vec<String>,
}

/// An object that has not been applied yet.
struct Pending {
    stored_at: StoredAt,
    source: Arc<str>,
    position: Position,
}

impl Load<'_> {
    fn request_options(&self) -> RequestOptions {
        RequestOptions { level: FieldValidation::Strict, dry_run: false, table: false, now: self.now }
    }

    /// Reports a problem with one document.
    fn leave_out(&mut self, problem: String) {
        if self.args.strict_load {
            self.problems.push(problem);
        } else {
            complain!("error: {problem}\nnote: it is left out; with --strict-load, serve exits instead");
        }
    }

    fn document(&mut self, document: Document) -> Result<(), Vec<String>> {
        let (source, position) = (Arc::clone(&document.source), document.position());
        if !document.is_definition() {
            let stored_at = self.temp_store.put(&document.value).map_err(|error| vec![temp_store_error(&error)])?;
            self.pending.push(Pending { stored_at, source, position });
            return Ok(());
        }
        let applied = definition(document.value)
            .and_then(|crd| apply(self.target, request::DEFINITIONS, crd, self.request_options()));
        if let Err(problem) = applied {
            self.leave_out(format!("{source}:{position}: {problem}"));
        }
        Ok(())
    }

    fn objects(&mut self) -> Result<(), Vec<String>> {
        let plurals = plurals(self.target.server, self.request_options());
        for Pending { stored_at, source, position } in std::mem::take(&mut self.pending) {
            let object = self.temp_store.get(stored_at).map_err(|error| vec![temp_store_error(&error)])?;
            let location = format!("{source}:{position}");
            if let Err(problem) = self.object(object, &plurals, &location) {
                self.leave_out(format!("{location}: {problem}"));
            }
        }
        Ok(())
    }

    fn object(&self, object: Value, plurals: &Plurals, location: &str) -> Result<(), LoadError> {
        let text = |key| object.str_at(&[key]).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let (group, version) = group_version::split(api_version);
        let Some((plural, namespaced)) = plurals.get(&(group.to_owned(), kind.to_owned())) else {
            if groups::is_built_in(group) {
                complain!("warning: {location}: {kind} is built into Kubernetes and not served here: left out");
                return Ok(());
            }
            return Err(LoadError::NoDefinition { kind: kind.to_owned(), group: group.to_owned() });
        };
        let own = object.str_at(&["metadata", "namespace"]).filter(|ns| !ns.is_empty());
        let namespace = own.or(self.args.cluster.namespace.as_deref()).unwrap_or("default").to_owned();
        let path = request::collection(group, version, plural, namespaced.then_some(namespace.as_str()));
        apply(self.target, &path, object, self.request_options())
    }
}

fn temp_store_error(error: &io::Error) -> String {
    format!("{error}: {TEMP_FILE_HELP}")
}

/// Returns a CRD as v1. A CRD of v1beta1 is converted, because current servers reject it.
fn definition(crd: Value) -> Result<Value, LoadError> {
    if crd.str_at(&["apiVersion"]) != Some("apiextensions.k8s.io/v1beta1") {
        return Ok(crd);
    }
    let decoded = crd::decode(&crd).map_err(|error| LoadError::Rejected(error.to_string()))?;
    Ok(convert::convert(&decoded.crd).crd)
}

/// Creates an object, or applies it if it exists.
fn apply(
    target: LoadTarget<'_>,
    collection: &str,
    mut object: Value,
    request_options: RequestOptions,
) -> Result<(), LoadError> {
    request::remove_decodable_server_metadata(&mut object);
    accepted(&send::create_or_apply(collection, object, request_options, |request| target.handle(&request))?)
}

fn accepted(response: &Response) -> Result<(), LoadError> {
    if response.code < 300 { Ok(()) } else { Err(LoadError::Rejected(response.body.message().to_owned())) }
}

/// The plural of each kind, and true if it is namespaced, by group and kind.
type Plurals = HashMap<(String, String), (String, bool)>;

/// Returns the kinds of the CRDs that a server stores.
fn plurals(server: &Server, request_options: RequestOptions) -> Plurals {
    let list = server.handle(&request::read(request::DEFINITIONS, request_options));
    let ResponseBody::Json(list) = &list.body else { return HashMap::new() };
    let crds = list.get("items").and_then(Value::as_array).unwrap_or_default();
    let of = |crd: &Value| {
        let text = |path: &[&str]| crd.str_at(path).unwrap_or_default().to_owned();
        let namespaced = crd.str_at(&["spec", "scope"]) == Some("Namespaced");
        ((text(&["spec", "group"]), text(&["spec", "names", "kind"])), (text(&["spec", "names", "plural"]), namespaced))
    };
    let mut plurals: Plurals = crds.iter().map(of).collect();
    // With admission, the server also serves some kinds of Kubernetes.
    for (group, path) in [("", "/api/v1"), (policies::GROUP, "/apis/admissionregistration.k8s.io/v1")] {
        let ResponseBody::Json(list) = &server.handle(&request::read(path, request_options)).body else { continue };
        for resource in list.get("resources").and_then(Value::as_array).unwrap_or_default() {
            let text = |key: &str| resource.str_at(&[key]).unwrap_or_default().to_owned();
            if !text("name").contains('/') {
                let namespaced = resource.get("namespaced").and_then(Value::as_bool).unwrap_or_default();
                plurals.entry((group.to_owned(), text("kind"))).or_insert((text("name"), namespaced));
            }
        }
    }
    plurals
}

/// The reason why the objects of a cluster cannot be copied.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The cluster does not answer.
    #[error("{}", .0.text())]
    Request(Error),
    /// A CRD cannot be stored.
    #[error(transparent)]
    Definition(#[from] SeedError),
}

impl From<Error> for ClusterError {
    fn from(error: Error) -> Self {
        Self::Request(error)
    }
}

/// Copies a cluster's CRDs and their objects. Objects that the user may not read are reported and skipped.
pub fn cluster(server: &Server, target: &crdx_cluster::ClusterFlags, now: Timestamp) -> Result<(), ClusterError> {
    let cluster = Connection::open(target, terminal::warn)?;
    let mut crds = Vec::new();
    each(&cluster, request::DEFINITIONS, |mut crd| {
        // The items of a typed list have no apiVersion and kind.
        if let Some(members) = crd.as_object_mut() {
            members.insert("apiVersion".to_owned(), "apiextensions.k8s.io/v1".into());
            members.insert("kind".to_owned(), "CustomResourceDefinition".into());
        }
        crds.push(crd);
    })?;
    for crd in &crds {
        server.seed_definition(crd, now)?;
    }
    let mut objects = 0;
    for crd in &crds {
        let Some(resource) = readable(crd) else { continue };
        let name = format!("{}.{}", resource.plural, resource.group);
        let listed = each(&cluster, &resource.path(None), |object| {
            let namespace = object.str_at(&["metadata", "namespace"]).unwrap_or_default().to_owned();
            match server.seed(&name, &namespace, object) {
                Ok(()) => objects += 1,
                Err(problem) => complain!("warning: an object of {name} is left out: {problem}"),
            }
        });
        match listed {
            Err(error) if error.unreachable => return Err(error.into()),
            Err(error) => complain!("warning: the objects of {name} are left out: {}", error.message),
            Ok(()) => {}
        }
    }
    complain!("{} CRDs and {objects} objects were read from the cluster", crds.len());
    Ok(())
}

/// Calls `take` with every object of a list.
fn each(cluster: &Connection, path: &str, mut take: impl FnMut(Value)) -> Result<(), Error> {
    let mut pages = cluster.pages(path, Query::default(), crdx_cluster::JSON);
    for page in pages.by_ref() {
        page?.take_items().into_iter().for_each(&mut take);
    }
    if pages.is_inconsistent() {
        complain!(
            "warning: {path} changed while it was read: objects that were created or deleted in the meantime may be missing"
        );
    }
    Ok(())
}

/// Returns the resource of a CRD's objects, in the storage version or the first served one.
fn readable(crd: &Value) -> Option<Resource> {
    let versions = crd.at(&["spec", "versions"])?.as_array()?;
    let is = |version: &Value, what: &str| version.get(what).and_then(Value::as_bool) == Some(true);
    let served = || versions.iter().filter(|v| is(v, "served"));
    let version = served().find(|v| is(v, "storage")).or_else(|| served().next())?;
    Some(Resource {
        group: crd.str_at(&["spec", "group"])?.to_owned(),
        version: version.str_at(&["name"])?.to_owned(),
        plural: crd.str_at(&["spec", "names", "plural"])?.to_owned(),
        ..Resource::default()
    })
}

//! Reads objects from files as if a server had stored them. The objects are in a temporary file and are loaded into the
//! server only while it responds to a request for them. Objects of built-in kinds are loaded into a server of their own.

use super::{problem, temp_file_problem};
use crate::commands::flags::ObjectFiles;
use crate::commands::progress::Progress;
use crate::commands::terminal;
use crdx_cluster::{AGGREGATED, Error, Query, Resource, Status, aggregated};
use crdx_engine::documents::{InputEntry, Note};
use crdx_engine::kubectl::FieldValidation;
use crdx_engine::kubectl::request::{self, RequestOptions};
use crdx_engine::simulation::identity::FieldLocator;
use crdx_engine::simulation::object::Object;
use crdx_engine::simulation::object_store::{ObjectStore as _, StoredAt};
use crdx_input::InputOptions;
use crdx_input::required::{Required, Sources};
use crdx_input::temp_store::TempStore;
use crdx_server::crd;
use crdx_server::server::{Namespaces, ReadForm, Request, ResponseBody, SeedError, Server, StoredForm};
use crdx_types::{groups, resources};
use crdx_value::Value;
use crdx_value::group_version;
use crdx_value::release::Release;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The maximum number of objects in the server at the same time.
const PAGE: usize = 500;

/// The arguments that name files.
#[derive(Clone, Copy, Debug)]
pub struct FileArguments<'a> {
    /// Files and directories with objects.
    pub filenames: &'a [String],
    /// Directories with kustomizations.
    pub kustomizations: &'a [PathBuf],
    /// Files and directories with CRDs.
    pub crds: &'a [String],
    /// The options for reading files.
    pub options: &'a InputOptions,
}

impl<'a> FileArguments<'a> {
    /// The files of a command's flags.
    pub fn new(files: &'a ObjectFiles, options: &'a InputOptions) -> Self {
        Self { filenames: &files.filenames, kustomizations: &files.kustomize, crds: &files.crds, options }
    }

    /// Returns true if there are objects in files.
    pub fn has_objects(&self) -> bool {
        !self.filenames.is_empty() || !self.kustomizations.is_empty()
    }
}

/// Objects from files, and a server with their CRDs.
pub struct Files {
    server: Server,
    /// The server with built-in kinds, created on first use.
    built_in: OnceLock<Server>,
    resources: Arc<Vec<Resource>>,
    temp_store: TempStore,
    /// The objects of each CRD (`plural.group`), by their keys in the store.
    objects: HashMap<String, BTreeMap<String, StoredFile>>,
    /// The objects in the order of the files.
    order: Vec<Named>,
    /// The number of objects that no API server stores, such as reviews.
    not_stored: usize,
    request_options: RequestOptions,
}

#[derive(Clone, Copy, Debug)]
struct StoredFile {
    /// The object in the file.
    given_at: StoredAt,
    /// The object as it is read in the storage version; `None` if it must be decoded.
    read_at: Option<StoredAt>,
    /// True if the object had a resourceVersion. One that the simulated server assigned is not shown.
    versioned: bool,
}

/// The resources that are served.
type Served = Arc<[Arc<Resource>]>;

/// The resource, namespace and name of an object.
#[derive(Clone, Debug)]
pub struct Named {
    pub resource: Arc<Resource>,
    /// The namespace; empty for a cluster-scoped resource.
    pub namespace: Box<str>,
    pub name: Box<str>,
}

/// An object of a file.
struct Given {
    given_at: StoredAt,
    source: Arc<str>,
    line: usize,
}

/// The reason why an object of a file is not stored.
#[derive(Debug, thiserror::Error)]
enum NotStored {
    #[error("there is no CRD for {kind} of {api_version}: give it with --crds")]
    NoDefinition { kind: String, api_version: String },
    #[error(transparent)]
    Seed(#[from] SeedError),
}

impl Files {
    /// Reads objects and CRDs for a server of `release`. The default namespace of objects is `namespace`. Problems are
    /// passed to `report`.
    pub fn read(
        given: FileArguments<'_>,
        release: Release,
        namespace: &str,
        report: &mut dyn FnMut(String),
    ) -> Result<Self, Error> {
        let request_options =
            RequestOptions { level: FieldValidation::Ignore, dry_run: false, table: false, now: terminal::now() };
        let mut files = Self {
            server: Server::new(release, 0),
            built_in: OnceLock::new(),
            resources: Arc::default(),
            temp_store: TempStore::default(),
            objects: HashMap::new(),
            order: Vec::new(),
            not_stored: 0,
            request_options,
        };
        let mut definitions = Sources::open(given.crds, given.options.clone(), Required::Definition, "--crds");
        let progress = Progress::new(true);
        let mut found = Vec::new();
        let mut problems = Vec::new();
        for entry in progress.count(definitions.by_ref()) {
            match entry {
                InputEntry::Problem(note) => problems.push(note.text()),
                entry => found.push(entry),
            }
        }
        // Without these CRDs, all objects would have errors.
        if definitions.lacks_required() {
            return Err(Error { message: problems.join("\nerror: "), ..Error::default() });
        }
        for problem in problems {
            report(format!("error: {problem}"));
        }
        let objects = Sources::open(given.filenames, given.options.collecting(), Required::Object, "-f");
        let objects = progress.count(objects.and_kustomizations(given.kustomizations));
        let (mut all, mut has_built_in) = (Vec::new(), false);
        // The number of objects that are stored, and the reasons why some of them are not.
        let (mut stored, mut refused) = (0, Vec::new());
        // The resources that the servers serve now; `None` if they must be asked.
        let mut resources = None;
        // By the name of a CRD: its location and the hash of its `spec`.
        let (hasher, mut known): (_, HashMap<String, (String, u64)>) = (RandomState::new(), HashMap::new());
        for entry in found.into_iter().chain(objects) {
            let document = match entry {
                InputEntry::Document(document) => document,
                InputEntry::Problem(problem) | InputEntry::Warning(problem @ Note { position: None, .. }) => {
                    report(format!("error: {}", problem.text()));
                    continue;
                }
                InputEntry::Warning(_) => continue,
            };
            let mut object = Object { document, warnings: Vec::new() };
            let location = object.finder().start();
            if object.is_definition() {
                let crd = object.take_value();
                let name = crd.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
                let spec = hasher.hash_one(crd.get("spec").unwrap_or(&Value::Null));
                let (first, known) = known.entry(name).or_insert_with(|| (location.to_string(), spec));
                if *known != spec {
                    report(format!(
                        "error: {location}: another CRD with this name is at {first}\nhelp: leave one of them out"
                    ));
                    continue;
                }
                if let Err(reason) = files.server.seed_definition(&crd, request_options.now) {
                    report(format!("error: {location}: {reason}"));
                }
                // All objects are stored as the last CRD of their kind says.
                (files.objects, files.order) = (HashMap::new(), Vec::new());
                (stored, refused, resources) = (0, Vec::new(), None);
                continue;
            }
            let text = |key: &str| object.value().str_at(&[key]).unwrap_or_default();
            if groups::is_built_in(group_version::group(text("apiVersion"))) {
                if !has_built_in {
                    (has_built_in, resources) = (true, None);
                }
                let resource = resources::of_kind(text("apiVersion"), text("kind"), release.minor().number().into());
                if resource.is_some_and(|resource| !resource.readable) {
                    files.not_stored += 1;
                    continue;
                }
            }
            let given_at = files.temp_store.put(object.value()).map_err(|error| temp_file_problem(&error))?;
            let given = Given { given_at, source: Arc::clone(&location.source), line: location.line };
            // Most CRDs come first, and their objects need not be read again.
            if stored == all.len() {
                let served = files.served(&mut resources, has_built_in)?;
                refused.extend(files.store(&served, &given, object.take_value(), namespace)?);
                stored += 1;
            }
            all.push(given);
        }
        let served = files.served(&mut resources, has_built_in)?;
        for given in all.iter().skip(stored) {
            let object = files.temp_store.get(given.given_at).map_err(|error| temp_file_problem(&error))?;
            refused.extend(files.store(&served, given, object, namespace)?);
        }
        refused.into_iter().for_each(report);
        files.resources = Arc::new(served.iter().map(|resource| Resource::clone(resource)).collect());
        Ok(files)
    }

    /// Returns `known`, or what the servers serve now.
    fn served(&self, known: &mut Option<Served>, has_built_in: bool) -> Result<Served, Error> {
        if let Some(served) = known {
            return Ok(Arc::clone(served));
        }
        let mut resources = self.discover(&self.server, "/apis")?;
        if has_built_in {
            for path in ["/api", "/apis"] {
                let more = self.discover(self.built_in(), path)?;
                resources.extend(more.into_iter().filter(|resource| groups::is_built_in(&resource.group)));
            }
        }
        let served: Served = resources.into_iter().map(Arc::new).collect();
        Ok(Arc::clone(known.insert(served)))
    }

    /// Returns the resources that a server serves below `path`.
    fn discover(&self, server: &Server, path: &str) -> Result<Vec<Resource>, Error> {
        let discovery = Request { accept: Some(AGGREGATED.to_owned()), ..request::read(path, self.request_options) };
        Ok(aggregated(&answer(server, &discovery)?))
    }

    fn built_in(&self) -> &Server {
        self.built_in.get_or_init(|| {
            let builder = crdx_kinds::builder(self.server.release(), 0).created_at(self.request_options.now);
            let server = builder.with_built_in_kinds().with_namespaces(Namespaces::Unchecked, &[]).build();
            // Only the objects of the files exist.
            server.withdraw("namespaces.", "", "default");
            server
        })
    }

    /// Returns the server of a resource; `definition` is `plural.group`.
    fn server_of(&self, definition: &str) -> &Server {
        let group = definition.split_once('.').map_or("", |(_, group)| group);
        if groups::is_built_in(group) && group != crd::GROUP { self.built_in() } else { &self.server }
    }

    /// Stores an object as a server would. Returns the error to report if the server refuses it.
    fn store(
        &mut self,
        resources: &[Arc<Resource>],
        given: &Given,
        object: Value,
        namespace: &str,
    ) -> Result<Option<String>, Error> {
        let refusal = |reason: NotStored| Some(format!("error: {}:{}: {reason}", given.source, given.line));
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&["apiVersion"]), text(&["kind"]));
        let (group, version) = group_version::split(&api_version);
        let of_kind = |r: &&Arc<Resource>| r.group == group && r.kind == kind;
        let found = resources.iter().filter(of_kind).find(|r| r.version == version);
        let Some(resource) = found.or_else(|| resources.iter().find(of_kind)).cloned() else {
            return Ok(refusal(NotStored::NoDefinition { kind, api_version }));
        };
        let own = text(&["metadata", "namespace"]);
        let namespace = match (resource.namespaced, own.is_empty()) {
            (false, _) => String::new(),
            (true, true) => namespace.to_owned(),
            (true, false) => own,
        };
        let name = text(&["metadata", "name"]);
        let revision = object.at(&["metadata", "resourceVersion"]).cloned();
        let versioned = revision.is_some();
        let definition = super::definition_name(&resource);
        let server = self.server_of(&definition);
        let StoredForm { raw, read } = match server.stored_form(&definition, &namespace, object) {
            Ok(form) => form,
            Err(error) => return Ok(refusal(error.into())),
        };
        let read = match read {
            ReadForm::Same => Some(raw),
            ReadForm::Other(read) => Some(read),
            ReadForm::Unknown => None,
        };
        // The server replaces a resourceVersion that is no revision.
        let read = read.filter(|_| revision.is_none_or(|revision| is_revision(&revision)));
        let put = |object: Value| self.temp_store.put(&object).map_err(|error| temp_file_problem(&error));
        let read_at = read.map(put).transpose()?;
        let stored = StoredFile { given_at: given.given_at, read_at, versioned };
        self.objects.entry(definition).or_default().insert(key(&namespace, &name), stored);
        self.order.push(Named { resource, namespace: namespace.into(), name: name.into() });
        Ok(None)
    }

    /// Returns the served resources, with the preferred version of each first.
    pub fn resources(&self) -> Arc<Vec<Resource>> {
        Arc::clone(&self.resources)
    }

    /// Returns the objects, in the order of the files.
    pub fn objects(&self) -> &[Named] {
        &self.order
    }

    /// Returns the number of objects that no API server stores.
    pub fn not_stored(&self) -> usize {
        self.not_stored
    }

    /// Returns the CRD with a name.
    pub fn definition(&self, name: &str) -> Result<Option<Value>, Error> {
        match answer(&self.server, &request::read(&request::object(request::DEFINITIONS, name), self.request_options)) {
            Ok(crd) => Ok(Some(crd)),
            Err(error) if error.code == Some(404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the pages of a list in the order of the store; at least one page.
    pub fn list<'a>(&'a self, resource: &'a Resource, namespace: Option<&'a str>, query: &Query) -> Pages<'a> {
        let definition = super::definition_name(resource);
        let prefix = namespace.map_or_else(String::new, |namespace| key(namespace, ""));
        let objects = self.objects.get(&definition).into_iter().flatten();
        let keys =
            objects.filter(move |(key, _)| key.starts_with(&prefix)).map(|(key, stored)| (key.as_str(), *stored));
        let path = query.of(&resource.path(namespace), &[]);
        let selects = query.labels.is_some() || query.fields.is_some();
        Pages { files: self, resource, definition, path, selects, keys: Box::new(keys), has_started: false }
    }

    /// Returns one object or its subresource; an error if it does not exist.
    pub fn get(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        subresource: Option<&str>,
    ) -> Result<Value, Error> {
        let definition = super::definition_name(resource);
        let namespace = namespace.filter(|_| resource.namespaced).unwrap_or_default();
        let key = key(namespace, name);
        let stored = self.objects.get(&definition).and_then(|objects| objects.get(&key)).copied();
        if let (Some(stored), None) = (stored, subresource)
            && let Some(object) = self.read_stored(resource, stored)?
        {
            return Ok(object);
        }
        let mut path = resource.object_path(Some(namespace), name);
        if let Some(subresource) = subresource {
            path.extend(["/", &request::encoded(subresource)]);
        }
        let found = self.with(&definition, stored.map(|stored| (key.as_str(), stored)).as_slice(), &path)?;
        Ok(shown(found, stored.is_some_and(|stored| stored.versioned)))
    }

    /// Returns an object as the server reads it; `None` if the server must decode it for this resource.
    fn read_stored(&self, resource: &Resource, stored: StoredFile) -> Result<Option<Value>, Error> {
        let Some(at) = stored.read_at else { return Ok(None) };
        let object = self.temp_store.get(at).map_err(|error| temp_file_problem(&error))?;
        let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
        let is_stored_version = group_version::split(api_version) == (&*resource.group, &*resource.version);
        Ok(is_stored_version.then(|| shown(object, stored.versioned)))
    }

    /// Reads a path of the server while some objects are loaded.
    fn with(&self, definition: &str, keys: &[(&str, StoredFile)], path: &str) -> Result<Value, Error> {
        let server = self.server_of(definition);
        for (key, stored) in keys {
            let object = self.temp_store.get(stored.given_at).map_err(|error| temp_file_problem(&error))?;
            let (namespace, _) = parts(key);
            server
                .seed(definition, namespace, object)
                .map_err(|reason| Error { message: reason.to_string(), ..Error::default() })?;
        }
        let answer = answer(server, &request::read(path, self.request_options));
        for (key, _) in keys {
            let (namespace, name) = parts(key);
            server.withdraw(definition, namespace, name);
        }
        answer
    }
}

/// Sends a read. Returns the body, or the error of a response that is not 200.
fn answer(server: &Server, request: &Request) -> Result<Value, Error> {
    let response = server.handle(request);
    let body = match response.body {
        ResponseBody::Json(body) => Arc::unwrap_or_clone(body),
        ResponseBody::Text(text) => return Err(problem(text.trim(), "check the name and the CRD")),
    };
    if response.code == 200 {
        return Ok(body);
    }
    let status = Status::from_value(&body).unwrap_or_default();
    let message = status.message.clone();
    Err(Error { message, code: Some(response.code), status: Some(status), ..Error::default() })
}

/// The pages of a list.
pub struct Pages<'a> {
    files: &'a Files,
    resource: &'a Resource,
    definition: String,
    path: String,
    /// True if the query selects objects.
    selects: bool,
    keys: Box<dyn Iterator<Item = (&'a str, StoredFile)> + 'a>,
    has_started: bool,
}

impl Iterator for Pages<'_> {
    type Item = Result<Vec<Value>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let keys: Vec<(&str, StoredFile)> = self.keys.by_ref().take(PAGE).collect();
        if keys.is_empty() && std::mem::replace(&mut self.has_started, true) {
            return None;
        }
        self.has_started = true;
        let read = |(_, stored): &(&str, StoredFile)| self.files.read_stored(self.resource, *stored).transpose();
        let read = if keys.is_empty() || self.selects { None } else { keys.iter().map(read).collect() };
        let listed = || {
            self.files.with(&self.definition, &keys, &self.path).map(|mut list| {
                let Some(Value::Array(items)) = list.get_mut("items").map(std::mem::take) else { return Vec::new() };
                let versioned: HashMap<&str, bool> =
                    keys.iter().map(|(key, stored)| (*key, stored.versioned)).collect();
                let show = |object: Value| {
                    let text = |key| object.str_at(&["metadata", key]).unwrap_or_default();
                    let versioned = versioned.get(key(text("namespace"), text("name")).as_str()) == Some(&true);
                    shown(object, versioned)
                };
                items.into_iter().map(show).collect()
            })
        };
        let page: Self::Item = read.unwrap_or_else(listed);
        if page.is_err() {
            // All other pages would fail in the same way.
            self.keys = Box::new(std::iter::empty());
        }
        Some(page)
    }
}

/// Returns true for the text of a positive number.
fn is_revision(value: &Value) -> bool {
    let number = value.as_str().and_then(|text| text.parse::<u64>().ok()).filter(|number| *number > 0);
    number.is_some_and(|number| value.as_str() == Some(&number.to_string()))
}

/// Removes the resourceVersion that the simulated server assigned.
fn shown(mut object: Value, versioned: bool) -> Value {
    if !versioned && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    object
}

/// Returns the key of an object in the store, which determines the order of lists.
fn key(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}

/// Returns the namespace and the name in a key.
fn parts(key: &str) -> (&str, &str) {
    key.split_once('/').unwrap_or(("", key))
}

//! Reads objects from files as if a server had stored them. The objects are in a temporary file and are loaded into the
//! server only while it responds to a request for them.

use super::{problem, temp_file_problem};
use crate::cluster::{AGGREGATED, Error, Query, Resource, Status, aggregated};
use crate::commands::progress::Progress;
use crate::commands::terminal;
use crate::input::required::{Required, Sources};
use crate::input::temp_store::{StoredAt, TempStore};
use crate::input::{Entry, Note, Options};
use crate::simulation::identity::FieldLocator;
use crate::simulation::object::Object;
use crdx::kubectl::FieldValidation;
use crdx::kubectl::request::{self, RequestOptions};
use crdx_server::server::{Request, ResponseBody, SeedError, Server};
use crdx_types::groups;
use crdx_value::Value;
use crdx_value::group_version;
use crdx_value::release::Release;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

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
    pub options: &'a Options,
}

impl FileArguments<'_> {
    /// Returns true if there are objects in files.
    pub fn has_objects(&self) -> bool {
        !self.filenames.is_empty() || !self.kustomizations.is_empty()
    }
}

/// Objects from files, and a server with their CRDs.
pub struct Files {
    server: Server,
    resources: Arc<Vec<Resource>>,
    temp_store: TempStore,
    /// The objects of each CRD (`plural.group`), by their keys in the store.
    objects: HashMap<String, BTreeMap<String, Stored>>,
    /// The objects in the order of the files.
    order: Vec<Named>,
    /// The number of objects of built-in kinds, which are left out.
    built_in: usize,
    request_options: RequestOptions,
}

#[derive(Clone, Copy, Debug)]
struct Stored {
    stored_at: StoredAt,
    /// True if the object had a resourceVersion. One that the simulated server assigned is not shown.
    versioned: bool,
}

/// The resource, namespace and name of an object.
#[derive(Clone, Debug)]
pub struct Named {
    /// The resource.
    pub resource: Arc<Resource>,
    /// The namespace; empty for a cluster-scoped resource.
    pub namespace: Box<str>,
    /// The name.
    pub name: Box<str>,
}

/// An object whose CRD may follow.
struct Pending {
    stored_at: StoredAt,
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
        let (server, temp_store) = (Server::new(release, 0), TempStore::default());
        let (mut pending, mut built_in) = (Vec::new(), 0);
        let mut definitions = Sources::open(given.crds, given.options.clone(), Required::Definition, "--crds");
        let progress = Progress::new(true);
        let mut found = Vec::new();
        let mut problems = Vec::new();
        for entry in progress.count(definitions.by_ref()) {
            match entry {
                Entry::Problem(note) => problems.push(note.text()),
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
        for entry in found.into_iter().chain(objects) {
            let document = match entry {
                Entry::Document(document) => document,
                Entry::Problem(problem) | Entry::Warning(problem @ Note { position: None, .. }) => {
                    report(format!("error: {}", problem.text()));
                    continue;
                }
                Entry::Warning(_) => continue,
            };
            let mut object = Object { document, warnings: Vec::new() };
            let location = object.finder().start();
            if object.is_definition() {
                let crd = object.take_value();
                if let Err(reason) = server.seed_definition(&crd, request_options.now) {
                    report(format!("error: {location}: {reason}"));
                }
                continue;
            }
            // Built-in kinds are skipped, as in `validate`.
            let api_version = object.value().str_at(&["apiVersion"]).unwrap_or_default();
            if groups::is_built_in(group_version::group(api_version)) {
                built_in += 1;
            } else {
                let stored_at = temp_store.put(object.value()).map_err(|error| temp_file_problem(&error))?;
                pending.push(Pending { stored_at, source: Arc::clone(&location.source), line: location.line });
            }
        }
        let (resources, objects, order) = (Arc::default(), HashMap::new(), Vec::new());
        let mut files = Self { server, resources, temp_store, objects, order, built_in, request_options };
        let discovery = Request { accept: Some(AGGREGATED.to_owned()), ..request::read("/apis", request_options) };
        files.resources = Arc::new(aggregated(&files.answer(&discovery)?));
        let resources: Vec<Arc<Resource>> = files.resources.iter().cloned().map(Arc::new).collect();
        for Pending { stored_at, source, line } in pending {
            let object = files.temp_store.get(stored_at).map_err(|error| temp_file_problem(&error))?;
            if let Err(reason) = files.store(&resources, object, namespace)? {
                report(format!("error: {source}:{line}: {reason}"));
            }
        }
        Ok(files)
    }

    /// Stores an object as a server would. The inner error is the reason why the server refuses it.
    fn store(
        &mut self,
        resources: &[Arc<Resource>],
        object: Value,
        namespace: &str,
    ) -> Result<Result<(), NotStored>, Error> {
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&["apiVersion"]), text(&["kind"]));
        let (group, version) = group_version::split(&api_version);
        let of_kind = |r: &&Arc<Resource>| r.group == group && r.kind == kind;
        let found = resources.iter().filter(of_kind).find(|r| r.version == version);
        let Some(resource) = found.or_else(|| resources.iter().find(of_kind)).cloned() else {
            return Ok(Err(NotStored::NoDefinition { kind, api_version }));
        };
        let own = text(&["metadata", "namespace"]);
        let namespace = match (resource.namespaced, own.is_empty()) {
            (false, _) => String::new(),
            (true, true) => namespace.to_owned(),
            (true, false) => own,
        };
        let name = text(&["metadata", "name"]);
        let versioned = object.at(&["metadata", "resourceVersion"]).is_some();
        let definition = super::definition_name(&resource);
        if let Err(error) = self.server.seed(&definition, &namespace, object) {
            return Ok(Err(error.into()));
        }
        let stored = self.server.stored(&definition, &namespace, &name).unwrap_or_default();
        self.server.withdraw(&definition, &namespace, &name);
        let stored_at = self.temp_store.put(&stored).map_err(|error| temp_file_problem(&error))?;
        let key = key(&namespace, &name);
        self.objects.entry(definition).or_default().insert(key, Stored { stored_at, versioned });
        self.order.push(Named { resource, namespace: namespace.into(), name: name.into() });
        Ok(Ok(()))
    }

    /// Returns the served resources, with the preferred version of each first.
    pub fn resources(&self) -> Arc<Vec<Resource>> {
        Arc::clone(&self.resources)
    }

    /// Returns the objects, in the order of the files.
    pub fn objects(&self) -> &[Named] {
        &self.order
    }

    /// Returns the number of objects of built-in kinds in the files, which are left out.
    pub fn built_in(&self) -> usize {
        self.built_in
    }

    /// Returns the CRD with a name.
    pub fn definition(&self, name: &str) -> Result<Option<Value>, Error> {
        match self.answer(&request::read(&request::object(request::DEFINITIONS, name), self.request_options)) {
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
        Pages { files: self, definition, path, keys: Box::new(keys), has_started: false }
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
        let mut path = resource.object_path(Some(namespace), name);
        if let Some(subresource) = subresource {
            path.extend(["/", &request::encoded(subresource)]);
        }
        let found =
            self.with(&definition, stored.map(|stored| (key.as_str(), stored)).as_slice(), || self.ask(&path))?;
        Ok(shown(found, stored.is_some_and(|stored| stored.versioned)))
    }

    /// Calls the server while some objects are loaded.
    fn with<T>(
        &self,
        definition: &str,
        keys: &[(&str, Stored)],
        ask: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        for (key, stored) in keys {
            let object = self.temp_store.get(stored.stored_at).map_err(|error| temp_file_problem(&error))?;
            let (namespace, _) = parts(key);
            self.server
                .seed(definition, namespace, object)
                .map_err(|reason| Error { message: reason.to_string(), ..Error::default() })?;
        }
        let answer = ask();
        for (key, _) in keys {
            let (namespace, name) = parts(key);
            self.server.withdraw(definition, namespace, name);
        }
        answer
    }

    fn ask(&self, path: &str) -> Result<Value, Error> {
        self.answer(&request::read(path, self.request_options))
    }

    fn answer(&self, request: &Request) -> Result<Value, Error> {
        let response = self.server.handle(request);
        let body = match response.body {
            ResponseBody::Json(body) => Arc::unwrap_or_clone(body),
            ResponseBody::Text(text) => return Err(problem(text.trim(), "check the name and the CRD")),
        };
        if response.code == 200 {
            return Ok(body);
        }
        let status = Status::of(&body).unwrap_or_default();
        let message = status.message.clone();
        Err(Error { message, code: Some(response.code), status: Some(status), ..Error::default() })
    }
}

/// The pages of a list.
pub struct Pages<'a> {
    files: &'a Files,
    definition: String,
    path: String,
    keys: Box<dyn Iterator<Item = (&'a str, Stored)> + 'a>,
    has_started: bool,
}

impl Iterator for Pages<'_> {
    type Item = Result<Vec<Value>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let keys: Vec<(&str, Stored)> = self.keys.by_ref().take(PAGE).collect();
        if keys.is_empty() && std::mem::replace(&mut self.has_started, true) {
            return None;
        }
        self.has_started = true;
        let page = self.files.with(&self.definition, &keys, || self.files.ask(&self.path)).map(|mut list| {
            let Some(Value::Array(items)) = list.get_mut("items").map(std::mem::take) else { return Vec::new() };
            let versioned: HashMap<&str, bool> = keys.iter().map(|(key, stored)| (*key, stored.versioned)).collect();
            let show = |object: Value| {
                let text = |key| object.str_at(&["metadata", key]).unwrap_or_default();
                let versioned = versioned.get(key(text("namespace"), text("name")).as_str()) == Some(&true);
                shown(object, versioned)
            };
            items.into_iter().map(show).collect()
        });
        if page.is_err() {
            // All other pages would fail in the same way.
            self.keys = Box::new(std::iter::empty());
        }
        Some(page)
    }
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

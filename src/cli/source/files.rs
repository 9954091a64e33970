//! Objects of files, read as if a server had stored them.

use super::problem;
use crate::cli::progress::Progress;
use crate::cli::terminal;
use crate::cluster::{AGGREGATED, Error, Resource, Status, aggregated};
use crate::input::required::{Required, Sources};
use crate::input::{Entry, Note};
use crate::kubectl::FieldValidation;
use crate::kubectl::request::{self, Manner};
use crate::server::{Request, ResponseBody, Server};
use crate::simulation::builtin;
use crate::simulation::judge::Places;
use crate::simulation::object::Object;
use crate::value::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// What the files hold, in a server of its own.
pub struct Files {
    server: Server,
    resources: Arc<Vec<Resource>>,
    /// The resource, namespace and name of each object, in the order of the files.
    objects: Vec<(Resource, String, String)>,
    /// Those that came with a resourceVersion.
    versioned: HashSet<String>,
    manner: Manner,
}

impl Files {
    /// Reads objects and CRDs. `namespace` is for objects that name none. `note` is told what could not be read.
    pub fn read(
        filenames: &[String],
        crds: &[String],
        recursive: bool,
        namespace: &str,
        note: &mut dyn FnMut(String),
    ) -> Result<Self, Error> {
        let manner = Manner { level: FieldValidation::Ignore, dry_run: false, table: false, now: terminal::now() };
        let server = Server::new(0);
        let mut held = Vec::new();
        let definitions = Sources::open(crds, recursive, Required::Definition, "--crds");
        let objects = Sources::open(filenames, recursive, Required::Object, "-f");
        let progress = Progress::new(true);
        for entry in progress.count(definitions.chain(objects)) {
            let document = match entry {
                Entry::Document(document) => document,
                Entry::Problem(problem) | Entry::Warning(problem @ Note { position: None, .. }) => {
                    note(format!("error: {}", problem.text()));
                    continue;
                }
                Entry::Warning(_) => continue,
            };
            let mut object = Object { document, warnings: Vec::new() };
            if !object.is_definition() {
                // Kinds of Kubernetes itself are passed over, as `validate` does.
                let api_version = object.value().str_at(&["apiVersion"]).unwrap_or_default();
                if !builtin::owns(api_version.split_once('/').map_or("", |(group, _)| group)) {
                    held.push(object);
                }
                continue;
            }
            let place = object.finder().start();
            let crd = object.take_value();
            if let Err(why) = server.seed_definition(&crd, manner.now) {
                note(format!("error: {place}: {why}"));
            }
        }
        let mut files =
            Self { server, resources: Arc::default(), objects: Vec::new(), versioned: HashSet::new(), manner };
        let discovery = Request { accept: Some(AGGREGATED.to_owned()), ..request::read("/apis", manner) };
        files.resources = Arc::new(aggregated(&files.answer(&discovery)?));
        for mut object in held {
            let place = object.finder().start();
            if let Err(why) = files.store(object.take_value(), namespace) {
                note(format!("error: {place}: {why}"));
            }
        }
        Ok(files)
    }

    fn store(&mut self, object: Value, namespace: &str) -> Result<(), String> {
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&["apiVersion"]), text(&["kind"]));
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let of_kind = |r: &&Resource| r.group == group && r.kind == kind;
        let found = self.resources.iter().filter(of_kind).find(|r| r.version == version);
        let Some(resource) = found.or_else(|| self.resources.iter().find(of_kind)).cloned() else {
            return Err(format!("there is no CRD for {kind} of {api_version}: give it with --crds"));
        };
        let own = text(&["metadata", "namespace"]);
        let namespace = match (resource.namespaced, own.is_empty()) {
            (false, _) => String::new(),
            (true, true) => namespace.to_owned(),
            (true, false) => own,
        };
        let name = text(&["metadata", "name"]);
        if object.at(&["metadata", "resourceVersion"]).is_some() {
            self.versioned.insert(key(group, &kind, &namespace, &name));
        }
        self.server.seed(&super::definition_name(&resource), &namespace, object)?;
        self.objects.push((resource, namespace, name));
        Ok(())
    }

    /// What their CRDs serve, the preferred version of each first.
    pub fn resources(&self) -> Arc<Vec<Resource>> {
        Arc::clone(&self.resources)
    }

    /// The objects, in the order of the files: resource, namespace and name of each.
    pub fn objects(&self) -> &[(Resource, String, String)] {
        &self.objects
    }

    /// The CRD that is called `name`.
    pub fn definition(&self, name: &str) -> Result<Option<Value>, Error> {
        match self.get(&request::object(request::DEFINITIONS, name)) {
            Ok(crd) => Ok(Some(crd)),
            Err(error) if error.code == Some(404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What a list has.
    pub fn list(&self, path: &str) -> Result<Vec<Value>, Error> {
        let mut list = self.ask(path)?;
        Ok(match list.get_mut("items").map(std::mem::take) {
            Some(Value::Array(items)) => items.into_iter().map(|item| self.as_given(item)).collect(),
            _ => Vec::new(),
        })
    }

    /// Without the resourceVersion that only our server gave it.
    fn as_given(&self, mut object: Value) -> Value {
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
        let group = text(&["apiVersion"]).split_once('/').map_or("", |(group, _)| group);
        let key = key(group, text(&["kind"]), text(&["metadata", "namespace"]), text(&["metadata", "name"]));
        if !self.versioned.contains(&key)
            && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        {
            metadata.remove("resourceVersion");
        }
        object
    }

    /// One object; that it is not there is an error.
    pub fn get(&self, path: &str) -> Result<Value, Error> {
        Ok(self.as_given(self.ask(path)?))
    }

    fn ask(&self, path: &str) -> Result<Value, Error> {
        self.answer(&request::read(path, self.manner))
    }

    fn answer(&self, request: &Request) -> Result<Value, Error> {
        let response = self.server.handle(request);
        let body = match response.body {
            ResponseBody::Json(body) => Arc::unwrap_or_clone(body),
            ResponseBody::Text(text) => return Err(problem(text.trim(), "look at the name and at the CRD")),
        };
        if response.code == 200 {
            return Ok(body);
        }
        let status = Status::of(&body).unwrap_or_default();
        let message = status.message.clone();
        Err(Error { message, code: Some(response.code), status: Some(status), ..Error::default() })
    }
}

fn key(group: &str, kind: &str, namespace: &str, name: &str) -> String {
    format!("{group}/{kind}/{namespace}/{name}")
}

//! Computes Tables from CRDs, and objects as another CRD would show them.

use super::args;
use crate::commands::error::Error;
use crate::commands::flags;
use crate::commands::source::{ObjectSource, definition_name, problem};
use crdx_cluster::Resource;
use crdx_engine::documents::InputEntry;
use crdx_input::InputOptions;
use crdx_input::required::{Required, Sources};
use crdx_server::crd;
use crdx_server::server::{Server, Timestamp};
use crdx_value::Value;
use std::collections::HashSet;

/// A simulated server with the CRDs that were needed so far.
pub struct Rows {
    /// Created on first use, because creating it may request the version of a cluster.
    server: Option<Server>,
    /// A server with built-in kinds.
    built_in: Option<Server>,
    kubernetes: flags::KubernetesVersion,
    known: HashSet<String>,
    /// CRDs that replace those of the source.
    overridden: HashSet<String>,
    /// True if tables have only names and ages.
    only_names: bool,
    /// True if objects may be Scales.
    subresource: bool,
    /// A watch may take long, so ages are computed when a row is printed.
    clock: fn() -> Timestamp,
}

impl Rows {
    /// Creates the value with the CRDs in the files of `--crd`.
    pub fn new(args: &args::Get, source: &ObjectSource, clock: fn() -> Timestamp) -> Result<Self, Error> {
        let mut rows = Self {
            server: None,
            built_in: None,
            kubernetes: args.kubernetes,
            known: HashSet::new(),
            overridden: HashSet::new(),
            only_names: !args.server_print,
            subresource: args.subresource().is_some(),
            clock,
        };
        let options = InputOptions::default();
        for entry in Sources::open(&args.new_crds, options.clone(), Required::Definition, "--crd") {
            let document = match entry {
                InputEntry::Document(document) if document.is_definition() => document,
                InputEntry::Problem(note) => return Err(Error::input(note.text())),
                // Files with CRDs may contain other objects.
                InputEntry::Document(_) | InputEntry::Warning(_) => continue,
            };
            let name = document.value.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
            rows.server(source)
                .seed_definition(&document.value, clock())
                .map_err(|error| Error::input(format!("{}: {error}", document.source)))?;
            rows.overridden.insert(name.clone());
            rows.known.insert(name);
        }
        flags::report_notes(&options);
        Ok(rows)
    }

    fn server(&mut self, source: &ObjectSource) -> &Server {
        let kubernetes = self.kubernetes;
        self.server.get_or_insert_with(|| Server::new(source.release(kubernetes), 0))
    }

    fn built_in(&mut self, source: &ObjectSource) -> &Server {
        let kubernetes = self.kubernetes;
        let new = || crdx_kinds::builder(source.release(kubernetes), 0).with_built_in_kinds().build();
        self.built_in.get_or_insert_with(new)
    }

    /// Returns an object as it is read, or would be read with the CRD that replaces the current one.
    pub fn read(&self, resource: &Resource, object: Value) -> Result<Value, Error> {
        let name = definition_name(resource);
        if !self.overridden.contains(&name) {
            return Ok(object);
        }
        match self.server.as_ref().and_then(|server| server.read_of(&name, &resource.version, &object)) {
            Some(Ok(shown)) => Ok(shown),
            Some(Err(error)) => {
                let object_name = object.str_at(&["metadata", "name"]).unwrap_or_default();
                Err(problem(
                    &format!("{name} {object_name:?} could not be read: {error}"),
                    "kubectl crdx rehearse reports the reason",
                )
                .into())
            }
            None => {
                let version = &resource.version;
                let help = "name a version that it has: TYPE.VERSION.GROUP";
                Err(problem(&format!("the CRD {name} of --crd has no version {version}"), help).into())
            }
        }
    }

    /// Returns a page of objects, each as by [`Self::read`].
    pub fn page(
        &self,
        resource: &Resource,
        page: Result<Vec<Value>, crdx_cluster::Error>,
    ) -> Result<Vec<Value>, Error> {
        page?.into_iter().map(|object| self.read(resource, object)).collect()
    }

    /// Returns the Table of some objects.
    pub fn table(&mut self, source: &ObjectSource, resource: &Resource, objects: &[Value]) -> Result<Value, Error> {
        let now = (self.clock)();
        if self.only_names {
            return Ok(self.server(source).table_of_names(objects, now));
        }
        let is_scale = |object: &Value| {
            let text = |key| object.str_at(&[key]);
            text("kind") == Some("Scale") && text("apiVersion") == Some("autoscaling/v1")
        };
        if self.subresource && objects.iter().all(is_scale) {
            return Ok(self.server(source).table_of_scales(objects, now));
        }
        let name = definition_name(resource);
        if resource.group == crd::GROUP && resource.plural == "customresourcedefinitions" {
            return Ok(self.server(source).table_of_definitions(objects, now));
        }
        if !self.known.contains(&name) {
            let Some(crd) = source.definition(resource)? else {
                if let Some(table) = self.built_in(source).table_of(&name, &resource.version, objects, now) {
                    return Ok(table);
                }
                if matches!(source, ObjectSource::Files(_)) {
                    return Ok(self.server(source).table_of_names(objects, now));
                }
                let name = resource.qualified();
                let message = format!("{name} is not a custom resource: there is no CRD with its columns");
                let help = format!(
                    "kubectl get {name} prints them; here, --server-print=false prints names and ages, and -o yaml, json, … \
                     whole objects"
                );
                return Err(problem(&message, &help).into());
            };
            self.server(source).seed_definition(&crd, now).map_err(|error| {
                problem(&format!("the cluster's CRD {name} cannot be used: {error}"), "-o yaml needs no CRD")
            })?;
            self.known.insert(name.clone());
        }
        self.server(source).table_of(&name, &resource.version, objects, now).ok_or_else(|| {
            let message = format!("the CRD {name} has no version {}", resource.version);
            problem(&message, "name a version that it has: TYPE.VERSION.GROUP").into()
        })
    }
}

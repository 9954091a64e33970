//! Reads the admission policies of a run, from `--policies` and from the cluster ([`crdx_engine::simulation::admission`]).

mod standalone;

use super::live::Live;
use crdx_engine::report::{ObjectReport, RunNote};
use crdx_engine::simulation::admission::{self, Admission, Objects};
use crdx_engine::simulation::known_cluster::live::LiveObjects;
use crdx_engine::simulation::object;
use crdx_input::required::{Required, Sources};
use crdx_value::release::Release;
pub use standalone::standalone;
use std::sync::Arc;

/// The options of admission policies.
#[derive(Clone, Debug, Default)]
pub struct PolicyOptions {
    /// Files and directories with policies, bindings, params, Namespaces and RBAC objects.
    pub paths: Vec<String>,
    /// True to ignore the cluster's policies.
    pub skips_cluster: bool,
    /// The sender of the requests, and the permissions that policies see.
    pub requests: admission::AdmissionOptions,
}

/// The inputs from which the policies of a run are read.
pub struct Reading<'a> {
    pub options: &'a PolicyOptions,
    /// The options for reading files.
    pub input: crdx_input::InputOptions,
    /// The cluster, if its policies are read.
    pub live: Option<&'a Arc<Live>>,
    /// The objects that were read from the cluster, if there is one.
    pub objects: Option<Arc<LiveObjects>>,
    /// The default namespace of objects.
    pub namespace: &'a str,
}

impl Reading<'_> {
    /// Reads the objects that policies need. Unreadable files are passed to `show`.
    pub fn read(&self, show: &mut dyn FnMut(ObjectReport), notes: &mut Vec<RunNote>) -> Objects {
        let mut objects = Objects::default();
        if let Some(live) = self.live {
            objects.add_from_cluster(&**live, &self.options.requests, notes);
        }
        self.add_files(&mut objects, &self.options.paths, show);
        objects
    }

    /// Returns the objects together with those that servers read from directories of their own (`staticManifestsDir`).
    pub fn with_manifests(
        &self,
        mut objects: Objects,
        directories: &[String],
        show: &mut dyn FnMut(ObjectReport),
    ) -> Objects {
        self.add_files(&mut objects, directories, show);
        objects
    }

    fn add_files(&self, objects: &mut Objects, paths: &[String], show: &mut dyn FnMut(ObjectReport)) {
        for entry in Sources::open(paths, self.input.collecting(), Required::Object, "--policies") {
            if let Some((object, kind)) = object::read_with_kind(entry, show) {
                objects.add_document(object, &kind, self.namespace);
            }
        }
    }

    /// Creates the policies that a release enforces, if there are any.
    pub fn admission(&self, objects: &Objects, release: Release, notes: &mut Vec<RunNote>) -> Option<Admission> {
        let live = self.live.and(self.objects.clone());
        Admission::new(objects, &self.options.requests, live, release, notes)
    }
}

//! The CRDs that a command takes as arguments: paths, or names of resources in `--crds` or in a cluster.

use super::error::{Error, summarize};
use super::source::{self, ObjectSource, problem};
use crate::commands::exit::Exit;
use crate::commands::flags;
use crdx_engine::documents::InputEntry;
use crdx_engine::simulation::object::{self, Object};
use crdx_input::required::{Required, Sources};
use crdx_input::{Input, InputOptions, archive, files};
use crdx_output::printable::{complain, complain_all};
use crdx_value::Value;
use crdx_value::suggest::did_you_mean;
use std::collections::BTreeMap;
use std::path::Path;

/// The arguments of a command that takes CRDs.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// Paths and names of resources.
    pub words: &'a [String],
    /// Files and directories with the CRDs of named resources.
    pub crds: &'a [String],
    /// The simulated server.
    pub kubernetes: flags::KubernetesVersion,
    /// The cluster with the CRDs of named resources, without `crds`.
    pub cluster: &'a flags::ClusterArgs,
}

/// Reads the CRDs at a path, and leaves other objects out. A document that cannot be read is an error.
pub fn definitions_at(path: &str, options: &InputOptions) -> impl Iterator<Item = Result<Object, Error>> {
    objects_at(path, options).filter(|object| object.as_ref().map_or(true, Object::is_definition))
}

/// Reads the objects at a path, as a source of CRDs. A document that cannot be read is an error.
pub fn objects_at(path: &str, options: &InputOptions) -> impl Iterator<Item = Result<Object, Error>> {
    Input::open(&[path.to_owned()], options.of_definitions()).filter_map(|entry| match entry {
        InputEntry::Document(document) => Some(Ok(Object { document, warnings: Vec::new() })),
        InputEntry::Problem(note) => {
            let item = object::problem(note);
            Some(Err(Error::input_at(item.reason, item.location, item.help.as_deref())))
        }
        InputEntry::Warning(_) => None,
    })
}

/// A CRD with its source.
#[derive(Debug)]
pub struct LoadedDefinition {
    /// The CRD.
    pub value: Value,
    /// The source, and the position in a file.
    pub location: String,
}

impl Given<'_> {
    /// Reads the CRDs. Prints errors to standard error and sets `exit`.
    pub fn read(&self, exit: &mut Exit) -> Vec<LoadedDefinition> {
        let (paths, names): (Vec<String>, Vec<String>) =
            self.words.iter().cloned().partition(|word| self.crds.is_empty() && is_path(word));
        let mut failed = |message: &str| {
            complain!("error: {message}");
            *exit = Exit::CannotTell;
        };
        let missing = files::missing(&paths, &InputOptions::default().of_definitions());
        if !missing.is_empty() {
            for note in missing {
                failed(&note.text());
            }
            return Vec::new();
        }
        let mut found = from_paths(&paths, &mut failed);
        if let Some(message) = two_of_a_name(&found) {
            failed(&message);
            return Vec::new();
        }
        let mut failures = Vec::new();
        if !names.is_empty() {
            match self.named(&names, &mut failures) {
                Ok(named) => found.extend(named),
                Err(failure) => failures.push(failure),
            }
        }
        let (text, outcome) = summarize(&failures);
        complain_all(&text);
        if outcome != Exit::Accepted {
            *exit = Exit::CannotTell;
        }
        found
    }

    fn named(&self, names: &[String], failures: &mut Vec<Error>) -> Result<Vec<LoadedDefinition>, Error> {
        let has_cluster = !self.cluster.is_offline() && crdx_cluster::is_configured(&self.cluster.target());
        if self.crds.is_empty() && !has_cluster {
            let name = names.first().map_or("", String::as_str);
            let message = format!("the path {name:?} does not exist");
            let similar = source::similar_built_in(name).map(|kind| format!("{} ", did_you_mean(&kind)));
            let help = "check its spelling; the name of a resource needs --crds or a cluster";
            return Err(problem(&message, &format!("{}{help}", similar.unwrap_or_default())).into());
        }
        let source = ObjectSource::of_definitions(self.crds, self.kubernetes, self.cluster, failures)?;
        names.iter().map(|name| definition(&source, name)).collect()
    }
}

/// Returns true if an argument is a path, as its form or a file says; otherwise it is the name of a resource.
pub fn is_path(word: &str) -> bool {
    let is_file_name = Path::new(word).extension().is_some_and(|end| end == "yaml" || end == "yml" || end == "json");
    word == "-"
        || is_file_name
        || archive::has_ending(word)
        || word.contains(['/', '\\', '*', '?', '[', '{'])
        || Path::new(word).exists()
}

fn from_paths(paths: &[String], failed: &mut dyn FnMut(&str)) -> Vec<LoadedDefinition> {
    let options = InputOptions::default();
    let mut found = Vec::new();
    for entry in Sources::open(paths, options.clone(), Required::Definition, "") {
        match entry {
            InputEntry::Document(document) if document.is_definition() => {
                let location = format!("{}:{}", document.source, document.position());
                found.push(LoadedDefinition { value: document.value, location });
            }
            InputEntry::Document(_) | InputEntry::Warning(_) => {}
            InputEntry::Problem(note) => failed(&note.text()),
        }
    }
    flags::report_notes(&options);
    found
}

/// Returns an error if two CRDs of one name differ, so that none of them is the one that is meant.
fn two_of_a_name(found: &[LoadedDefinition]) -> Option<String> {
    let name = |one: &LoadedDefinition| one.value.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let mut known: BTreeMap<String, &LoadedDefinition> = BTreeMap::new();
    for one in found {
        let first = *known.entry(name(one)).or_insert(one);
        if first.value.get("spec") != one.value.get("spec") {
            let (name, first, second) = (name(one), &first.location, &one.location);
            return Some(format!(
                "{first} and {second} are two CRDs called {name} that differ\nhelp: name the file of the one that is meant"
            ));
        }
    }
    None
}

fn definition(source: &ObjectSource, name: &str) -> Result<LoadedDefinition, Error> {
    let resource = source.resource(name)?;
    let Some(value) = source.definition(&resource)? else {
        let message = format!("{} is not a custom resource", resource.qualified());
        return Err(problem(&message, "name a custom resource, or give a file with a CRD").into());
    };
    let location = if matches!(source, ObjectSource::Live(_)) { "the cluster" } else { "--crds" };
    Ok(LoadedDefinition { value, location: location.to_owned() })
}

//! Simulates the documents of one file as `validate` does, with CRDs and policies that are read once.

use crate::input::{Document, Entry, Input, Options};
use crate::output::report::Item;
use crate::simulation::{Plan, Simulation};
use crate::value::{Value, group_version};
use std::io::{self, Cursor};
use std::sync::Arc;

/// The CRDs and policies of the workspace, ready for files.
#[derive(Debug)]
pub struct Checker {
    plan: Arc<Plan>,
    workspace: Simulation,
    /// The problems with CRDs and policies.
    pub problems: Vec<Item>,
}

impl Checker {
    /// Reads the CRDs and policies of a plan.
    pub fn new(plan: Plan) -> Self {
        let plan = Arc::new(plan);
        let mut problems = Vec::new();
        let workspace = Simulation::prepare(Arc::clone(&plan), &mut |item| problems.push(item));
        Self { plan, workspace, problems }
    }

    /// The items of a file. CRDs in it are not compared with the workspace's CRDs of the same name.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn check(&self, path: &str, content: &str) -> io::Result<Vec<Item>> {
        let (definitions, objects) = self.entries(path, content);
        let mut items = Vec::new();
        if definitions.is_empty() {
            self.workspace.again().simulate(objects.into_iter(), &mut |item| items.push(item))?;
            return Ok(items);
        }
        // The workspace's servers must not get the CRDs of an unsaved file.
        let plan = Plan { crds: Vec::new(), ..(*self.plan).clone() };
        let mut own = Simulation::prepare(Arc::new(plan), &mut |_| {});
        own.simulate(definitions.into_iter(), &mut |item| items.push(item))?;
        let (here, elsewhere): (Vec<Entry>, Vec<Entry>) = objects.into_iter().partition(
            |entry| matches!(entry, Entry::Document(document) if definition(&own, &document.value).is_some()),
        );
        own.simulate(here.into_iter(), &mut |item| items.push(item))?;
        self.workspace.again().simulate(elsewhere.into_iter(), &mut |item| items.push(item))?;
        Ok(items)
    }

    /// The objects of a file.
    pub fn documents(&self, path: &str, content: &str) -> Vec<Document> {
        let (definitions, objects) = self.entries(path, content);
        let all = definitions.into_iter().chain(objects);
        all.filter_map(|entry| if let Entry::Document(document) = entry { Some(document) } else { None }).collect()
    }

    /// True if the file at `path` is one of the workspace's files with CRDs.
    pub fn reads(&self, path: &str) -> bool {
        self.plan.crds.iter().any(|crds| path.starts_with(crds.as_str()))
    }

    /// The stored CRD of an object.
    pub fn definition(&self, object: &Value) -> Option<&Arc<Value>> {
        definition(&self.workspace, object)
    }

    /// The CRDs of a file, then its other entries.
    fn entries(&self, path: &str, content: &str) -> (Vec<Entry>, Vec<Entry>) {
        let options = Options { skip_non_objects: true, ..self.plan.options.clone() };
        let input = Input::from_reader(path, Box::new(Cursor::new(content.to_owned())), options);
        let (mut definitions, mut others, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for entry in input {
            match entry {
                // A warning belongs to the next document.
                Entry::Warning(note) if note.position.is_some() => warnings.push(Entry::Warning(note)),
                Entry::Document(document) => {
                    let list = if document.is_definition() { &mut definitions } else { &mut others };
                    list.append(&mut warnings);
                    list.push(Entry::Document(document));
                }
                other => others.push(other),
            }
        }
        (definitions, others)
    }
}

fn definition<'s>(simulation: &'s Simulation, object: &Value) -> Option<&'s Arc<Value>> {
    let (group, _) = group_version::split(object.str_at(&["apiVersion"])?);
    simulation.definition(group, object.str_at(&["kind"])?)
}

//! Rehearses the stored objects one by one, from files or from the cluster.

use super::args;
use super::known::AcceptKnown;
use super::stored::{InCluster, StoredObjects};
use crate::commands::error::Error;
use crate::commands::sink::{Report, Sink};
use crdx_cluster::Connection;
use crdx_engine::documents::InputEntry;
use crdx_engine::report::severity::{self, Severities, Severity};
use crdx_engine::report::{ObjectReport, RunNote};
use crdx_engine::simulation::identity::FieldLocator;
use crdx_engine::simulation::object::{self, Object};
use crdx_input::InputOptions;
use crdx_input::baseline::Baseline;
use crdx_input::required::{Required, Sources};
use crdx_runner::simulation::ordered::{in_order, threads};
use crdx_value::Value;

/// The rehearsal of one object.
pub trait Rehearsal: Sync {
    /// The effect on an object.
    type Effect: AcceptKnown;

    /// Returns true if an object of this group and kind is rehearsed.
    fn takes(&self, object: &Object, group: &str, kind: &str) -> bool;

    /// Returns the effect on an object.
    fn rehearse(&self, object: Value, locator: &dyn FieldLocator) -> Self::Effect;
}

/// The result for one input.
pub enum Rehearsed<T> {
    /// An input that cannot be rehearsed.
    Reported(Box<ObjectReport>),
    /// The effect on an object.
    Object(Box<T>),
}

impl<T: AcceptKnown> Rehearsed<T> {
    /// Marks the findings that the baseline has. An input that cannot be rehearsed is never known.
    fn accept(&mut self, baseline: Option<&mut Baseline>) {
        if let (Self::Object(effect), Some(baseline)) = (self, baseline) {
            effect.accept(baseline);
        }
    }
}

/// The objects of a resource in the cluster.
pub struct Collection {
    /// The path of the list.
    pub path: String,
    /// The CRD as the cluster had it before the list, if it is read from there.
    pub definition: Option<Value>,
    /// `apiVersion` and `kind` of the objects, which the items of lists of built-in kinds do not have.
    pub types: Option<(String, String)>,
}

/// A rehearsal, and where its results are printed.
pub struct RehearsalRun<'a, R: Report, W> {
    pub args: &'a args::Rehearse,
    pub rehearsal: &'a W,
    pub sink: &'a mut Sink<R>,
    pub notes: &'a mut Vec<RunNote>,
    pub baseline: &'a mut Option<Baseline>,
}

impl<R, W> RehearsalRun<'_, R, W>
where
    W: Rehearsal,
    R: Report<Item = Rehearsed<W::Effect>> + Send,
{
    /// Rehearses the objects in the files of `-f` and `-k`.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn files(&mut self, options: &InputOptions) -> Result<(), Error> {
        let read = self.sink.measure(&self.args.filenames, &self.args.kustomize, options);
        let counting = InputOptions { read, ..options.collecting() };
        let inputs = Sources::open(&self.args.filenames, counting, Required::Object, "-f");
        let (rehearsal, sink, baseline) = (self.rehearsal, &mut *self.sink, &mut *self.baseline);
        let work = |entry| rehearsed(rehearsal, entry);
        let entries = inputs.and_kustomizations(&self.args.kustomize);
        in_order(threads(self.args.jobs), entries, work, |done| {
            if let Some(mut done) = done {
                done.accept(baseline.as_mut());
                sink.add(&done);
            }
        })?;
        Ok(())
    }

    /// Rehearses the objects of a resource in the cluster.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn collection(&mut self, connection: &Connection, collection: Collection) -> Result<(), Error> {
        let Collection { path, definition, types } = collection;
        let (rehearsal, sink, baseline) = (self.rehearsal, &mut *self.sink, &mut *self.baseline);
        let mut objects = StoredObjects::new(connection, &path, definition, sink.progress());
        let work = |stored: Result<Value, Box<ObjectReport>>| match stored {
            Ok(mut object) => {
                if let (Some((api_version, kind)), Some(members)) = (&types, object.as_object_mut()) {
                    members.insert("apiVersion".to_owned(), api_version.as_str().into());
                    members.insert("kind".to_owned(), kind.as_str().into());
                }
                Rehearsed::Object(Box::new(rehearsal.rehearse(object, &InCluster)))
            }
            Err(item) => Rehearsed::Reported(item),
        };
        in_order(threads(self.args.jobs), objects.by_ref(), work, |mut done| {
            done.accept(baseline.as_mut());
            sink.add(&done);
        })?;
        self.notes.extend(objects.note());
        Ok(())
    }
}

/// Returns the result for an entry of the input; `None` for objects that are not rehearsed.
fn rehearsed<W: Rehearsal>(rehearsal: &W, entry: InputEntry) -> Option<Rehearsed<W::Effect>> {
    let mut object = match object::read(entry)? {
        Ok(object) => object,
        Err(item) => return Some(Rehearsed::Reported(item)),
    };
    match object.kind() {
        Err(item) => Some(Rehearsed::Reported(item)),
        Ok((group, _, kind)) if rehearsal.takes(&object, &group, &kind) => {
            let value = object.take_value();
            Some(Rehearsed::Object(Box::new(rehearsal.rehearse(value, &object.finder()))))
        }
        Ok(_) => None,
    }
}

/// Returns the notes about the inputs that were read. Those about their text are notes whatever their severity is, unless it is
/// off.
pub fn input_notes(options: &InputOptions, severities: &Severities) -> impl Iterator<Item = RunNote> {
    let is_off = severities.of(severity::INPUT) == Some(Severity::Off);
    let warnings = options.warnings.take().into_iter().filter(move |_| !is_off);
    let warnings = warnings.map(|message| RunNote { kind: "inputWarning", message });
    warnings.chain(options.skipped.message().map(|message| RunNote { kind: "skippedInputs", message }))
}

//! The way of the documents: read and judged on several threads, shown in order.
//!
//! An object whose CRD is not known yet may find it later in the stream. From the first such object on, everything waits
//! in a temporary file, CRDs are still taken in as they pass, and at the end what waits is judged in order. So the output
//! is in the order of the input, and no more than a few documents are in memory at a time.

use super::object::{self, Kind, Object};
use super::ordered::in_order;
use super::shared::{CREATE, Destination, Judge, Known, Ready};
use crate::input::spool::Spool;
use crate::input::{Entry, Note};
use crate::kubectl::FieldValidation;
use crate::output::report::{Item, Problem, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Takes in the CRDs among `entries`; what else is there is not looked at. What cannot be used is shown.
pub fn take_definitions(
    judge: &Judge,
    known: &mut Known,
    entries: impl Iterator<Item = Entry>,
    show: &mut (dyn FnMut(Item) + Send),
) {
    for entry in entries {
        match entry {
            Entry::Document(document) => {
                let object = Object { document, warnings: Vec::new() };
                if !object.is_definition() {
                    continue;
                }
                // Unknown fields in it do not matter for the objects.
                let mut item = known.install(judge, object, &CREATE, FieldValidation::Ignore);
                match item.verdict {
                    Verdict::Accepted | Verdict::Skipped => continue,
                    Verdict::Rejected => {
                        item.verdict = Verdict::CannotTell;
                        "the server would refuse this CRD".clone_into(&mut item.reason);
                    }
                    Verdict::Decodes | Verdict::CannotTell => {}
                }
                show(item);
            }
            Entry::Problem(note) => show(object::problem(note)),
            Entry::Warning(note) if note.position.is_none() => show(object::problem(note)),
            Entry::Warning(_) => {}
        }
    }
}

/// Judges every document and shows the items in the order of the documents.
pub fn judge_all(
    judge: &Judge,
    known: &mut Known,
    entries: impl Iterator<Item = Entry> + Send,
    show: &mut (dyn FnMut(Item) + Send),
) -> io::Result<()> {
    let mut feed = Feed { judge, known, entries, notes: Vec::new(), wait: None, failed: None };
    in_order(judge.settings.jobs, feed.by_ref(), |task| task.done(judge), &mut *show)?;
    let Feed { wait, failed, .. } = feed;
    failed.map_or(Ok(()), Err)?;
    let Some(mut wait) = wait else { return Ok(()) };
    fetch(judge, known, &wait.missing);
    let mut last = Last { judge, known, documents: wait.spool.replay()?, wait, at: 0, ready: Vec::new(), failed: None };
    in_order(judge.settings.jobs, last.by_ref(), |task| task.done(judge), &mut *show)?;
    last.failed.map_or(Ok(()), Err)
}

/// What a thread is given.
enum Task {
    /// Nothing to do.
    Item(Box<Item>),
    /// An object to judge.
    Judge(Box<Ready>),
    /// An object of a built-in kind.
    Builtin(Box<Object>, Kind),
}

impl Task {
    fn done(self, judge: &Judge) -> Item {
        match self {
            Self::Item(item) => *item,
            Self::Judge(ready) => judge.judge(*ready),
            Self::Builtin(object, kind) => judge.decode(*object, &kind),
        }
    }
}

/// What waits for CRDs that may still come.
#[derive(Default)]
struct Wait {
    spool: Spool,
    /// What was said of the text of a document, by its number.
    warnings: BTreeMap<usize, Vec<Problem>>,
    /// Items that came between documents, by the number of the next: CRDs, inputs that could not be read.
    between: BTreeMap<usize, Vec<Item>>,
    /// Kinds without a CRD.
    missing: BTreeSet<Kind>,
}

/// The tasks of the input, until something waits.
struct Feed<'a, I> {
    judge: &'a Judge,
    known: &'a mut Known,
    entries: I,
    /// Warnings about the document that comes next.
    notes: Vec<Note>,
    wait: Option<Wait>,
    failed: Option<io::Error>,
}

impl<I: Iterator<Item = Entry>> Iterator for Feed<'_, I> {
    type Item = Task;

    fn next(&mut self) -> Option<Task> {
        while self.failed.is_none() {
            let destination = match self.entries.next()? {
                Entry::Document(document) => {
                    let notes = std::mem::take(&mut self.notes);
                    let warnings = notes.iter().enumerate();
                    let warnings = warnings.map(|(i, note)| object::warning(note, &document, i < object::MOST_FOUND));
                    let warnings = warnings.collect();
                    let object = Object { document, warnings };
                    match self.judge.filter.unwanted(object.value()) {
                        None => self.known.destination(self.judge, object),
                        Some(why) => match self.known.leave_out(self.judge, object, why) {
                            Some(item) => Destination::Item(Box::new(item)),
                            None => continue,
                        },
                    }
                }
                Entry::Problem(note) => Destination::Item(Box::new(object::problem(note))),
                // Of a whole source there is only to say that nothing is in it.
                Entry::Warning(note) if note.position.is_none() => Destination::Item(Box::new(object::problem(note))),
                Entry::Warning(note) => {
                    self.notes.push(note);
                    continue;
                }
            };
            if let Some(task) = self.task(destination) {
                return Some(task);
            }
        }
        None
    }
}

impl<I> Feed<'_, I> {
    /// The task, unless it has to wait.
    fn task(&mut self, destination: Destination) -> Option<Task> {
        match (destination, &mut self.wait) {
            (Destination::Item(item), None) => return Some(Task::Item(item)),
            (Destination::Judge(object, route), None) => {
                return Some(Task::Judge(Box::new(self.known.ready(self.judge, *object, route))));
            }
            (Destination::Builtin(object, kind), None) => return Some(Task::Builtin(object, kind)),
            (Destination::Item(item), Some(wait)) => wait.between.entry(wait.spool.len()).or_default().push(*item),
            (Destination::Judge(object, ..) | Destination::Builtin(object, ..), Some(_)) => self.put_off(*object),
            (Destination::Unknown(object, kind), wait) => {
                wait.get_or_insert_default().missing.insert(kind);
                self.put_off(*object);
            }
        }
        None
    }

    fn put_off(&mut self, object: Object) {
        let wait = self.wait.get_or_insert_default();
        if !object.warnings.is_empty() {
            wait.warnings.insert(wait.spool.len(), object.warnings);
        }
        if let Err(error) = wait.spool.push(&object.document) {
            self.failed = Some(error);
        }
    }
}

/// The tasks of what waited.
struct Last<'a, D> {
    judge: &'a Judge,
    known: &'a mut Known,
    documents: D,
    wait: Wait,
    /// The number of the next document.
    at: usize,
    /// Items to give first, the next one last.
    ready: Vec<Item>,
    failed: Option<io::Error>,
}

impl<D: Iterator<Item = io::Result<crate::input::Document>>> Iterator for Last<'_, D> {
    type Item = Task;

    fn next(&mut self) -> Option<Task> {
        if let Some(items) = self.wait.between.remove(&self.at) {
            self.ready.extend(items.into_iter().rev());
        }
        if let Some(item) = self.ready.pop() {
            return Some(Task::Item(Box::new(item)));
        }
        let document = match self.documents.next()? {
            Ok(document) => document,
            Err(error) => {
                self.failed = Some(error);
                return None;
            }
        };
        let warnings = self.wait.warnings.remove(&self.at).unwrap_or_default();
        self.at += 1;
        Some(match self.known.destination(self.judge, Object { document, warnings }) {
            Destination::Item(item) => Task::Item(item),
            Destination::Judge(object, route) => Task::Judge(Box::new(self.known.ready(self.judge, *object, route))),
            Destination::Builtin(object, kind) => Task::Builtin(object, kind),
            Destination::Unknown(object, kind) => {
                Task::Item(Box::new(self.known.without_definition(self.judge, *object, &kind)))
            }
        })
    }
}

/// Asks the cluster for CRDs that the input did not bring.
fn fetch(judge: &Judge, known: &mut Known, missing: &BTreeSet<Kind>) {
    let Some(live) = &judge.settings.cluster else { return };
    let missing: Vec<&Kind> = missing.iter().filter(|kind| !known.knows(kind)).collect();
    if missing.is_empty() {
        return;
    }
    let kinds: Vec<(&str, &str)> = missing.iter().map(|(group, _, kind)| (group.as_str(), kind.as_str())).collect();
    let found = match live.connection() {
        Ok(connection) => connection.definitions_of(&kinds),
        Err(error) => kinds.iter().map(|_| Err(error.clone())).collect(),
    };
    for (kind, found) in missing.into_iter().zip(found) {
        match found {
            Ok(Some(crd)) => known.install_from_cluster(judge, kind, crd),
            Ok(None) => {}
            Err(error) => known.refuse(kind, error),
        }
    }
}

//! Reads documents once, simulates them on several threads and for several releases, and shows the items in order.
//!
//! The CRD of an object may come later in the stream. From the first object without a CRD on, objects are written to a
//! temporary file while CRDs are still created. At the end, these objects are simulated in order. The output thus has
//! the order of the input, and only a few documents are in memory at a time.

use super::live::Live;
use super::lookahead::{Lookahead, NeedsExisting};
use super::ordered::in_order;
use crdx_engine::cluster::Cluster as _;
use crdx_engine::documents::{InputEntry, Note};
use crdx_engine::kubectl::FieldValidation;
use crdx_engine::report::{Diagnostic, ObjectReport, Verdict, merged};
use crdx_engine::simulation::admission::Admission;
use crdx_engine::simulation::existing::PendingObject;
use crdx_engine::simulation::filter::{Filter, SkipReason};
use crdx_engine::simulation::identity::{self, Namespace};
use crdx_engine::simulation::lists::ListChecks;
use crdx_engine::simulation::object::{self, Kind, Object};
use crdx_engine::simulation::unfold::{self, StoppedAt, Unfolding};
use crdx_engine::simulation::{DefinitionSource, Destination, OrderedState, Prepared, Simulator};
use crdx_input::pending_documents::PendingDocuments;
use crdx_text::documents::Chunk;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The parameters of a run.
pub struct Run<'a> {
    /// The simulator of each release, oldest first.
    pub simulators: &'a [Simulator],
    /// Selects objects.
    pub filter: &'a Filter,
    /// The number of threads.
    pub jobs: NonZeroUsize,
    /// The cluster, if it may be asked.
    pub live: Option<&'a Live>,
}

impl Run<'_> {
    /// Calls `make` for each release, in the order of the simulators.
    fn each<T>(
        &self,
        known: &mut [OrderedState],
        object: Object,
        mut make: impl FnMut(&Simulator, &mut OrderedState, Object) -> T,
    ) -> Vec<T> {
        let last = self.simulators.len().saturating_sub(1);
        let mut object = Some(object);
        let simulators = self.simulators.iter().zip(known).enumerate();
        let results = simulators.filter_map(|(n, (simulator, known))| {
            let own = if n == last { object.take() } else { object.clone() }?;
            Some(make(simulator, known, own))
        });
        results.collect()
    }

    /// Merges the items of all releases, which are in the order of the simulators.
    fn merged(&self, items: Vec<ObjectReport>) -> Option<ObjectReport> {
        merged(self.simulators.iter().map(|simulator| simulator.server.release()).zip(items).collect())
    }
}

/// Creates the CRDs among `entries` and ignores other objects. Passes problems to `show`.
pub fn take_definitions(
    run: &Run<'_>,
    known: &mut [OrderedState],
    entries: impl Iterator<Item = InputEntry>,
    show: &mut (dyn FnMut(ObjectReport) + Send),
) {
    for entry in entries {
        match entry {
            InputEntry::Document(document) => {
                let object = Object { document, warnings: Vec::new() };
                if !object.is_definition() {
                    continue;
                }
                let items = run.each(known, object, |simulator, known, object| {
                    // Unknown fields of a CRD do not affect objects.
                    let mut item =
                        known.install(simulator, object, DefinitionSource::Given, (None, FieldValidation::Ignore));
                    if item.verdict == Verdict::Rejected {
                        item.verdict = Verdict::CannotTell;
                        "the server would reject this CRD".clone_into(&mut item.reason);
                    }
                    item
                });
                let item = run.merged(items);
                item.filter(|item| item.verdict == Verdict::CannotTell).into_iter().for_each(&mut *show);
            }
            InputEntry::Problem(note) => show(object::problem(note)),
            InputEntry::Warning(note) if note.position.is_none() => show(object::problem(note)),
            InputEntry::Warning(_) => {}
        }
    }
}

/// Stores the CRDs of params and then the policies of each release. Unusable objects are shown once.
pub fn take_policies(
    run: &Run<'_>,
    known: &mut [OrderedState],
    admissions: Vec<Option<Admission>>,
    show: &mut (dyn FnMut(ObjectReport) + Send),
) {
    let mut shown = BTreeSet::new();
    let mut show = |item: ObjectReport| {
        if shown.insert(format!("{} {}", item.location, item.reason)) {
            show(item);
        }
    };
    let mut kinds = BTreeSet::new();
    for admission in admissions.iter().flatten() {
        kinds.extend(admission.param_kinds().map(|k| (k.group.clone(), k.version.clone(), k.kind.clone())));
        for object in admission.definitions() {
            let items = run.each(known, object.clone(), |simulator, known, object| {
                known.install(simulator, object, DefinitionSource::Given, (None, FieldValidation::Ignore))
            });
            let item = run.merged(items);
            let bad = |item: &ObjectReport| !matches!(item.verdict, Verdict::Accepted | Verdict::Skipped);
            item.filter(bad).into_iter().for_each(&mut show);
        }
    }
    fetch(run, known, &kinds);
    for ((simulator, known), admission) in run.simulators.iter().zip(known).zip(admissions) {
        let Some(mut admission) = admission else { continue };
        known.define_params(&mut admission);
        admission.store(
            &simulator.server,
            simulator.settings.request_options.now,
            &simulator.settings.namespace,
            &mut show,
        );
        // Only this function sets the admission, so it is not set yet.
        let _ = simulator.admission.set(Arc::new(admission));
    }
}

/// Simulates every document and passes the items to `show` in order.
pub fn simulate_all(
    run: &Run<'_>,
    known: &mut [OrderedState],
    entries: impl Iterator<Item = InputEntry> + Send,
    show: &mut (dyn FnMut(ObjectReport) + Send),
) -> io::Result<()> {
    let mut show = |item: Option<ObjectReport>| item.into_iter().for_each(&mut *show);
    let existing = run.simulators.first().map(|simulator| &simulator.updates.existing);
    let live = run.live.filter(|_| existing.is_some_and(|existing| existing.cluster().is_some()));
    let mut feed = InitialTasks {
        run,
        known,
        entries,
        notes: Vec::new(),
        unfolding: None,
        stopped: None,
        unread: None,
        wait: None,
        failed: None,
    };
    in_order(run.jobs, Lookahead::new(feed.by_ref(), live), |task| task.done(run), &mut show)?;
    let InitialTasks { wait, failed, .. } = feed;
    failed.map_or(Ok(()), Err)?;
    let Some(mut wait) = wait else { return Ok(()) };
    fetch(run, known, &wait.missing);
    let mut last = DelayedTasks {
        run,
        known,
        documents: wait.pending_documents.replay()?,
        wait,
        at: 0,
        ready: Vec::new(),
        unfolding: None,
        stopped: None,
        unread: None,
        failed: None,
    };
    in_order(run.jobs, Lookahead::new(last.by_ref(), live), |task| task.done(run), &mut show)?;
    last.failed.map_or(Ok(()), Err)
}

/// The work for one document.
struct Task {
    /// The document for each release.
    prepared: Vec<Prepared>,
    /// The reason why kubectl does not read the document, if it does not.
    unread: Option<String>,
}

impl Task {
    /// Creates the task of an item that does not depend on the release.
    fn item(item: ObjectReport) -> Self {
        Self { prepared: vec![Prepared::Report(Box::new(item))], unread: None }
    }

    fn unread(self, reason: Option<String>) -> Self {
        Self { unread: reason, ..self }
    }

    /// Returns the objects of the input for each release, with the existing objects in the cluster.
    fn objects(&self) -> impl Iterator<Item = (&Object, Option<&PendingObject>)> {
        self.prepared.iter().filter_map(|prepared| Some((prepared.object()?, prepared.pending())))
    }

    fn done(self, run: &Run<'_>) -> Option<ObjectReport> {
        let each = self.prepared.into_iter().zip(run.simulators);
        let each = each.map(|(prepared, simulator)| simulator.simulate(prepared));
        let mut item = run.merged(each.collect())?;
        if let Some(reason) = self.unread {
            unfold::set_unread(&mut item, &reason);
        }
        Some(item)
    }
}

impl NeedsExisting for Task {
    fn pending(&self) -> impl Iterator<Item = &PendingObject> {
        self.objects().filter_map(|(_, pending)| pending)
    }

    fn chunk(&self) -> Option<&Arc<Chunk>> {
        self.objects().next().map(|(object, _)| &object.document.chunk)
    }
}

/// Documents that are delayed because a CRD may follow.
#[derive(Default)]
struct Wait {
    pending_documents: PendingDocuments,
    /// The warnings about the text of a document, by its number.
    warnings: BTreeMap<usize, Vec<Diagnostic>>,
    /// The reasons why kubectl does not read documents, by their number.
    unread: BTreeMap<usize, String>,
    /// The items of CRDs in delayed lists, by the number of the list and the index of the CRD.
    created: BTreeMap<usize, BTreeMap<usize, ObjectReport>>,
    /// Items between documents, by the number of the next document: CRDs, and inputs that could not be read.
    between: BTreeMap<usize, Vec<ObjectReport>>,
    /// Kinds without a CRD.
    missing: BTreeSet<Kind>,
}

/// The tasks of the input, until the first document is delayed.
struct InitialTasks<'a, 'r, I> {
    run: &'a Run<'r>,
    known: &'a mut [OrderedState],
    entries: I,
    /// Warnings about the next document.
    notes: Vec<Note>,
    unfolding: Option<Unfolding>,
    /// The last place at which kubectl stops reading a file.
    stopped: Option<StoppedAt>,
    /// The reason why kubectl does not read the current document.
    unread: Option<String>,
    wait: Option<Wait>,
    failed: Option<io::Error>,
}

impl<I: Iterator<Item = InputEntry>> Iterator for InitialTasks<'_, '_, I> {
    type Item = Task;

    fn next(&mut self) -> Option<Task> {
        while self.failed.is_none() {
            let task = match self.next_of_list() {
                Some(Ok(object)) => self.document(object),
                Some(Err(item)) => self.item(*item),
                None => {
                    let entry = self.entries.next()?;
                    self.entry(entry)
                }
            };
            if task.is_some() {
                return task;
            }
        }
        None
    }
}

impl<I: Iterator<Item = InputEntry>> InitialTasks<'_, '_, I> {
    /// Returns the field validation of the requests.
    fn level(&self) -> FieldValidation {
        let first = self.run.simulators.first();
        first.map_or(FieldValidation::Strict, |simulator| simulator.settings.request_options.level)
    }

    /// Returns the task of an entry, unless it has none or is delayed.
    fn entry(&mut self, entry: InputEntry) -> Option<Task> {
        match entry {
            InputEntry::Document(document) => {
                let notes = std::mem::take(&mut self.notes);
                let warnings = notes.iter().enumerate();
                let warnings = warnings.map(|(i, note)| object::warning(note, &document, i < object::MAX_FOUND));
                let warnings = warnings.collect();
                self.unread = self.stopped.as_ref().and_then(|stopped| stopped.reason(&document));
                self.document_or_list(Object { document, warnings })
            }
            InputEntry::Problem(note) => {
                let level = self.level();
                self.stopped = StoppedAt::problem(&note, level).or(self.stopped.take());
                self.item(object::unsent(note, level))
            }
            // A warning about a whole source means that it contains no object.
            InputEntry::Warning(note) if note.position.is_none() => self.item(object::unsent(note, self.level())),
            InputEntry::Warning(note) => {
                self.notes.push(note);
                None
            }
        }
    }
}

impl<I> InitialTasks<'_, '_, I> {
    /// Returns the next item of the list that is being unfolded.
    fn next_of_list(&mut self) -> Option<Result<Object, Box<ObjectReport>>> {
        let next = self.unfolding.as_mut()?.next();
        if next.is_none() {
            self.unfolding = None;
        }
        next
    }

    fn document_or_list(&mut self, object: Object) -> Option<Task> {
        let mut created = BTreeMap::new();
        let mut checked = unfold::check(self.run.simulators, self.known, &object, false);
        if matches!(checked, ListChecks::Unknown(_)) {
            created = self.create_definitions(&object);
            if !created.is_empty() {
                checked = unfold::check(self.run.simulators, self.known, &object, false);
            }
        }
        match checked {
            ListChecks::NoList => return self.document(object),
            ListChecks::Items => self.unfolding = Some(Unfolding::new(object, created)),
            ListChecks::Refused { item, stops } => {
                if stops && self.unread.is_none() {
                    self.stopped = Some(StoppedAt::error(&object.document, &item));
                }
                return self.item(*item);
            }
            ListChecks::Unknown(kinds) => {
                let wait = self.wait.get_or_insert_default();
                wait.missing.extend(kinds);
                wait.created.insert(wait.pending_documents.len(), created);
                self.postpone(object);
            }
        }
        None
    }

    /// Creates the CRDs in a list, because its check needs them. Returns their items, by index.
    fn create_definitions(&mut self, list: &Object) -> BTreeMap<usize, ObjectReport> {
        let documents = list.document.clone().into_items().filter(crdx_engine::documents::Document::is_definition);
        let mut created = BTreeMap::new();
        for document in documents {
            let index = document.item.unwrap_or_default();
            let object = Object { document, warnings: Vec::new() };
            let item = if let Some(reason) = self.run.filter.skip_reason(object.value()) {
                left_out(self.run, self.known, object, reason)
            } else {
                let all =
                    self.run.each(self.known, object, |simulator, known, object| known.destination(simulator, object));
                let items = all
                    .into_iter()
                    .filter_map(|one| if let Destination::Report(item) = one { Some(*item) } else { None });
                self.run.merged(items.collect())
            };
            created.extend(item.map(|item| (index, item)));
        }
        created
    }

    fn document(&mut self, object: Object) -> Option<Task> {
        let Some(reason) = self.run.filter.skip_reason(object.value()) else {
            let all =
                self.run.each(self.known, object, |simulator, known, object| known.destination(simulator, object));
            return self.task(all);
        };
        left_out(self.run, self.known, object, reason).and_then(|item| self.item(item))
    }

    /// Returns the task of an item, unless it is delayed.
    fn item(&mut self, mut item: ObjectReport) -> Option<Task> {
        if let Some(reason) = &self.unread {
            unfold::set_unread(&mut item, reason);
        }
        match &mut self.wait {
            None => return Some(Task::item(item)),
            Some(wait) => wait.between.entry(wait.pending_documents.len()).or_default().push(item),
        }
        None
    }

    /// Returns the task of an object. It is delayed if a release has no CRD for it yet, or if other objects are
    /// delayed.
    fn task(&mut self, all: Vec<Destination>) -> Option<Task> {
        if all.iter().all(|one| matches!(one, Destination::Report(_))) {
            let items =
                all.into_iter().filter_map(|one| if let Destination::Report(item) = one { Some(*item) } else { None });
            let items = items.collect();
            return self.run.merged(items).and_then(|item| self.item(item));
        }
        for one in &all {
            if let Destination::Unknown(_, kind) = one {
                self.wait.get_or_insert_default().missing.insert(kind.clone());
            }
        }
        if self.wait.is_none() {
            return Some(prepare(self.run, self.known, all).unread(self.unread.clone()));
        }
        let object = all.into_iter().find_map(|one| match one {
            Destination::Resource(object, _) | Destination::NotServed(object, _) | Destination::Unknown(object, _) => {
                Some(object)
            }
            Destination::Report(_) => None,
        });
        if let Some(object) = object {
            self.postpone(*object);
        }
        None
    }

    fn postpone(&mut self, object: Object) {
        let wait = self.wait.get_or_insert_default();
        if !object.warnings.is_empty() {
            wait.warnings.insert(wait.pending_documents.len(), object.warnings);
        }
        if let Some(reason) = &self.unread {
            wait.unread.insert(wait.pending_documents.len(), reason.clone());
        }
        if let Err(error) = wait.pending_documents.push(&object.document) {
            self.failed = Some(error);
        }
    }
}

/// Leaves an object out. Returns an item if that is reported.
fn left_out(run: &Run<'_>, known: &mut [OrderedState], object: Object, reason: SkipReason) -> Option<ObjectReport> {
    let unselected = identity::identity(object.value(), Namespace::Own);
    let location = identity::FieldLocator::start(&object.finder());
    let left = run.each(known, object, |simulator, known, object| known.leave_out(simulator, object, reason));
    if left.iter().all(Option::is_none) {
        return None;
    }
    let unselected = || {
        let mut item = ObjectReport::new(location.clone(), Verdict::Skipped, "its labels do not match");
        item.identity.clone_from(&unselected);
        item
    };
    run.merged(left.into_iter().map(|item| item.unwrap_or_else(unselected)).collect())
}

/// Creates the task of an object that is not delayed.
fn prepare(run: &Run<'_>, known: &mut [OrderedState], all: Vec<Destination>) -> Task {
    let mut pending = None;
    let simulators = run.simulators.iter().zip(known).zip(all);
    let prepared = simulators.map(|((simulator, known), one)| known.prepare(simulator, one, &mut pending));
    Task { prepared: prepared.collect(), unread: None }
}

/// The tasks of the delayed documents.
struct DelayedTasks<'a, 'r, D> {
    run: &'a Run<'r>,
    known: &'a mut [OrderedState],
    documents: D,
    wait: Wait,
    /// The number of the next document.
    at: usize,
    /// Items to show before the next document, in reverse order.
    ready: Vec<ObjectReport>,
    unfolding: Option<Unfolding>,
    /// The last place at which kubectl stops reading a file.
    stopped: Option<StoppedAt>,
    /// The reason why kubectl does not read the current document.
    unread: Option<String>,
    failed: Option<io::Error>,
}

impl<D: Iterator<Item = io::Result<crdx_engine::documents::Document>>> Iterator for DelayedTasks<'_, '_, D> {
    type Item = Task;

    fn next(&mut self) -> Option<Task> {
        loop {
            match self.unfolding.as_mut().map(Iterator::next) {
                Some(Some(Err(item))) => return Some(Task::item(*item).unread(self.unread.clone())),
                Some(Some(Ok(object))) => {
                    if let Some(task) = self.object(object) {
                        return Some(task);
                    }
                }
                Some(None) => self.unfolding = None,
                None => {
                    if let Some(items) = self.wait.between.remove(&self.at) {
                        self.ready.extend(items.into_iter().rev());
                    }
                    if let Some(item) = self.ready.pop() {
                        return Some(Task::item(item));
                    }
                    let document = match self.documents.next()? {
                        Ok(document) => document,
                        Err(error) => {
                            self.failed = Some(error);
                            return None;
                        }
                    };
                    if let Some(task) = self.document_or_list(document) {
                        return Some(task);
                    }
                }
            }
        }
    }
}

impl<D: Iterator<Item = io::Result<crdx_engine::documents::Document>>> DelayedTasks<'_, '_, D> {
    fn document_or_list(&mut self, document: crdx_engine::documents::Document) -> Option<Task> {
        let warnings = self.wait.warnings.remove(&self.at).unwrap_or_default();
        let created = self.wait.created.remove(&self.at).unwrap_or_default();
        let reason = || self.stopped.as_ref().and_then(|stopped| stopped.reason(&document));
        self.unread = self.wait.unread.remove(&self.at).or_else(reason);
        self.at += 1;
        let object = Object { document, warnings };
        let checked = if object.document.item.is_some() {
            // The list was checked before its items were delayed.
            ListChecks::NoList
        } else {
            unfold::check(self.run.simulators, self.known, &object, true)
        };
        match checked {
            ListChecks::NoList | ListChecks::Unknown(_) => self.object(object),
            ListChecks::Items => {
                self.unfolding = Some(Unfolding::new(object, created));
                None
            }
            ListChecks::Refused { item, stops } => {
                if stops && self.unread.is_none() {
                    self.stopped = Some(StoppedAt::error(&object.document, &item));
                }
                Some(Task::item(*item))
            }
        }
    }

    fn object(&mut self, object: Object) -> Option<Task> {
        let task = if let Some(reason) = self.run.filter.skip_reason(object.value()) {
            left_out(self.run, self.known, object, reason).map(Task::item)
        } else {
            let all =
                self.run.each(self.known, object, |simulator, known, object| known.destination(simulator, object));
            Some(prepare(self.run, self.known, all))
        };
        task.map(|task| task.unread(self.unread.clone()))
    }
}

/// Reads missing CRDs from the cluster.
fn fetch(run: &Run<'_>, known: &mut [OrderedState], missing: &BTreeSet<Kind>) {
    let Some(live) = run.live else { return };
    let missing: Vec<&Kind> = missing.iter().filter(|kind| !known.iter().all(|known| known.knows(kind))).collect();
    if missing.is_empty() {
        return;
    }
    let kinds: Vec<(&str, &str)> = missing.iter().map(|(group, _, kind)| (group.as_str(), kind.as_str())).collect();
    let found = match live.connection() {
        Ok(connection) => connection.definitions_of(&kinds),
        Err(error) => kinds.iter().map(|_| Err(error.clone())).collect(),
    };
    for (kind, found) in missing.into_iter().zip(found) {
        // An aggregated API server may serve the kind.
        let is_absent = matches!(found, Ok(None)) && live.has_kind(&kind.0, &kind.2) == Ok(false);
        for (simulator, known) in run.simulators.iter().zip(known.iter_mut()).filter(|(_, known)| !known.knows(kind)) {
            match &found {
                Ok(Some(crd)) => known.install_from_cluster(simulator, kind, crd.clone()),
                Ok(None) if is_absent => known.set_absent(kind),
                Ok(None) => {}
                Err(error) => known.refuse(kind, error.clone()),
            }
        }
    }
}

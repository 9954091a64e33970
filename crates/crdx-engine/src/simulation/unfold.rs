//! Lists in a stream of documents, and documents that kubectl does not read because it stops at an error in their file.

use crate::documents::{Document, Note, Stop};
use crate::kubectl::FieldValidation;
use crate::report::{Diagnostic, ObjectReport, Verdict, merged};
use crate::simulation::identity::{self, Namespace};
use crate::simulation::lists::{self, Checked};
use crate::simulation::object::Object;
use crate::simulation::{OrderedState, Simulator};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The items of a list, one at a time.
pub struct Unfolding {
    items: Box<dyn Iterator<Item = Document> + Send>,
    /// The warnings about the text of the list; the first object reports them.
    warnings: Vec<Diagnostic>,
    /// The items of CRDs that were created before the list was checked, by their index.
    created: BTreeMap<usize, ObjectReport>,
}

impl Unfolding {
    /// Unfolds a list.
    pub fn new(list: Object, created: BTreeMap<usize, ObjectReport>) -> Self {
        Self { items: Box::new(list.document.into_items()), warnings: list.warnings, created }
    }
}

impl Iterator for Unfolding {
    /// An object to send, or the item of one for which kubectl sends no request.
    type Item = Result<Object, Box<ObjectReport>>;

    fn next(&mut self) -> Option<Self::Item> {
        let document = self.items.next()?;
        if let Some(item) = document.item.and_then(|index| self.created.remove(&index)) {
            return Some(Err(Box::new(item)));
        }
        let mut object = Object { document, warnings: std::mem::take(&mut self.warnings) };
        let error = lists::item_error(&mut object).map(Box::new);
        Some(error.map_or(Ok(object), Err))
    }
}

/// Checks a list for all releases, as [`lists::check`] does for one. If only some of them refuse it, the verdict for the
/// others is not known.
pub fn check(simulators: &[Simulator], known: &mut [OrderedState], object: &Object, complete: bool) -> Checked {
    if !lists::may_be_list(object.value()) {
        return Checked::NoList;
    }
    let pairs = simulators.iter().zip(known);
    let all: Vec<Checked> = pairs.map(|(simulator, known)| lists::check(simulator, known, object, complete)).collect();
    let mut unknown = Vec::new();
    let mut stops = false;
    for one in &all {
        match one {
            Checked::Unknown(kinds) => unknown.extend(kinds.iter().cloned()),
            Checked::Refused { stops: own, .. } => stops |= own,
            Checked::NoList | Checked::Items => {}
        }
    }
    if !unknown.is_empty() {
        return Checked::Unknown(unknown);
    }
    if !all.iter().any(|one| matches!(one, Checked::Refused { .. })) {
        return if all.iter().any(|one| matches!(one, Checked::Items)) { Checked::Items } else { Checked::NoList };
    }
    let releases = simulators.iter().map(|simulator| simulator.server.release());
    let items = all.into_iter().map(|one| {
        if let Checked::Refused { item, .. } = one {
            return *item;
        }
        let reason = "kubectl sends the items of this list to this version only: validate each version alone";
        object.clone().item(identity::identity(object.value(), Namespace::Own), Verdict::CannotTell, reason)
    });
    match merged(releases.zip(items).collect()) {
        Some(item) => Checked::Refused { item: Box::new(item), stops },
        None => Checked::Items,
    }
}

/// The place at which kubectl stops reading a file.
#[derive(Clone, Debug)]
pub struct StoppedAt {
    source: Arc<str>,
    line: usize,
}

impl StoppedAt {
    /// The place of a problem, if kubectl stops there.
    pub fn problem(note: &Note, level: FieldValidation) -> Option<Self> {
        let stops = match note.stop {
            Stop::Never => false,
            Stop::IfValidated => level != FieldValidation::Ignore,
            Stop::Always => true,
        };
        let start = note.chunk.as_ref().map(|chunk| chunk.start);
        let line = note.position.or(start)?.line;
        stops.then(|| Self { source: Arc::clone(&note.source), line })
    }

    /// The place of an error of validation in a document.
    pub fn error(document: &Document, item: &ObjectReport) -> Self {
        let location = item.errors.first().and_then(|error| error.location.as_ref()).unwrap_or(&item.location);
        Self { source: Arc::clone(&document.source), line: location.line }
    }

    /// Returns the reason why kubectl does not send a document, if it does not read it. A file that is given twice is
    /// read from its beginning again.
    pub fn reason(&self, document: &Document) -> Option<String> {
        let follows = document.source == self.source && document.chunk.start.line >= self.line;
        follows.then(|| format!("kubectl does not read it: it stops at the error in line {} of this file", self.line))
    }
}

/// Changes the item of an object that kubectl does not read. Its errors are reported all the same.
pub fn set_unread(item: &mut ObjectReport, reason: &str) {
    if matches!(item.verdict, Verdict::Accepted | Verdict::Decodes) {
        item.verdict = Verdict::Skipped;
        reason.clone_into(&mut item.reason);
        (item.object, item.table, item.scale, item.answer) = (None, None, None, None);
    }
}

//! Reads the stored objects of the cluster one by one.

use crate::commands::progress::Progress;
use crdx_cluster::{Connection, Error, JSON, Pages, Query};
use crdx_engine::documents::{Document, SourceChunk};
use crdx_engine::report::{ObjectReport, RunNote, SourceLocation, Verdict};
use crdx_engine::simulation::identity::FieldLocator;
use crdx_text::documents::Chunk;
use crdx_text::{Position, Syntax};
use crdx_value::{Value, json};

/// The source of objects that are not in a file.
pub const CLUSTER: &str = "the cluster";

/// The source location of objects that are not in a file.
pub struct InCluster;

impl FieldLocator for InCluster {
    fn start(&self) -> SourceLocation {
        SourceLocation::source(&CLUSTER.into())
    }

    fn field(&self, _: &str) -> SourceLocation {
        self.start()
    }

    fn name(&self, _: &str) -> SourceLocation {
        self.start()
    }
}

/// Returns an object of the cluster as a document.
pub fn document(object: Value) -> Document {
    let text = json::to_string(&object).into_bytes();
    let chunk = Chunk::new(text, Position { line: 1, column: 1 }, Syntax::Json);
    SourceChunk::new(&CLUSTER.into(), chunk, false, None).document(None, object)
}

/// The objects of a collection. The last item is an error if the list could not be read completely, or if the CRD changed
/// in the meantime.
pub struct StoredObjects<'a> {
    connection: &'a Connection,
    pages: Pages<'a>,
    page: std::vec::IntoIter<Value>,
    read: u64,
    broken: bool,
    /// The CRD as the cluster had it before the list; taken when it is compared.
    definition: Option<Value>,
    progress: Progress,
}

impl<'a> StoredObjects<'a> {
    /// Starts reading the objects at `path`, of a CRD that was read from the same cluster, if any.
    pub fn new(connection: &'a Connection, path: &str, definition: Option<Value>, progress: Progress) -> Self {
        let pages = connection.pages(path, Query::default(), JSON);
        Self { connection, pages, page: Vec::new().into_iter(), read: 0, broken: false, definition, progress }
    }

    /// Returns a note about the list as a whole, after it was read.
    pub fn note(&self) -> Option<RunNote> {
        let note = |kind, message: String| Some(RunNote { kind, message });
        if self.broken {
            return note("incomplete", format!("only {} objects were read; the results cover only these", self.read));
        }
        let message = "the list took so long that the cluster continued with a newer state: objects that were created or \
            deleted in the meantime may or may not be counted";
        if self.pages.is_inconsistent() { note("torn", message.to_owned()) } else { None }
    }

    fn broken(&mut self, error: Error) -> Box<ObjectReport> {
        self.broken = true;
        cannot_tell(error.message, error.help)
    }

    /// Compares the CRD with the one of the cluster, once, after the list.
    fn changed(&mut self) -> Option<Box<ObjectReport>> {
        let definition = self.definition.take()?;
        match self.connection.has_definition(&definition) {
            Ok(true) => None,
            Ok(false) => {
                let message =
                    "the CRD was changed in the cluster while its objects were read, so the results may be wrong";
                Some(cannot_tell(message.to_owned(), Some("run it again".to_owned())))
            }
            Err(error) => {
                let message =
                    format!("whether the CRD changed while its objects were read is unknown: {}", error.message);
                Some(cannot_tell(message, error.help))
            }
        }
    }
}

fn cannot_tell(message: String, help: Option<String>) -> Box<ObjectReport> {
    let mut item = ObjectReport::new(InCluster.start(), Verdict::CannotTell, message);
    item.help = help;
    Box::new(item)
}

impl Iterator for StoredObjects<'_> {
    type Item = Result<Value, Box<ObjectReport>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(object) = self.page.next() {
                self.read += 1;
                return Some(Ok(object));
            }
            let Some(page) = self.pages.next() else {
                return if self.broken { None } else { self.changed().map(Err) };
            };
            match page {
                Ok(mut page) => {
                    let items = page.take_items();
                    self.progress.expect(items.len() as u64 + page.remaining().unwrap_or_default());
                    self.page = items.into_iter();
                }
                Err(error) => return Some(Err(self.broken(error))),
            }
        }
    }
}

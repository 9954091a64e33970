//! Reads the stored objects of the cluster one by one, with a progress bar on a terminal.

use crate::cluster::{Connection, Error, JSON, Pages, Query};
use crate::output::excerpt::SourceLocation;
use crate::output::report::{Item, Note, Verdict};
use crate::simulation::identity::FieldLocator;
use crate::value::Value;
use indicatif::{ProgressBar, ProgressStyle};

/// The source location of objects that are not in a file.
pub struct InCluster;

impl FieldLocator for InCluster {
    fn start(&self) -> SourceLocation {
        SourceLocation::source(&"the cluster".into())
    }

    fn field(&self, _: &str) -> SourceLocation {
        self.start()
    }

    fn name(&self, _: &str) -> SourceLocation {
        self.start()
    }
}

/// The objects of a collection. The last item is an error if the list could not be read completely.
pub struct Stored<'a> {
    pages: Pages<'a>,
    page: std::vec::IntoIter<Value>,
    read: u64,
    broken: bool,
    bar: ProgressBar,
}

impl<'a> Stored<'a> {
    /// Starts reading the objects at `path`.
    pub fn of(connection: &'a Connection, path: &str) -> Self {
        // `ProgressBar` draws on standard error, and only on a terminal.
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{wide_bar} {human_pos} of {human_len} objects, {eta} left");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        let pages = connection.pages(path, Query::default(), JSON);
        Self { pages, page: Vec::new().into_iter(), read: 0, broken: false, bar }
    }

    /// Returns a note about the list as a whole, after it was read.
    pub fn note(&self) -> Option<Note> {
        self.bar.finish_and_clear();
        let note = |kind, message: String| Some(Note { kind, message });
        if self.broken {
            return note("incomplete", format!("only {} objects were read; the results cover only these", self.read));
        }
        let message = "the list took so long that the cluster went on with a newer state: objects that were created or \
            deleted meanwhile may be counted or not";
        if self.pages.is_torn() { note("torn", message.to_owned()) } else { None }
    }

    fn broken(&mut self, error: Error) -> Box<Item> {
        self.broken = true;
        self.bar.finish_and_clear();
        let mut item = Item::new(InCluster.start(), Verdict::CannotTell, error.message);
        item.help = error.help;
        Box::new(item)
    }
}

impl Iterator for Stored<'_> {
    type Item = Result<Value, Box<Item>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(object) = self.page.next() {
                self.read += 1;
                self.bar.inc(1);
                return Some(Ok(object));
            }
            match self.pages.next()? {
                Ok(mut page) => {
                    let items = page.take_items();
                    self.bar.set_length(self.read + items.len() as u64 + page.remaining().unwrap_or_default());
                    self.page = items.into_iter();
                }
                Err(error) => return Some(Err(self.broken(error))),
            }
        }
    }
}

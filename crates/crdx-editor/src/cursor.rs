//! The object and the field at a position of a file.

use super::check::Checker;
use super::text::Text;
use crdx_engine::documents::Document;
use crdx_text::spans::{PathStep, Spans};

/// The place of the cursor.
#[derive(Debug)]
pub struct Cursor {
    /// The object.
    pub document: Document,
    /// The path of the field in the object.
    pub path: Vec<PathStep>,
}

impl Cursor {
    /// The place at a byte offset; `None` outside of objects.
    pub fn at(checker: &Checker, path: &str, text: &Text, offset: usize) -> Option<Self> {
        let documents = checker.documents(path, text.content()).into_iter();
        let start = |document: &Document| text.offset_of(document.chunk.start.line, document.chunk.start.column);
        // All items of a list share a chunk.
        let candidates: Vec<Document> = documents.filter(|document| start(document) <= offset).collect();
        let last = candidates.last().map(start)?;
        let first = candidates.into_iter().filter(|document| start(document) == last);
        let in_chunk = offset_in_chunk(text.content().get(last..offset)?);
        let mut cursor = None;
        for document in first {
            let mut path = Spans::new(&document.chunk.text, document.chunk.syntax).path_at(in_chunk);
            match document.item {
                None => return Some(Self { document, path }),
                Some(item) => {
                    let own = [PathStep::Member("items".to_owned()), PathStep::Item(item)];
                    if path.starts_with(&own) {
                        path.drain(..own.len());
                        cursor = Some(Self { document, path });
                    }
                }
            }
        }
        cursor
    }
}

/// Chunks have `\n` for `\r\n`.
fn offset_in_chunk(before: &str) -> usize {
    before.len() - before.matches("\r\n").count()
}

//! Stores documents that wait for their CRD, in a temporary file if there are many.
//!
//! A chunk is written once, followed by the indexes of its waiting items, and parsed again when it is replayed.

use super::temp_file::TempFile;
use crdx_engine::documents::{Document, SourceChunk};
use crdx_text::documents::Chunk;
use crdx_text::{Position, Syntax};
use std::io::{self, Read};
use std::sync::Arc;

/// The index of an object that is not a list item.
const WHOLE: u64 = u64::MAX;

/// Waiting documents.
#[derive(Debug, Default)]
pub struct PendingDocuments {
    file: TempFile,
    /// The chunk that was written last.
    last: Option<Arc<Chunk>>,
    count: usize,
}

impl PendingDocuments {
    /// The number of waiting documents.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if no document is waiting.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Appends a document.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn push(&mut self, document: &Document) -> io::Result<()> {
        if !self.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &document.chunk)) {
            let chunk = &document.chunk;
            let (origin, namespace) = (document.origin.as_deref(), document.namespace.as_deref());
            let flags = [chunk.syntax == Syntax::Json, origin.is_some(), document.is_rendered, namespace.is_some()];
            let mut head = vec![b'c'];
            head.extend(flags.map(u8::from));
            let (origin, namespace) = (origin.unwrap_or_default(), namespace.unwrap_or_default());
            let lengths = [document.source.len(), origin.len(), namespace.len(), chunk.text.len()];
            for number in [chunk.start.line, chunk.start.column].into_iter().chain(lengths) {
                head.extend((number as u64).to_le_bytes());
            }
            self.file.append(&head)?;
            self.file.append(document.source.as_bytes())?;
            self.file.append(origin.as_bytes())?;
            self.file.append(namespace.as_bytes())?;
            self.file.append(&chunk.text)?;
            self.last = Some(Arc::clone(chunk));
        }
        let mut item = [b'd'; 9];
        item[1..].copy_from_slice(&document.item.map_or(WHOLE, |i| i as u64).to_le_bytes());
        self.file.append(&item)?;
        self.count += 1;
        Ok(())
    }

    /// Returns the documents in order and empties the store.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn replay(&mut self) -> io::Result<Replay<impl Read + use<>>> {
        let Self { file, .. } = std::mem::take(self);
        Ok(Replay { file: file.into_reader()?, chunk: LastChunk::Nothing })
    }
}

/// Reads the documents in order.
pub struct Replay<R> {
    file: R,
    chunk: LastChunk,
}

/// The chunk that was read last.
enum LastChunk {
    Nothing,
    /// Its value, before it is known whether all of it or its items were pushed.
    Whole(Box<Document>),
    Items(Box<dyn Iterator<Item = Document> + Send>),
}

impl<R: Read> Replay<R> {
    fn read(&mut self) -> io::Result<Option<Document>> {
        let file = &mut self.file;
        loop {
            let mut kind = [0];
            if file.read(&mut kind)? == 0 {
                return Ok(None);
            }
            if kind == *b"c" {
                let mut flags = [0; 4];
                file.read_exact(&mut flags)?;
                let [is_json, has_origin, is_rendered, has_namespace] = flags.map(|flag| flag == 1);
                let syntax = if is_json { Syntax::Json } else { Syntax::Yaml };
                let start = Position { line: number(file)? as usize, column: number(file)? as usize };
                let (source, origin) = (number(file)?, number(file)?);
                let (namespace, text) = (number(file)?, number(file)?);
                let mut name = |length| String::from_utf8(bytes(file, length)?).map_err(io::Error::other);
                let (source, origin, namespace) = (name(source)?, Arc::from(name(origin)?), name(namespace)?.into());
                let chunk = Chunk::new(bytes(file, text)?, start, syntax);
                let value = chunk.read().map(|contents| contents.value).map_err(io::Error::other)?;
                let chunk = SourceChunk::new(&source.into(), chunk, false, Some(&origin).filter(|_| has_origin));
                let chunk = chunk.with_rendered(is_rendered).with_namespace(Some(namespace).filter(|_| has_namespace));
                self.chunk = LastChunk::Whole(Box::new(chunk.document(None, value)));
            } else {
                let wanted = number(file)?;
                return Ok(document(&mut self.chunk, wanted));
            }
        }
    }
}

/// The document with an index, which follows those already taken.
fn document(chunk: &mut LastChunk, wanted: u64) -> Option<Document> {
    let mut items = match std::mem::replace(chunk, LastChunk::Nothing) {
        LastChunk::Whole(document) if wanted == WHOLE => return Some(*document),
        LastChunk::Whole(list) => Box::new(list.into_items()),
        LastChunk::Items(items) => items,
        LastChunk::Nothing => return None,
    };
    let found = items.find(|d| d.item.is_some_and(|i| i as u64 == wanted));
    *chunk = LastChunk::Items(items);
    found
}

impl<R: Read> Iterator for Replay<R> {
    type Item = io::Result<Document>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

fn number(file: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    file.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn bytes(file: &mut impl Read, count: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = file.take(count).read_to_end(&mut bytes)?;
    if read as u64 == count { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents;
    use crdx_engine::documents::InputEntry;

    #[test]
    fn documents_come_back_as_they_were() {
        let item = |n: u8| format!("{{apiVersion: v1, kind: A, x: {n}}}");
        let (a, b, c, d) = (item(1), item(2), item(3), item(4));
        let text =
            format!("{a}\n---\napiVersion: v1\nkind: List\nitems: [{b}, {c}, {d}]\n---\n# Source: b.yaml\n{a}\n");
        let mut wanted: Vec<Document> = documents("f", &text)
            .into_iter()
            .filter_map(|e| if let InputEntry::Document(d) = e { Some(d) } else { None })
            .filter(|d| d.item != Some(1))
            .collect();
        assert_eq!(wanted.len(), 4);
        wanted.last_mut().unwrap().namespace = Some("apps".into());
        let mut pending_documents = PendingDocuments::default();
        assert!(pending_documents.replay().unwrap().next().is_none());
        for document in &wanted {
            pending_documents.push(document).unwrap();
        }
        assert_eq!(pending_documents.len(), 4);
        let got: Vec<Document> = pending_documents.replay().unwrap().map(Result::unwrap).collect();
        assert!(pending_documents.is_empty());
        let show = |d: &Document| {
            let source = (d.source.clone(), d.origin.clone(), d.namespace.clone());
            (source, d.item, d.value.clone(), d.chunk.start, d.chunk.text.clone())
        };
        assert_eq!(got.iter().map(show).collect::<Vec<_>>(), wanted.iter().map(show).collect::<Vec<_>>());
    }
}

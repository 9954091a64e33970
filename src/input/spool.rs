//! Documents that wait for their CRD, kept in a temporary file: memory stays flat however many there are.
//!
//! A chunk is written once, with the indexes of those of its items that wait, and read again when it is replayed.

use super::{Document, Items, Opened, open_chunk};
use crate::text::documents::Chunk;
use crate::text::{Position, Syntax};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::sync::Arc;

/// The index of an object that is no item.
const WHOLE: u64 = u64::MAX;

/// A place for documents to wait in.
#[derive(Debug, Default)]
pub struct Spool {
    file: Option<BufWriter<File>>,
    /// The chunk written last.
    last: Option<Arc<Chunk>>,
    count: usize,
}

impl Spool {
    /// An empty one; the file is made when it is needed.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many documents wait.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Puts a document behind the others.
    pub fn push(&mut self, document: &Document) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(BufWriter::new(tempfile::tempfile()?)),
        };
        if !self.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &document.chunk)) {
            let chunk = &document.chunk;
            file.write_all(&[b'c', u8::from(chunk.syntax == Syntax::Json)])?;
            for number in [chunk.start.line, chunk.start.column, document.source.len(), chunk.text.len()] {
                file.write_all(&(number as u64).to_le_bytes())?;
            }
            file.write_all(document.source.as_bytes())?;
            file.write_all(&chunk.text)?;
            self.last = Some(Arc::clone(chunk));
        }
        file.write_all(b"d")?;
        file.write_all(&document.item.map_or(WHOLE, |i| i as u64).to_le_bytes())?;
        self.count += 1;
        Ok(())
    }

    /// Gives the documents back in order; the spool is empty then.
    pub fn replay(&mut self) -> io::Result<Replay> {
        self.last = None;
        self.count = 0;
        let file = match self.file.take() {
            None => None,
            Some(file) => {
                let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.rewind()?;
                Some(BufReader::new(file))
            }
        };
        Ok(Replay { file, chunk: None })
    }
}

/// Documents that waited.
pub struct Replay {
    file: Option<BufReader<File>>,
    chunk: Option<Waiting>,
}

/// A chunk whose documents are given back.
struct Waiting {
    source: Arc<str>,
    chunk: Arc<Chunk>,
    opened: Opened,
}

impl Replay {
    fn read(&mut self) -> io::Result<Option<Document>> {
        let Some(file) = &mut self.file else { return Ok(None) };
        loop {
            let mut kind = [0];
            if file.read(&mut kind)? == 0 {
                return Ok(None);
            }
            if kind == *b"c" {
                file.read_exact(&mut kind)?;
                let syntax = if kind == [1] { Syntax::Json } else { Syntax::Yaml };
                let start = Position { line: number(file)? as usize, column: number(file)? as usize };
                let (source, text) = (number(file)?, number(file)?);
                let source = String::from_utf8(bytes(file, source)?).map_err(io::Error::other)?;
                let chunk = Arc::new(Chunk::new(bytes(file, text)?, start, syntax));
                let source: Arc<str> = source.into();
                let opened = open_chunk(&source, &chunk, &mut VecDeque::new());
                self.chunk = Some(Waiting { source, chunk, opened });
            } else {
                let wanted = number(file)?;
                return Ok(self.chunk.as_mut().and_then(|chunk| chunk.document(wanted)));
            }
        }
    }
}

impl Waiting {
    fn document(&mut self, wanted: u64) -> Option<Document> {
        match &mut self.opened {
            Opened::Nothing => None,
            Opened::Object(value) => {
                let value = std::mem::take(value);
                Some(Document {
                    source: Arc::clone(&self.source),
                    chunk: Arc::clone(&self.chunk),
                    item: None,
                    value,
                    cache: Arc::default(),
                })
            }
            Opened::List(items) => Items::find(items, |d| d.item.is_some_and(|i| i as u64 == wanted)),
        }
    }
}

impl Iterator for Replay {
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
    use crate::input::{Entry, documents};

    #[test]
    fn documents_come_back_as_they_were() {
        let text = "a: 1.5\n---\nkind: List\nitems: [{x: 0}, {x: 1}, {x: 2}]\n---\nb: 2\n";
        let wanted: Vec<Document> = documents("f", text)
            .into_iter()
            .filter_map(|e| if let Entry::Document(d) = e { Some(d) } else { None })
            .filter(|d| d.item != Some(1))
            .collect();
        assert_eq!(wanted.len(), 4);
        let mut spool = Spool::new();
        assert!(spool.replay().unwrap().next().is_none());
        for document in &wanted {
            spool.push(document).unwrap();
        }
        assert_eq!(spool.len(), 4);
        let got: Vec<Document> = spool.replay().unwrap().map(Result::unwrap).collect();
        assert!(spool.is_empty());
        let show = |d: &Document| (d.source.clone(), d.item, d.value.clone(), d.chunk.start, d.chunk.text.clone());
        assert_eq!(got.iter().map(show).collect::<Vec<_>>(), wanted.iter().map(show).collect::<Vec<_>>());
    }
}

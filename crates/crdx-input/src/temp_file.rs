//! Buffers data: a small amount stays in memory, a larger amount is written to one temporary file.

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use tempfile::SpooledTempFile;

/// The number of bytes that stay in memory.
const IN_MEMORY: usize = 256 << 10;

/// The number of bytes that are written or read at once.
const BLOCK: usize = 64 << 10;

/// A temporary file cannot be created, written or read; in an [`io::Error`].
#[derive(Debug)]
pub struct TempFileError(io::Error);

impl TempFileError {
    pub(super) fn wrap(error: io::Error) -> io::Error {
        io::Error::new(error.kind(), Self(error))
    }
}

impl fmt::Display for TempFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the temporary file cannot be written or read: {}", self.0)
    }
}

impl Error for TempFileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// Bytes that are appended, and read at a position or from the start.
#[derive(Debug)]
pub struct TempFile {
    file: BufWriter<SpooledTempFile>,
    length: u64,
    /// True if the file's position may not be its end.
    moved: bool,
    /// The bytes that were read last. If reads follow one another, more than requested.
    block: Vec<u8>,
    /// The position of these bytes.
    block_start: u64,
    /// The position after the last read.
    next: u64,
}

/// The position of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The number of bytes before it.
    pub start: u64,
    /// The number of bytes.
    pub length: usize,
}

impl Default for TempFile {
    fn default() -> Self {
        let file = BufWriter::with_capacity(BLOCK, SpooledTempFile::new(IN_MEMORY));
        Self { file, length: 0, moved: false, block: Vec::new(), block_start: 0, next: 0 }
    }
}

impl TempFile {
    /// Appends bytes.
    ///
    /// # Errors
    /// The temporary file cannot be created or written.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<Span> {
        self.append_at_end(bytes).map_err(TempFileError::wrap)
    }

    fn append_at_end(&mut self, bytes: &[u8]) -> io::Result<Span> {
        // A failed write may move the position, too.
        if std::mem::replace(&mut self.moved, true) {
            self.file.seek(SeekFrom::Start(self.length))?;
        }
        self.file.write_all(bytes)?;
        self.moved = false;
        let start = self.length;
        self.length = start.saturating_add(bytes.len() as u64);
        Ok(Span { start, length: bytes.len() })
    }

    /// Reads appended bytes.
    ///
    /// # Errors
    /// The temporary file cannot be written or read.
    pub fn read(&mut self, span: Span) -> io::Result<Vec<u8>> {
        let follows = span.start == self.next;
        self.next = span.start.saturating_add(span.length as u64);
        if let Some(bytes) = self.in_block(span) {
            return Ok(bytes.to_vec());
        }
        let length = if follows { span.length.max(BLOCK) } else { span.length };
        self.read_block(span.start, length).map_err(TempFileError::wrap)?;
        let end = || TempFileError::wrap(io::ErrorKind::UnexpectedEof.into());
        self.in_block(span).map(<[u8]>::to_vec).ok_or_else(end)
    }

    fn read_block(&mut self, start: u64, length: usize) -> io::Result<usize> {
        self.moved = true;
        self.file.seek(SeekFrom::Start(start))?;
        self.block.clear();
        self.block_start = start;
        self.file.get_mut().take(length as u64).read_to_end(&mut self.block)
    }

    fn in_block(&self, span: Span) -> Option<&[u8]> {
        let start = usize::try_from(span.start.checked_sub(self.block_start)?).ok()?;
        self.block.get(start..start.checked_add(span.length)?)
    }

    /// A reader of all bytes from the start.
    ///
    /// # Errors
    /// The temporary file cannot be written or rewound.
    pub(crate) fn into_reader(self) -> io::Result<impl BufRead> {
        let written = self.file.into_inner().map_err(io::IntoInnerError::into_error);
        let rewound = written.and_then(|mut file| file.rewind().map(|()| file));
        rewound.map(|file| BufReader::new(TempFileReader(file))).map_err(TempFileError::wrap)
    }
}

/// Reads all bytes from the start.
struct TempFileReader(SpooledTempFile);

impl Read for TempFileReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out).map_err(TempFileError::wrap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_in_any_order_between_appends() {
        let mut file = TempFile::default();
        let text = |n: usize| n.to_string().repeat(20_000).into_bytes();
        let mut spans = Vec::new();
        for n in 0..100 {
            spans.push(file.append(&text(n)).unwrap());
            assert_eq!(file.read(spans[n / 2]).unwrap(), text(n / 2));
        }
        let mut all = Vec::new();
        file.into_reader().unwrap().read_to_end(&mut all).unwrap();
        assert_eq!(all, (0..100).flat_map(text).collect::<Vec<u8>>());
    }
}

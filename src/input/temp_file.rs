//! Buffers data: a small amount stays in memory, a larger amount is written to one temporary file.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use tempfile::SpooledTempFile;

/// The number of bytes that stay in memory.
const IN_MEMORY: usize = 1 << 20;

/// Bytes that are appended, and read at a position or from the start.
#[derive(Debug)]
pub struct TempFile {
    file: BufWriter<SpooledTempFile>,
    length: u64,
    /// True after a read, which moves the file's position.
    moved: bool,
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
        Self { file: BufWriter::new(SpooledTempFile::new(IN_MEMORY)), length: 0, moved: false }
    }
}

impl TempFile {
    /// Appends bytes.
    ///
    /// # Errors
    /// The temporary file cannot be created or written.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<Span> {
        if std::mem::take(&mut self.moved) {
            self.file.seek(SeekFrom::Start(self.length))?;
        }
        self.file.write_all(bytes)?;
        let start = self.length;
        self.length = start.saturating_add(bytes.len() as u64);
        Ok(Span { start, length: bytes.len() })
    }

    /// Reads appended bytes.
    ///
    /// # Errors
    /// The temporary file cannot be written or read.
    pub fn read(&mut self, span: Span) -> io::Result<Vec<u8>> {
        self.moved = true;
        self.file.seek(SeekFrom::Start(span.start))?;
        let mut bytes = vec![0; span.length];
        self.file.get_mut().read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// A reader of all bytes from the start.
    ///
    /// # Errors
    /// The temporary file cannot be written or rewound.
    pub fn into_reader(self) -> io::Result<impl BufRead> {
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(BufReader::new(file))
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

//! Texts in groups, compressed in blocks that can be read one at a time. The blocks are kept in a temporary file.

use super::buffered_text::BufferedText;
use crdx_value::base64::Encoding;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::collections::HashMap;
use std::io::{self, Write};

/// The length of the lines that are compressed together. A block is what a reader must decompress to read one line.
const BLOCK: usize = 512 << 10;

/// The bytes of all groups that wait to be compressed.
const MAX_PENDING: usize = 8 << 20;

/// Lines of text in groups.
#[derive(Debug, Default)]
pub struct CompressedGroups {
    indices: HashMap<String, usize>,
    /// The lines of each group that are not compressed yet.
    pending: Vec<String>,
    pending_length: usize,
    blocks: BufferedText,
    length: usize,
}

impl CompressedGroups {
    /// Returns the index of a group, which begins with 0.
    pub fn index(&mut self, name: &str) -> usize {
        if let Some(index) = self.indices.get(name) {
            return *index;
        }
        let index = self.pending.len();
        self.indices.insert(name.to_owned(), index);
        self.pending.push(String::new());
        index
    }

    /// Returns the number of groups.
    pub fn count(&self) -> usize {
        self.pending.len()
    }

    /// Returns the length of the blocks so far, in base64.
    pub fn compressed_length(&self) -> usize {
        self.length
    }

    /// Adds a line, which has no line break, to a group.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn push(&mut self, index: usize, line: &str) -> io::Result<()> {
        let Some(pending) = self.pending.get_mut(index) else { return Ok(()) };
        pending.push_str(line);
        pending.push('\n');
        self.pending_length += line.len() + 1;
        if pending.len() >= BLOCK {
            self.compress(index)?;
        }
        if self.pending_length >= MAX_PENDING { self.compress_all() } else { Ok(()) }
    }

    /// Calls `write` with the index of the group and the text of each block: base64 of DEFLATE (RFC 1951).
    ///
    /// # Errors
    /// The temporary file cannot be written or read, or `write` fails.
    pub fn write_to(mut self, write: &mut dyn FnMut(usize, &str) -> io::Result<()>) -> io::Result<()> {
        self.compress_all()?;
        for line in self.blocks.lines()? {
            let line = line?;
            if let Some((index, block)) = line.split_once(' ') {
                write(index.parse().unwrap_or_default(), block)?;
            }
        }
        Ok(())
    }

    fn compress_all(&mut self) -> io::Result<()> {
        (0..self.pending.len()).try_for_each(|index| self.compress(index))
    }

    fn compress(&mut self, index: usize) -> io::Result<()> {
        let Some(lines) = self.pending.get_mut(index).map(std::mem::take).filter(|lines| !lines.is_empty()) else {
            return Ok(());
        };
        self.pending_length -= lines.len();
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(lines.as_bytes())?;
        let block = Encoding::Standard.encode(&encoder.finish()?);
        self.length += block.len();
        self.blocks.push(&format!("{index} {block}\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::DeflateDecoder;
    use std::io::Read;

    #[test]
    fn every_line_is_in_a_block_of_its_group() {
        let mut groups = CompressedGroups::default();
        let line = |group: usize, n: usize| format!("{group}:{n:040}");
        for n in 0..20_000 {
            for group in ["a", "b"] {
                let index = groups.index(group);
                groups.push(index, &line(index, n)).unwrap();
            }
        }
        assert!(groups.compressed_length() > 0, "blocks are compressed as soon as they are full");
        let mut read = vec![String::new(); groups.count()];
        let mut blocks = 0;
        let write = &mut |index: usize, block: &str| {
            blocks += 1;
            let bytes = Encoding::Standard.decode(block).unwrap();
            DeflateDecoder::new(&bytes[..]).read_to_string(&mut read[index]).map(|_| ())
        };
        groups.write_to(write).unwrap();
        assert_eq!(blocks, 4);
        for (group, text) in read.iter().enumerate() {
            assert!(text.lines().eq((0..20_000).map(|n| line(group, n))));
        }
    }
}

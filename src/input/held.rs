//! Buffers text until other text has been written: a little in memory, the rest in a temporary file.

use std::io::{self, BufRead, BufReader, Seek, Write};
use tempfile::SpooledTempFile;

/// The size up to which it stays in memory.
const IN_MEMORY: usize = 1 << 20;

/// Buffered text.
#[derive(Debug)]
pub struct Held(SpooledTempFile);

impl Default for Held {
    fn default() -> Self {
        Self(SpooledTempFile::new(IN_MEMORY))
    }
}

impl Held {
    /// Appends text.
    pub fn push(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes())
    }

    /// Writes all buffered text.
    pub fn write_to(mut self, out: &mut dyn Write) -> io::Result<()> {
        self.0.rewind()?;
        io::copy(&mut self.0, out).map(|_| ())
    }
}

/// Buffers texts by rank; texts of one rank keep their order.
#[derive(Debug, Default)]
pub struct Ranked([Held; 4]);

impl Ranked {
    /// Appends text to its rank; the last rank is 3.
    pub fn push(&mut self, rank: usize, text: &str) -> io::Result<()> {
        let last = self.0.len() - 1;
        self.0.get_mut(rank.min(last)).map_or(Ok(()), |held| held.push(text))
    }

    /// Writes all buffered text in the order of the ranks.
    pub fn write_to(self, out: &mut dyn Write) -> io::Result<()> {
        self.0.into_iter().try_for_each(|held| held.write_to(out))
    }
}

impl Held {
    /// Every buffered line without its line break.
    pub fn lines(mut self) -> io::Result<impl Iterator<Item = io::Result<String>>> {
        self.0.rewind()?;
        Ok(BufReader::new(self.0).lines())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_text_comes_back_whole() {
        let mut held = Held::default();
        let line = "0123456789\n".repeat(1000);
        for _ in 0..200 {
            held.push(&line).unwrap();
        }
        let mut out = Vec::new();
        held.write_to(&mut out).unwrap();
        assert_eq!(out.len(), line.len() * 200);
        assert!(out.ends_with(line.as_bytes()));
    }
}

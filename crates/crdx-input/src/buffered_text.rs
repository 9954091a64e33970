//! Text that is written after other text. Until then it is buffered, in a temporary file if it is long.

use super::temp_file::TempFile;
use std::io::{self, BufRead, Write};

#[derive(Debug, Default)]
pub struct BufferedText(TempFile);

impl BufferedText {
    /// Appends text.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn push(&mut self, text: &str) -> io::Result<()> {
        self.0.append(text.as_bytes()).map(|_| ())
    }

    /// Writes all buffered text.
    ///
    /// # Errors
    /// The temporary file cannot be read, or `out` cannot be written.
    pub fn write_to(self, out: &mut dyn Write) -> io::Result<()> {
        io::copy(&mut self.0.into_reader()?, out).map(|_| ())
    }

    /// The buffered lines, without their line breaks.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn lines(self) -> io::Result<impl Iterator<Item = io::Result<String>>> {
        Ok(self.0.into_reader()?.lines())
    }
}

/// Buffered texts by rank; texts of one rank keep their order.
#[derive(Debug, Default)]
pub struct RankedText([BufferedText; 4]);

impl RankedText {
    /// Appends text to its rank; the last rank is 3.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn push(&mut self, rank: usize, text: &str) -> io::Result<()> {
        let last = self.0.len() - 1;
        self.0.get_mut(rank.min(last)).map_or(Ok(()), |buffered| buffered.push(text))
    }

    /// Writes all buffered text in the order of the ranks.
    ///
    /// # Errors
    /// The temporary file cannot be read, or `out` cannot be written.
    pub fn write_to(self, out: &mut dyn Write) -> io::Result<()> {
        self.0.into_iter().try_for_each(|buffered| buffered.write_to(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_returned_completely() {
        let mut buffered = BufferedText::default();
        let line = "0123456789\n".repeat(1000);
        for _ in 0..200 {
            buffered.push(&line).unwrap();
        }
        let mut out = Vec::new();
        buffered.write_to(&mut out).unwrap();
        assert_eq!(out.len(), line.len() * 200);
        assert!(out.ends_with(line.as_bytes()));
    }

    #[test]
    fn ranks_are_written_in_order() {
        let mut ranked = RankedText::default();
        for (rank, text) in [(2, "c"), (0, "a"), (9, "d"), (0, "b")] {
            ranked.push(rank, text).unwrap();
        }
        let mut out = Vec::new();
        ranked.write_to(&mut out).unwrap();
        assert_eq!(out, b"abcd");
    }
}

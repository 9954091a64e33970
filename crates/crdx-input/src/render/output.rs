//! The text that a program rendered, in a temporary file.

use crate::temp_file::{Span, TempFile};
use crdx_value::lock::lock;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// The position of every line with a number divisible by this is kept.
const STEP: usize = 64;

/// The text, which is written once and then read at any position.
#[derive(Debug, Default)]
pub struct Output {
    file: Mutex<TempFile>,
    length: u64,
    lines: usize,
    /// The positions of lines 0, [`STEP`], 2 [`STEP`] and so on.
    starts: Vec<u64>,
}

impl Output {
    /// The number of bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            self.lines += 1;
            if self.lines.is_multiple_of(STEP) {
                self.starts.push(self.length + at as u64 + 1);
            }
        }
        self.file.get_mut().unwrap_or_else(PoisonError::into_inner).append(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Returns line `number`, from 1, and up to `before` lines before it; nothing if they cannot be read.
    pub fn lines(&self, number: usize, before: usize) -> Vec<String> {
        let Some(last) = number.checked_sub(1) else { return Vec::new() };
        let first = last.saturating_sub(before);
        let block = first / STEP;
        let start = self.starts.get(block).copied().unwrap_or(self.length);
        let end = self.starts.get(last / STEP + 1).copied().unwrap_or(self.length);
        let Ok(length) = usize::try_from(end.saturating_sub(start)) else { return Vec::new() };
        let mut file = lock(&self.file);
        let bytes = file.read(Span { start, length }).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        text.lines().skip(first - block * STEP).take(last - first + 1).map(str::to_owned).collect()
    }

    /// Returns line `number`, from 1, and up to `after` lines after it; nothing if they cannot be read.
    pub fn lines_from(&self, number: usize, after: usize) -> Vec<String> {
        let last = number.saturating_add(after).min(self.lines + 1);
        self.lines(last, last.saturating_sub(number))
    }

    /// A reader of the whole text.
    pub fn reader(self: &Arc<Self>) -> impl Read + Send + use<> {
        OutputReader { output: Arc::clone(self), at: 0 }
    }
}

struct OutputReader {
    output: Arc<Output>,
    at: u64,
}

impl Read for OutputReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.output.length.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let length = out.len().min(left);
        let mut file = lock(&self.output.file);
        let bytes = file.read(Span { start: self.at, length })?;
        if let Some(out) = out.get_mut(..length) {
            out.copy_from_slice(&bytes);
        }
        self.at += length as u64;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    #[test]
    fn lines_are_found_by_their_number() {
        let text = (1..=1000).fold(String::new(), |mut text, n| {
            let _ = writeln!(text, "line {n}");
            text
        });
        let mut output = Output::default();
        for part in text.as_bytes().chunks(77) {
            output.append(part).unwrap();
        }
        for number in [1, 2, 63, 64, 65, 128, 129, 130, 999, 1000] {
            let lines = output.lines(number, 3);
            assert_eq!(lines.last(), Some(&format!("line {number}")), "{number}");
            assert_eq!(lines.len(), number.min(4), "{number}");
        }
        assert_eq!((output.lines(0, 3), output.lines(5000, 3)), (Vec::new(), Vec::new()));
        assert_eq!(output.lines_from(999, 8), ["line 999", "line 1000"]);
        assert_eq!(output.lines_from(64, 1), ["line 64", "line 65"]);
        let mut all = String::new();
        Arc::new(output).reader().read_to_string(&mut all).unwrap();
        assert_eq!(all, text);
    }
}

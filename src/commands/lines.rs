//! Lines of standard input, for commands that answer each of them.

use std::io::{self, BufRead, Read as _};

/// Reads the next line, and keeps at most `longest` bytes and one more. Returns false at the end of the input.
///
/// # Errors
/// Returns an error if the input cannot be read.
pub fn read(input: &mut impl BufRead, line: &mut Vec<u8>, longest: u64) -> io::Result<bool> {
    line.clear();
    if input.by_ref().take(longest + 1).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_read_to_its_end() {
        let text = format!("{}\nnew\n", "x".repeat(200_000));
        let (mut input, mut line) = (text.as_bytes(), Vec::new());
        assert!(read(&mut input, &mut line, 65_536).unwrap() && line.len() == 65_537);
        assert!(read(&mut input, &mut line, 65_536).unwrap() && line == b"new\n");
        assert!(!read(&mut input, &mut line, 65_536).unwrap());
    }
}

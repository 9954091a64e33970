//! The bytes of a file as UTF-8, decoded as kubectl decodes them: `unicode.BOMOverride(unicode.UTF8.NewDecoder())` of
//! `golang.org/x/text`, in `k8s.io/cli-runtime/pkg/resource/visitor.go`.
//!
//! A byte order mark selects the encoding and is removed: UTF-16 in either order is converted, UTF-8 is passed on as it is.
//! Without one the bytes are UTF-8, in which each invalid sequence becomes U+FFFD.

use super::invalid_bytes::InvalidBytes;
use crdx_text::Position;
use std::collections::VecDeque;
use std::io::{self, Read};

/// The size of the first block: most files fit.
const FIRST_BLOCK: usize = 1 << 13;

/// The largest size of a block.
const BLOCK: usize = 1 << 16;

/// The character in the place of an invalid sequence, U+FFFD.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// A reader of UTF-8.
pub struct Decoder<R> {
    inner: R,
    /// The number of bytes decoded so far.
    offset: u64,
    /// The position of the next character of the decoded text.
    position: Position,
    invalid: InvalidBytes,
    block: Vec<u8>,
    encoding: Encoding,
    /// Bytes not decoded yet: at most the beginning of a character.
    encoded: Vec<u8>,
    decoded: VecDeque<u8>,
    ended: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// Fewer than three bytes were read.
    Unknown,
    /// UTF-8 without a byte order mark: invalid sequences are replaced.
    Utf8,
    /// UTF-8 with a byte order mark: invalid sequences stay as they are.
    Marked,
    /// UTF-16, most significant byte first.
    Utf16Big,
    /// UTF-16, least significant byte first.
    Utf16Little,
}

impl<R: Read> Decoder<R> {
    /// Decodes the bytes of `inner`. `invalid` gets the bytes that are not UTF-8.
    pub fn new(inner: R, invalid: &InvalidBytes) -> Self {
        Self {
            inner,
            offset: 0,
            position: Position { line: 1, column: 1 },
            invalid: invalid.clone(),
            block: vec![0; FIRST_BLOCK],
            encoding: Encoding::Unknown,
            encoded: Vec::new(),
            decoded: VecDeque::new(),
            ended: false,
        }
    }

    /// Reads and decodes a block.
    fn advance(&mut self) -> io::Result<()> {
        let count = self.inner.read(&mut self.block)?;
        self.encoded.extend_from_slice(self.block.get(..count).unwrap_or_default());
        self.ended = count == 0;
        if count == self.block.len() && count < BLOCK {
            self.block.resize(2 * count, 0);
        }
        if self.encoding == Encoding::Unknown {
            let (encoding, mark) = match self.encoded.as_slice() {
                [_, _] | [_] | [] if !self.ended => return Ok(()),
                [0xff, 0xfe, ..] => (Encoding::Utf16Little, 2),
                [0xfe, 0xff, ..] => (Encoding::Utf16Big, 2),
                [0xef, 0xbb, 0xbf, ..] => (Encoding::Marked, 3),
                _ => (Encoding::Utf8, 0),
            };
            self.encoding = encoding;
            self.encoded.drain(..mark);
            self.offset += mark as u64;
        }
        let taken = match self.encoding {
            Encoding::Unknown => 0,
            Encoding::Utf8 => self.decode_utf8(Some(REPLACEMENT)),
            Encoding::Marked => self.decode_utf8(None),
            Encoding::Utf16Big => from_utf16(&self.encoded, u16::from_be_bytes, self.ended, &mut self.decoded),
            Encoding::Utf16Little => from_utf16(&self.encoded, u16::from_le_bytes, self.ended, &mut self.decoded),
        };
        self.offset += taken as u64;
        self.encoded.drain(..taken);
        Ok(())
    }

    /// Decodes UTF-8, and returns the number of bytes consumed. Invalid sequences stay as they are if there is no replacement.
    fn decode_utf8(&mut self, replacement: Option<&[u8]>) -> usize {
        let Self { offset, position, invalid, decoded, .. } = self;
        let mut push = |text: &[u8]| {
            decoded.extend(text);
            let start = *position;
            pass(position, text);
            start
        };
        pieces(&self.encoded, self.ended, |piece| match piece {
            Piece::Valid(text) => {
                push(text);
            }
            Piece::Invalid { at, bytes } => {
                let start = push(replacement.unwrap_or(bytes));
                invalid.add((*offset + at as u64, bytes.len()), start);
            }
        })
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.decoded.is_empty() && !self.ended {
            self.advance()?;
        }
        self.decoded.read(out)
    }
}

/// A part of the bytes that were decoded.
enum Piece<'a> {
    Valid(&'a [u8]),
    /// A sequence that is not UTF-8, with its offset.
    Invalid {
        at: usize,
        bytes: &'a [u8],
    },
}

/// Moves a position to the end of a text.
fn pass(position: &mut Position, text: &[u8]) {
    let lines = crdx_text::line_breaks(text);
    let last = text.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_start = |byte: &&u8| **byte & 0xc0 != 0x80;
    let characters = last.iter().filter(is_start).count();
    position.line += lines;
    position.column = if lines == 0 { position.column } else { 1 } + characters;
}

/// Splits UTF-8 at each invalid sequence, and returns the number of bytes in the pieces. The beginning of a character at the
/// end is kept for the next call, unless it is the last. `report` gets each piece.
fn pieces<'a>(bytes: &'a [u8], ended: bool, mut report: impl FnMut(Piece<'a>)) -> usize {
    let mut taken = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    let (valid, rest) = bytes.split_at_checked(taken).unwrap_or_default();
    report(Piece::Valid(valid));
    for chunk in rest.utf8_chunks() {
        report(Piece::Valid(chunk.valid().as_bytes()));
        taken += chunk.valid().len();
        let invalid = chunk.invalid();
        let unfinished = || std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
        if invalid.is_empty() || (!ended && taken + invalid.len() == bytes.len() && unfinished()) {
            break;
        }
        report(Piece::Invalid { at: taken, bytes: invalid });
        taken += invalid.len();
    }
    taken
}

/// Appends UTF-16 as UTF-8 to `out` and returns the number of bytes consumed. Half a character at the end is kept for
/// the next call, unless it is the last.
fn from_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16, ended: bool, out: &mut VecDeque<u8>) -> usize {
    let mut rest = bytes;
    loop {
        rest = match rest {
            [_] if ended => {
                push(char::REPLACEMENT_CHARACTER, out);
                &[]
            }
            [] | [_] => break,
            [a, b, tail @ ..] => {
                let first = unit([*a, *b]);
                match tail {
                    _ if !is_surrogate(first) => {
                        push(char::from_u32(first.into()).unwrap_or(char::REPLACEMENT_CHARACTER), out);
                        tail
                    }
                    // Like Go's decoder, a lone surrogate consumes the following one.
                    [c, d, tail @ ..] if is_low_surrogate(unit([*c, *d])) => {
                        let pair = char::decode_utf16([first, unit([*c, *d])]).next().and_then(Result::ok);
                        push(pair.unwrap_or(char::REPLACEMENT_CHARACTER), out);
                        tail
                    }
                    [] | [_] if !ended => break,
                    _ => {
                        push(char::REPLACEMENT_CHARACTER, out);
                        tail
                    }
                }
            }
        };
    }
    bytes.len() - rest.len()
}

fn is_surrogate(unit: u16) -> bool {
    (0xd800..=0xdfff).contains(&unit)
}

fn is_low_surrogate(unit: u16) -> bool {
    (0xdc00..=0xdfff).contains(&unit)
}

fn push(c: char, out: &mut VecDeque<u8>) {
    out.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invalid_bytes::InvalidRun;

    /// Returns one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = out.len().min(1);
            (&mut self.0).take(count as u64).read(out)
        }
    }

    fn decode(bytes: &[u8]) -> Vec<u8> {
        let (mut whole, mut slow) = (Vec::new(), Vec::new());
        Decoder::new(bytes, &InvalidBytes::default()).read_to_end(&mut whole).unwrap();
        Decoder::new(Slow(bytes), &InvalidBytes::default()).read_to_end(&mut slow).unwrap();
        assert_eq!(whole, slow, "however the bytes come");
        whole
    }

    /// The output of Go's decoder for the same bytes.
    #[test]
    fn bytes_are_decoded_as_kubectl_decodes_them() {
        let cases: &[(&[u8], &str)] = &[
            (b"", ""),
            (b"\xff\xfe", ""),
            (b"\xff\xfe\xff\xfeA\0", "\u{feff}A"),
            (b"\xff", "\u{fffd}"),
            (b"a\xe2\x82b\xed\xa0\x80c\xf0\x9f\x98", "a\u{fffd}b\u{fffd}\u{fffd}\u{fffd}c\u{fffd}"),
            (b"\xff\xfeA\0\x00\xd8", "A\u{fffd}"),
            (b"\xff\xfeA\0\x00\xd8B\0", "A\u{fffd}B"),
            (b"\xff\xfeA\0\x00\xdcB\0B", "A\u{fffd}B\u{fffd}"),
            (b"\xff\xfe\x00\xdc\x00\xdcB\0", "\u{fffd}B"),
            (b"\xfe\xff\0A\xfe\xff\0B", "A\u{feff}B"),
            (b"\xff\xfe\x3d\xd8\x00\xde", "\u{1f600}"),
            (b"\xef\xbb", "\u{fffd}"),
            (b"\xef\xbb\xbf\xef\xbb\xbfx", "\u{feff}x"),
            (b"a\xef\xbf\xbdb\xc0\x80", "a\u{fffd}b\u{fffd}\u{fffd}"),
        ];
        for (bytes, text) in cases {
            assert_eq!(String::from_utf8(decode(bytes)).as_deref(), Ok(*text), "{bytes:x?}");
        }
        assert_eq!(decode(b"\xef\xbb\xbfa\xff"), b"a\xff", "nothing is replaced behind a byte order mark");
    }

    #[test]
    fn characters_are_whole_across_blocks() {
        let text = "aé€😀".repeat(BLOCK / 4);
        let mut decoded = Vec::new();
        Decoder::new(text.as_bytes(), &InvalidBytes::default()).read_to_end(&mut decoded).unwrap();
        assert!(decoded == text.as_bytes());
    }

    #[test]
    fn each_run_of_invalid_bytes_has_its_position() {
        let runs = |text: &[u8], (first, last): (usize, usize)| {
            let lines = Position { line: first, column: 1 }..Position { line: last + 1, column: 1 };
            let found = [InvalidBytes::default(), InvalidBytes::default()];
            Decoder::new(Slow(text), &found[0]).read_to_end(&mut Vec::new()).unwrap();
            Decoder::new(text, &found[1]).read_to_end(&mut Vec::new()).unwrap();
            let [slow, whole] = found.map(|invalid| invalid.take(&lines, 9));
            assert_eq!(slow, whole, "however the bytes come");
            whole
        };
        let run = |first, last, (line, column)| InvalidRun { first, last, position: Position { line, column } };
        assert_eq!(runs("a: \u{e9}\u{fffd}".as_bytes(), (1, 1)), []);
        // The first U+FFFD of the text is in the file.
        let text = b"a: \xef\xbf\xbd\n\xc3\xa9: \xff\xfe \xe2\x82\nb: \xff\n";
        let (second, third) = ([run(11, 12, (2, 4)), run(14, 15, (2, 7))], run(20, 20, (3, 4)));
        assert_eq!(runs(text, (1, 9)), [second.as_slice(), &[third]].concat());
        assert_eq!(runs(text, (3, 9)), [third]);
        assert_eq!(runs(text, (1, 2)), second);
        // Behind a byte order mark they are not replaced, and lines begin behind the mark.
        let text = b"\xef\xbb\xbfa: \xff\xfe \xe2\x82\nb: \xff\n";
        assert_eq!(runs(text, (1, 9)), [run(6, 7, (1, 4)), run(9, 10, (1, 7)), run(15, 15, (2, 4))]);
    }
}

//! Escapes characters such as `>`, `{` or `"` in request targets. Go's server accepts them unescaped; hyper refuses the
//! request. [`Escaping`] wraps a connection and rewrites them as `%XX` before hyper reads them.
//!
//! To find the request lines it follows the framing of HTTP/1.1: request line, headers, a body of known length or in
//! chunks, and the next request. It changes targets only. Once the framing is invalid or ambiguous, it passes the rest
//! of the connection through unchanged: hyper refuses such requests.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The maximum number of bytes kept of a header line: enough for the headers that determine the framing.
const KEPT: usize = 128;

/// A connection whose request targets are escaped as they are read.
#[derive(Debug)]
pub(super) struct Escaping<S> {
    inner: S,
    framing: Framing,
    /// Escaped bytes that did not fit into the reader's buffer.
    left: Vec<u8>,
}

impl<S> Escaping<S> {
    /// Wraps a new connection.
    pub fn new(inner: S) -> Self {
        Self { inner, framing: Framing::default(), left: Vec::new() }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Escaping<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.left.is_empty() {
            let before = buf.filled().len();
            ready!(Pin::new(&mut this.inner).poll_read(context, buf))?;
            let read = buf.filled().get(before..).unwrap_or_default();
            let Some(escaped) = this.framing.escape(read) else { return Poll::Ready(Ok(())) };
            buf.set_filled(before);
            this.left = escaped;
        }
        let fits = this.left.len().min(buf.remaining());
        buf.put_slice(this.left.get(..fits).unwrap_or_default());
        this.left.drain(..fits);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Escaping<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

/// The part of the message to which the next byte belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MessagePart {
    /// The method of a request line, or empty lines before it.
    #[default]
    Method,
    /// The request target.
    Target,
    /// The rest of the request line.
    Version,
    /// A header line.
    Header,
    /// A body, or a chunk of one, with the number of bytes left.
    Body(u64),
    /// The size line before a chunk.
    ChunkSize,
    /// The line break after a chunk.
    ChunkEnd,
    /// A trailer line after the last chunk.
    Trailer,
    /// The rest of the connection, passed through unchanged.
    Unknown,
}

/// The body that the headers announce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BodyLength {
    #[default]
    Nothing,
    Length(u64),
    Chunks,
}

/// The parser's position in a connection's messages.
#[derive(Debug, Default)]
struct Framing {
    part: MessagePart,
    body_length: BodyLength,
    chunked: bool,
    /// The beginning of the current line, as far as it affects the framing.
    line: Vec<u8>,
}

impl Framing {
    /// Parses `bytes`. Returns the replacement if a target must be escaped.
    fn escape(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut changed: Option<Vec<u8>> = None;
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if let MessagePart::Body(left) = self.part {
                let here = left.min((bytes.len() - at) as u64);
                let end = at + here as usize;
                if let Some(changed) = &mut changed {
                    changed.extend_from_slice(bytes.get(at..end).unwrap_or_default());
                }
                at = end;
                self.part = if left > here { MessagePart::Body(left - here) } else { self.after_body() };
                continue;
            }
            if self.part == MessagePart::Target && must_be_escaped(*byte) {
                let changed = changed.get_or_insert_with(|| bytes.get(..at).unwrap_or_default().to_vec());
                changed.extend_from_slice(format!("%{byte:02X}").as_bytes());
            } else {
                self.advance(*byte);
                if let Some(changed) = &mut changed {
                    changed.push(*byte);
                }
            }
            at += 1;
        }
        changed
    }

    fn after_body(&self) -> MessagePart {
        if self.chunked { MessagePart::ChunkEnd } else { MessagePart::Method }
    }

    /// Parses one byte outside a body.
    fn advance(&mut self, byte: u8) {
        match (self.part, byte) {
            (MessagePart::Method, b' ') => {
                // The bytes after a CONNECT request are not HTTP.
                self.part = if self.line == b"CONNECT" { MessagePart::Unknown } else { MessagePart::Target };
                self.line.clear();
            }
            (MessagePart::Target, b' ') => self.part = MessagePart::Version,
            // Empty lines before a request are allowed; a line without a target is not.
            (MessagePart::Method, b'\r' | b'\n') if self.line.is_empty() => {}
            (MessagePart::Method | MessagePart::Target, b'\r' | b'\n') => self.part = MessagePart::Unknown,
            (MessagePart::Version, b'\n') => {
                (self.part, self.body_length, self.chunked) = (MessagePart::Header, BodyLength::Nothing, false);
            }
            (MessagePart::Header | MessagePart::ChunkSize | MessagePart::ChunkEnd | MessagePart::Trailer, b'\n') => {
                let line = std::mem::take(&mut self.line);
                self.end_of_line(line.strip_suffix(b"\r").unwrap_or(&line));
            }
            (
                MessagePart::Method
                | MessagePart::Header
                | MessagePart::ChunkSize
                | MessagePart::ChunkEnd
                | MessagePart::Trailer,
                _,
            ) => {
                if self.line.len() < KEPT {
                    self.line.push(byte);
                }
            }
            (MessagePart::Target | MessagePart::Version | MessagePart::Body(_) | MessagePart::Unknown, _) => {}
        }
    }

    fn end_of_line(&mut self, line: &[u8]) {
        self.part = match self.part {
            MessagePart::Header if line.is_empty() => match self.body_length {
                BodyLength::Nothing | BodyLength::Length(0) => MessagePart::Method,
                BodyLength::Length(length) => MessagePart::Body(length),
                BodyLength::Chunks => {
                    self.chunked = true;
                    MessagePart::ChunkSize
                }
            },
            MessagePart::Header => match self.header(line) {
                Some(body_length) => {
                    self.body_length = body_length;
                    MessagePart::Header
                }
                None => MessagePart::Unknown,
            },
            MessagePart::ChunkSize => match chunk_size(line) {
                Some(0) => MessagePart::Trailer,
                Some(size) => MessagePart::Body(size),
                None => MessagePart::Unknown,
            },
            MessagePart::ChunkEnd if line.is_empty() => MessagePart::ChunkSize,
            MessagePart::ChunkEnd => MessagePart::Unknown,
            MessagePart::Trailer if line.is_empty() => MessagePart::Method,
            part => part,
        };
    }

    /// Returns the body announced so far, including this header line; `None` if it is ambiguous.
    fn header(&self, line: &[u8]) -> Option<BodyLength> {
        let colon = line.iter().position(|b| *b == b':')?;
        let (name, value) = line.split_at_checked(colon)?;
        let value = value.get(1..)?.trim_ascii();
        if name.is_empty() || name.iter().any(u8::is_ascii_whitespace) {
            return None;
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = number(value, 10)?;
            let same =
                matches!(self.body_length, BodyLength::Nothing) || self.body_length == BodyLength::Length(length);
            return same.then_some(BodyLength::Length(length));
        }
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            let plain = self.body_length == BodyLength::Nothing && value.eq_ignore_ascii_case(b"chunked");
            return plain.then_some(BodyLength::Chunks);
        }
        Some(self.body_length)
    }
}

/// Returns the size at the beginning of a chunk's size line.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let end = line.iter().position(|b| *b == b';').unwrap_or(line.len());
    number(line.get(..end)?.trim_ascii(), 16)
}

/// Parses a number that consists of digits only.
fn number(text: &[u8], radix: u32) -> Option<u64> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.chars().all(|c| c.is_digit(radix)))?;
    u64::from_str_radix(text, radix).ok()
}

/// Returns true if a character must be escaped for hyper. Control characters are not escaped, because Go refuses them,
/// too. hyper reads `#` as the start of a fragment; Go reads it as part of the target.
fn must_be_escaped(byte: u8) -> bool {
    matches!(byte, b'"' | b'#' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    /// Reads `text` in pieces of `size` bytes.
    fn read(text: &[u8], size: usize) -> String {
        let mut escaping = Escaping::new(text);
        let mut context = Context::from_waker(Waker::noop());
        let (mut out, mut piece) = (Vec::new(), vec![0; size]);
        loop {
            let mut buffer = ReadBuf::new(&mut piece);
            assert!(Pin::new(&mut escaping).poll_read(&mut context, &mut buffer).is_ready());
            if buffer.filled().is_empty() {
                return String::from_utf8_lossy(&out).into_owned();
            }
            out.extend_from_slice(buffer.filled());
        }
    }

    fn check(text: &str, expected: &str) {
        for size in [1, 2, 3, 7, 50, 10_000] {
            assert_eq!(read(text.as_bytes(), size), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn targets_are_escaped_and_nothing_else() {
        check(
            "GET /a{b}?c=\"<d>\"#\\^`|é HTTP/1.1\r\nHost: {x}\r\n\r\n",
            "GET /a%7Bb%7D?c=%22%3Cd%3E%22%23%5C%5E%60%7C%C3%A9 HTTP/1.1\r\nHost: {x}\r\n\r\n",
        );
        check("GET /a%7b+b'()*!$&,;=:@~?[] HTTP/1.1\r\n\r\n", "GET /a%7b+b'()*!$&,;=:@~?[] HTTP/1.1\r\n\r\n");
    }

    #[test]
    fn bodies_are_unchanged_and_the_next_target_is_escaped() {
        let next = |body: &str| format!("{body}\r\nGET /{{ HTTP/1.1\r\n\r\n");
        let escaped = |body: &str| format!("{body}\r\nGET /%7B HTTP/1.1\r\n\r\n");
        for request in [
            "POST /x HTTP/1.1\r\nContent-Length: 20\r\n\r\nGET /{ HTTP/1.1\r\n\r\n{",
            "POST /x HTTP/1.1\r\ncontent-length:20\r\nContent-Length: 20\r\n\r\nGET /{ HTTP/1.1\r\n\r\n{",
            "POST /x HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n8;a=b\r\nGET /{ H\r\n0a\r\nGET /{ GET\r\n0\r\nX: GET /{ x\r\n\r\n",
            "POST /x HTTP/1.1\nContent-Length: 7\n\nGET /{ ",
            "GET /x HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        ] {
            check(&next(request), &escaped(request));
        }
    }

    #[test]
    fn nothing_is_changed_where_the_framing_is_unclear() {
        for head in [
            "Content-Length: 1\r\nContent-Length: 2",
            "Content-Length: +1",
            "Content-Length: 99999999999999999999",
            "Content-Length: 1\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "Content-Length : 1",
            "X: 1\r\n Content-Length: 1",
            "X",
        ] {
            let text = format!("POST /x HTTP/1.1\r\n{head}\r\n\r\nGET /{{ HTTP/1.1\r\n\r\nGET /{{ HTTP/1.1\r\n\r\n");
            check(&text, &text);
        }
        for text in [
            "CONNECT a:1 HTTP/1.1\r\n\r\nGET /{ HTTP/1.1\r\n\r\n",
            "GET /x\r\nGET /{ HTTP/1.1\r\n\r\n",
            "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nGET /{ HTTP/1.1\r\n\r\n",
            "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\nGET /{ HTTP/1.1\r\n\r\n",
        ] {
            check(text, text);
        }
    }
}

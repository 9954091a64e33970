//! The messages on standard input and output. The length that a message claims to have is no reason to allocate memory.

use crossbeam_channel::bounded;
use lsp_server::{Connection, Message};
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

/// The longest message in bytes; files that are longer are not read either.
const LONGEST: u64 = 256 << 20;
/// The most bytes of the header of a message.
const HEADER: u64 = 8 << 10;

/// The reason why no more messages are read.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// Standard input cannot be read.
    #[error("a message cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The header is not one of the protocol, or longer than [`HEADER`].
    #[error("the header of a message has no line `Content-Length: BYTES`, or more than {HEADER} bytes")]
    Header,
    /// The message is longer than [`LONGEST`].
    #[error("a message of {0} bytes is longer than {LONGEST}")]
    TooLong(u64),
    /// The message is no JSON-RPC.
    #[error("a message is not valid: {0}")]
    Json(#[from] serde_json::Error),
}

/// Reads a message; `None` at the end.
///
/// # Errors
/// The message is not valid, or too long.
pub fn read(input: &mut impl BufRead) -> Result<Option<Message>, MessageError> {
    let (mut length, mut header) = (None, input.by_ref().take(HEADER));
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = header.read_until(b'\n', &mut line)?;
        if count == 0 && header.limit() == HEADER {
            return Ok(None);
        }
        let text = std::str::from_utf8(&line).ok().and_then(|line| line.strip_suffix("\r\n"));
        match text.ok_or(MessageError::Header)?.split_once(": ") {
            None if line == b"\r\n" => break,
            None => return Err(MessageError::Header),
            Some((name, value)) if name.eq_ignore_ascii_case("Content-Length") => {
                length = Some(value.parse().map_err(|_| MessageError::Header)?);
            }
            Some(_) => {}
        }
    }
    let length: u64 = length.ok_or(MessageError::Header)?;
    if length > LONGEST {
        return Err(MessageError::TooLong(length));
    }
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(Some(serde_json::from_slice(&body)?))
}

/// The threads that read standard input and write to standard output.
#[derive(Debug)]
pub struct Threads {
    writer: JoinHandle<io::Result<()>>,
    failure: Arc<OnceLock<MessageError>>,
}

impl Threads {
    /// Waits until all messages are written. The thread that reads ends with the process: it may be waiting for a client
    /// that has exited.
    ///
    /// # Errors
    /// The reason why no more messages were read, unless the client closed its end or sent `exit`.
    pub fn finish(self, connection: Connection) -> Result<(), MessageError> {
        drop(connection);
        // A client that has exited reads nothing.
        let _ = self.writer.join();
        Arc::try_unwrap(self.failure).ok().and_then(OnceLock::into_inner).map_or(Ok(()), Err)
    }
}

/// Connects to a client on standard input and output.
///
/// # Errors
/// A thread cannot be started.
pub fn stdio() -> io::Result<(Connection, Threads)> {
    let (sender, outgoing) = bounded::<Message>(0);
    let (incoming, receiver) = bounded::<Message>(0);
    let failure = Arc::new(OnceLock::new());
    let failed = Arc::clone(&failure);
    thread::Builder::new().spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            match read(&mut input) {
                Ok(Some(message)) => {
                    let is_exit = matches!(&message, Message::Notification(found) if found.method == "exit");
                    if incoming.send(message).is_err() || is_exit {
                        return;
                    }
                }
                Ok(None) => return,
                Err(error) => {
                    let _ = failed.set(error);
                    // The session ends when it has no sender any more, and then looks for the failure.
                    drop(failed);
                    return;
                }
            }
        }
    })?;
    let writer = thread::Builder::new().spawn(move || {
        let mut output = io::stdout().lock();
        outgoing.into_iter().try_for_each(|message| message.write(&mut output))?;
        output.flush()
    })?;
    Ok((Connection { sender, receiver }, Threads { writer, failure }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Cursor};

    fn framed(body: &str) -> Vec<u8> {
        format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    #[test]
    fn messages_are_read_one_after_the_other() {
        let exit = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let mut input = Cursor::new([framed(exit), framed(exit)].concat());
        for _ in 0..2 {
            assert!(matches!(read(&mut input), Ok(Some(Message::Notification(found))) if found.method == "exit"));
        }
        assert!(matches!(read(&mut input), Ok(None)));
    }

    #[test]
    fn other_fields_of_a_header_are_skipped() {
        let text = "Content-Type: x\r\ncontent-length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}";
        assert!(matches!(read(&mut text.as_bytes()), Ok(Some(_))));
    }

    /// Counts the bytes of the largest buffer that a reader is given.
    struct Largest<'a>(&'a mut usize);

    impl Read for Largest<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            *self.0 = buffer.len().max(*self.0);
            Ok(0)
        }
    }

    #[test]
    fn a_length_alone_allocates_nothing() {
        let mut huge = &b"Content-Length: 99999999999\r\n\r\n{}"[..];
        assert!(matches!(read(&mut huge), Err(MessageError::TooLong(99_999_999_999))));
        let mut largest = 0;
        let header = format!("Content-Length: {LONGEST}\r\n\r\n{{}}");
        let mut input = BufReader::new(header.as_bytes().chain(Largest(&mut largest)));
        assert!(matches!(read(&mut input), Err(MessageError::Read(_))));
        assert!(largest < 1 << 20, "{largest}");
    }

    #[test]
    fn a_header_that_does_not_end_is_an_error() {
        for text in
            ["X: ".to_owned() + &"x".repeat(1 << 20), "X: x\r\n".repeat(1 << 16), "Content-Length: x\r\n\r\n".into()]
        {
            assert!(matches!(read(&mut text.as_bytes()), Err(MessageError::Header)));
        }
        assert!(matches!(read(&mut &b"\r\n{}"[..]), Err(MessageError::Header)));
    }
}

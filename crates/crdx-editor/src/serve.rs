//! Serves a client over a connection.

use super::background::Background;
use super::messages::InitializeParams;
use super::protocol;
use super::session::{End, Session};
use super::transport::{self, MessageError};
use crate::Settings;
use crdx_server::server::Timestamp;
use lsp_server::{Connection, ProtocolError};
use std::io;

/// The reason why a session ended before the client requested it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A message that the protocol does not allow.
    #[error("the client violated the language server protocol: {0}")]
    Protocol(ProtocolError),
    /// `exit` without `shutdown`.
    #[error("the client sent exit without shutdown")]
    Exit,
    /// A message that cannot be read.
    #[error("{0}")]
    Message(MessageError),
    /// A thread could not be started.
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
}

/// Serves a client until it exits or closes the connection. `now` is the clock. Files may nest deeply, so the calling
/// thread needs a large stack.
///
/// # Errors
/// The client's messages are not in the protocol's order, or a thread cannot be started.
pub fn serve(connection: &Connection, flags: Settings, now: fn() -> Timestamp) -> Result<(), Error> {
    let begin = || {
        let (id, params) = connection.initialize_start()?;
        connection.initialize_finish(id, protocol::capabilities())?;
        Ok(serde_json::from_value(params).unwrap_or_default())
    };
    let params: InitializeParams = match begin() {
        Ok(params) => params,
        Err(error) if ProtocolError::channel_is_disconnected(&error) => return Ok(()),
        Err(error) => return Err(Error::Protocol(error)),
    };
    let (background, events) = Background::start(connection).map_err(Error::Thread)?;
    match Session::new(connection, background, flags, now, &params).run(&events) {
        End::Finished => Ok(()),
        End::WithoutShutdown => Err(Error::Exit),
    }
}

/// As [`serve`], for a client on standard input and output.
///
/// # Errors
/// As [`serve`].
pub fn serve_stdio(flags: Settings, now: fn() -> Timestamp) -> Result<(), Error> {
    // The threads that read and write end with the process: the reader may be waiting for a client that has exited.
    let (connection, threads) = transport::stdio().map_err(Error::Thread)?;
    let served = serve(&connection, flags, now);
    let finished = threads.finish(connection);
    served.and(finished.map_err(Error::Message))
}

//! Answers as the server sends them.

use super::connection::Stream;
use super::{Connection, Error};

/// The types that kubectl asks for (`rest.Config` of `RESTClient`).
const ACCEPT: &str = "application/json, */*";

/// The chunks of an answer.
pub struct Raw {
    path: String,
    stream: Stream,
}

impl Connection {
    /// Reads `path`, and returns the chunks of the answer as they arrive.
    ///
    /// # Errors
    /// Returns an error if the server does not answer with 200.
    pub fn raw(&self, path: &str) -> Result<Raw, Error> {
        Ok(Raw { path: path.to_owned(), stream: self.stream(path, ACCEPT)? })
    }
}

impl Iterator for Raw {
    type Item = Result<Vec<u8>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let chunk = self.stream.next()?;
        Some(chunk.map_err(|error| Error::new(format!("the answer to GET {} ended early: {error}", self.path))))
    }
}

//! The connection of a program that was built without the feature `cluster`: it cannot be opened.

use super::answer::Answer;
use super::cache::Cache;
use super::discovery::Discovered;
use super::{ClusterFlags, Error};
use crdx_input::profile::Profile;
use crdx_value::Value;
use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::{Mutex, OnceLock};

/// A connection, which no value of this type is.
#[derive(Debug)]
pub struct Connection {
    never: Infallible,
    pub(super) cache: Cache,
    pub(super) discovered: Mutex<Option<Discovered>>,
    pub(super) version: OnceLock<Result<Option<Value>, Error>>,
}

impl Connection {
    /// # Errors
    /// Always: the program cannot connect to a cluster.
    pub fn open(_: &ClusterFlags, _: fn(&str)) -> Result<Self, Error> {
        Err(Error::unreachable(
            "this program was built without access to clusters",
            "build it with its default features; --offline uses no cluster",
        ))
    }

    pub fn url(&self) -> Cow<'_, str> {
        match self.never {}
    }

    pub fn profile(&self) -> Option<&Profile> {
        match self.never {}
    }

    pub fn get(&self, _: &str, _: &str) -> Result<Option<Value>, Error> {
        match self.never {}
    }

    pub fn object(&self, _: &str) -> Result<Value, Error> {
        match self.never {}
    }

    pub(super) fn object_of(&self, _: &str, _: &str) -> Result<Value, Error> {
        match self.never {}
    }

    pub fn ask(&self, _: &str, _: &str) -> PendingResponse {
        match self.never {}
    }

    pub(super) fn stream(&self, _: &str, _: &str) -> Result<Stream, Error> {
        match self.never {}
    }
}

/// A request whose answer has not been read yet.
#[derive(Debug)]
pub struct PendingResponse(Infallible);

impl crdx_engine::cluster::PendingResponse for PendingResponse {
    fn wait(self: Box<Self>) -> Result<Option<Value>, Error> {
        match self.0 {}
    }
}

impl PendingResponse {
    pub fn wait(self) -> Result<Option<Value>, Error> {
        match self.0 {}
    }

    pub(super) fn answer(self) -> Result<Answer, Error> {
        match self.0 {}
    }
}

/// A streamed answer.
pub(super) struct Stream(Infallible);

impl Stream {
    pub fn next(&mut self) -> Option<Result<Vec<u8>, Infallible>> {
        match self.0 {}
    }
}

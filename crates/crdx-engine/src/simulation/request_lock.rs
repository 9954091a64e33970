//! Keeps requests apart whose server stores an object only while they last, from those whose answers it could change.

use crdx_value::lock;
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The lock of a server. Requests that store nothing hold it together.
#[derive(Debug, Default)]
pub struct RequestLock(RwLock<()>);

/// The right to send requests, until it is dropped.
#[derive(Debug)]
pub enum RequestGuard<'a> {
    /// Other requests that store nothing are sent, too.
    Shared(RwLockReadGuard<'a, ()>),
    /// No other request is sent.
    Alone(RwLockWriteGuard<'a, ()>),
}

impl RequestLock {
    /// Waits until requests may be sent, which store something if `stores` is true.
    pub(super) fn wait(&self, stores: bool) -> RequestGuard<'_> {
        if stores { RequestGuard::Alone(lock::write(&self.0)) } else { RequestGuard::Shared(lock::read(&self.0)) }
    }
}

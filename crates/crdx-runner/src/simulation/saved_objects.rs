//! The existing objects of a profile.

use super::live::Live;
use crdx_engine::cluster::{Cluster, Error, PendingResponse, Resource};
use crdx_value::Value;
use std::sync::Arc;

/// A profile, in which objects that it cannot have do not exist: an object of the input is assumed to be new.
#[derive(Debug)]
pub struct SavedObjects(Arc<Live>);

/// The answer for an object that is assumed not to exist.
#[derive(Debug)]
struct AssumedAbsent;

impl PendingResponse for AssumedAbsent {
    fn wait(self: Box<Self>) -> Result<Option<Value>, Error> {
        Ok(None)
    }
}

impl SavedObjects {
    pub fn new(profile: Arc<Live>) -> Self {
        Self(profile)
    }
}

impl Cluster for SavedObjects {
    fn is_configured(&self) -> bool {
        self.0.is_configured()
    }

    fn resources(&self) -> Result<Arc<Vec<Resource>>, Error> {
        self.0.resources()
    }

    fn resource_where(&self, fits: &dyn Fn(&Resource) -> bool) -> Result<Option<Resource>, Error> {
        self.0.resource_where(fits)
    }

    fn ask(&self, path: &str) -> Result<Box<dyn PendingResponse>, Error> {
        let is_lacking = self.0.connection()?.profile().is_some_and(|profile| profile.lacks(path));
        if is_lacking { Ok(Box::new(AssumedAbsent)) } else { self.0.ask(path) }
    }

    fn list(&self, path: &str) -> Result<Arc<Value>, Error> {
        self.0.list(path)
    }

    fn record_unreadable(&self, plural: &str, error: &Error) {
        self.0.record_unreadable(plural, error);
    }
}

//! An object on its way into the store.

use crate::server::http::status::Refusal;
use crate::server::registry::metadata;
use crate::server::registry::store::{Collection, Raced, Revision, Stored};
use crate::value::Value;
use std::sync::Arc;

/// The most bytes etcd takes in one request.
const ETCD_LIMIT: usize = 1_572_864;

/// An object ready to be stored.
#[derive(Debug)]
pub(in crate::server) struct Written {
    /// In the storage version.
    pub raw: Value,
    /// As the version of the request shows it; `None` when that is `raw` itself.
    pub shown: Option<Value>,
}

impl Written {
    /// What a dry run answers.
    pub fn shown(self) -> Arc<Value> {
        Arc::new(self.shown.unwrap_or(self.raw))
    }

    /// Stores it if what is at `key` is still `expected`; what is stored then, and what the writer sees.
    ///
    /// # Errors
    /// Another write came first.
    pub fn put(
        self,
        objects: &Collection,
        key: &str,
        expected: Option<&Arc<Stored>>,
        revision: &Revision,
    ) -> Result<(Arc<Stored>, Arc<Value>), Raced> {
        let stored = objects.put(key, expected, self.raw, revision)?;
        let shown = match self.shown {
            None => stored.raw(),
            Some(mut shown) => {
                metadata::set_text(&mut shown, "resourceVersion", &stored.revision.to_string());
                Arc::new(shown)
            }
        };
        Ok((stored, shown))
    }

    /// Refuses what etcd would refuse.
    ///
    /// # Errors
    /// The error of etcd for a request that is too large.
    pub fn check_size(&self, request_bytes: usize) -> Result<(), Refusal> {
        // What is stored is hardly ever longer than what was sent; only then is it worth writing it out.
        if request_bytes * 2 > ETCD_LIMIT && crate::value::json::to_string(&self.raw).len() > ETCD_LIMIT {
            return Err(Refusal::unclassified("etcdserver: request is too large"));
        }
        Ok(())
    }
}

//! The given state of the cluster, as one request reads it.

use crate::cluster_state::{ClusterState, GroupVersionResource, Listed, Lookup, Unread, Wanted};
use crate::server::http::status::Refusal;
use crdx_value::Value;
use std::cell::RefCell;
use std::sync::Arc;

/// The given state of the cluster, as one request reads it. Collects what has to be read before the request can be answered.
#[derive(Debug, Default)]
pub(in crate::server) struct GivenState<'a> {
    /// `None` if the server stores all objects of its cluster.
    state: Option<&'a dyn ClusterState>,
    unread: RefCell<Vec<Wanted>>,
}

impl<'a> GivenState<'a> {
    /// Creates the value for one request.
    pub fn new(state: Option<&'a dyn ClusterState>) -> Self {
        Self { state, unread: RefCell::default() }
    }

    /// Returns true if the server does not store all objects of its cluster.
    pub fn is_given(&self) -> bool {
        self.state.is_some()
    }

    /// Returns an object that the server does not store.
    ///
    /// # Errors
    /// Returns [`Refusal::waiting`] if it has to be read first.
    pub fn object(
        &self,
        of: GroupVersionResource<'_>,
        namespace: &str,
        name: &str,
    ) -> Result<Lookup<Arc<Value>>, Refusal> {
        let Some(state) = self.state else { return Ok(Lookup::Absent) };
        state.object(of, namespace, name).map_err(|Unread| self.wait_for(of, namespace, Some(name)))
    }

    /// Returns the objects of a resource that the server does not store.
    ///
    /// # Errors
    /// Returns [`Refusal::waiting`] if they have to be read first.
    pub fn list(&self, of: GroupVersionResource<'_>, namespace: &str) -> Result<Listed, Refusal> {
        let Some(state) = self.state else { return Ok(Listed { objects: Vec::new(), is_complete: true }) };
        state.list(of, namespace).map_err(|Unread| self.wait_for(of, namespace, None))
    }

    fn wait_for(&self, of: GroupVersionResource<'_>, namespace: &str, name: Option<&str>) -> Refusal {
        let wanted = Wanted::new(of, namespace, name);
        let mut unread = self.unread.borrow_mut();
        if !unread.contains(&wanted) {
            unread.push(wanted);
        }
        Refusal::waiting()
    }

    /// Ends an attempt that needs more of the state.
    ///
    /// # Errors
    /// Returns [`Refusal::waiting`] if something has to be read first.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.unread.borrow().is_empty() { Ok(()) } else { Err(Refusal::waiting()) }
    }

    /// Removes and returns what has to be read first.
    pub fn take_unread(&self) -> Vec<Wanted> {
        self.unread.take()
    }
}

//! Finds the CRDs of an input for its simulation.

use super::{Definitions, Route};
use crdx_server::server::Server;
use crdx_value::suggest;
use std::sync::Arc;

impl Definitions {
    /// Returns no CRDs, which another server than the one of the run will store.
    pub(in crate::simulation) fn on(server: Arc<Server>) -> Self {
        Self { server: Some(server), ..Self::default() }
    }

    /// Returns the resource whose lists have a kind.
    pub(crate) fn list_route(&self, group: &str, list_kind: &str) -> Option<&Arc<Route>> {
        let names = ["spec", "names", "listKind"];
        self.routes.get(group)?.values().find(|route| route.definition.str_at(&names) == Some(list_kind))
    }

    /// Returns a kind of `group` with a name similar to `kind`.
    pub(crate) fn similar_kind(&self, group: &str, kind: &str) -> Option<&str> {
        suggest::closest(kind, self.routes.get(group)?.keys().map(String::as_str))
    }

    /// Returns a group that has `kind` and a name similar to `group`.
    pub(crate) fn similar_group(&self, group: &str, kind: &str) -> Option<&str> {
        let groups = self.routes.iter().filter(|(_, kinds)| kinds.contains_key(kind));
        suggest::closest(group, groups.map(|(group, _)| group.as_str()))
    }
}

//! CustomResourceDefinitions of the cluster.

use super::connection::segment;
use super::{Connection, Error};
use crate::value::Value;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

impl Connection {
    /// The CRD that is called `name`; `None` where there is none.
    pub fn definition(&self, name: &str) -> Result<Option<Value>, Error> {
        self.get(&format!("{DEFINITIONS}/{}", segment(name)), "application/json")
    }

    /// The CRD that defines `kind` in `group`; `None` where the cluster has none, or serves the kind in another way.
    ///
    /// Only what serves the kind is asked for, not the whole list: that is megabytes on a grown cluster, and reading one
    /// CRD is a smaller right to be given.
    pub fn definition_of(&self, group: &str, version: &str, kind: &str) -> Result<Option<Value>, Error> {
        let served = self.versions_of(group)?;
        let (first, others): (Vec<_>, Vec<_>) = served.iter().partition(|v| *v == version);
        for version in first.into_iter().chain(others) {
            let resources = self.resources_of(group, version)?;
            if let Some(resource) = resources.iter().find(|r| r.kind == kind) {
                return self.definition(&format!("{}.{group}", resource.plural));
            }
        }
        Ok(None)
    }
}

//! CustomResourceDefinitions of the cluster. A cached CRD is used only after the cluster confirmed that it still has this
//! resource version: an outdated schema would give a wrong verdict.

use super::connection::PendingResponse;
use super::{Connection, Error, JSON};
use crdx_server::server::http::address;
use crdx_text::json;
use crdx_value::Value;
use std::time::Duration;

/// Requests only the metadata of an object.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/// The maximum age of a cached CRD.
const KEPT: Duration = Duration::from_hours(24);

/// A request for a CRD whose answer has not been read yet.
struct PendingDefinition {
    name: String,
    cached: Option<Value>,
    response: PendingResponse,
}

impl Connection {
    /// Reads the CRD with this name; `None` if it does not exist.
    pub fn definition(&self, name: &str) -> Result<Option<Value>, Error> {
        self.take(self.request_definition(name))
    }

    /// Reads the CRDs of the given kinds (group and kind) concurrently; `None` where the cluster has no CRD for a kind (it may
    /// be served by an aggregated API server).
    ///
    /// Reads single CRDs instead of the whole list, because the list has megabytes on a large cluster, and reading a single
    /// CRD needs fewer permissions.
    pub fn definitions_of(&self, kinds: &[(&str, &str)]) -> Vec<Result<Option<Value>, Error>> {
        let request_definition = |(group, kind): &(&str, &str)| {
            let resource = self.resource_where(|r| r.group == *group && r.kind == *kind)?;
            Ok(resource.map(|r| self.request_definition(&format!("{}.{group}", r.plural))))
        };
        let wanted: Vec<Result<Option<PendingDefinition>, Error>> = kinds.iter().map(request_definition).collect();
        wanted.into_iter().map(|wanted| wanted?.map_or(Ok(None), |wanted| self.take(wanted))).collect()
    }

    /// Returns true if a CRD read from this cluster still has the same spec.
    pub fn has_definition(&self, definition: &Value) -> Result<bool, Error> {
        let path = path(definition.str_at(&["metadata", "name"]).unwrap_or_default());
        let Some(found) = self.get(&path, METADATA)? else { return Ok(false) };
        if revision(definition).is_some() && revision(definition) == revision(&found) {
            return Ok(true);
        }
        let found = self.get(&path, JSON)?;
        Ok(found.as_ref().and_then(|found| found.get("spec")) == definition.get("spec"))
    }

    fn request_definition(&self, name: &str) -> PendingDefinition {
        let cached = self.cache.read(&entry(name), KEPT).and_then(|text| json::read(&text).ok());
        let cached = cached.filter(|crd| crd.str_at(&["metadata", "name"]) == Some(name) && revision(crd).is_some());
        let response = self.ask(&path(name), if cached.is_some() { METADATA } else { JSON });
        PendingDefinition { name: name.to_owned(), cached, response }
    }

    fn take(&self, wanted: PendingDefinition) -> Result<Option<Value>, Error> {
        let PendingDefinition { name, cached, response } = wanted;
        let Some(found) = response.wait()? else { return Ok(None) };
        let found = match cached {
            Some(cached) if revision(&cached) == revision(&found) => return Ok(Some(cached)),
            Some(_) => match self.get(&path(&name), JSON)? {
                Some(found) => found,
                None => return Ok(None),
            },
            None => found,
        };
        self.cache.write(&entry(&name), crdx_value::json::to_string(&found).as_bytes());
        Ok(Some(found))
    }
}

fn path(name: &str) -> String {
    address::object(address::DEFINITIONS, name)
}

fn entry(name: &str) -> String {
    format!("crd {name}")
}

/// The uid and resource version, which identify one state of an object.
fn revision(object: &Value) -> Option<(&str, &str)> {
    Some((object.str_at(&["metadata", "uid"])?, object.str_at(&["metadata", "resourceVersion"])?))
}

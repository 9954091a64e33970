//! CustomResourceDefinitions of the cluster. One that is kept on disk is used only if the cluster says that it still has
//! that very revision: an old schema would be a wrong verdict.

use super::connection::{Asked, segment};
use super::{Connection, Error, JSON};
use crate::text::json;
use crate::value::Value;
use std::time::Duration;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// An object's metadata alone.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/// CRDs that nobody asked for in so long are read anew.
const KEPT: Duration = Duration::from_hours(24);

/// A CRD on its way.
struct Wanted {
    name: String,
    kept: Option<Value>,
    asked: Asked,
}

impl Connection {
    /// The CRD that is called `name`; `None` where there is none.
    pub fn definition(&self, name: &str) -> Result<Option<Value>, Error> {
        self.take(self.want(name))
    }

    /// The CRDs that define kinds, each a group and a kind; `None` where the cluster has none, or serves the kind in
    /// another way. They are asked for all at once.
    ///
    /// Only what serves the kinds is asked for, not the whole list: that is megabytes on a grown cluster, and reading one
    /// CRD is a smaller right to be given.
    pub fn definitions_of(&self, kinds: &[(&str, &str)]) -> Vec<Result<Option<Value>, Error>> {
        let want = |(group, kind): &(&str, &str)| {
            let resource = self.resource_where(|r| r.group == *group && r.kind == *kind)?;
            Ok(resource.map(|r| self.want(&format!("{}.{group}", r.plural))))
        };
        let wanted: Vec<Result<Option<Wanted>, Error>> = kinds.iter().map(want).collect();
        wanted.into_iter().map(|wanted| wanted?.map_or(Ok(None), |wanted| self.take(wanted))).collect()
    }

    fn want(&self, name: &str) -> Wanted {
        let kept = self.cache.read(&entry(name), KEPT).and_then(|text| json::read(&text).ok());
        let kept = kept.filter(|crd| crd.str_at(&["metadata", "name"]) == Some(name) && revision(crd).is_some());
        let asked = self.ask(&path(name), if kept.is_some() { METADATA } else { JSON });
        Wanted { name: name.to_owned(), kept, asked }
    }

    fn take(&self, wanted: Wanted) -> Result<Option<Value>, Error> {
        let Wanted { name, kept, asked } = wanted;
        let Some(found) = asked.wait()? else { return Ok(None) };
        let found = match kept {
            Some(kept) if revision(&kept) == revision(&found) => return Ok(Some(kept)),
            Some(_) => match self.get(&path(&name), JSON)? {
                Some(found) => found,
                None => return Ok(None),
            },
            None => found,
        };
        self.cache.write(&entry(&name), crate::value::json::to_string(&found).as_bytes());
        Ok(Some(found))
    }
}

fn path(name: &str) -> String {
    format!("{DEFINITIONS}/{}", segment(name))
}

fn entry(name: &str) -> String {
    format!("crd {name}")
}

/// What no two states of an object have in common.
fn revision(object: &Value) -> Option<(&str, &str)> {
    Some((object.str_at(&["metadata", "uid"])?, object.str_at(&["metadata", "resourceVersion"])?))
}

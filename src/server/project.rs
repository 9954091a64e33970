//! Shows objects that are not stored here, live ones or those of a dry run, as this server would return them.

use crate::server::http::options::IncludeObject;
use crate::server::http::table;
use crate::server::strategy::scale;
use crate::server::{Server, Timestamp};
use crate::value::{Map, Value};

impl Server {
    /// The Table of `objects` with the columns that `version` of the definition called `definition` has.
    pub fn table_of(&self, definition: &str, version: &str, objects: &[Value], now: Timestamp) -> Option<Value> {
        let serving = self.serving_of(definition)?;
        let columns = &serving.version(version)?.columns;
        Some(table::table(columns, objects.iter(), Map::new(), "v1", IncludeObject::Metadata, now))
    }

    /// The Table of CRDs.
    pub fn table_of_definitions(crds: &[Value], now: Timestamp) -> Value {
        let columns = table::Columns::of_definitions();
        table::table(&columns, crds.iter(), Map::new(), "v1", IncludeObject::Metadata, now)
    }

    /// The response to a GET at `version` of `object`, given as another server stores it: pruned, defaulted and
    /// converted. `None` when the version does not exist; `Err` when the object cannot be read.
    pub fn read_of(&self, definition: &str, version: &str, object: &Value) -> Option<Result<Value, String>> {
        let serving = self.serving_of(definition)?;
        let read = serving.decode_stored(object, serving.version(version)?);
        Some(read.map(|shown| shown.unwrap_or_else(|| object.clone())).map_err(|refusal| refusal.message))
    }

    /// The Scale of `object`; `None` when its version has none. `Err` is the refusal of a GET of `/scale`.
    pub fn scale_of(&self, definition: &str, version: &str, object: &Value) -> Option<Value> {
        let serving = self.serving_of(definition)?;
        scale::object::of(object, serving.version(version)?.scale()?)
    }
}

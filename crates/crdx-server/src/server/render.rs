//! Shows objects that this server does not store, such as objects of a live cluster or of a dry run, as this server
//! would return them.

use crate::server::Server;
use crate::server::http::calls::Calls;
use crate::server::http::options::IncludeObject;
use crate::server::http::table;
use crate::server::strategy::scale;
use crdx_value::GoError;
use crdx_value::time::Timestamp;
use crdx_value::{Map, Value};

impl Server {
    /// Renders `objects` as a Table with the printer columns of `version` of the CRD named `definition`. Returns `None`
    /// if there is no such CRD or version.
    pub fn table_of(&self, definition: &str, version: &str, objects: &[Value], now: Timestamp) -> Option<Value> {
        let serving = self.resources().get(definition)?;
        let printed = self.resources().kinds.strategy(&serving.group, &serving.kind).columns();
        if serving.group.is_empty()
            && let Some(printed) = printed
        {
            let columns = table::Columns::printed(printed);
            return Some(table::table(&columns, objects.iter(), Map::new(), "v1", IncludeObject::Metadata, now));
        }
        let columns = match serving.typed_version(version) {
            // Of other kinds, the columns are not known.
            Some(_) if printed.is_none() => return None,
            Some(kind) => &kind.columns,
            None => &serving.version(version)?.columns,
        };
        Some(table::table(columns, objects.iter(), Map::new(), "v1", IncludeObject::Metadata, now))
    }

    /// Renders CRDs as a Table.
    pub fn table_of_definitions(&self, crds: &[Value], now: Timestamp) -> Value {
        let columns = table::Columns::of_definitions(self.release());
        table::table(&columns, crds.iter(), Map::new(), "v1", IncludeObject::Metadata, now)
    }

    /// Renders objects of any kind as a Table with their names and ages.
    pub fn table_of_names(&self, objects: &[Value], now: Timestamp) -> Value {
        let columns = table::Columns::new(&[]);
        table::table(&columns, objects.iter(), Map::new(), "v1", IncludeObject::Metadata, now)
    }

    /// Renders Scales as a Table.
    pub fn table_of_scales(&self, scales: &[Value], now: Timestamp) -> Value {
        let columns = table::Columns::of_scale();
        table::table(&columns, scales.iter(), Map::new(), "v1", IncludeObject::Metadata, now)
    }

    /// Returns the response to a GET at `version` for `object`, which is given as another server stores it: pruned,
    /// defaulted and converted. Returns `None` if the version does not exist, and an error text if the object cannot be
    /// decoded.
    pub fn read_of(&self, definition: &str, version: &str, object: &Value) -> Option<Result<Value, GoError>> {
        let serving = self.resources().get(definition)?;
        let read = serving.decode_stored(object, serving.version(version)?, &Calls::default());
        Some(read.map(|shown| shown.unwrap_or_else(|| object.clone())).map_err(|refusal| refusal.message.into()))
    }

    /// Returns the Scale of `object`, or `None` if its version has no scale subresource or a GET of `/scale` would be
    /// rejected.
    pub fn scale_of(&self, definition: &str, version: &str, object: &Value) -> Option<Value> {
        let serving = self.resources().get(definition)?;
        scale::object::of(object, serving.version(version)?.scale()?)
    }
}

//! `--sort-by`: sorts objects by a field. The objects are stored in a temporary file until all keys are known.

use crate::commands::error::Error;
use crate::commands::source::temp_file_problem;
use crdx_engine::simulation::object_store::{ObjectStore as _, StoredAt};
use crdx_input::temp_store::TempStore;
use crdx_output::sort::Sorter;
use crdx_value::GoError;
use crdx_value::Value;

/// Collects and sorts objects.
pub struct Ordered {
    sorter: Result<Sorter, GoError>,
    temp_store: TempStore,
    stored: Vec<StoredAt>,
    /// With fewer objects, nothing is sorted, and errors of the field are not reported.
    least: usize,
}

impl Ordered {
    /// Creates an empty collection. With fewer than `least` objects, the field is ignored.
    pub fn new(field: &str, least: usize) -> Self {
        Self { sorter: Sorter::new(field), temp_store: TempStore::default(), stored: Vec::new(), least }
    }

    /// Adds an object.
    pub fn add(&mut self, object: &Value) -> Result<(), Error> {
        if let Ok(sorter) = &mut self.sorter
            && let Err(message) = sorter.add(object)
        {
            self.sorter = Err(message);
        }
        self.stored.push(self.temp_store.put(object).map_err(|error| temp_file_problem(&error))?);
        Ok(())
    }

    /// Returns the sorted objects.
    pub fn finish(self) -> Result<impl Iterator<Item = Result<Value, Error>>, Error> {
        let Self { sorter, temp_store, stored, least } = self;
        let order = if stored.len() < least {
            (0..stored.len()).collect()
        } else {
            sorter.and_then(Sorter::order).map_err(Error::usage)?
        };
        let stored = order.into_iter().filter_map(move |index| stored.get(index).copied());
        Ok(stored.map(move |at| temp_store.get(at).map_err(|error| temp_file_problem(&error).into())))
    }
}

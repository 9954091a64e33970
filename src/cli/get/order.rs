//! `--sort-by`: sorts objects by a field. They are kept in a temporary file until all keys are known.

use crate::cli::failure::Failure;
use crate::cli::source::problem;
use crate::input::temp_store::{Place, TempStore};
use crate::output::sort::Sorter;
use crate::value::Value;
use std::io;

/// Collects and sorts objects.
pub struct Ordered {
    sorter: Result<Sorter, String>,
    temp_store: TempStore,
    places: Vec<Place>,
    /// With fewer objects nothing is sorted, and problems with the field are not reported.
    least: usize,
}

impl Ordered {
    /// An empty collection; with fewer than `least` objects the field does not matter.
    pub fn new(field: &str, least: usize) -> Self {
        Self { sorter: Sorter::new(field), temp_store: TempStore::default(), places: Vec::new(), least }
    }

    /// Adds an object.
    pub fn add(&mut self, object: &Value) -> Result<(), Failure> {
        if let Ok(sorter) = &mut self.sorter
            && let Err(message) = sorter.add(object)
        {
            self.sorter = Err(message);
        }
        self.places.push(self.temp_store.put(object).map_err(|error| unkept(&error))?);
        Ok(())
    }

    /// The sorted objects.
    pub fn finish(self) -> Result<impl Iterator<Item = Result<Value, Failure>>, Failure> {
        let Self { sorter, temp_store, places, least } = self;
        let order = if places.len() < least {
            (0..places.len()).collect()
        } else {
            sorter.and_then(Sorter::order).map_err(Failure::message)?
        };
        let places = order.into_iter().filter_map(move |index| places.get(index).copied());
        Ok(places.map(move |place| temp_store.get(place).map_err(|error| unkept(&error))))
    }
}

fn unkept(error: &io::Error) -> Failure {
    let help = "make room in the directory for temporary files, or name another with TMPDIR";
    problem(&format!("objects cannot be kept in a temporary file: {error}"), help).into()
}

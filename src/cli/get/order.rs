//! `--sort-by`: objects in the order of a field. They are kept in a temporary file until the keys of all are known.

use crate::cli::failure::Failure;
use crate::cli::source::problem;
use crate::input::shelf::{Place, Shelf};
use crate::output::sort::Sorter;
use crate::value::Value;
use std::io;

/// Objects that are put in order.
pub struct Ordered {
    sorter: Result<Sorter, String>,
    shelf: Shelf,
    places: Vec<Place>,
    /// Fewer objects than this have no order, and nothing that is wrong with the field is reported.
    least: usize,
}

impl Ordered {
    /// No objects yet; with fewer than `least` of them the field does not matter.
    pub fn new(field: &str, least: usize) -> Self {
        Self { sorter: Sorter::new(field), shelf: Shelf::default(), places: Vec::new(), least }
    }

    /// Adds an object.
    pub fn add(&mut self, object: &Value) -> Result<(), Failure> {
        if let Ok(sorter) = &mut self.sorter
            && let Err(message) = sorter.add(object)
        {
            self.sorter = Err(message);
        }
        self.places.push(self.shelf.put(object).map_err(|error| unkept(&error))?);
        Ok(())
    }

    /// The objects in their order.
    pub fn finish(self) -> Result<impl Iterator<Item = Result<Value, Failure>>, Failure> {
        let Self { sorter, shelf, places, least } = self;
        let order = if places.len() < least {
            (0..places.len()).collect()
        } else {
            sorter.and_then(Sorter::order).map_err(Failure::message)?
        };
        let places = order.into_iter().filter_map(move |index| places.get(index).copied());
        Ok(places.map(move |place| shelf.get(place).map_err(|error| unkept(&error))))
    }
}

fn unkept(error: &io::Error) -> Failure {
    let help = "make room in the directory for temporary files, or name another with TMPDIR";
    problem(&format!("objects cannot be kept in a temporary file: {error}"), help).into()
}

//! Reads the existing objects of a kind in a namespace as a list, if that costs less than a request for each.
//!
//! A list has objects that no document needs, too. They are dropped, and a list with too many of them is not read to its end.
//! Every object that did not come with a list is requested alone: after an error, such as a list that the user may not read or
//! that changed while it was read, the result is the same as without lists.

use crate::simulation::live::Live;
use crdx_cluster::{Connection, Error, JSON, Page, Pages, Query};
use crdx_engine::simulation::existing::PendingObject;
use crdx_value::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// Fewer objects are requested one by one.
const MIN_OBJECTS: usize = 30;
/// The number of objects in a page.
const PAGE: u64 = 500;
/// The cost of a page and that of the objects in it, in requests for one object each: with a latency of 20 ms and 16 requests at
/// a time, a page of 500 objects of 2 KB takes as long as 35 to 50 of them (`benches/live.py`).
const PAGE_COST: u64 = 20;
const OBJECTS_PER_REQUEST: u64 = 16;
/// The number of lists that are read at the same time.
const MAX_LISTS: usize = 4;
/// The limit for the JSON of all objects that are kept until their documents are simulated.
const MAX_KEPT: usize = 8 << 20;
/// The size that is recorded for a list that cannot be read.
const UNREADABLE: u64 = u64::MAX;

/// The objects that documents need, by name.
type Needed<'a> = HashMap<String, Vec<&'a PendingObject>>;

/// Reads those of the objects that lists answer faster.
pub fn read<'a>(live: &Live, objects: impl Iterator<Item = &'a PendingObject>) {
    let mut collections = BTreeMap::<String, Needed<'a>>::new();
    for object in objects {
        if let Some(path) = object.unsent().filter(|path| path.may_list) {
            collections.entry(path.collection).or_default().entry(path.name).or_default().push(object);
        }
    }
    let pays = |(path, needed): &(String, Needed<'_>)| {
        needed.len() >= MIN_OBJECTS && live.size(path).is_none_or(|size| is_cheaper(size, needed.len()))
    };
    let mut lists: Vec<(String, Needed<'a>)> = collections.into_iter().filter(pays).collect();
    // The objects of a profile need no requests.
    let Some(connection) = live.connection().ok().filter(|connection| connection.profile().is_none()) else { return };
    let mut room = MAX_KEPT;
    while !lists.is_empty() {
        let started = lists.drain(..lists.len().min(MAX_LISTS));
        let started: Vec<PartialList<'_, '_>> =
            started.map(|(path, needed)| PartialList::start(connection, path, needed)).collect();
        for mut list in started {
            let size = list.read(&mut room).unwrap_or(UNREADABLE);
            live.record_size(&list.path, size);
        }
    }
}

/// Returns true if a list of `size` objects costs less than `count` requests.
fn is_cheaper(size: u64, count: usize) -> bool {
    let pages = size.div_ceil(PAGE).max(1);
    pages.saturating_mul(PAGE_COST).saturating_add(size / OBJECTS_PER_REQUEST) <= count as u64
}

/// A list that is being read.
struct PartialList<'a, 'c> {
    path: String,
    needed: Needed<'a>,
    pages: Pages<'c>,
}

impl<'a, 'c> PartialList<'a, 'c> {
    /// Requests the first page. It has about as many objects as are needed, because there may be many others.
    fn start(connection: &'c Connection, path: String, needed: Needed<'a>) -> Self {
        let query = Query { limit: Some(needed.len().min(PAGE as usize)), ..Query::default() };
        let pages = connection.pages_on_demand(&path, query, JSON);
        Self { path, needed, pages }
    }

    /// Reads pages while that costs less than the requests for the objects that are still needed. Returns the number of objects
    /// of the list.
    fn read(&mut self, room: &mut usize) -> Result<u64, Error> {
        let (count, mut size) = (self.needed.len(), 0);
        while let Some(page) = self.pages.next() {
            let mut page = page?;
            let rest = page.rest();
            size += self.take(&mut page, room);
            match rest {
                None => self.needed.values().flatten().for_each(|object| object.set(None)),
                Some(rest) if is_cheaper(rest, self.needed.len()) && is_cheaper(size + rest, count) => {
                    self.pages.set_limit(PAGE as usize);
                }
                Some(rest) => return Ok(size + rest),
            }
        }
        Ok(size)
    }

    /// Takes the objects that are needed from a page. Returns the number of its objects.
    fn take(&mut self, page: &mut Page, room: &mut usize) -> u64 {
        let text = |value: &Value, key: &str| value.str_at(&[key]).map(str::to_owned);
        let kind = text(&page.list, "kind").and_then(|kind| kind.strip_suffix("List").map(str::to_owned));
        let of_list = [("apiVersion", text(&page.list, "apiVersion")), ("kind", kind)];
        let items = page.take_items();
        let count = items.len() as u64;
        for mut item in items {
            let name = item.str_at(&["metadata", "name"]).unwrap_or_default();
            let Some(objects) = self.needed.remove(name) else { continue };
            // Without room it is requested when its document is simulated.
            let Some(left) = room.checked_sub(json::length(&item)) else { continue };
            *room = left;
            // Items of built-in kinds have no apiVersion and kind.
            for (key, value) in &of_list {
                if let Some(value) = value
                    && item.get(key).is_none()
                {
                    item.insert_at(&[key], value.as_str().into());
                }
            }
            for object in objects {
                object.set(Some(item.clone()));
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_cheaper_for_many_of_its_objects() {
        assert!(is_cheaper(0, 30) && is_cheaper(160, 30) && !is_cheaper(500, 50) && is_cheaper(500, 51));
        assert!(is_cheaper(2000, 205) && !is_cheaper(100_000, 2000) && !is_cheaper(UNREADABLE, usize::MAX >> 4));
    }
}

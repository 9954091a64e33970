//! Empty lists and maps that count as changes: some strategies compare objects with `reflect.DeepEqual`, which tells an empty
//! list or map from an absent one. Stored objects have none.

use super::paths::{Path, names};
use crdx_types::empties::Empties;
use crdx_value::Value;

/// Returns true if an object has an empty list or map at one of these paths.
pub(crate) fn has_emptied(paths: &[Path], object: &Value, empties: &Empties) -> bool {
    paths.iter().any(|path| is_emptied(object, empties, path))
}

fn is_emptied(value: &Value, empties: &Empties, path: &[&'static str]) -> bool {
    let Some((step, rest)) = path.split_first() else { return empties.text().is_some() };
    if *step == "*" {
        let items = value.as_array().unwrap_or_default().iter().enumerate();
        let mut found = items.filter_map(|(at, item)| Some((item, empties.index(at)?)));
        return found.any(|(item, empties)| is_emptied(item, empties, rest));
    }
    let mut found =
        names(step).filter_map(|name| Some((value.get(name).unwrap_or(&Value::Null), empties.child(name)?)));
    found.any(|(member, empties)| is_emptied(member, empties, rest))
}

//! The functions that two-variable comprehensions use to build maps (`ext/comprehensions.go`). The evaluator inserts in
//! place if possible.

use super::{CallCost, Overload};
use crate::value::{Error, Fuel, Map, MapKey, Value};
use crdx_value::release::V1_32;
use std::{collections::BTreeMap, sync::Arc};

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::global(
        "cel.@mapInsert",
        "@mapInsert_map_key_value",
        "(map(K, V), K, V) -> map(K, V)",
        CallCost::One,
        super::unfueled,
    )
    .fueled(insert_entry)
    .since(V1_32),
    Overload::global(
        "cel.@mapInsert",
        "@mapInsert_map_map",
        "(map(K, V), map(K, V)) -> map(K, V)",
        CallCost::One,
        super::unfueled,
    )
    .fueled(insert_map)
    .since(V1_32),
];

/// Adds an entry to a map, in place if it is not shared, otherwise to a copy.
pub fn insert<'a>(map: Map<'a>, key: &Value<'a>, value: Value<'a>, fuel: &Fuel) -> Result<Map<'a>, Error> {
    if map.find(key).is_some() {
        return Err(Error::new(format!("insert failed: key {} already exists", key.plain())));
    }
    let mut entries = match map {
        Map::Shared(mut entries) => {
            if Arc::get_mut(&mut entries).is_none() {
                fuel.spend(entries.len())?;
            }
            entries
        }
        other => {
            fuel.spend(other.len())?;
            let entries = other.entries()?;
            Arc::new(
                entries
                    .into_iter()
                    .map(|(k, v)| Ok((MapKey::from_value(&k)?, v)))
                    .collect::<Result<BTreeMap<_, _>, Error>>()?,
            )
        }
    };
    let key = MapKey::from_value(key)?;
    fuel.write(key.text_length())?;
    Arc::make_mut(&mut entries).insert(key, value);
    Ok(Map::Shared(entries))
}

/// Adds the entries of `added` to a map, in place if it is not shared, otherwise to a copy.
pub(crate) fn insert_all<'a>(map: Map<'a>, added: &Map<'a>, fuel: &Fuel) -> Result<Map<'a>, Error> {
    fuel.spend(added.len())?;
    added.entries()?.into_iter().try_fold(map, |map, (key, value)| insert(map, &key, value, fuel))
}

fn insert_entry<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    match args {
        [Value::Map(map), key, value] => insert(map.clone(), key, value.clone(), fuel).map(Value::Map),
        _ => Err(Error::no_such_overload()),
    }
}

fn insert_map<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    match args {
        [Value::Map(map), Value::Map(added)] => insert_all(map.clone(), added, fuel).map(Value::Map),
        _ => Err(Error::no_such_overload()),
    }
}

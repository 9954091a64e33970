//! The entries of `metadata.managedFields`: decoding, encoding and the limit on managers
//! (`managedfields/internal/{managedfields,capmanagers}.go`).

use super::path::KeyFormat;
use super::{
    identity::Identity,
    set::Set,
    updater::{Owner, Owners},
};
use crdx_value::GoError;
use crdx_value::release::Release;
use crdx_value::{Map, Value, quote::go_quote};
use std::collections::BTreeMap;

/// The maximum number of update managers; the oldest ones are merged above this number.
const MAX_UPDATE_MANAGERS: usize = 10;

/// Owners with the times of their last changes in RFC 3339 format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Managed {
    /// Owners by manager identifier.
    pub owners: Owners,
    /// Times by manager identifier.
    pub times: BTreeMap<String, String>,
}

impl Managed {
    /// Decodes the entries of `metadata.managedFields`.
    ///
    /// # Errors
    /// Returns the server's message for a malformed entry.
    pub fn read(entries: Option<&Value>) -> Result<Self, GoError> {
        let mut managed = Self::default();
        for (index, entry) in entries.and_then(Value::as_array).unwrap_or_default().iter().enumerate() {
            let get = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
            let (operation, version) = (get("operation"), get("apiVersion"));
            if operation != "Apply" && operation != "Update" {
                return Err("operation must be `Apply` or `Update`".into());
            }
            if version.is_empty() {
                return Err("apiVersion must not be empty".into());
            }
            match get("fieldsType") {
                "FieldsV1" => {}
                "" => return Err(format!("missing fieldsType in managed fields entry {index}").into()),
                other => {
                    return Err(
                        format!("invalid fieldsType {} in managed fields entry {index}", go_quote(other)).into()
                    );
                }
            }
            let applied = operation == "Apply";
            let identity = Identity {
                manager: get("manager").to_owned(),
                operation: operation.to_owned(),
                api_version: if applied { String::new() } else { version.to_owned() },
                subresource: get("subresource").to_owned(),
            };
            let set = Set::from_fields(entry.get("fieldsV1").unwrap_or(&Value::Null))
                .map_err(|e| format!("error decoding set: {e}"))?;
            let id = identity.id();
            if let Some(time) = entry.get("time").and_then(Value::as_str) {
                managed.times.insert(id.clone(), time.to_owned());
            }
            managed.owners.insert(id, Owner { set, api_version: version.to_owned(), applied });
        }
        Ok(managed)
    }

    /// Encodes the entries in the server's order; `None` if there are none.
    pub fn write(&self, release: Release) -> Option<Value> {
        let format = KeyFormat::of(release);
        let mut entries: Vec<(Identity, &str, Value)> = Vec::new();
        for (id, owner) in &self.owners {
            let mut identity = Identity::parse(id);
            identity.api_version.clone_from(&owner.api_version);
            if owner.applied {
                "Apply".clone_into(&mut identity.operation);
            }
            let time = self.times.get(id).map(String::as_str).unwrap_or_default();
            let texts = [
                ("manager", &identity.manager),
                ("operation", &identity.operation),
                ("apiVersion", &identity.api_version),
                ("subresource", &identity.subresource),
            ];
            let mut entry: Map = texts
                .into_iter()
                .filter(|(_, text)| !text.is_empty())
                .map(|(name, text)| (name.to_owned(), Value::from(text.as_str())))
                .collect();
            entry.insert("fieldsType".to_owned(), Value::from("FieldsV1"));
            entry.insert("fieldsV1".to_owned(), owner.set.to_fields(format));
            if !time.is_empty() {
                entry.insert("time".to_owned(), Value::from(time));
            }
            entries.push((identity, time, Value::Object(entry)));
        }
        entries.sort_by(|(a, a_time, _), (b, b_time, _)| {
            let key = |i: &Identity, time: &str| {
                (i.operation.clone(), time.to_owned(), i.manager.clone(), i.api_version.clone(), i.subresource.clone())
            };
            key(a, a_time).cmp(&key(b, b_time))
        });
        (!entries.is_empty()).then(|| Value::Array(entries.into_iter().map(|(_, _, entry)| entry).collect()))
    }

    /// Merges the oldest update managers if there are too many (`capmanagers.go`).
    pub fn cap(&mut self) {
        let mut updaters: Vec<String> =
            self.owners.iter().filter(|(_, owner)| !owner.applied).map(|(id, _)| id.clone()).collect();
        updaters.sort_by_key(|id| (self.times.get(id).cloned().unwrap_or_default(), id.clone()));
        let mut left = updaters.len();
        let mut first_of_version: BTreeMap<String, String> = BTreeMap::new();
        for id in updaters {
            if left <= MAX_UPDATE_MANAGERS {
                return;
            }
            let Some(owner) = self.owners.get(&id).cloned() else { continue };
            let version = owner.api_version.clone();
            let Some(first) = first_of_version.get(&version) else {
                first_of_version.insert(version, id);
                continue;
            };
            let bucket = Identity {
                manager: "ancient-changes".to_owned(),
                operation: "Update".to_owned(),
                api_version: version,
                subresource: String::new(),
            }
            .id();
            if !self.owners.contains_key(&bucket)
                && let Some(first) = self.owners.remove(first)
            {
                self.owners.insert(bucket.clone(), first);
            }
            let set = self.owners.get(&bucket).map_or_else(|| owner.set.clone(), |b| owner.set.union(&b.set));
            self.owners.insert(bucket.clone(), Owner { set, ..owner });
            self.owners.remove(&id);
            left -= 1;
            if let Some(time) = self.times.get(&id).cloned() {
                self.times.insert(bucket, time);
            }
        }
    }
}

//! Loads the objects of a profile.

use crdx_cluster::Resource;
use crdx_engine::kubectl::FieldValidation;
use crdx_engine::kubectl::request::{self, RequestOptions};
use crdx_engine::kubectl::send;
use crdx_engine::profile::SavedResource;
use crdx_input::profile::{Profile, ProfileError};
use crdx_output::printable::complain;
use crdx_server::server::{Server, Timestamp};
use crdx_value::Value;
use std::collections::BTreeMap;

/// The folders whose objects decide about other objects, so that they are loaded after them.
const LAST: [&str; 2] = ["rbac", "policies"];
/// Nobody answers at the address of a webhook, which a profile does not have.
const WEBHOOKS: &str = "webhooks";

/// Why an object of a profile is not stored.
#[derive(Debug, thiserror::Error)]
enum NotStoredError {
    #[error("it needs --builtin, and for policies --admission")]
    NotServed,
    #[error("{0}")]
    Refused(String),
}

/// Stores the objects of a profile. Those that the server does not serve are counted in a note.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub fn load(server: &Server, profile: &Profile, now: Timestamp) -> Result<(), ProfileError> {
    let mut all: Vec<SavedResource> = SavedResource::ALL.to_vec();
    all.sort_by_key(|saved| LAST.iter().position(|folder| *folder == saved.folder).map_or(0, |at| at + 1));
    let (mut loaded, mut left_out) = (0, BTreeMap::new());
    let mut webhooks = 0;
    for saved in all.into_iter().filter(|saved| profile.description().saved.contains(&saved.qualified())) {
        let resources = profile.resources();
        let is_it = |resource: &&Resource| resource.group == saved.group && resource.plural == saved.plural;
        let Some(resource) = resources.iter().find(is_it) else { continue };
        let list = profile.get(&resource.path(None))?.unwrap_or_default();
        let items = list.get("items").and_then(Value::as_array).unwrap_or_default();
        if saved.folder == WEBHOOKS {
            webhooks += items.len();
            continue;
        }
        for object in items {
            match store(server, resource, object.clone(), now) {
                Ok(()) => loaded += 1,
                Err(reason) => left_out.entry(resource.qualified()).or_insert((0, reason)).0 += 1,
            }
        }
    }
    complain!("{loaded} objects were read from the profile {}", profile.folder().display());
    for (resource, (count, reason)) in left_out {
        complain!("warning: {count} of {resource} are left out: {reason}");
    }
    if webhooks > 0 {
        complain!("warning: {webhooks} webhook configurations of the cluster are left out: a profile has no addresses");
    }
    Ok(())
}

/// Creates an object, or applies it if the server has it.
///
/// # Errors
/// Returns the reason why it is not stored.
fn store(server: &Server, resource: &Resource, mut object: Value, now: Timestamp) -> Result<(), NotStoredError> {
    let options = RequestOptions { level: FieldValidation::Ignore, dry_run: false, table: false, now };
    let namespace = object.str_at(&["metadata", "namespace"]).map(str::to_owned);
    request::remove_decodable_server_metadata(&mut object);
    if let Some(members) = object.as_object_mut() {
        members.remove("status");
    }
    let path = resource.path(namespace.as_deref());
    let sent = send::create_or_apply(&path, object, options, |request| {
        Ok::<_, std::convert::Infallible>(server.handle(&request))
    });
    match sent {
        Ok(response) if response.code < 300 => Ok(()),
        Ok(response) if response.code == 404 => Err(NotStoredError::NotServed),
        Ok(response) => Err(NotStoredError::Refused(response.body.message().to_owned())),
        Err(never) => match never {},
    }
}

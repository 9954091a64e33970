//! Loads the objects of a profile into a server that serves requests.

use crdx_cluster::Resource;
use crdx_engine::kubectl::FieldValidation;
use crdx_engine::kubectl::request::{self, RequestOptions};
use crdx_engine::kubectl::send;
use crdx_engine::profile::SavedResource;
use crdx_input::profile::{Profile, ProfileError};
use crdx_output::printable::complain;
use crdx_server::server::{Server, Timestamp};
use crdx_types::service_families::ServiceRange;
use crdx_value::Value;
use std::collections::BTreeMap;

/// The folders that are loaded last, because their objects may reject others.
const LAST: [&str; 3] = ["params", "rbac", "policies"];
/// Webhook configurations are not loaded: a profile does not have the addresses of webhooks.
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
    let mut all = saved(profile)?;
    all.sort_by_key(|saved| LAST.iter().position(|folder| *folder == saved.folder).map_or(0, |at| at + 1));
    let (mut loaded, mut left_out) = (0, BTreeMap::new());
    let mut webhooks = 0;
    for Saved { folder, resource, objects } in all {
        if folder == WEBHOOKS {
            webhooks += objects.len();
            continue;
        }
        for object in objects {
            match store(server, &resource, object, now) {
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

/// Returns the ranges of cluster IPs with which the server of the cluster was started: those of its own `ServiceCIDR`. None if the
/// profile has no such object.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub fn service_ranges(profile: &Profile) -> Result<Vec<ServiceRange>, ProfileError> {
    let resources = profile.resources();
    let is_saved = profile.description().saved.iter().any(|saved| saved == "servicecidrs.networking.k8s.io");
    let found = preferred(&resources, "networking.k8s.io", "servicecidrs").filter(|_| is_saved);
    let Some(resource) = found else { return Ok(Vec::new()) };
    let object = profile.get(&resource.object_path(None, "kubernetes"))?.unwrap_or_default();
    let ranges = object.at(&["spec", "cidrs"]).and_then(Value::as_array).unwrap_or_default();
    Ok(ranges.iter().filter_map(|range| ServiceRange::parse(range.as_str()?)).collect())
}

/// Returns a resource in the preferred version, which comes first.
fn preferred<'r>(resources: &'r [Resource], group: &str, plural: &str) -> Option<&'r Resource> {
    resources.iter().find(|resource| resource.group == group && resource.plural == plural)
}

/// The saved objects of a resource.
struct Saved {
    folder: &'static str,
    resource: Resource,
    objects: Vec<Value>,
}

/// Reads all objects of a profile.
///
/// # Errors
/// Returns an error if a file cannot be read.
fn saved(profile: &Profile) -> Result<Vec<Saved>, ProfileError> {
    let resources = profile.resources();
    let mut all = Vec::new();
    for saved in SavedResource::ALL.iter().filter(|saved| profile.description().saved.contains(&saved.qualified())) {
        let Some(resource) = preferred(&resources, saved.group, saved.plural) else { continue };
        let mut list = profile.get(&resource.path(None))?.unwrap_or_default();
        let objects = match list.get_mut("items").map(std::mem::take) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        all.push(Saved { folder: saved.folder, resource: resource.clone(), objects });
    }
    for params in &profile.description().params {
        let is_it = |resource: &&Resource| {
            (&resource.group, &resource.version, &resource.plural) == (&params.group, &params.version, &params.plural)
        };
        let Some(resource) = resources.iter().find(is_it) else { continue };
        let objects = profile.params(params)?;
        let objects = objects.values().flatten().map(|(_, object)| Value::clone(object)).collect();
        all.push(Saved { folder: "params", resource: resource.clone(), objects });
    }
    Ok(all)
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

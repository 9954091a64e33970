//! Updates of existing objects of built-in kinds: the patch of `kubectl apply`, sent to a server that has the object.

use crate::apply::client_side;
use crate::apply::field_manager::LAST_APPLIED;
use crate::builtin::strategic;
use crate::builtin::types::Types;
use crate::kubectl::Verb;
use crate::kubectl::request::{self, RequestOptions};
use crate::kubectl::update::RequestKind;
use crate::output::report::Identity;
use crate::release::Release;
use crate::server::{Method, Namespaces, Response, Server};
use crate::text::json;
use crate::value::{Map, Value, group_version};
use std::sync::{Mutex, PoisonError};

/// A server with built-in kinds, created on first use. It has at most one object at a time.
#[derive(Debug, Default)]
pub struct BuiltInServer(Mutex<Option<Server>>);

/// The result of an update.
pub enum Updated {
    /// kubectl sends no request, because nothing changes.
    Unchanged,
    /// The server's response.
    Answered(Box<Response>),
    /// kubectl cannot compute the patch; its reason.
    NoPatch(String),
    /// The update cannot be simulated.
    Unknown,
}

/// An update of an object.
pub struct Update<'a> {
    /// The identity of the object.
    pub identity: &'a Identity,
    /// Its kind.
    pub kind: &'a str,
    /// The plural of the kind.
    pub plural: &'a str,
    /// The object as it is written in the input.
    pub sent: &'a Value,
    /// The existing object.
    pub existing: &'a Value,
}

impl BuiltInServer {
    /// Sends the update of `kubectl apply`, client-side or server-side.
    pub fn update(
        &self,
        release: Release,
        options: RequestOptions,
        request_kind: &RequestKind,
        update: &Update<'_>,
    ) -> Updated {
        let Update { identity, plural, existing, .. } = *update;
        let RequestKind { verb, force, manager, .. } = request_kind;
        let manager = manager.as_deref();
        if existing.str_at(&["apiVersion"]) != Some(&identity.api_version) {
            return Updated::Unknown;
        }
        let (group, version) = group_version::split(&identity.api_version);
        let (definition, namespace) = (format!("{plural}.{group}"), identity.namespace.as_deref());
        let options = RequestOptions { dry_run: false, table: false, ..options };
        let path = request::object(&request::collection(group, version, plural, namespace), &identity.name);
        let sent = in_namespace(update.sent.clone(), namespace);
        let request = match verb {
            Verb::ServerSide => {
                let query = format!("fieldManager={}&force={force}", request::encoded(manager.unwrap_or("kubectl")));
                request::write(Method::Patch, &path, "application/apply-patch+yaml", &query, sent, options)
            }
            _ => match three_way(release, update, sent) {
                Ok(patch) if patch.is_empty() => return Updated::Unchanged,
                Ok(patch) => {
                    let query =
                        format!("fieldManager={}", request::encoded(manager.unwrap_or("kubectl-client-side-apply")));
                    let patch = Value::Object(patch);
                    request::write(
                        Method::Patch,
                        &path,
                        "application/strategic-merge-patch+json",
                        &query,
                        patch,
                        options,
                    )
                }
                Err(reason) => return Updated::NoPatch(reason),
            },
        };
        let mut server = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let server = server.get_or_insert_with(|| {
            Server::builder(release, 0)
                .created_at(options.now)
                .with_built_in_kinds()
                .with_namespaces(Namespaces::Unchecked, &[])
                .build()
        });
        if storage_version(server, &definition).as_deref() != Some(version) {
            return Updated::Unknown;
        }
        let within = namespace.unwrap_or_default();
        if server.seed(&definition, within, existing.clone()).is_err() {
            return Updated::Unknown;
        }
        let response = server.take(request);
        server.withdraw(&definition, within, &identity.name);
        Updated::Answered(Box::new(response))
    }
}

/// The version in which a server stores a kind. Objects in other versions have other fields.
fn storage_version(server: &Server, definition: &str) -> Option<String> {
    let definition = server.definition(definition)?;
    let versions = definition.at(&["spec", "versions"])?.as_array()?.to_vec();
    let stored = versions.into_iter().find(|version| version.get("storage").and_then(Value::as_bool) == Some(true))?;
    stored.str_at(&["name"]).map(str::to_owned)
}

/// The patch of `kubectl apply`, or the reason why kubectl cannot compute it.
fn three_way(release: Release, update: &Update<'_>, sent: Value) -> Result<Map, String> {
    let types = Types::of(release.minor().number().into());
    let kind = types.of_kind(&update.identity.api_version, update.kind);
    let Some(kind) = kind else { return Err(format!("{} has no type", update.kind)) };
    let applied = update.existing.str_at(&["metadata", "annotations", LAST_APPLIED]).filter(|text| !text.is_empty());
    let original = match applied {
        Some(text) => json::read(text.as_bytes()).map_err(|error| error.message)?,
        None => Value::Object(Map::new()),
    };
    let modified = client_side::with_last_applied(sent);
    let none = Map::new();
    let [original, modified, current] = [&original, &modified, update.existing].map(|v| v.as_object().unwrap_or(&none));
    strategic::three_way(types, kind, original, modified, current).map_err(|error| error.to_string())
}

/// Sets the namespace, as kubectl does before it computes the patch.
fn in_namespace(mut object: Value, namespace: Option<&str>) -> Value {
    if let Some(namespace) = namespace
        && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
    {
        metadata.insert("namespace".to_owned(), namespace.into());
    }
    object
}

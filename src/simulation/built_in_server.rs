//! The requests for objects of built-in kinds, sent to a server that validates them: creates, replacements, and the patch of
//! `kubectl apply` to a server that has the object.

use crate::apply::client_side;
use crate::apply::field_manager::LAST_APPLIED;
use crate::builtin::strategic;
use crate::builtin::types::Types;
use crate::kubectl::request::{self, RequestOptions};
use crate::kubectl::update::{self as kubectl_update, RequestKind, Target};
use crate::kubectl::{FieldValidation, Verb};
use crate::output::report::Identity;
use crate::release::Release;
use crate::server::{Method, NamespaceState, Namespaces, Request, Response, Server};
use crate::text::json;
use crate::value::{Map, Value, group_version};
use std::sync::{Mutex, PoisonError};

/// A server with built-in kinds, created on first use. It has at most one object at a time.
#[derive(Debug, Default)]
pub struct BuiltInServer(Mutex<Option<Server>>);

/// The result of a request.
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

/// A create or an update of an object.
#[derive(Clone, Copy)]
pub struct Write<'a> {
    /// The identity of the object.
    pub identity: &'a Identity,
    /// Its kind.
    pub kind: &'a str,
    /// The plural of the kind.
    pub plural: &'a str,
    /// The object as it is written in the input.
    pub sent: &'a Value,
    /// The existing object of an update.
    pub existing: Option<&'a Value>,
}

impl BuiltInServer {
    /// Sends the create of an object that does not exist.
    pub fn create(
        &self,
        release: Release,
        options: RequestOptions,
        request_kind: &RequestKind,
        write: &Write<'_>,
    ) -> Updated {
        let options = RequestOptions { dry_run: true, table: false, ..options };
        let mut request = create_request(write, options, request_kind);
        request.hides_dry_run = true;
        let mut server = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Updated::Answered(Box::new(opened(&mut server, release, options).take(request)))
    }

    /// Sends the update of `kubectl apply`, client-side or server-side, or of `kubectl replace`.
    pub fn update(
        &self,
        release: Release,
        options: RequestOptions,
        request_kind: &RequestKind,
        write: &Write<'_>,
    ) -> Updated {
        let Write { identity, plural, existing, .. } = *write;
        let RequestKind { verb, force, manager, .. } = request_kind;
        let manager = manager.as_deref();
        let Some(existing) = existing else { return Updated::Unknown };
        if existing.str_at(&["apiVersion"]) != Some(&identity.api_version) {
            return Updated::Unknown;
        }
        let (group, version) = group_version::split(&identity.api_version);
        let (definition, namespace) = (format!("{plural}.{group}"), identity.namespace.as_deref());
        let options = RequestOptions { dry_run: false, table: false, ..options };
        let path = request::object(&request::collection(group, version, plural, namespace), &identity.name);
        let mut server = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let server = opened(&mut server, release, options);
        if storage_version(server, &definition).as_deref() != Some(version) {
            return Updated::Unknown;
        }
        let within = namespace.unwrap_or_default();
        if !store(server, existing, write, options) {
            return Updated::Unknown;
        }
        let updated = (|| {
            let stored = server.stored(&definition, within, &identity.name);
            let existing = stored.as_deref().unwrap_or(existing);
            let sent = in_namespace(write.sent.clone(), namespace);
            let request = match verb {
                Verb::ServerSide => {
                    let query =
                        format!("fieldManager={}&force={force}", request::encoded(manager.unwrap_or("kubectl")));
                    request::write(Method::Patch, &path, "application/apply-patch+yaml", &query, sent, options)
                }
                Verb::Replace => {
                    let target = target(&definition, version, &path, &identity.name);
                    let done = kubectl_update::send(server, target, sent, request_kind, options);
                    return done.map_or(Updated::Unknown, |done| Updated::Answered(Box::new(done.response)));
                }
                _ => match three_way(release, write, existing, sent) {
                    Ok(patch) if patch.is_empty() => return Updated::Unchanged,
                    Ok(patch) => {
                        let manager = request::encoded(manager.unwrap_or("kubectl-client-side-apply"));
                        let query = format!("fieldManager={manager}");
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
            Updated::Answered(Box::new(server.take(request)))
        })();
        server.withdraw(&definition, within, &identity.name);
        updated
    }
}

/// The server, which is created when it is needed first.
fn opened(server: &mut Option<Server>, release: Release, options: RequestOptions) -> &Server {
    server.get_or_insert_with(|| {
        Server::builder(release, 0)
            .created_at(options.now)
            .with_built_in_kinds()
            .with_content_validation()
            .with_generated_fields()
            .with_namespaces(Namespaces::Unchecked, &[])
            .build()
    })
}

fn target<'a>(definition: &'a str, version: &'a str, path: &'a str, name: &'a str) -> Target<'a> {
    let collection = path.strip_suffix(name).and_then(|path| path.strip_suffix('/')).unwrap_or(path);
    Target { definition, version, collection, name, namespace_state: NamespaceState::default() }
}

/// The request of `kubectl create` or of an apply that creates.
fn create_request(write: &Write<'_>, options: RequestOptions, request_kind: &RequestKind) -> Request {
    let identity = write.identity;
    let (group, version) = group_version::split(&identity.api_version);
    let namespace = identity.namespace.as_deref();
    let collection = request::collection(group, version, write.plural, namespace);
    let target = Target {
        definition: "",
        version,
        collection: &collection,
        name: &identity.name,
        namespace_state: NamespaceState::default(),
    };
    kubectl_update::create(target, in_namespace(write.sent.clone(), namespace), request_kind, options)
}

/// Stores the existing object. One that no server has stored yet is created, which completes it.
fn store(server: &Server, existing: &Value, write: &Write<'_>, options: RequestOptions) -> bool {
    let identity = write.identity;
    let (group, _) = group_version::split(&identity.api_version);
    if existing.str_at(&["metadata", "uid"]).is_none() {
        let create = Write { sent: existing, existing: None, ..*write };
        let options = RequestOptions { level: FieldValidation::Ignore, ..options };
        if server.take(create_request(&create, options, &RequestKind::default())).code < 300 {
            return true;
        }
    }
    let definition = format!("{}.{group}", write.plural);
    server.seed(&definition, identity.namespace.as_deref().unwrap_or_default(), existing.clone()).is_ok()
}

/// The version in which a server stores a kind. Objects in other versions have other fields.
fn storage_version(server: &Server, definition: &str) -> Option<String> {
    let definition = server.definition(definition)?;
    let versions = definition.at(&["spec", "versions"])?.as_array()?.to_vec();
    let stored = versions.into_iter().find(|version| version.get("storage").and_then(Value::as_bool) == Some(true))?;
    stored.str_at(&["name"]).map(str::to_owned)
}

/// The patch of `kubectl apply`, or the reason why kubectl cannot compute it.
fn three_way(release: Release, write: &Write<'_>, existing: &Value, sent: Value) -> Result<Map, String> {
    let types = Types::of(release.minor().number().into());
    let kind = types.of_kind(&write.identity.api_version, write.kind);
    let Some(kind) = kind else { return Err(format!("{} has no type", write.kind)) };
    let applied = existing.str_at(&["metadata", "annotations", LAST_APPLIED]).filter(|text| !text.is_empty());
    let original = match applied {
        Some(text) => json::read(text.as_bytes()).map_err(|error| error.message)?,
        None => Value::Object(Map::new()),
    };
    let modified = client_side::with_last_applied(sent);
    let none = Map::new();
    let [original, modified, current] = [&original, &modified, existing].map(|v| v.as_object().unwrap_or(&none));
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

//! The requests for one object. The server has the object only while they last, to limit its memory, and because the answers to
//! other objects must not depend on it.

use crate::kubectl::patch::PatchType;
use crate::kubectl::request::{self, RequestOptions};
use crate::kubectl::send::{self, ObjectTarget, Sender};
use crate::kubectl::{FieldValidation, RequestKind, Verb};
use crate::report::Identity;
use crate::simulation::kubectl_errors;
use crate::simulation::request_lock::{RequestGuard, RequestLock};
use crate::simulation::resource::SimulatedResource;
use crdx_server::server::{SeedError, Server};
use crdx_types::restore;
use crdx_types::table::table;
use crdx_types::types::Types;
use crdx_value::release::Release;
use crdx_value::{Value, group_version};
use std::sync::Arc;

/// The existing object of a request.
#[derive(Debug)]
pub enum ExistingObject {
    /// It is in the cluster, was read from one, or an earlier input of the same name is stored.
    Stored(Value),
    /// A manifest that the same command applied: an earlier input, or an old object that no server wrote.
    Manifest(Value),
}

/// The reason why no server could have stored an existing object.
#[derive(Debug, thiserror::Error)]
pub enum NotStorable {
    /// The release does not serve its version.
    #[error("Kubernetes {release} does not serve {api_version}")]
    NotServed { release: Release, api_version: String },
    /// It cannot be decoded.
    #[error(transparent)]
    Undecodable(#[from] SeedError),
}

/// The address of the requests for an object.
#[derive(Clone, Debug)]
pub struct Address {
    /// The name of the resource in the server.
    definition: String,
    version: String,
    /// The path of the collection.
    collection: String,
    /// Empty if the server generates the name.
    name: String,
    /// Empty for an object that is not namespaced.
    namespace: String,
}

impl Address {
    /// The address of an object of a resource, in the version of its apiVersion.
    pub fn new(resource: &SimulatedResource, identity: &Identity, name: &str) -> Self {
        Self::in_version(resource, identity, &identity.api_version, name)
    }

    /// The address of the same object in another version, which may be in another group.
    fn in_version(resource: &SimulatedResource, identity: &Identity, api_version: &str, name: &str) -> Self {
        let (group, version) = group_version::split(api_version);
        let namespace = identity.namespace.as_deref();
        Self {
            definition: [resource.plural(), ".", group].concat(),
            version: version.to_owned(),
            collection: request::collection(group, version, resource.plural(), namespace),
            name: name.to_owned(),
            namespace: namespace.unwrap_or_default().to_owned(),
        }
    }

    /// The name of the resource in the server.
    pub fn definition(&self) -> &str {
        &self.definition
    }

    /// The version of the object.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The target of requests.
    pub fn target<'a>(&'a self, patch: PatchType, sender: Option<&'a dyn Sender>) -> ObjectTarget<'a> {
        ObjectTarget {
            definition: &self.definition,
            version: &self.version,
            collection: &self.collection,
            name: &self.name,
            sender,
            patch,
        }
    }

    fn stored(&self, server: &Server) -> Option<Arc<Value>> {
        server.stored(&self.definition, &self.namespace, &self.name)
    }

    fn withdraw(&self, server: &Server) {
        server.withdraw(&self.definition, &self.namespace, &self.name);
    }
}

/// The requests for one object.
#[derive(Debug)]
pub struct Exchange<'a> {
    server: &'a Server,
    resource: &'a SimulatedResource,
    identity: &'a Identity,
    address: &'a Address,
    /// True if the requests store an object.
    stores: bool,
    /// The object of this name that policies read, such as a Namespace or a `ConfigMap` with params.
    read_by_policies: Option<Arc<Value>>,
    _guard: Option<RequestGuard<'a>>,
}

impl<'a> Exchange<'a> {
    /// Begins the requests for an object, with the lock of the server if others could be affected. They store an object if
    /// `stores` is true.
    pub fn begin(
        server: &'a Server,
        (resource, identity, address): (&'a SimulatedResource, &'a Identity, &'a Address),
        (lock, has_policies): (Option<&'a RequestLock>, bool),
        stores: bool,
    ) -> Self {
        let read_by_policies = || if has_policies { address.stored(server) } else { None };
        let guard = lock.map(|lock| lock.wait(stores || read_by_policies().is_some()));
        let read_by_policies = read_by_policies();
        if read_by_policies.is_some() {
            address.withdraw(server);
        }
        Self { server, resource, identity, address, stores, read_by_policies, _guard: guard }
    }

    /// Stores the existing object, which may have another version than the request. One that no server has stored yet is created,
    /// which completes it.
    ///
    /// # Errors
    /// Returns the reason why no server could have stored it.
    pub fn store(
        &self,
        existing: ExistingObject,
        request_kind: &RequestKind,
        options: RequestOptions,
    ) -> Result<(), NotStorable> {
        let (object, is_manifest) = match existing {
            ExistingObject::Stored(object) => (object, false),
            ExistingObject::Manifest(object) => (object, true),
        };
        let mut object = kubectl_errors::in_namespace(object, self.identity);
        let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
        let mut own = Address::in_version(self.resource, self.identity, api_version, &self.address.name);
        if let SimulatedResource::BuiltIn(resource) = self.resource {
            let is_served = |address: &Address| self.server.serves(&address.definition, &address.version);
            if !is_served(&own) {
                let to = (self.identity.api_version.as_str(), resource.kind);
                if !is_served(self.address) || !reads_alike(self.server, &object, to) {
                    let api_version = api_version.to_owned();
                    return Err(NotStorable::NotServed { release: self.server.release(), api_version });
                }
                object.insert_at(&["apiVersion"], self.identity.api_version.as_str().into());
                own = self.address.clone();
            }
        }
        let is_incomplete = !self.resource.is_defined() && object.str_at(&["metadata", "uid"]).is_none();
        if is_manifest || is_incomplete {
            let kind = if is_manifest { first_request(request_kind) } else { by_create() };
            let options = RequestOptions { level: FieldValidation::Ignore, dry_run: false, table: false, ..options };
            let target = own.target(PatchType::Merge, None);
            if let Ok(mut request) = send::for_absent(self.server, target, object.clone(), &kind, options) {
                (request.skips_admission, request.skips_validation) = (true, is_manifest);
                if self.server.handle_owned(request).code < 300 {
                    return Ok(());
                }
            }
        }
        Ok(self.server.seed(&own.definition, &own.namespace, object)?)
    }

    /// Ends the requests. Returns the object that the server has.
    pub fn end(self) -> Option<Arc<Value>> {
        let after = if self.stores { self.address.stored(self.server) } else { None };
        if after.is_some() {
            self.address.withdraw(self.server);
        }
        if let Some(stored) = self.read_by_policies {
            // It was stored before.
            let _ = self.server.seed(&self.address.definition, &self.address.namespace, Value::clone(&stored));
        }
        after
    }
}

/// A create: it adds no last-applied annotation, so that a later patch removes nothing that the input leaves out.
fn by_create() -> RequestKind {
    RequestKind { verb: Verb::Create, ..RequestKind::default() }
}

/// Returns the request kind with which the same command created the object.
fn first_request(request_kind: &RequestKind) -> RequestKind {
    let verb = if request_kind.verb == Verb::Replace { Verb::Create } else { request_kind.verb };
    RequestKind { verb, manager: request_kind.manager.clone(), ..RequestKind::default() }
}

/// The version whose conversion changes fields that the newer version has, too: an empty selector
/// (`pkg/apis/policy/v1beta1/conversion.go`).
const CHANGED: &str = "policy/v1beta1";

/// Returns true if an object in a version that the release does not serve has only fields that the version of the request has,
/// so that its conversion changes the apiVersion alone.
fn reads_alike(server: &Server, object: &Value, (to, kind): (&str, &str)) -> bool {
    let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
    let types = Types::for_release(server.release().minor().number().into());
    let is_known = table().kind(api_version, kind, types.release()).is_some() && api_version != CHANGED;
    let id = types.of_kind(to, kind).filter(|_| is_known);
    id.is_some_and(|id| restore::check(types, id, object).is_ok_and(|unknown| unknown.is_empty()))
}

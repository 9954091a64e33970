//! An API server for custom resources in the process of the caller: [`ApiServer`].
//!
//! ```text
//! manifest   what callers send          request     names, selectors, patch types, options
//! resource   the resource of a kind     response    results; row: their rows of tables
//! status     errors                     rule_cost   estimated costs of the rules of a CRD
//! ```

mod builder;
#[cfg(feature = "kube")]
mod kube_client;
mod large_stack;
mod manifest;
mod request;
mod resource;
mod response;
mod row;
mod rule_cost;
mod status;
#[cfg(test)]
mod tests;

pub use builder::ApiServerBuilder;
pub use crdx_engine::kubectl::FieldValidation;
pub use manifest::{IntoManifest, MAX_DEPTH, Manifest};
pub use request::{Collection, ObjectRef, PatchType, RequestOptions};
pub use response::{Defaulted, Mutated, Pruned, Response};
pub use row::{Cell, List, Row};
pub use rule_cost::{RuleCost, SufficientLimit};
pub use status::{Cause, Error, ManifestError, Position, Status};

use builder::Clock;
use crdx_engine::kubectl::request::{remove_cluster_state, remove_decodable_server_metadata};
use crdx_server::server::http::address;
use crdx_server::server::{Body, Method, Request, Response as Answer, Server};
use crdx_value::Value;
use crdx_value::release::Release;
use manifest::Document;
use request::MANAGER;
use resource::Resource;
use std::sync::Arc;

/// The kind of response that has the object and its row.
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// An API server for custom resources: it does what the Kubernetes API server does with CRDs and their objects, without
/// sockets, files and a cluster.
///
/// A clone is another handle to the same server. Handles may be sent to other threads. Every request runs on a thread of its
/// own with a large stack (except in WebAssembly), so that the threads of tests, which have 2 MiB, are sufficient; objects
/// may nest [`MAX_DEPTH`] levels.
///
/// ```
/// use crdx::{ApiServer, ObjectRef, PatchType, Value};
///
/// # fn main() -> Result<(), crdx::Error> {
/// let server = ApiServer::new();
/// # server.install(include_str!("../tests/kites.yaml"))?;
/// let kite = server.create("apiVersion: toys.example.com/v1\nkind: Kite\nmetadata: {name: dragon}\n")?;
/// let name = ObjectRef::from_object(&kite.object);
///
/// let longer = server.patch(&name, PatchType::Merge, "spec: {length: 20}")?;
/// assert_eq!(longer.at(&["spec", "length"]), Some(&Value::Int(20)));
/// assert_eq!(longer.at(&["metadata", "generation"]), Some(&Value::Int(2)));
///
/// server.delete(&name)?;
/// assert_eq!(server.get(&name).unwrap_err().status().unwrap().code, 404);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ApiServer {
    server: Arc<Server>,
    clock: Clock,
    options: RequestOptions,
}

impl Default for ApiServer {
    fn default() -> Self {
        Self::new()
    }
}

impl ApiServer {
    /// Creates a server of the newest release without objects.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Returns the options of a server, for [`ApiServerBuilder::build`].
    pub fn builder() -> ApiServerBuilder {
        ApiServerBuilder::default()
    }

    /// The release of Kubernetes.
    pub fn release(&self) -> Release {
        self.server.release()
    }

    /// A handle to the same server whose requests have these options.
    #[must_use]
    pub fn with(&self, options: RequestOptions) -> Self {
        Self { options, ..self.clone() }
    }

    /// Creates all objects of a text: CRDs first, then the others in their order. An object that exists is applied with
    /// force. What a cluster wrote into an object, such as `metadata.uid`, is removed first.
    ///
    /// # Errors
    /// Returns the error of the first object that is not created; those before it stay.
    pub fn install(&self, manifest: impl IntoManifest) -> Result<Vec<Response>, Error> {
        let manifest = manifest.into_manifest()?;
        large_stack::run(|| {
            let (definitions, others): (Vec<_>, Vec<_>) =
                manifest.documents()?.into_iter().partition(Document::is_definition);
            definitions.into_iter().chain(others).map(|document| self.install_one(document)).collect()
        })
    }

    fn install_one(&self, mut document: Document) -> Result<Response, Error> {
        let clean = if document.is_definition() { remove_cluster_state } else { remove_decodable_server_metadata };
        clean(&mut document.value);
        let created = self.write(Method::Post, &document, "");
        match created {
            Err(Error::Status(status)) if status.reason == "AlreadyExists" => {
                let forced = self.with(RequestOptions { force: true, ..self.options.clone() });
                forced.write(Method::Patch, &document, "")
            }
            other => other,
        }
    }

    /// Creates an object (POST).
    ///
    /// # Errors
    /// Returns an error if the object is not created.
    pub fn create(&self, object: impl IntoManifest) -> Result<Response, Error> {
        self.send_object(Method::Post, object, "")
    }

    /// Replaces an object (PUT). As in a cluster, the object needs the `metadata.resourceVersion` that it was read with.
    ///
    /// # Errors
    /// Returns an error if the object is not replaced.
    pub fn update(&self, object: impl IntoManifest) -> Result<Response, Error> {
        self.send_object(Method::Put, object, "")
    }

    /// Replaces the status of an object (PUT of `/status`).
    ///
    /// # Errors
    /// Returns an error if the status is not replaced.
    pub fn update_status(&self, object: impl IntoManifest) -> Result<Response, Error> {
        self.send_object(Method::Put, object, "status")
    }

    /// Applies an object with server-side apply, which creates or changes it.
    ///
    /// # Errors
    /// Returns an error if the object is not applied, such as a conflict with another field manager.
    pub fn apply(&self, object: impl IntoManifest) -> Result<Response, Error> {
        self.send_object(Method::Patch, object, "")
    }

    /// Applies the status of an object with server-side apply.
    ///
    /// # Errors
    /// Returns an error if the status is not applied.
    pub fn apply_status(&self, object: impl IntoManifest) -> Result<Response, Error> {
        self.send_object(Method::Patch, object, "status")
    }

    /// Patches an object or its subresource.
    ///
    /// # Errors
    /// Returns an error if the patch is not applied.
    pub fn patch(&self, name: &ObjectRef, patch_type: PatchType, patch: impl IntoManifest) -> Result<Response, Error> {
        let patch = patch.into_manifest()?;
        large_stack::run(|| {
            let document = patch.document()?;
            let path = self.path_of(name)?;
            let query = self.write_query(patch_type == PatchType::Apply);
            let request = self.request(Method::Patch, &path, &query, document.value.clone());
            let request = Request { content_type: Some(patch_type.content_type().to_owned()), ..request };
            Response::from_answer(self.server.handle(&request), Some(&document))
        })
    }

    /// Sets the replicas of an object (a merge patch of `/scale`), and returns its Scale.
    ///
    /// # Errors
    /// Returns an error if the object is not scaled, such as a kind without a scale subresource.
    pub fn scale(&self, name: &ObjectRef, replicas: i64) -> Result<Response, Error> {
        let replicas = crdx_value::object([("spec", crdx_value::object([("replicas", Value::Int(replicas))]))]);
        self.patch(&name.clone().subresource("scale"), PatchType::Merge, replicas)
    }

    /// Reads an object or its subresource.
    ///
    /// # Errors
    /// Returns an error if there is no such object.
    pub fn get(&self, name: &ObjectRef) -> Result<Response, Error> {
        self.send_name(Method::Get, name)
    }

    /// Deletes an object. If it has finalizers, it is only marked for deletion.
    ///
    /// # Errors
    /// Returns an error if there is no such object.
    pub fn delete(&self, name: &ObjectRef) -> Result<Response, Error> {
        self.send_name(Method::Delete, name)
    }

    /// Lists the objects of a kind.
    ///
    /// # Errors
    /// Returns an error if there is no such kind, or if a selector is not valid.
    pub fn list(&self, collection: &Collection) -> Result<List, Error> {
        large_stack::run(|| {
            let Collection { api_version, kind, namespace, labels, fields } = collection;
            let resource = Resource::find(self, api_version, kind)?;
            let selectors = [("labelSelector", labels), ("fieldSelector", fields)];
            let selectors = selectors.iter().filter(|(_, selector)| !selector.is_empty());
            let query = selectors.map(|(name, selector)| format!("&{name}={}", address::encoded(selector)));
            let query: String = query.collect();
            let path = resource.collection(namespace.as_deref());
            let request = self.request(Method::Get, &path, &query, Body::Empty);
            List::from_answer(self.server.handle(&request))
        })
    }

    /// Estimates the costs of the rules of a CRD, which need not be installed.
    ///
    /// ```
    /// # fn main() -> Result<(), crdx::Error> {
    /// let server = crdx::ApiServer::new();
    /// let costs = server.rule_costs(include_str!("../tests/kites.yaml"))?;
    /// assert_eq!(costs[0].expression, "self.length <= 100");
    /// assert!(!costs[0].is_too_high());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the object is not a CRD.
    pub fn rule_costs(&self, definition: impl IntoManifest) -> Result<Vec<RuleCost>, Error> {
        let definition = definition.into_manifest()?;
        large_stack::run(|| RuleCost::for_crd(&definition.document()?, self.release()))
    }

    /// The server itself, for requests that have no method here.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    fn send_object(&self, method: Method, object: impl IntoManifest, subresource: &str) -> Result<Response, Error> {
        let object = object.into_manifest()?;
        large_stack::run(|| self.write(method, &object.document()?, subresource))
    }

    fn send_name(&self, method: Method, name: &ObjectRef) -> Result<Response, Error> {
        large_stack::run(|| {
            let path = self.path_of(name)?;
            let query = if method == Method::Delete && self.options.dry_run { "&dryRun=All" } else { "" };
            let request = self.request(method, &path, query, Body::Empty);
            Response::from_answer(self.server.handle(&request), None)
        })
    }

    /// Sends an object to the path of its kind. A PATCH is an apply.
    fn write(&self, method: Method, document: &Document, subresource: &str) -> Result<Response, Error> {
        let name = document.text(&["metadata", "name"]);
        let resource = Resource::for_document(self, document)?;
        let namespace = Some(document.text(&["metadata", "namespace"])).filter(|namespace| !namespace.is_empty());
        let mut path = resource.collection(Some(namespace.unwrap_or(&self.options.namespace)));
        if method != Method::Post {
            if name.is_empty() {
                return Err(ManifestError::new("the object has no name", document.position("metadata")).into());
            }
            path = address::object(&path, name);
            if !subresource.is_empty() {
                path = address::object(&path, subresource);
            }
        }
        let (query, content_type) = match method {
            Method::Patch => (self.write_query(true), PatchType::Apply.content_type()),
            _ => (self.write_query(false), "application/json"),
        };
        let request = self.request(method, &path, &query, document.value.clone());
        let request = Request { content_type: Some(content_type.to_owned()), ..request };
        Response::from_answer(self.server.handle_owned(request), Some(document))
    }

    fn path_of(&self, name: &ObjectRef) -> Result<String, Error> {
        let ObjectRef { api_version, kind, name, namespace, subresource } = name;
        let resource = Resource::find(self, api_version, kind)?;
        let collection = resource.collection(Some(namespace.as_deref().unwrap_or(&self.options.namespace)));
        let path = address::object(&collection, name);
        Ok(match subresource {
            Some(subresource) => address::object(&path, subresource),
            None => path,
        })
    }

    /// The parameters of a write.
    fn write_query(&self, is_apply: bool) -> String {
        let RequestOptions { field_manager, field_validation, .. } = &self.options;
        let mut query = format!("&fieldManager={}", address::encoded(field_manager));
        query.push_str("&fieldValidation=");
        query.push_str(field_validation.as_str());
        query.push_str(if is_apply && self.options.force { "&force=true" } else { "" });
        query.push_str(if self.options.dry_run { "&dryRun=All" } else { "" });
        query
    }

    /// A request whose response is a Table with the object. `query` begins with `&` or is empty.
    fn request(&self, method: Method, path: &str, query: &str, body: impl Into<Body>) -> Request {
        Request {
            accept: Some(format!("{TABLE},application/json")),
            user_agent: Some(MANAGER.to_owned()),
            user: self.options.user.clone(),
            now: self.clock.now(),
            ..Request::new(method, &format!("{path}?includeObject=Object{query}"), body)
        }
    }

    /// Reads a path, such as one of discovery.
    fn read(&self, path: &str) -> Answer {
        let request = Request::new(Method::Get, path, Body::Empty);
        self.server.handle(&Request { accept: Some("application/json".to_owned()), now: self.clock.now(), ..request })
    }
}

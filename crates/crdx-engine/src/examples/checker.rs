//! A server with one CRD that checks objects by dry run.

use super::ExampleError;
use crate::kubectl::request::{remove_cluster_state, remove_server_metadata};
use crate::kubectl::{Operation, request};
use crdx_server::crd::{self, CustomResourceDefinition, Status};
use crdx_server::pipeline::compiled::{Dialect, SchemaNode};
use crdx_server::pipeline::rules::blocked;
use crdx_server::pipeline::validate::validate;
use crdx_server::schema::Schema;
use crdx_server::server::http::address;
use crdx_server::server::{Method, Request, Response, ResponseBody, Server, ServerBuilder, Timestamp};
use crdx_value::field::{ErrorList, FieldError, ROOT};
use crdx_value::release::Release;
use crdx_value::{Map, Value};
use std::sync::Arc;

/// The reason why the server rejects an object.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Rejection {
    /// The message.
    pub message: String,
    /// The field errors.
    pub errors: ErrorList,
    /// The cost and the steps of the rules.
    pub cost: u64,
    /// True if the server did not finish the request, so that its answer is not known.
    pub is_unfinished: bool,
}

/// The query of requests: nothing is stored, and unknown fields are errors.
const STRICT_DRY_RUN: &str = "dryRun=All&fieldValidation=Strict";

/// An update: the object that is sent, the existing object, and the server's answer.
pub type Update = (Value, Arc<Value>, Result<Arc<Value>, Rejection>);

/// A server with one CRD that checks objects of one version.
#[derive(Debug)]
pub struct Checker {
    /// The version, for example `v1`.
    pub version: String,
    /// `apiVersion` of the objects.
    pub api_version: String,
    /// `kind` of the objects.
    pub kind: String,
    /// The schema of the version.
    pub schema: Arc<Schema>,
    server: Arc<Server>,
    /// The name of the CRD.
    definition: String,
    collection: String,
    compiled: SchemaNode,
    release: Release,
}

impl Checker {
    /// Installs the CRD. The default version is the storage version.
    ///
    /// # Errors
    /// Returns an error if the server rejects the CRD, or the CRD does not serve the version.
    pub fn new(definition: &Value, version: Option<&str>, release: Release) -> Result<Self, ExampleError> {
        let server = builder(release).build();
        let mut sent = definition.clone();
        remove_cluster_state(&mut sent);
        remove_server_metadata(&mut sent);
        let answer = server.handle_owned(request::plain(Operation::Create, address::DEFINITIONS, sent));
        if answer.code >= 400 {
            return Err(ExampleError::Rejected(answer.body.message().to_owned()));
        }
        Self::on(Arc::new(server), &crd::decode(definition)?.crd, version, release)
    }

    /// Returns a server with a decoded CRD that the server is known to accept: it is not validated again.
    pub(crate) fn server_of_accepted(crd: &CustomResourceDefinition, release: Release) -> Arc<Server> {
        let server = builder(release).build();
        let metadata = Map::from_iter([("name".to_owned(), crd.name().into())]);
        let stored = CustomResourceDefinition { metadata, status: Status::default(), ..crd.clone() };
        server.seed_decoded_definition(stored, Timestamp::default());
        Arc::new(server)
    }

    /// As [`new`](Self::new), on a server that has the CRD.
    ///
    /// # Errors
    /// Returns an error if the CRD does not serve the version.
    pub(crate) fn on(
        server: Arc<Server>,
        crd: &CustomResourceDefinition,
        version: Option<&str>,
        release: Release,
    ) -> Result<Self, ExampleError> {
        let is_served = |name: &&str| crd.spec.version(name).is_some_and(|version| version.served);
        let wanted = version.or_else(|| crd.storage_version().filter(is_served));
        let mut served = crd.spec.versions.iter().filter(|one| one.served);
        let found = served.find(|one| wanted.is_none_or(|wanted| one.name == wanted));
        let missing = || wanted.map_or(ExampleError::NoVersions, |wanted| ExampleError::NoVersion(wanted.to_owned()));
        let version = &found.ok_or_else(missing)?.name;
        let schema = crd.spec.schema(version).cloned().unwrap_or_default();
        let namespace = crd.spec.namespaced().then_some("default");
        Ok(Self {
            version: version.clone(),
            definition: crd.name().to_owned(),
            collection: address::collection(&crd.spec.group, version, &crd.spec.names.plural, namespace),
            api_version: format!("{}/{version}", crd.spec.group),
            kind: crd.spec.names.kind.clone(),
            compiled: SchemaNode::compile(&schema, Dialect::Objects, release),
            schema,
            server,
            release,
        })
    }

    /// Returns the reason why the server rejects the create of an object; `None` if it accepts it. Unknown fields are
    /// rejected.
    pub fn create(&self, object: &Value) -> Option<Rejection> {
        self.send(object).err()
    }

    /// Creates an object by dry run and returns it as it would be stored.
    ///
    /// # Errors
    /// Returns the reason why the server rejects the object.
    pub fn send(&self, object: &Value) -> Result<Arc<Value>, Rejection> {
        let path = format!("{}?{STRICT_DRY_RUN}", self.collection);
        answered(self.server.handle_owned(request::plain(Operation::Create, &path, object.clone())))
    }

    /// As [`send`](Self::send), for a client that does not ask for errors about unknown fields: they are dropped.
    ///
    /// # Errors
    /// Returns the reason why the server rejects the object.
    pub(crate) fn send_with_unknown_fields(&self, object: &Value) -> Result<Arc<Value>, Rejection> {
        let path = format!("{}?dryRun=All&fieldValidation=Ignore", self.collection);
        answered(self.server.handle_owned(request::plain(Operation::Create, &path, object.clone())))
    }

    /// Creates `initial`, updates it to `updated` by dry run, and deletes it again. `None` if the server rejects
    /// `initial`.
    pub fn update(&self, initial: &Value, updated: &Value) -> Option<Update> {
        let created = self.server.handle_owned(request::plain(Operation::Create, &self.collection, initial.clone()));
        let old = answered(created).ok()?;
        let mut sent = updated.clone();
        if let Some(metadata) = sent.get_mut("metadata").and_then(Value::as_object_mut) {
            for key in ["name", "namespace", "resourceVersion"] {
                metadata.extend(old.at(&["metadata", key]).map(|value| (key.to_owned(), value.clone())));
            }
        }
        let path = address::object(&self.collection, old.str_at(&["metadata", "name"]).unwrap_or_default());
        let replace = request::plain(Operation::Replace, &format!("{path}?{STRICT_DRY_RUN}"), sent.clone());
        let answer = answered(self.server.handle_owned(replace));
        self.server.handle(&Request::new(Method::Delete, &path, ""));
        Some((sent, old, answer))
    }

    /// Returns the errors of a rejection except the last one if it only reports that rules were not evaluated.
    pub(crate) fn own_errors<'r>(&self, rejection: &'r Rejection) -> &'r [FieldError] {
        own_errors(&rejection.errors, self.release)
    }

    /// Returns the object after pruning and defaulting; `None` if it cannot be decoded.
    pub(crate) fn defaulted(&self, object: &Value) -> Option<Value> {
        self.server.read_of(&self.definition, &self.version, object)?.ok()
    }

    /// Returns true if the object violates the schema itself, so that the server does not evaluate rules.
    pub(crate) fn violates_schema(&self, object: &Value) -> bool {
        !validate(object, &self.compiled, &ROOT, self.release).is_empty()
    }
}

/// Returns the errors except the last one if it only reports that rules were not evaluated.
pub(crate) fn own_errors(errors: &[FieldError], release: Release) -> &[FieldError] {
    match errors.split_last() {
        Some((last, others)) if blocked(&others.to_vec(), release).as_ref() == Some(last) => others,
        _ => errors,
    }
}

fn builder(release: Release) -> ServerBuilder {
    Server::builder(release, 0).without_managed_fields().without_history()
}

fn answered(answer: Response) -> Result<Arc<Value>, Rejection> {
    match answer.body {
        ResponseBody::Json(object) if answer.code < 400 => Ok(object),
        body => Err(Rejection {
            message: body.message().to_owned(),
            errors: answer.trace.errors,
            cost: answer.trace.cost,
            is_unfinished: answer.trace.is_unfinished,
        }),
    }
}

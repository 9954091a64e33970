//! A server with one CRD that answers whether it would accept an object.

use super::ExampleError;
use crate::crd;
use crate::field::{ErrorList, ROOT};
use crate::kubectl::request::{remove_cluster_state, remove_server_metadata};
use crate::pipeline::compiled::{Dialect, Node};
use crate::pipeline::validate::validate;
use crate::release::Release;
use crate::schema::Schema;
use crate::server::http::address;
use crate::server::{Method, Request, Response, Server};
use crate::value::Value;
use std::sync::Arc;

/// Why the server rejects an object.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// The message.
    pub message: String,
    /// The field errors.
    pub errors: ErrorList,
}

/// A server with one CRD, and the version of it whose objects are checked.
#[derive(Debug)]
pub struct Checker {
    /// The version, `v1` for example.
    pub version: String,
    /// `apiVersion` of the objects.
    pub api_version: String,
    /// `kind` of the objects.
    pub kind: String,
    /// The schema of the version.
    pub schema: Arc<Schema>,
    server: Server,
    collection: String,
    compiled: Node,
    release: Release,
}

impl Checker {
    /// Installs the CRD. By default the version is the one in which objects are stored.
    ///
    /// # Errors
    /// When the server rejects the CRD, or the CRD does not serve the version.
    pub fn new(definition: &Value, version: Option<&str>, release: Release) -> Result<Self, ExampleError> {
        let crd = crd::decode(definition).map_err(ExampleError::Unreadable)?.crd;
        let server = Server::new(release, 0).without_managed_fields();
        let mut definition = definition.clone();
        remove_cluster_state(&mut definition);
        remove_server_metadata(&mut definition);
        let answer = server.handle(&Request::new(Method::Post, address::DEFINITIONS, definition));
        if answer.code >= 400 {
            return Err(ExampleError::Rejected(answer.body.message().to_owned()));
        }
        let is_served = |name: &&str| crd.spec.version(name).is_some_and(|version| version.served);
        let wanted = version.or_else(|| crd.storage_version().filter(is_served));
        let mut served = crd.spec.versions.iter().filter(|one| one.served);
        let found = served.find(|one| wanted.is_none_or(|wanted| one.name == wanted));
        let version = &found.ok_or_else(|| ExampleError::NoVersion(wanted.map(str::to_owned)))?.name;
        let schema = crd.spec.schema(version).cloned().unwrap_or_default();
        let namespace = crd.spec.namespaced().then_some("default");
        Ok(Self {
            version: version.clone(),
            collection: address::collection(&crd.spec.group, version, &crd.spec.names.plural, namespace),
            api_version: format!("{}/{version}", crd.spec.group),
            kind: crd.spec.names.kind.clone(),
            compiled: Node::compile(&schema, Dialect::Objects, release),
            schema,
            server,
            release,
        })
    }

    /// The server's answer to the create of an object: `None` if it is accepted, with no unknown fields.
    pub fn create(&self, object: &Value) -> Option<Rejection> {
        let path = format!("{}?dryRun=All&fieldValidation=Strict", self.collection);
        rejection(self.server.handle(&Request::new(Method::Post, &path, object.clone())))
    }

    /// Whether the object violates the schema itself, so that the server runs no rules.
    pub fn violates_schema(&self, object: &Value) -> bool {
        !validate(object, &self.compiled, &ROOT, self.release).is_empty()
    }
}

fn rejection(answer: Response) -> Option<Rejection> {
    (answer.code >= 400).then(|| Rejection { message: answer.body.message().to_owned(), errors: answer.trace.errors })
}

//! Sends an object: as a dry run if it does not exist, and otherwise to the server that stores the existing object.

use super::exchange::Address;
use super::field_managers;
use crate::kubectl::request::RequestOptions;
use crate::kubectl::send::{self, ObjectTarget};
use crate::kubectl::short_create;
use crate::kubectl::{Action, Operation, UnsentError};
use crate::simulation::context::SimulationContext;
use crate::simulation::identity::FieldLocator;
use crate::simulation::known_cluster::KnownCluster;
use crate::simulation::resource::SimulatedResource;
use crdx_server::apply::client_side;
use crdx_server::server::{Request, Response, Server};
use crdx_text::Syntax;
use crdx_types::encode;
use crdx_types::types::Types;
use crdx_value::group_version::api_version;
use crdx_value::{Value, json};
use std::sync::Arc;

/// An object to send.
#[derive(Clone, Copy)]
pub struct Submission<'a> {
    /// The options.
    pub context: SimulationContext<'a>,
    /// The server.
    pub server: &'a Server,
    /// The resource of the object.
    pub resource: &'a SimulatedResource,
    /// The address of the object.
    pub address: &'a Address,
    /// The known state of the cluster.
    pub cluster: &'a Arc<KnownCluster>,
    /// Finds the fields of the object in its source.
    pub locator: &'a dyn FieldLocator,
    /// The request if the object does not exist, and `None` if it does.
    pub absent: Option<Operation>,
    /// True if creating the object again gives the same object.
    pub is_reproducible: bool,
    /// True if the managers of the existing object's fields are not known.
    pub hides_managers: bool,
}

/// The answer to a request.
pub struct Answer {
    /// The response.
    pub response: Response,
    /// The action performed, or simulated in a dry run.
    pub action: Action,
    /// The object before the request.
    pub before: Option<Arc<Value>>,
    /// The object as it was sent, if it is needed afterwards.
    pub sent: Option<Value>,
}

impl Submission<'_> {
    /// The target of requests.
    pub fn target(&self) -> ObjectTarget<'_> {
        let patch = self.resource.patch(self.server.release());
        self.address.target(patch, Some(self.cluster))
    }

    /// Sends the request.
    ///
    /// # Errors
    /// Returns the reason why kubectl would refuse to send a request.
    pub fn send(&self, object: Value) -> Result<Answer, UnsentError> {
        match self.absent {
            Some(operation) => self.send_absent(object, operation),
            None => self.update(object, RequestOptions { dry_run: false, ..self.context.request_options }),
        }
    }

    /// Returns the response if the manager applied the fields of the existing object before.
    pub fn response_if_applied_before(&self, object: Value) -> Option<Response> {
        let (kind, options) = (&self.context.updates.request_kind, self.context.request_options);
        field_managers::response_if_applied_before(self.server, self.target(), object, kind, options)
    }

    /// Sends an object that does not exist. A dry run is sufficient: its response is the object that would be stored.
    fn send_absent(&self, object: Value, operation: Operation) -> Result<Answer, UnsentError> {
        let kind = &self.context.updates.request_kind;
        let table = self.context.request_options.table && self.resource.is_defined();
        let options = RequestOptions { dry_run: true, table, ..self.context.request_options };
        let (mut request, sent) = if operation.is_create() {
            self.create(object, options)
        } else {
            let sent = self.kept(&object);
            (send::for_absent(self.server, self.target(), object, kind, options)?, sent)
        };
        // Policies can read the dry-run option.
        request.hides_dry_run = true;
        let response = self.target().handle(self.server, request);
        let action = if response.code == 201 || kind.may_create() { Action::Create } else { Action::Update };
        Ok(Answer { response, action, before: None, sent })
    }

    /// Sends an object as a dry run, which stores nothing.
    ///
    /// # Errors
    /// Returns the reason why kubectl would refuse to send a request.
    pub fn send_dry_run(&self, object: Value) -> Result<Answer, UnsentError> {
        match self.absent {
            Some(operation) => self.send_absent(object, operation),
            None => self.update(object, RequestOptions { dry_run: true, ..self.context.request_options }),
        }
    }

    /// The request that creates an object. Without the last-applied annotation, most objects are sent faster.
    fn create(&self, mut object: Value, options: RequestOptions) -> (Request, Option<Value>) {
        let kind = &self.context.updates.request_kind;
        let target = self.target();
        let needs_annotation = !self.is_reproducible || self.context.depends_on_annotation(target.name);
        if needs_annotation || !self.is_short(&object) {
            let sent = self.kept(&object);
            return (send::create(target, object, kind, options), sent);
        }
        let SimulatedResource::BuiltIn(resource) = self.resource else {
            let sent = self.kept(&object);
            return (short_create::create_unannotated(target, object, kind, options), sent);
        };
        client_side::drop_nulls(&mut object);
        let types = Types::for_release(self.server.release().minor().number().into());
        let api_version = api_version(resource.group, resource.version);
        let is_of_kind = object.str_at(&["kind"]) == Some(resource.kind);
        let id = types.of_kind(&api_version, resource.kind).filter(|_| is_of_kind);
        let encoded = id.map(|id| encode::encode(types, id, &object)).filter(|encoded| encoded.conforms);
        match encoded {
            Some(encoded) => (short_create::create_encoded(target, encoded, kind, options), Some(object)),
            None => (send::create(target, object.clone(), kind, options), Some(object)),
        }
    }

    /// Sends the request for an existing object.
    fn update(&self, object: Value, options: RequestOptions) -> Result<Answer, UnsentError> {
        let options = RequestOptions { table: false, ..options };
        let sent = self.kept(&object);
        let outcome = send::send(self.server, self.target(), object, &self.context.updates.request_kind, options)?;
        Ok(Answer { response: outcome.response, action: outcome.action, before: outcome.before, sent })
    }

    /// Returns a copy of an object of a built-in kind, with which the stored object is compared.
    fn kept(&self, object: &Value) -> Option<Value> {
        (!self.resource.is_defined()).then(|| object.clone())
    }

    /// The text from which the object can be created again.
    pub fn text(&self) -> Option<(&[u8], Syntax)> {
        self.locator.text().filter(|_| self.is_reproducible)
    }

    /// Returns true if the object is far below the limits for its size.
    fn is_short(&self, object: &Value) -> bool {
        self.text().is_some_and(|(text, _)| is_short(text)) || !json::is_longer_than(object, short_create::SHORT)
    }
}

/// Returns true if the JSON of an object with this text is certainly not longer than [`short_create::SHORT`].
fn is_short(text: &[u8]) -> bool {
    /// No byte of YAML without aliases becomes more bytes of JSON: `<` becomes `\u003c`, and `1e20` 21 digits.
    const GROWTH: usize = 8;
    text.len() <= short_create::SHORT / GROWTH && !crdx_text::contains(text, "&")
}

//! Sends an object: as a dry run if it is created, and otherwise to the server that stores the existing object.

use crate::kubectl::FieldValidation;
use crate::kubectl::request::RequestOptions;
use crate::kubectl::send::{self, ObjectTarget};
use crate::report::{Diagnostic, Identity, ObjectReport, Verdict};
use crate::simulation::admission::admitted;
use crate::simulation::answer::read_response;
use crate::simulation::context::SimulationContext;
use crate::simulation::earlier_object::EarlierObject;
use crate::simulation::hints::Hints;
use crate::simulation::identity::FieldLocator;
use crate::simulation::known_cluster::KnownCluster;
use crate::simulation::kubectl_errors;
use crate::simulation::simulated::Simulated;
use crate::simulation::unsent::Unsent;
use crdx_text::Syntax;
use crdx_value::{Value, json};
use std::sync::Arc;

/// An object to send.
#[derive(Clone, Copy)]
pub struct Submission<'a> {
    /// The server and the options.
    pub context: SimulationContext<'a>,
    /// The resource of the object.
    pub target: ObjectTarget<'a>,
    /// The known state of the cluster.
    pub cluster: &'a Arc<KnownCluster>,
    /// Hints of the schema.
    pub schema: &'a Hints<'a>,
    /// Finds the fields of the object in its source.
    pub locator: &'a dyn FieldLocator,
    /// True if the object does not exist and the request creates it.
    pub creates: bool,
    /// True if the object does not exist and the request may create it.
    pub may_create: bool,
    /// The text from which the object can be created again.
    pub text: Option<(&'a [u8], Syntax)>,
}

/// The item of the response, and the object that is stored for later inputs with the same name.
pub struct Sent {
    /// The item.
    pub item: ObjectReport,
    /// The stored object; `None` after a dry run, whose response is the object that would be stored.
    pub stored: Option<EarlierObject>,
}

impl Submission<'_> {
    /// Sends the request.
    ///
    /// # Errors
    /// Returns the item of an object for which kubectl sends no request, and the stored object.
    pub fn send(&self, object: Value, identity: Identity) -> Result<Sent, Box<Simulated>> {
        // Most requests are creates, for which a dry run is sufficient: its response is the object that would be stored.
        if self.creates { Ok(self.create(object, identity)) } else { self.update(object, identity) }
    }

    fn create(&self, object: Value, identity: Identity) -> Sent {
        let Self { context, target, text, .. } = *self;
        let request_options = RequestOptions { dry_run: true, ..context.request_options };
        // An object without text is kept with the annotation, and policies read the annotation.
        let is_short = text.is_some_and(|(text, _)| is_short(text)) || !json::is_longer_than(&object, send::SHORT);
        let needs_annotation = text.is_none() || !is_short || context.depends_on_annotation(target.name);
        let create = if needs_annotation { send::create } else { send::create_unannotated };
        let mut request = create(target, object, &context.updates.request_kind, request_options);
        // Policies can read the dry-run option.
        request.hides_dry_run = true;
        let mut response = target.handle(context.server, request);
        let findings = response.trace.policies.take();
        let mut item = read_response(response, identity, self.locator, self.schema);
        admitted(&mut item, findings, context.admission);
        item.hidden = hidden_errors(self, &item);
        Sent { item, stored: None }
    }

    fn update(&self, object: Value, identity: Identity) -> Result<Sent, Box<Simulated>> {
        let Self { context, target, .. } = *self;
        let request_options = RequestOptions { dry_run: false, table: false, ..context.request_options };
        let sent = send::send(context.server, target, object, &context.updates.request_kind, request_options);
        let mut done = match sent {
            Ok(done) => done,
            Err(error) => {
                let stored = take_stored(context, target.definition, &identity);
                let item = Unsent::from(error).item(identity, self.locator);
                return Err(Box::new(Simulated { item, stored }));
            }
        };
        let findings = done.response.trace.policies.take();
        // The response shares a written object with the server, which need not copy it if it is withdrawn.
        let is_written = done.response.code < 300;
        let written = is_written.then(|| take_stored(context, target.definition, &identity));
        let mut item = read_response(done.response, identity, self.locator, self.schema);
        admitted(&mut item, findings, context.admission);
        item.hidden = hidden_errors(self, &item);
        let stored = written.unwrap_or_else(|| take_stored(context, target.definition, &item.identity));
        item.action = done.action;
        item.before = context.updates.compares.and(done.before);
        if context.request_options.table
            && let Some(object) = &item.object
        {
            let objects = std::slice::from_ref(object);
            let now = context.request_options.now;
            item.table = context.server.table_of(target.definition, target.version, objects, now);
        }
        Ok(Sent { item, stored: Some(stored) })
    }
}

/// Returns true if the JSON of an object with this text is certainly not longer than [`send::SHORT`].
fn is_short(text: &[u8]) -> bool {
    /// No byte of YAML without aliases becomes more bytes of JSON: `<` becomes `\u003c`, and `1e20` 21 digits.
    const GROWTH: usize = 8;
    text.len() <= send::SHORT / GROWTH && !crdx_text::contains(text, "&")
}

/// Moves an object from the server, to limit its memory, to the store for later inputs with the same name.
fn take_stored(context: SimulationContext<'_>, definition: &str, identity: &Identity) -> EarlierObject {
    let namespace = identity.namespace.as_deref().unwrap_or_default();
    let Some(object) = context.server.stored(definition, namespace, &identity.name) else { return EarlierObject::None };
    let stored = EarlierObject::put(context.store, &object, None);
    context.server.withdraw(definition, namespace, &identity.name);
    stored
}

/// Returns true if an object was refused because of unknown fields, before other validation.
fn refuses_unknown_fields(item: &ObjectReport, request_options: RequestOptions) -> bool {
    // A patch with unknown fields is invalid (422).
    request_options.level == FieldValidation::Strict
        && !item.pruned.is_empty()
        && item.answer.as_ref().is_some_and(|answer| matches!(answer.code, 400 | 422))
        && item.errors.iter().all(|error| item.pruned.iter().any(|unknown| error.field.as_ref() == Some(&unknown.path)))
}

/// Returns the errors that the server would report if it pruned unknown fields instead of refusing them: sends the same
/// request with `fieldValidation=Warn` as a dry run.
fn hidden_errors(submission: &Submission<'_>, item: &ObjectReport) -> Vec<Diagnostic> {
    let Submission { context, target, cluster, creates, may_create, locator, schema, .. } = *submission;
    let namespace = item.identity.namespace.as_deref();
    let refuses_namespace = may_create
        && item.verdict == Verdict::Rejected
        && namespace.is_some_and(|namespace| cluster.refuses_objects_in(namespace));
    if !refuses_unknown_fields(item, context.request_options) && !refuses_namespace {
        return Vec::new();
    }
    // Validation comes after the namespace: show its errors, too.
    let unchecked = Arc::new(cluster.without_namespaces());
    let target = ObjectTarget { sender: Some(if refuses_namespace { &unchecked } else { cluster }), ..target };
    let Some(object) = locator.object() else { return Vec::new() };
    let object = kubectl_errors::in_namespace(object, &item.identity);
    let request_options =
        RequestOptions { level: FieldValidation::Warn, dry_run: true, table: false, ..context.request_options };
    let request_kind = &context.updates.request_kind;
    let response = if creates {
        let mut request = send::create(target, object, request_kind, request_options);
        request.hides_dry_run = true;
        target.handle(context.server, request)
    } else {
        match send::send(context.server, target, object, request_kind, request_options) {
            Ok(sent) => sent.response,
            Err(_) => return Vec::new(),
        }
    };
    let errors = read_response(response, item.identity.clone(), locator, schema).errors;
    // A server that has the Namespace itself refuses it again.
    if errors == item.errors { Vec::new() } else { errors }
}

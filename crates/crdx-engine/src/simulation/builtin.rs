//! Simulates the server's decoding of built-in kinds, the validation of many of them, and admission policies on them.

mod admission;
mod changes;
mod cluster_state;
mod decoded;
mod kept;
mod policies;
pub mod service_allocations;
mod service_families;
mod size;
mod unknown_objects;

use super::admission::admitted;
use super::built_in_server::{ExistingObject, Updated, Write, WriteOptions};
use super::context::SimulationContext;
use super::earlier_object::EarlierObject;
use super::existing::{ExistingObjects, Found, PendingObject};
use super::simulated::{Before, Simulated};
use crate::kubectl::send as kubectl_send;
use crate::kubectl::written_metadata::hide_bookkeeping;
use crate::kubectl::{FieldValidation, UnsentError, Verb};
use crate::report::{
    ASK_THE_CLUSTER, Action, Diagnostic, FieldHint, Identity, ObjectReport, PrunedField, ServerResponse, Verdict,
};
use crate::simulation::answer::read_built_in_response;
use crate::simulation::generated_name;
use crate::simulation::identity::{self, FieldLocator, Namespace};
use crate::simulation::known_cluster::KnownCluster;
use crate::simulation::known_cluster::created::Created;
use crate::simulation::kubectl_errors;
use crate::simulation::object::{Kind, Object};
use crate::simulation::served::deprecation;
pub(crate) use crate::simulation::served::{no_matches, not_served};
use crate::simulation::unsent::{Unsent, not_determined};
use cluster_state::{check_namespace, existing, is_served};
use crdx_builtin::validation;
use crdx_server::apply::client_side;
use crdx_server::policies::findings::Findings;
use crdx_server::server::Response;
use crdx_types::encode::Encoded;
use crdx_types::resources::{self, ApiResource};
use crdx_types::table::{self, KindRow};
use crdx_types::types::{TypeId, Types};
use crdx_types::{Endpoint, conforms, decode, encode};
use crdx_value::group_version::api_version;
use crdx_value::release::Release;
use crdx_value::{Value, json};
use decoded::{BAD_REQUEST, PUBLISHED_SCHEMA, decoded_item, undecodable_item};
use kept::AcceptedObject;
pub use kept::is_named;
use service_families::Families;
use std::collections::HashSet;
use std::sync::Arc;

/// The options for built-in kinds.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The simulated release.
    pub release: Release,
    /// The field validation of requests.
    pub level: FieldValidation,
    /// The kubectl command that sends the request.
    pub verb: Verb,
}

impl Rules {
    /// Returns N of Kubernetes 1.N.
    fn minor(self) -> u32 {
        self.release.minor().number().into()
    }

    /// Returns N of the emulated Kubernetes 1.N.
    fn emulated(self) -> u32 {
        self.release.emulated().number().into()
    }
}

/// Returns the existing object in the cluster, if the request for an object depends on it.
pub fn pending(
    rules: Rules,
    existing: &ExistingObjects,
    namespace: &str,
    object: &Value,
    (group, version, kind): &Kind,
) -> Option<PendingObject> {
    if group == crdx_server::policies::GROUP {
        return None;
    }
    let api_version = api_version(group, version);
    let resource = resources::of_kind(&api_version, kind, rules.emulated()).filter(|resource| resource.writable)?;
    let row = table::table().kind(&api_version, resource.kind, rules.minor()).filter(|row| row.served)?;
    let namespace = if row.cluster { Namespace::None } else { Namespace::Or(namespace) };
    let identity = identity::identity(object, namespace);
    if identity.name.is_empty() { None } else { existing.pending(&identity, &resources::plural(resource.kind)) }
}

/// Sends an object of a built-in kind. `created` are the objects of earlier inputs, and `before` is the state of the object itself.
pub(super) fn submit(
    rules: Rules,
    context: SimulationContext<'_>,
    object: Object,
    kind: &Kind,
    created: &Created,
    before: Before,
) -> Simulated {
    let source = (!kubectl_errors::has_plain_metadata(object.value())).then(|| object.document.source_only());
    let prefix = generated_name::prefix(object.value());
    let mut simulated = decode(rules, context, object, kind, created, before);
    // The server rejects every object whose metadata kubectl cannot decode.
    let rejected = source.filter(|_| simulated.item.verdict == Verdict::Rejected);
    let undecodable = |source| kubectl_errors::undecodable_source(source, &simulated.item);
    if let Some(undecodable) = rejected.and_then(undecodable) {
        simulated.item = undecodable;
    } else if let Some(prefix) = prefix {
        generated_name::complete(&mut simulated.item, &prefix, rules.verb);
    }
    simulated
}

/// Decodes an object as the server does, in the form in which kubectl sends it, and lets policies evaluate it.
/// `earlier` is what it depends on of earlier inputs, and `before` the state of the object itself.
fn decode(
    rules: Rules,
    context: SimulationContext<'_>,
    object: Object,
    kind: &Kind,
    earlier: &Created,
    before: Before,
) -> Simulated {
    let (group, version, kind) = kind;
    let api_version = api_version(group, version);
    let resource = resources::of_kind(&api_version, kind, rules.emulated());
    // The kind of the resource differs if kubectl finds it in lower case.
    let kind = resource.map_or(kind.as_str(), |resource| resource.kind);
    let endpoint = Endpoint { group: group.clone(), version: version.clone(), kind: kind.to_owned() };
    let (mut object, row) = match served_row(rules, context, object, &endpoint, resource) {
        Ok(found) => found,
        Err(item) => return (*item).into(),
    };
    if group == crdx_server::policies::GROUP
        && let Some(resource) = resource
    {
        return policies::submit(rules.release, context, object, resource, before.stored);
    }
    let namespace = if row.cluster { Namespace::None } else { Namespace::Or(context.namespace) };
    let identity = identity::identity(object.value(), namespace);
    let mut sent = object.take_value();
    // The patch of an update, policies and the last-applied annotation depend on nulls.
    let depends_on_nulls = before.stored != EarlierObject::None
        || context.admission.is_some()
        || context.updates.existing.may_find()
        || context.show_last_applied;
    let written = depends_on_nulls.then(|| sent.clone());
    // Any text of kubectl's last-applied annotation can be decoded.
    if rules.verb == Verb::Apply {
        client_side::drop_nulls(&mut sent);
    }
    let input_warnings = std::mem::take(&mut object.warnings);
    let locator = object.finder();
    let mut item = ObjectReport::new(locator.start(), Verdict::Decodes, "");
    item.warnings.extend(deprecation(row, &identity, rules.minor(), &locator));
    item.identity = identity;
    if let Some((code, reason, message)) = resource.and_then(|resource| not_allowed(resource, rules.verb)) {
        reject_with(&mut item, ServerResponse { code, reason: reason.to_owned(), message: message.to_owned() });
        return item.into();
    }
    let plural = resources::plural(kind);
    let (found, is_input) = cluster_state::earlier(context, before.stored)
        .unwrap_or_else(|| (existing(context, &item.identity, &plural, before.pending), false));
    // The server that validates serves the resources of the default configuration only.
    let covered = resource.is_some() && validation::covers(group, kind);
    let request_kind = &context.updates.request_kind;
    // An object that the user may not read is taken for a new one, which a note says. Any other object that may exist is not.
    let is_new = match &found {
        Found::Nothing => true,
        Found::Error(error) => error.is_refused() && request_kind.may_create(),
        Found::Object(..) | Found::Two(..) => false,
    };
    let operation = request_kind.operation(kept::is_named(&sent), false);
    let creates = covered && is_new && operation.is_create();
    // The server decodes the object of any other request, in the words for that request.
    let is_sent = covered && is_new && !operation.is_create();
    let types = Types::for_release(rules.minor());
    let endpoint_of_types = (types, api_version.as_str(), kind);
    let is_reproducible = kept::is_reproducible(context, kind);
    // Most objects are decoded without findings, which can be told without their JSON.
    let (encoded, has_findings) = if creates && is_reproducible && !context.depends_on_annotation(&item.identity.name) {
        let encoded = encoded_plain(endpoint_of_types, &sent);
        let has_findings = encoded.is_none();
        (encoded, has_findings)
    } else {
        (None, !creates || !is_plain(endpoint_of_types, &sent))
    };
    let body = has_findings.then(|| json::to_string(&sent) + "\n");
    let cluster = context.known_cluster(earlier);
    let sending = Sending {
        rules,
        context,
        types,
        endpoint: &endpoint,
        plural: &plural,
        covered,
        written: written.as_ref().unwrap_or(&sent),
        sent: &sent,
        body: body.as_deref(),
        cluster: &cluster,
        service_families: (covered && group.is_empty() && kind == "Service").then(|| Families::read(context)),
        locator: &locator,
    };
    let options = sending.options();
    if let Some(families) = sending.service_families {
        context.built_in.set_service_families(options, families.simulated());
        service_allocations::read(context, options, sending.sent);
    }
    let write = sending.write(&item.identity);
    let (updated, after) = match &found {
        Found::Object(existing, _) => {
            let of_found = if is_input { ExistingObject::Input } else { ExistingObject::Stored };
            context.built_in.update(options, &Write { existing: Some(of_found(existing)), ..write })
        }
        _ => (Updated::Unknown, None),
    };
    let mut stored = after.as_ref().map_or(before.stored, |after| EarlierObject::put(context.store, after, None));
    if !is_sent {
        sending.read_update(&mut item, updated);
    }
    // kubectl sends no request that has no path, whatever the server would reject in the object.
    if matches!(item.verdict, Verdict::Decodes | Verdict::Rejected) {
        kubectl_errors::require_request_path(&mut item, rules.verb, &locator);
    }
    if item.identity.name.is_empty() {
        // Objects that are not stored need no name.
        if item.verdict == Verdict::Decodes && !covered && resource.is_none_or(|resource| resource.readable) {
            kubectl_errors::require_name_of_create(&mut item, &locator);
        }
    }
    // The server that validates the object looks for its namespace.
    let is_unstated = !(creates || is_sent) || matches!(found, Found::Error(_));
    if is_unstated && item.verdict == Verdict::Decodes && !matches!(found, Found::Object(..)) {
        check_namespace(&mut item, context, (&plural, &found), &cluster);
    }
    let mut created = None;
    if (creates || is_sent) && item.verdict == Verdict::Decodes {
        created = sending.write_absent(&mut item, encoded, is_reproducible && creates);
    }
    if item.verdict == Verdict::Decodes {
        admission::leave_undecided(&mut item, context, &plural, &found);
    }
    if covered && item.verdict == Verdict::Decodes {
        sending.complete_unanswered(&mut item, found);
    }
    if let Some(body) = body.as_ref().filter(|_| matches!(item.verdict, Verdict::Decodes | Verdict::Accepted)) {
        size::check_stored(&mut item, &sent, body.as_bytes());
    }
    if item.verdict == Verdict::Rejected {
        kubectl_errors::require_path(&mut item, rules.verb, &locator);
    }
    if item.verdict != Verdict::Accepted {
        item.object = None;
    }
    // Validation answers instead of the published schema.
    if covered && item.verdict != Verdict::Decodes {
        item.warnings.retain(|warning| warning.kind != PUBLISHED_SCHEMA);
    }
    item.warnings.extend(input_warnings);
    if let Some(created) = created.filter(|_| kept::is_named(&sent)) {
        stored = created.keep(context, sent, &locator);
    }
    Simulated { item, stored }
}

/// Returns the row of a kind in the table of types.
///
/// # Errors
/// Returns the item of an object whose kind is not served, or whose type is not known.
fn served_row(
    rules: Rules,
    context: SimulationContext<'_>,
    mut object: Object,
    Endpoint { group, version, kind }: &Endpoint,
    resource: Option<&ApiResource>,
) -> Result<(Object, &'static KindRow), Box<ObjectReport>> {
    let own = identity::identity(object.value(), Namespace::Own);
    match is_served(context, (group, version, kind), resource.is_some()) {
        Ok(true) => {}
        Ok(false) if resource.is_some() => {
            return Err(Box::new(no_matches(&mut object, own, "; --runtime-config of the server disables it")));
        }
        Ok(false) => return Err(Box::new(not_served(rules.release, own, object))),
        Err(error) => {
            let mut item = object.item(own, Verdict::CannotTell, error.message);
            item.help = error.help;
            return Err(Box::new(item));
        }
    }
    let row = table::table().kind(&api_version(group, version), kind, rules.minor()).filter(|row| row.served);
    let Some(row) = row else {
        let reason = format!("Kubernetes {} has no type for it, but the cluster serves it", rules.release);
        let mut item = object.item(own, Verdict::CannotTell, reason);
        item.help = Some(ASK_THE_CLUSTER.to_owned());
        return Err(Box::new(item));
    };
    Ok((object, row))
}

/// An object that is sent to the server that validates built-in kinds.
#[derive(Clone, Copy)]
struct Sending<'a> {
    rules: Rules,
    context: SimulationContext<'a>,
    types: &'static Types,
    endpoint: &'a Endpoint,
    plural: &'a str,
    /// True if the verdict is the server's.
    covered: bool,
    /// The object of the input.
    written: &'a Value,
    /// The object as kubectl sends it: without nulls if `apply` creates it.
    sent: &'a Value,
    /// Its JSON; `None` if it is decoded without findings.
    body: Option<&'a str>,
    /// The known state of the cluster.
    cluster: &'a Arc<KnownCluster>,
    /// The families of the cluster, for a Service.
    service_families: Option<Families>,
    locator: &'a dyn FieldLocator,
}

impl<'a> Sending<'a> {
    fn options(&self) -> WriteOptions<'a> {
        WriteOptions {
            release: self.rules.release,
            request: self.context.request_options,
            kind: &self.context.updates.request_kind,
            admission: self.context.admission,
            namespace: self.context.namespace,
        }
    }

    fn write<'w>(&self, identity: &'w Identity) -> Write<'w>
    where
        'a: 'w,
    {
        Write {
            identity,
            kind: &self.endpoint.kind,
            plural: self.plural,
            sent: self.written,
            existing: None,
            cluster: Some(self.cluster),
        }
    }

    /// Completes the item of an object for which an update was tried; without an existing object it is only decoded.
    fn read_update(&self, item: &mut ObjectReport, updated: Updated) {
        let Self { context, covered, body, locator, .. } = *self;
        if body.is_some_and(|body| size::reject_body(item, body.as_bytes())) {
            return;
        }
        match updated {
            Updated::Unchanged(object) => {
                item.action = Action::Unchanged;
                if covered {
                    item.verdict = Verdict::Accepted;
                    item.object = context.updates.compares.map(|_| Value::clone(&object));
                    item.before = context.updates.compares.map(|_| object);
                    self.compare(item, None);
                }
            }
            Updated::Answered(outcome) => {
                let mut outcome = *outcome;
                let findings = outcome.response.trace.policies.take();
                let unknown = outcome.response.trace.take_unknown();
                item.before = outcome.before.filter(|_| covered && context.updates.compares.is_some());
                answered(item, outcome.response, self.rules.release, locator);
                item.action = outcome.action;
                if covered {
                    accept(item, self.sent, context);
                    self.compare(item, findings.as_deref());
                }
                unknown_objects::leave_open(item, context, &unknown, self.cluster);
                admitted(item, findings, context.admission);
            }
            Updated::NoPatch(reason) => {
                let message = format!("kubectl cannot compute the patch: {reason}");
                reject_with(item, ServerResponse { code: 400, reason: BAD_REQUEST.to_owned(), message });
            }
            Updated::Unsent(error) => leave_unsent(item, error),
            // A server that answers has decoded the object.
            Updated::Unknown => match body.map(|body| decode::decode(self.types, self.endpoint, body.as_bytes())) {
                Some(Ok(decoded)) => decoded_item(item, &decoded, self.rules, self.types, locator),
                Some(Err(refusal)) => undecodable_item(item, refusal, locator),
                None => {}
            },
        }
    }

    /// Completes the item of an object whose kind is validated, and whose request no server answered.
    fn complete_unanswered(&self, item: &mut ObjectReport, found: Found) {
        item.verdict = Verdict::CannotTell;
        if matches!(found, Found::Object(..)) {
            "the existing object is not one that this version of the server stores".clone_into(&mut item.reason);
            let help = format!(
                "give existing objects as kubectl get -o yaml prints them, in a version that Kubernetes {} serves",
                self.rules.release
            );
            item.help = Some(help);
        } else {
            let error = not_determined(found).into_error();
            (item.reason, item.help) = (error.message, error.help);
        }
    }

    /// Compares an accepted object with the one that was sent: adds the defaults of a new object, and the fields that are not
    /// stored although their type has them.
    fn compare(&self, item: &mut ObjectReport, findings: Option<&Findings>) {
        let Some(object) = item.object.as_ref().filter(|_| item.verdict == Verdict::Accepted) else { return };
        let changes = changes::compare(object, self.sent);
        // An existing object has more than defaults.
        if item.action == Action::Create {
            item.defaulted = changes.defaulted;
        }
        // A policy may have removed fields.
        if findings.is_none_or(|findings| findings.changes.is_empty()) {
            self.add_dropped(item, changes.dropped);
        }
        // Only dropped fields are shown as they were sent.
        let shows_sent = self.context.updates.compares.is_some() && !item.pruned.is_empty();
        item.sent = shows_sent.then(|| self.sent.clone());
    }

    /// Adds fields that are not stored to those that are dropped because they are unknown.
    fn add_dropped(&self, item: &mut ObjectReport, mut paths: Vec<String>) {
        let known: HashSet<&str> = item.pruned.iter().map(|known| known.path.as_str()).collect();
        paths.retain(|path| !known.contains(path.as_str()));
        let hint = FieldHint::NotStored(self.rules.minor());
        let fields = paths.into_iter().map(|path| {
            let location = self.locator.name(&path);
            PrunedField::new(path, location, Some(hint.clone()))
        });
        item.pruned.extend(fields);
    }

    /// Sends the request for an object that does not exist, and completes its item. Returns the stored object, if the server
    /// accepts it.
    fn write_absent(
        &self,
        item: &mut ObjectReport,
        encoded: Option<Encoded>,
        is_reproducible: bool,
    ) -> Option<AcceptedObject> {
        let context = self.context;
        let sent = context.built_in.write_absent(self.options(), &self.write(&item.identity), encoded);
        let mut response = match sent {
            Ok(response) => response?,
            Err(error) => {
                leave_unsent(item, error);
                return None;
            }
        };
        let findings = response.trace.policies.take();
        let unknown = response.trace.take_unknown();
        let created = AcceptedObject::from_response(&response, is_reproducible);
        let may_create = context.updates.request_kind.may_create();
        item.action = if response.code == 201 || may_create { Action::Create } else { Action::Update };
        answered(item, response, self.rules.release, self.locator);
        if let Some(families) = self.service_families {
            families.explain(item, self);
            if item.verdict != Verdict::Rejected {
                item.warnings.extend(service_allocations::unusual_node_ports(
                    self.sent,
                    context.served.node_ports,
                    self.locator,
                ));
            }
        }
        accept(item, self.sent, context);
        self.compare(item, findings.as_deref());
        unknown_objects::leave_open(item, context, &unknown, self.cluster);
        admitted(item, findings, context.admission);
        created
    }
}

/// Completes the item of an object for which kubectl sends no request.
fn leave_unsent(item: &mut ObjectReport, error: UnsentError) {
    let error = Unsent::from(error).into_error();
    (item.verdict, item.reason, item.help) = (Verdict::CannotTell, error.message, error.help);
}

/// The types of a release, and the apiVersion and kind of one of them.
type NamedType<'a> = (&'static Types, &'a str, &'a str);

/// Returns true if an object is decoded without findings, and is far below the limits for its size.
fn is_plain(type_: NamedType<'_>, object: &Value) -> bool {
    type_of_short(type_, object).is_some_and(|id| conforms::conforms(type_.0, id, object))
}

/// Encodes such an object; `None` for any other one.
fn encoded_plain(type_: NamedType<'_>, object: &Value) -> Option<Encoded> {
    let encoded = encode::encode(type_.0, type_of_short(type_, object)?, object);
    encoded.conforms.then_some(encoded)
}

/// Returns the type of an object that has the apiVersion and kind, and is far below the limits for its size.
fn type_of_short((types, api_version, kind): NamedType<'_>, object: &Value) -> Option<TypeId> {
    let is = |key: &str, value: &str| object.str_at(&[key]) == Some(value);
    let is_short =
        is("apiVersion", api_version) && is("kind", kind) && !json::is_longer_than(object, kubectl_send::SHORT);
    types.of_kind(api_version, kind).filter(|_| is_short)
}

/// Accepts an object whose validation reports no errors.
fn accept(item: &mut ObjectReport, sent: &Value, context: SimulationContext<'_>) {
    if item.verdict != Verdict::Decodes {
        return;
    }
    item.verdict = Verdict::Accepted;
    // A comparison hides these fields itself.
    if context.updates.compares.is_some() && item.action != Action::Create {
        return;
    }
    if let Some(object) = &mut item.object {
        hide_bookkeeping(object, context.show_last_applied);
        changes::remove_generated(&item.identity.kind, object, sent);
    }
}

/// Completes the item of a request that was sent.
fn answered(item: &mut ObjectReport, response: Response, release: Release, locator: &dyn FieldLocator) {
    // The server measures the length of JSON, and etcd that of Protobuf.
    if response.trace.is_too_large {
        let reason = "with its defaults it may be too large for etcd".to_owned();
        (item.verdict, item.reason) = (Verdict::CannotTell, reason);
        item.help =
            Some("split the object, or ask the cluster without a dry run, which does not reach etcd".to_owned());
        return;
    }
    let identity = item.identity.clone();
    let answered = read_built_in_response(response, identity, locator, release);
    add_warnings(item, answered.warnings);
    if item.pruned.is_empty() {
        item.pruned = answered.pruned;
    }
    (item.answer, item.object) = (answered.answer, answered.object);
    match answered.verdict {
        Verdict::Rejected => (item.verdict, item.errors) = (Verdict::Rejected, answered.errors),
        Verdict::CannotTell => {
            (item.verdict, item.reason, item.help) = (Verdict::CannotTell, answered.reason, answered.help);
        }
        _ => {}
    }
}

/// Adds the warnings of a response that the item does not have.
fn add_warnings(item: &mut ObjectReport, warnings: Vec<Diagnostic>) {
    let known: HashSet<&str> = item.warnings.iter().map(|known| known.message.as_str()).collect();
    let new: Vec<_> = warnings.into_iter().filter(|warning| !known.contains(warning.message.as_str())).collect();
    item.warnings.extend(new);
}

/// Returns the answer to a request that no object of a resource allows: code, reason and message.
fn not_allowed(resource: &ApiResource, verb: Verb) -> Option<(u16, &'static str, &'static str)> {
    let replaces = matches!(verb, Verb::Replace | Verb::ServerSide);
    if !resource.writable {
        let message = "the server does not allow this method on the requested resource";
        Some((405, "MethodNotAllowed", message))
    } else if !resource.readable && replaces {
        Some((404, "NotFound", "the server could not find the requested resource"))
    } else {
        None
    }
}

/// Rejects an object with an answer that names no field.
pub(super) fn reject_with(item: &mut ObjectReport, answer: ServerResponse) {
    item.verdict = Verdict::Rejected;
    item.errors = vec![Diagnostic {
        kind: answer.reason.clone(),
        message: answer.message.clone(),
        location: Some(item.location.clone()),
        ..Diagnostic::default()
    }];
    item.answer = Some(answer);
}

//! Stores the existing object in the server and sends one object as kubectl would.

use super::CompareOptions;
use super::admission::{Admission, admitted};
use super::answer::{read_definition_response, read_response};
use super::built_in_server::BuiltInServer;
use super::definitions::{DEFINITION, Route};
use super::earlier_object::EarlierObject;
use super::existing::{ExistingObjects, Found, Lookup, PendingObject};
use super::generated_name;
use super::hints::Hints;
use super::identity::FieldLocator;
use super::kubectl_errors;
use super::live::Live;
use super::removed_versions::RemovedVersions;
use crate::input::temp_file;
use crate::input::temp_store::TempStore;
use crate::output::report::{Answer, Identity, Item, Problem, Remark, Verdict};
use crdx::kubectl::request::{self, RequestOptions};
use crdx::kubectl::update::{self, RequestKind, Target, UnsentError};
use crdx::kubectl::{FieldValidation, Verb};
use crdx_server::server::{NamespaceState, Server};
use crdx_value::Value;
use crdx_value::suggest;
use crdx_value::{group_version, json, names};
use std::io;

/// The context of a request.
#[derive(Clone, Copy, Debug)]
pub struct SimulationContext<'a> {
    /// The server.
    pub server: &'a Server,
    /// The options of requests.
    pub request_options: RequestOptions,
    /// Stores the resulting objects for later inputs with the same name.
    pub temp_store: &'a TempStore,
    /// The request to send, and the existing objects.
    pub updates: &'a Updates,
    /// True to include the last-applied annotation in results.
    pub show_bookkeeping: bool,
    /// True to report the Scale of each object.
    pub scale: bool,
    /// The default namespace of objects.
    pub namespace: &'a str,
    /// The server for updates of built-in kinds.
    pub built_in: &'a BuiltInServer,
    /// The policies that admit objects, if there are any.
    pub admission: Option<&'a Admission>,
    /// The cluster, if it may be asked.
    pub cluster: Option<&'a Live>,
}

/// The request to send and the objects it may update.
#[derive(Debug)]
pub struct Updates {
    /// The kind of request.
    pub request_kind: RequestKind,
    /// The existing objects.
    pub existing: ExistingObjects,
    /// The options of a comparison; `None` without one.
    pub compares: Option<CompareOptions>,
}

/// The state of an object before it is sent.
#[derive(Debug, Default)]
pub struct Before {
    /// The object that an earlier input with the same name stored.
    pub stored: EarlierObject,
    /// The object requested from the cluster.
    pub pending: Option<PendingObject>,
    /// True if an earlier input creates its namespace.
    pub creates_namespace: bool,
}

impl SimulationContext<'_> {
    /// Returns whether the namespace of a new object accepts it. Only a cluster is asked: without one, every namespace
    /// with a valid name is assumed to exist.
    pub fn namespace_state(&self, namespace: Option<&str>) -> NamespaceState {
        let Some(namespace) = namespace else { return NamespaceState::default() };
        // No namespace can have such a name.
        if !names::dns1123_label(namespace.as_bytes()).is_empty() {
            return NamespaceState::Missing;
        }
        let ExistingObjects::Live(live) = &self.updates.existing else { return NamespaceState::default() };
        if self.admission.is_some_and(|admission| admission.gives_namespace(namespace)) || !live.is_configured() {
            return NamespaceState::default();
        }
        live.namespace_state(namespace)
    }
}

/// The item of an object, and the stored object for later inputs with the same name.
pub type Simulated = (Item, EarlierObject);

/// Sends `object` and reads the response.
pub fn submit(
    context: SimulationContext<'_>,
    route: &Route,
    object: Value,
    identity: Identity,
    before: Before,
    locator: &dyn FieldLocator,
) -> Simulated {
    let (group, version) = group_version::split(&identity.api_version);
    if !route.versions.iter().any(|v| v == version) {
        return (unserved(route, identity, locator), before.stored);
    }
    let collection = request::collection(group, version, &route.plural, identity.namespace.as_deref());
    let definition = [&route.plural, ".", group].concat();
    let version = version.to_owned();
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let prefix = object.str_at(&["metadata", "generateName"]).filter(|_| name.is_empty()).map(str::to_owned);
    let mut target = Target {
        definition: &definition,
        version: &version,
        collection: &collection,
        name: &name,
        namespace_state: NamespaceState::default(),
    };
    let compares = context.updates.compares;
    let schema = &Hints::of_schema(Some(&route.definition), &version);
    let (earlier, creates_namespace) = (before.stored, before.creates_namespace);
    let existing = match existing(context, target, &route.plural, before, &identity) {
        Ok(existing) => existing,
        Err(error) => return (error.item(identity, locator), earlier),
    };
    let object = kubectl_errors::in_namespace(object, &identity);
    let request_kind = &context.updates.request_kind;
    // Most requests are creates, for which a dry run is sufficient: its response is the object that would be stored.
    let creates =
        !existing && request_kind.subresource.is_none() && matches!(request_kind.verb, Verb::Apply | Verb::Create);
    if !existing && !creates_namespace && request_kind.subresource.is_none() && request_kind.verb != Verb::Replace {
        target.namespace_state = context.namespace_state(identity.namespace.as_deref());
    }
    let is_plain = creates || kubectl_errors::has_plain_metadata(&object);
    let mut stored = EarlierObject::None;
    if let Some(admission) = context.admission {
        admission.prepare(identity.namespace.as_deref(), context.server);
    }
    // Policies could give another answer when the object is created again from its text.
    let text = locator.text().filter(|_| context.admission.is_none());
    let mut item = if creates {
        let request_options = RequestOptions { dry_run: true, ..context.request_options };
        // An object without text is kept with the annotation, and policies read the annotation.
        let is_short = text.is_some_and(|(text, _)| is_short(text)) || !json::is_longer_than(&object, update::SHORT);
        let needs_annotation = text.is_none() || !is_short || depends_on_annotation(context, target);
        let create = if needs_annotation { update::create } else { update::create_unannotated };
        let mut request = create(target, object, request_kind, request_options);
        // Policies can read the dry-run option.
        request.hides_dry_run = true;
        let mut response = context.server.take(request);
        let findings = response.trace.policies.take();
        let mut item = read_response(response, identity, locator, schema);
        admitted(&mut item, findings, context.admission);
        item.hidden = hidden_errors(context, target, true, &item, locator, schema);
        item
    } else {
        let request_options = RequestOptions { dry_run: false, table: false, ..context.request_options };
        match update::send(context.server, target, object, request_kind, request_options) {
            Ok(mut done) => {
                let findings = done.response.trace.policies.take();
                // The response shares a written object with the server, which need not copy it if it is withdrawn.
                let is_written = done.response.code < 300;
                if is_written {
                    stored = take_stored(context, &definition, &identity);
                }
                let mut item = read_response(done.response, identity, locator, schema);
                admitted(&mut item, findings, context.admission);
                item.hidden = hidden_errors(context, target, false, &item, locator, schema);
                if !is_written {
                    stored = take_stored(context, &definition, &item.identity);
                }
                item.action = done.action;
                item.before = compares.and(done.before);
                if context.request_options.table
                    && let Some(object) = &item.object
                {
                    let objects = std::slice::from_ref(object);
                    item.table = context.server.table_of(&definition, &version, objects, context.request_options.now);
                }
                item
            }
            Err(error) => {
                let stored = take_stored(context, &definition, &identity);
                return (Unsent::from(error).item(identity, locator), stored);
            }
        }
    };
    kubectl_errors::replace(&mut item, request_kind.verb, is_plain, locator);
    // Only pruned fields are shown as they were sent.
    item.sent = compares.filter(|_| item.answer.is_some() && !item.pruned.is_empty()).and_then(|_| locator.object());
    if creates && !name.is_empty() {
        stored = item
            .object
            .as_ref()
            .map_or(EarlierObject::None, |object| EarlierObject::put(context.temp_store, object, text));
    }
    if let Some(prefix) = prefix {
        generated_name::hide(&mut item, &prefix);
        if request_kind.verb != Verb::Create {
            item.remarks.push(Remark::SentAsCreate);
        }
    }
    if let Some(result) = &mut item.object {
        // A comparison hides these fields itself.
        let mut copy = compares.filter(|_| context.scale).map(|_| result.clone());
        if let Some(shown) = copy.as_mut().or_else(|| compares.is_none().then_some(result)) {
            hide_bookkeeping(shown, context.show_bookkeeping);
            if context.scale {
                item.scale = context.server.scale_of(&definition, &version, shown);
            }
        }
    }
    (item, stored)
}

/// Returns true if the JSON of an object with this text is certainly not longer than [`update::SHORT`].
fn is_short(text: &[u8]) -> bool {
    /// No byte of YAML without aliases becomes more bytes of JSON: `<` becomes `\u003c`, and `1e20` 21 digits.
    const GROWTH: usize = 8;
    text.len() <= update::SHORT / GROWTH && !crdx_text::contains(text, "&")
}

/// Returns true if the answer to the create of a short object may depend on the last-applied annotation: if something
/// shows it, or if `kubectl apply` does not set it.
fn depends_on_annotation(context: SimulationContext<'_>, target: Target<'_>) -> bool {
    let updates = context.updates;
    updates.request_kind.verb != Verb::Apply
        || target.name.is_empty()
        || context.show_bookkeeping
        || context.request_options.table
        || updates.compares.is_some()
}

/// Moves an object from the server, to limit its memory, to the store for later inputs with the same name.
fn take_stored(context: SimulationContext<'_>, definition: &str, identity: &Identity) -> EarlierObject {
    let namespace = identity.namespace.as_deref().unwrap_or_default();
    let Some(object) = context.server.stored(definition, namespace, &identity.name) else { return EarlierObject::None };
    let stored = EarlierObject::put(context.temp_store, &object, None);
    context.server.withdraw(definition, namespace, &identity.name);
    stored
}

/// Returns true if an object was refused because of unknown fields, before other validation.
fn refuses_unknown_fields(item: &Item, request_options: RequestOptions) -> bool {
    request_options.level == FieldValidation::Strict
        && !item.pruned.is_empty()
        && item.answer.as_ref().is_some_and(|answer| answer.code == 400)
}

/// Returns the errors that the server would report if it pruned unknown fields instead of refusing them: sends the same
/// request with `fieldValidation=Warn` as a dry run. `creates` is true if the object does not exist in the server.
fn hidden_errors(
    context: SimulationContext<'_>,
    target: Target<'_>,
    creates: bool,
    item: &Item,
    locator: &dyn FieldLocator,
    schema: &Hints<'_>,
) -> Vec<Problem> {
    let refuses_namespace = target.namespace_state != NamespaceState::default() && item.verdict == Verdict::Rejected;
    if !refuses_unknown_fields(item, context.request_options) && !refuses_namespace {
        return Vec::new();
    }
    // Validation comes after the namespace: show its errors, too.
    let target = Target { namespace_state: NamespaceState::default(), ..target };
    let Some(object) = locator.object() else { return Vec::new() };
    let object = kubectl_errors::in_namespace(object, &item.identity);
    let request_options =
        RequestOptions { level: FieldValidation::Warn, dry_run: true, table: false, ..context.request_options };
    let request_kind = &context.updates.request_kind;
    let response = if creates {
        let mut request = update::create(target, object, request_kind, request_options);
        request.hides_dry_run = true;
        context.server.take(request)
    } else {
        match update::send(context.server, target, object, request_kind, request_options) {
            Ok(sent) => sent.response,
            Err(_) => return Vec::new(),
        }
    };
    read_response(response, item.identity.clone(), locator, schema).errors
}

/// An object for which kubectl would send no request.
pub struct Unsent {
    message: String,
    help: Option<String>,
}

impl Unsent {
    /// Returns the item of the object.
    pub fn item(self, identity: Identity, locator: &dyn FieldLocator) -> Item {
        let mut item = Item::new(locator.start(), Verdict::CannotTell, self.message);
        item.identity = identity;
        item.help = self.help;
        item
    }
}

impl From<UnsentError> for Unsent {
    fn from(error: UnsentError) -> Self {
        error.to_string().into()
    }
}

impl From<String> for Unsent {
    fn from(message: String) -> Self {
        Self { message, help: None }
    }
}

/// Returns the item of an update of an existing CRD, simulated on a separate server; `None` if it does not exist.
pub fn submit_definition(
    context: SimulationContext<'_>,
    crd: &Value,
    identity: &Identity,
    locator: &dyn FieldLocator,
) -> Option<Item> {
    let updates = context.updates;
    let pending = updates.existing.ask(identity, "customresourcedefinitions");
    let wanted = Lookup { identity, namespace: context.namespace };
    let mut removed = RemovedVersions::default();
    let done = match pending.map_or_else(|| updates.existing.find(wanted), PendingObject::wait) {
        Found::Nothing => return None,
        Found::Object(old, location) => {
            removed = RemovedVersions::of(&old, crd);
            let server = Server::builder(context.server.release(), 0).without_managed_fields();
            let server = match context.admission {
                Some(admission) => admission.server(server, context.request_options.now, context.namespace),
                None => server.build(),
            };
            let target = Target {
                definition: DEFINITION,
                version: "v1",
                collection: request::DEFINITIONS,
                name: &identity.name,
                namespace_state: NamespaceState::default(),
            };
            let request_options = RequestOptions { dry_run: false, table: false, ..context.request_options };
            server
                .seed_definition(&old, context.request_options.now)
                .map_err(|error| Unsent::from(format!("the old CRD at {location} could not have been stored: {error}")))
                .and_then(|()| Ok(update::send(&server, target, crd.clone(), &updates.request_kind, request_options)?))
        }
        found => Err(not_determined(found)),
    };
    Some(match done {
        Ok(mut done) => {
            let findings = done.response.trace.policies.take();
            let mut item = read_definition_response(done.response, identity.clone(), locator);
            admitted(&mut item, findings, context.admission);
            item.action = done.action;
            item.before = updates.compares.and(done.before);
            item.sent = updates.compares.map(|_| crd.clone());
            removed.complete(&mut item);
            item
        }
        Err(error) => error.item(identity.clone(), locator),
    })
}

/// Describes why the existing object cannot be determined.
pub fn not_determined(found: Found) -> Unsent {
    match found {
        Found::Two(first, second) => Unsent {
            message: format!("there are two old objects for it, at {first} and at {second}"),
            help: Some("leave one of them out".to_owned()),
        },
        Found::Error(error) => Unsent { message: error.message, help: error.help },
        Found::Nothing | Found::Object(..) => Unsent::from("there is no old object".to_owned()),
    }
}

/// Describes why the object that an earlier input stored is not known.
fn lost(kind: io::ErrorKind) -> Unsent {
    Unsent {
        message: format!("the earlier object of the same name cannot be kept in a temporary file: {kind}"),
        help: Some(temp_file::HELP.to_owned()),
    }
}

/// Stores the existing object in the server. Returns false if there is none.
fn existing(
    context: SimulationContext<'_>,
    target: Target<'_>,
    plural: &str,
    before: Before,
    identity: &Identity,
) -> Result<bool, Unsent> {
    let seed = |old: Value, of: &str| {
        let namespace = identity.namespace.as_deref().unwrap_or_default();
        let seeded = context.server.seed(target.definition, namespace, old);
        seeded.map_err(|error| format!("the old object{of} could not have been stored: {error}"))
    };
    match before.stored {
        EarlierObject::None => {}
        EarlierObject::At(stored) => {
            let earlier = context.temp_store.get(stored).map_err(|error| lost(error.kind()))?;
            if stored.is_text() {
                create_again(context, target, plural, earlier, identity)?;
            } else {
                seed(earlier, "")?;
            }
            return Ok(true);
        }
        EarlierObject::Lost(kind) => return Err(lost(kind)),
    }
    if target.name.is_empty() {
        return Ok(false);
    }
    let existing = &context.updates.existing;
    let pending = before.pending.or_else(|| existing.ask(identity, plural));
    let wanted = Lookup { identity, namespace: context.namespace };
    match pending.map_or_else(|| existing.find(wanted), PendingObject::wait) {
        Found::Nothing => Ok(false),
        Found::Object(old, location) => seed(*old, &format!(" at {location}")).map(|()| true).map_err(Unsent::from),
        found => Err(not_determined(found)),
    }
}

/// Creates the object of an earlier input of the same name, which was created in a dry run only.
fn create_again(
    context: SimulationContext<'_>,
    target: Target<'_>,
    plural: &str,
    earlier: Value,
    identity: &Identity,
) -> Result<(), Unsent> {
    let api_version = earlier.str_at(&["apiVersion"]).unwrap_or_default().to_owned();
    let (group, version) = group_version::split(&api_version);
    let collection = request::collection(group, version, plural, identity.namespace.as_deref());
    let target = Target { version, collection: &collection, ..target };
    let request_options = RequestOptions { dry_run: false, table: false, ..context.request_options };
    let earlier = kubectl_errors::in_namespace(earlier, identity);
    let request = update::create(target, earlier, &context.updates.request_kind, request_options);
    let response = context.server.take(request);
    if response.code < 300 {
        return Ok(());
    }
    Err(format!("the earlier object of the same name could not be created again: {}", response.body.message()).into())
}

/// Returns the item of an error that kubectl reports before it sends a request.
fn unserved(route: &Route, identity: Identity, locator: &dyn FieldLocator) -> Item {
    let mut item = Item::new(locator.start(), Verdict::Rejected, "");
    item.answer = Some(Answer { code: 404, reason: "NotFound".to_owned(), message: "404 page not found".to_owned() });
    let version = identity.api_version.rsplit('/').next().unwrap_or_default();
    item.errors.push(Problem {
        kind: "NotFound".to_owned(),
        field: Some("apiVersion".to_owned()),
        message: format!(
            "no matches for kind \"{}\" in version \"{}\": its CRD serves {}",
            identity.kind,
            identity.api_version,
            if route.versions.is_empty() { "no version".to_owned() } else { route.versions.join(", ") }
        ),
        help: suggest::closest(version, route.versions.iter().map(String::as_str)).map(suggest::did_you_mean),
        location: Some(locator.field("apiVersion")),
        ..Problem::default()
    });
    item.identity = identity;
    item
}

/// Removes values that differ between runs because the server sets them on create, and kubectl's last-applied
/// annotation unless it was requested.
pub fn hide_bookkeeping(object: &mut Value, show: bool) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in ["creationTimestamp", "managedFields", "resourceVersion", "uid"] {
            metadata.remove(key);
        }
    }
    if !show {
        update::remove_last_applied(object);
    }
}

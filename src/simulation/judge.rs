//! Sends one object to the server and turns the response into an item with source locations.

use super::Compares;
use super::admission::Admission;
use super::definitions::{DEFINITION, Route};
use super::existing::{ExistingObjects, Found, PendingObject, Wanted};
use super::hints::{self, Hints};
use super::identity::Places;
use crate::crd;
use crate::field::FieldError;
use crate::input::temp_store::{self, TempStore};
use crate::kubectl::request::{self, RequestOptions};
use crate::kubectl::update::{self, Place, RequestKind};
use crate::kubectl::{FieldValidation, Verb};
use crate::output::report::{Answer, Identity, Item, Located, Problem, Remark, Verdict};
use crate::policies::findings::Findings;
use crate::server::{Response, ResponseBody, Server};
use crate::suggest;
use crate::value::Value;
use crate::value::group_version;
use std::sync::Arc;

/// What a request depends on besides its object.
#[derive(Clone, Copy, Debug)]
pub struct SimulationContext<'a> {
    /// The server.
    pub server: &'a Server,
    /// The options of requests.
    pub request_options: RequestOptions,
    /// Where a stored object waits for later inputs with the same name.
    pub temp_store: &'a TempStore,
    /// The request to send, and the existing objects.
    pub updates: &'a Updates,
    /// Whether results include the last-applied annotation.
    pub show_bookkeeping: bool,
    /// The namespace of objects that do not name one.
    pub namespace: &'a str,
    /// The policies that admit objects, if there are any.
    pub admission: Option<&'a Admission>,
}

/// The request to send and the objects it may update.
#[derive(Debug)]
pub struct Updates {
    /// The kind of request.
    pub request_kind: RequestKind,
    /// The existing objects.
    pub existing: ExistingObjects,
    /// Options of a comparison, if one is made.
    pub compares: Option<Compares>,
}

/// The state of an object before it is sent.
#[derive(Debug, Default)]
pub struct Before {
    /// The object that an earlier input with the same name stored.
    pub stored: Option<Stored>,
    /// The object from the cluster, if it was already requested.
    pub pending: Option<PendingObject>,
}

/// Where an object is kept for the next input with its name.
pub type Stored = temp_store::Place;

/// The item of an object, and where the stored object is kept for later inputs with its name.
pub type Simulated = (Item, Option<Stored>);

/// Sends `object` and reads the answer.
pub fn judge(
    context: SimulationContext<'_>,
    route: &Route,
    object: Value,
    identity: Identity,
    before: Before,
    places: &dyn Places,
) -> Simulated {
    let (group, version) = group_version::split(&identity.api_version);
    if !route.versions.iter().any(|v| v == version) {
        return (unserved(route, identity, places), before.stored);
    }
    let collection = request::collection(group, version, &route.plural, identity.namespace.as_deref());
    let definition = format!("{}.{group}", route.plural);
    let version = version.to_owned();
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let prefix = object.str_at(&["metadata", "generateName"]).filter(|_| name.is_empty()).map(str::to_owned);
    let place = Place { definition: &definition, version: &version, collection: &collection, name: &name };
    let compares = context.updates.compares;
    let schema = &Hints::Schema(hints::schema(&route.definition, &version));
    let sent = compares.map(|_| object.clone());
    let existing = match existing(context, place, &route.plural, before, &identity) {
        Ok(existing) => existing,
        Err(why) => return (why.item(identity, places), None),
    };
    let object = in_namespace(object, &identity);
    let request_kind = &context.updates.request_kind;
    // Most requests are creates, which need no store: the response to a dry run is the object as it would be stored.
    let creates =
        !existing && request_kind.subresource.is_none() && matches!(request_kind.verb, Verb::Apply | Verb::Create);
    let mut stored = None;
    if let Some(admission) = context.admission {
        admission.prepare(identity.namespace.as_deref(), context.server);
    }
    let mut item = if creates {
        // Policies see whether it is a dry run.
        let request_options = RequestOptions { dry_run: context.admission.is_none(), ..context.request_options };
        let request = update::create(place, object, request_kind, request_options);
        let mut response = context.server.take(request);
        let findings = response.trace.policies.take();
        let mut item = answered_with(response, identity, places, schema);
        if let (Some(_), Some(created)) = (context.admission, &item.object) {
            let name = created.str_at(&["metadata", "name"]).unwrap_or_default();
            context.server.withdraw(&definition, item.identity.namespace.as_deref().unwrap_or_default(), name);
        }
        admitted(&mut item, findings, context.admission);
        item.hidden = hidden_errors(context, place, true, &item, places, schema);
        item
    } else {
        let request_options = RequestOptions { dry_run: false, table: false, ..context.request_options };
        match update::send(context.server, place, object, request_kind, request_options) {
            Ok(mut done) => {
                let findings = done.response.trace.policies.take();
                let mut item = answered_with(done.response, identity, places, schema);
                admitted(&mut item, findings, context.admission);
                item.hidden = hidden_errors(context, place, false, &item, places, schema);
                item.action = done.action;
                item.before = compares.and(done.before).map(Arc::unwrap_or_clone);
                if context.request_options.table
                    && let Some(object) = &item.object
                {
                    let objects = std::slice::from_ref(object);
                    item.table = context.server.table_of(&definition, &version, objects, context.request_options.now);
                }
                stored = take_stored(context, &definition, &item.identity);
                item
            }
            Err(why) => {
                let stored = take_stored(context, &definition, &identity);
                return (Unsent::from(why).item(identity, places), stored);
            }
        }
    };
    item.sent = sent.filter(|_| item.answer.is_some());
    if creates && !name.is_empty() {
        stored = item.object.as_ref().and_then(|object| context.temp_store.put(object).ok());
    }
    if let Some(prefix) = prefix {
        forget_generated_name(&mut item, &prefix);
        if request_kind.verb != Verb::Create {
            item.remarks.push(Remark::SentAsCreate);
        }
    }
    if let Some(result) = &mut item.object {
        // A comparison hides these fields itself.
        let mut copy = compares.map(|_| result.clone());
        let shown = copy.as_mut().unwrap_or(result);
        hide_bookkeeping(shown, context.show_bookkeeping);
        item.scale = context.server.scale_of(&definition, &version, shown);
    }
    (item, stored)
}

/// Moves an object out of the server, to keep its memory small, and keeps it for the next input with its name.
fn take_stored(context: SimulationContext<'_>, definition: &str, identity: &Identity) -> Option<Stored> {
    let namespace = identity.namespace.as_deref().unwrap_or_default();
    let stored = context.server.stored(definition, namespace, &identity.name)?;
    let kept = context.temp_store.put(&stored).ok()?;
    context.server.withdraw(definition, namespace, &identity.name);
    Some(kept)
}

/// Whether an object was refused for unknown fields, before any other validation.
fn refuses_unknown_fields(item: &Item, request_options: RequestOptions) -> bool {
    request_options.level == FieldValidation::Strict
        && !item.pruned.is_empty()
        && item.answer.as_ref().is_some_and(|answer| answer.code == 400)
}

/// The errors that the server would report if it dropped unknown fields instead of refusing them: sends the same
/// request with `fieldValidation=Warn` as a dry run. `creates`: the object does not exist in the server.
fn hidden_errors(
    context: SimulationContext<'_>,
    place: Place<'_>,
    creates: bool,
    item: &Item,
    places: &dyn Places,
    schema: &Hints<'_>,
) -> Vec<Problem> {
    if !refuses_unknown_fields(item, context.request_options) {
        return Vec::new();
    }
    let Some(object) = places.object() else { return Vec::new() };
    let object = in_namespace(object, &item.identity);
    let request_options =
        RequestOptions { level: FieldValidation::Warn, dry_run: true, table: false, ..context.request_options };
    let request_kind = &context.updates.request_kind;
    let response = if creates {
        context.server.take(update::create(place, object, request_kind, request_options))
    } else {
        match update::send(context.server, place, object, request_kind, request_options) {
            Ok(sent) => sent.response,
            Err(_) => return Vec::new(),
        }
    };
    answered_with(response, item.identity.clone(), places, schema).errors
}

/// The item of an object for which kubectl would send no request.
struct Unsent {
    message: String,
    help: Option<String>,
}

impl Unsent {
    fn item(self, identity: Identity, places: &dyn Places) -> Item {
        let mut item = Item::new(places.start(), Verdict::CannotTell, self.message);
        item.identity = identity;
        item.help = self.help;
        item
    }
}

impl From<String> for Unsent {
    fn from(message: String) -> Self {
        Self { message, help: None }
    }
}

/// The item of an update of an existing CRD, simulated on a separate server; `None` if it does not exist.
pub fn judge_definition(
    context: SimulationContext<'_>,
    crd: &Value,
    identity: &Identity,
    places: &dyn Places,
) -> Option<Item> {
    let updates = context.updates;
    let pending = updates.existing.ask(identity, "customresourcedefinitions");
    let wanted = Wanted { identity, namespace: context.namespace };
    let done = match pending.map_or_else(|| updates.existing.find(wanted), PendingObject::wait) {
        Found::Nothing => return None,
        Found::Object(old, spot) => {
            let server = Server::new(context.server.release(), 0).without_managed_fields();
            let server = match context.admission {
                Some(admission) => admission.server(server, context.request_options.now, context.namespace),
                None => server,
            };
            let place =
                Place { definition: DEFINITION, version: "v1", collection: request::DEFINITIONS, name: &identity.name };
            let request_options = RequestOptions { dry_run: false, table: false, ..context.request_options };
            server
                .seed_definition(&old, context.request_options.now)
                .map_err(|why| Unsent::from(format!("the old CRD at {spot} cannot be a stored one: {why}")))
                .and_then(|()| Ok(update::send(&server, place, crd.clone(), &updates.request_kind, request_options)?))
        }
        found => Err(not_one(found)),
    };
    Some(match done {
        Ok(mut done) => {
            let findings = done.response.trace.policies.take();
            let mut item = answered(done.response, identity.clone(), places);
            admitted(&mut item, findings, context.admission);
            item.action = done.action;
            item.before = updates.compares.and(done.before).map(Arc::unwrap_or_clone);
            item.sent = updates.compares.map(|_| crd.clone());
            item
        }
        Err(why) => why.item(identity.clone(), places),
    })
}

/// Why the existing object cannot be determined.
fn not_one(found: Found) -> Unsent {
    match found {
        Found::Two(first, second) => Unsent {
            message: format!("two old objects for it, at {first} and at {second}"),
            help: Some("leave one of them out".to_owned()),
        },
        Found::Error(error) => Unsent { message: error.message, help: error.help },
        Found::Nothing | Found::Object(..) => Unsent::from("there is no old object".to_owned()),
    }
}

/// Stores the existing object in the server; false if there is none.
fn existing(
    context: SimulationContext<'_>,
    place: Place<'_>,
    plural: &str,
    before: Before,
    identity: &Identity,
) -> Result<bool, Unsent> {
    let seed = |old: Value, of: &str| {
        let namespace = identity.namespace.as_deref().unwrap_or_default();
        let seeded = context.server.seed(place.definition, namespace, old);
        seeded.map_err(|why| format!("the old object{of} cannot be a stored one: {why}"))
    };
    if let Some(stored) = before.stored {
        let unreadable =
            |why| format!("the earlier object of the same name cannot be read from its temporary file: {why}");
        seed(context.temp_store.get(stored).map_err(unreadable)?, "")?;
        return Ok(true);
    }
    if place.name.is_empty() {
        return Ok(false);
    }
    let existing = &context.updates.existing;
    let pending = before.pending.or_else(|| existing.ask(identity, plural));
    let wanted = Wanted { identity, namespace: context.namespace };
    match pending.map_or_else(|| existing.find(wanted), PendingObject::wait) {
        Found::Nothing => Ok(false),
        Found::Object(old, spot) => seed(*old, &format!(" at {spot}")).map(|()| true).map_err(Unsent::from),
        found => Err(not_one(found)),
    }
}

/// The object with the default namespace, which kubectl sets before it computes the last-applied annotation.
fn in_namespace(mut object: Value, identity: &Identity) -> Value {
    if let Some(namespace) = &identity.namespace
        && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        && metadata.get("namespace").is_none_or(|own| own.is_null() || own.as_str() == Some(""))
    {
        metadata.insert("namespace".to_owned(), namespace.as_str().into());
    }
    object
}

/// Errors that kubectl reports before it sends a request.
fn unserved(route: &Route, identity: Identity, places: &dyn Places) -> Item {
    let mut item = Item::new(places.start(), Verdict::Rejected, "");
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
        spot: Some(places.field("apiVersion")),
        ..Problem::default()
    });
    item.identity = identity;
    item
}

/// Adds what policies found and changed.
pub fn admitted(item: &mut Item, findings: Option<Box<Findings>>, admission: Option<&Admission>) {
    if let (Some(findings), Some(admission)) = (findings, admission) {
        admission.report(item, *findings);
    }
}

/// Reads a response about a CRD.
pub fn answered(response: Response, identity: Identity, places: &dyn Places) -> Item {
    let crd = if response.trace.pruned.is_empty() { None } else { places.object() };
    let unknown = crd.map(|crd| crd::unknown_fields(&crd)).unwrap_or_default();
    answered_with(response, identity, places, &Hints::Definition(unknown))
}

/// Reads a response, with suggestions from `hints`.
fn answered_with(response: Response, identity: Identity, places: &dyn Places, hints: &Hints<'_>) -> Item {
    let accepted = matches!(response.code, 200 | 201);
    let mut item = Item::new(places.start(), if accepted { Verdict::Accepted } else { Verdict::Rejected }, "");
    item.identity = identity;
    let (body, text) = match response.body {
        ResponseBody::Json(body) => (Some(body), None),
        ResponseBody::Text(text) => (None, Some(text.trim().to_owned())),
    };
    let said = |key: &str| body.as_ref().and_then(|b| b.str_at(&[key])).unwrap_or_default().to_owned();
    let message = if accepted { String::new() } else { text.unwrap_or_else(|| said("message")) };
    let reason = if accepted { String::new() } else { said("reason") };
    item.pruned = response
        .trace
        .pruned
        .iter()
        .map(|path| Located { path: path.clone(), spot: Some(places.name(path)), releases: None })
        .collect();
    item.defaulted = response.trace.defaulted.into_iter().map(|d| (d.path, d.value)).collect();
    item.warnings = response.warnings.iter().map(|text| warning(text, places, hints)).collect();
    if !accepted {
        item.errors = errors(&response.trace.errors, &message, &reason, &item.pruned, places, hints);
    }
    if accepted {
        take_result(&mut item, body);
    }
    item.answer = Some(Answer { code: response.code, reason, message });
    item
}

/// The object, and its Table if requested.
fn take_result(item: &mut Item, body: Option<Arc<Value>>) {
    let Some(body) = body else { return };
    if body.str_at(&["kind"]) == Some("Table") && body.str_at(&["apiVersion"]) == Some("meta.k8s.io/v1") {
        let row = body.get("rows").and_then(Value::as_array).and_then(<[Value]>::first);
        item.object = row.and_then(|row| row.get("object")).cloned();
        item.table = Some(Arc::unwrap_or_clone(body));
    } else {
        item.object = Some(Arc::unwrap_or_clone(body));
    }
}

fn errors(
    found: &[FieldError],
    message: &str,
    reason: &str,
    pruned: &[Located],
    places: &dyn Places,
    hints: &Hints<'_>,
) -> Vec<Problem> {
    if !found.is_empty() {
        return found.iter().map(|error| field_problem(error, places, hints)).collect();
    }
    // Strict decoding reports all unknown fields in one message; each becomes an error with its own location.
    if message.contains("strict decoding error: ") && !pruned.is_empty() {
        return pruned
            .iter()
            .map(|p| Problem {
                kind: reason.to_owned(),
                field: Some(p.path.clone()),
                message: format!("unknown field \"{}\"", p.path),
                spot: p.spot.clone(),
                help: unknown_help(hints, &p.path),
                ..Problem::default()
            })
            .collect();
    }
    let path = told_by_go(message);
    let spot = path.as_deref().map_or_else(|| places.start(), |path| places.field(path));
    vec![Problem {
        kind: reason.to_owned(),
        field: path,
        message: message.to_owned(),
        spot: Some(spot),
        ..Problem::default()
    }]
}

fn unknown_help(hints: &Hints<'_>, path: &str) -> Option<String> {
    hints.for_unknown_field(path).map(suggest::did_you_mean)
}

fn field_problem(error: &FieldError, places: &dyn Places, hints: &Hints<'_>) -> Problem {
    let path = if error.field == "<nil>" { told_in_words(&error.detail) } else { Some(error.field.as_str()) };
    Problem {
        kind: error.kind.reason().to_owned(),
        field: Some(error.field.clone()),
        message: error.to_string(),
        spot: Some(path.map_or_else(|| places.start(), |path| places.field(path))),
        help: hints.for_value(error).map(suggest::did_you_mean),
        detail: Some(error.detail.clone()),
        releases: None,
    }
}

/// The path that the text of an error names: `"spec.o" must validate …`, `Checked value … in spec.i`.
fn told_in_words(detail: &str) -> Option<&str> {
    if let Some(rest) = detail.strip_prefix('"') {
        return rest.split_once('"').map(|(path, _)| path);
    }
    let (_, path) = detail.strip_prefix("Checked value must be of type ")?.rsplit_once(" in ")?;
    Some(path)
}

/// The field that Go could not decode: `… into Go struct field ObjectMeta.name of type string`.
fn told_by_go(message: &str) -> Option<String> {
    let (_, behind) = message.split_once("Go struct field ObjectMeta.")?;
    let (field, _) = behind.split_once(" of type ")?;
    Some(format!("metadata.{field}"))
}

/// A warning of the server, with a location if it names a field.
fn warning(text: &str, places: &dyn Places, hints: &Hints<'_>) -> Problem {
    let unknown = text.strip_prefix("unknown field \"").and_then(|rest| rest.strip_suffix('"'));
    let known = || text.split_once(": ").map(|(path, _)| path).filter(|p| !p.contains(' '));
    let (path, spot) = match (unknown, known()) {
        (Some(path), _) => (Some(path), places.name(path)),
        (None, Some(path)) => (Some(path), places.field(path)),
        (None, None) => (None, places.start()),
    };
    let field = path.map(str::to_owned);
    let help = unknown.and_then(|path| unknown_help(hints, path));
    Problem {
        kind: "Warning".to_owned(),
        field,
        message: text.to_owned(),
        spot: Some(spot),
        help,
        ..Problem::default()
    }
}

/// Removes values that differ between runs (the server sets them on create) and, unless requested, kubectl's
/// last-applied annotation.
fn hide_bookkeeping(object: &mut Value, show: bool) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in ["creationTimestamp", "managedFields", "resourceVersion", "uid"] {
            metadata.remove(key);
        }
    }
    if !show {
        update::remove_last_applied(object);
    }
}

/// A generated name differs between runs, too: it is shown as its prefix and a `*`.
fn forget_generated_name(item: &mut Item, prefix: &str) {
    let shown = item.identity.name.clone();
    if let Some(answer) = &mut item.answer {
        hide_name(&mut answer.message, prefix);
    }
    for problem in item.errors.iter_mut().chain(&mut item.hidden).chain(&mut item.warnings) {
        hide_name(&mut problem.message, prefix);
    }
    if let Some(metadata) = item.object.as_mut().and_then(|o| o.get_mut("metadata")).and_then(Value::as_object_mut) {
        metadata.remove("name");
    }
    let rows = item.table.as_mut().and_then(|table| table.get_mut("rows"));
    if let Some(Value::Array(rows)) = rows
        && let Some(Value::Array(cells)) = rows.first_mut().and_then(|row| row.get_mut("cells"))
        && let Some(name) = cells.first_mut()
    {
        *name = Value::String(shown);
    }
}

/// Replaces the generated suffix after `prefix` by a `*`.
fn hide_name(text: &mut String, prefix: &str) {
    const RANDOM: usize = 5;
    // The server truncates a long prefix to fit the suffix.
    let prefix: String = prefix.chars().take(58).collect();
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once(&format!("\"{prefix}")) {
        let end = behind.char_indices().nth(RANDOM).map_or(behind.len(), |(i, _)| i);
        let (random, after) = behind.split_at_checked(end).unwrap_or((behind, ""));
        shown.push_str(before);
        shown.push('"');
        shown.push_str(&prefix);
        let generated = after.starts_with('"') && random.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9'));
        shown.push_str(if generated { "*" } else { random });
        rest = after;
    }
    shown.push_str(rest);
    *text = shown;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::identity::{Namespace, identity};

    #[test]
    fn a_path_told_in_words_is_found() {
        assert_eq!(told_in_words("\"spec.o\" must validate one and only one schema (oneOf)"), Some("spec.o"));
        assert_eq!(told_in_words("Checked value must be of type integer with format int32 in spec.i"), Some("spec.i"));
        assert_eq!(told_in_words("some validation rules were not checked"), None);
    }

    #[test]
    fn a_generated_name_is_hidden() {
        let mut text = "Kite.example.com \"red-x7x2b\" is invalid: a: Invalid value: \"red-\"".to_owned();
        hide_name(&mut text, "red-");
        assert_eq!(text, "Kite.example.com \"red-*\" is invalid: a: Invalid value: \"red-\"");
    }

    #[test]
    fn names_may_be_generated() {
        let metadata = crate::value::object([("generateName", "red-")]);
        let object = crate::value::object([("kind", Value::from("Kite")), ("metadata", metadata)]);
        assert_eq!(identity(&object, Namespace::Or("ns")).full_name(), "ns/red-*");
        assert_eq!(identity(&object, Namespace::None).full_name(), "red-*");
    }
}

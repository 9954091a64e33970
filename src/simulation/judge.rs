//! One object, sent to the server; its answer, as plain data with places.

use super::Compares;
use super::definitions::Route;
use super::olds::{Coming, Found, Olds, Wanted};
use super::turns::Left;
use crate::field::FieldError;
use crate::input::shelf::Shelf;
use crate::kubectl::request::{self, Manner};
use crate::kubectl::update::{self, Place, Sent, Way};
use crate::output::excerpt::Spot;
use crate::output::report::{Answer, Identity, Item, Located, Problem, Verdict};
use crate::server::{Response, ResponseBody, Server};
use crate::value::Value;
use std::sync::Arc;

/// Finds the place of a field in the text an object was read from.
pub trait Places {
    /// Where the object begins.
    fn start(&self) -> Spot;
    /// Where the field at `path` (as the server prints it), or the nearest one above it, is written.
    fn field(&self, path: &str) -> Spot;
    /// As [`Places::field`], but its name rather than its value.
    fn name(&self, path: &str) -> Spot;
}

/// What the object calls itself.
pub fn identity(object: &Value, namespace: Namespace<'_>) -> Identity {
    let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
    let name = match (text(&["metadata", "name"]), text(&["metadata", "generateName"])) {
        ("", "") => String::new(),
        ("", prefix) => format!("{prefix}*"),
        (name, _) => name.to_owned(),
    };
    let own = Some(text(&["metadata", "namespace"])).filter(|ns| !ns.is_empty());
    let namespace = match namespace {
        Namespace::Own => own,
        Namespace::Or(default) => own.or(Some(default)),
        Namespace::None => None,
    };
    Identity {
        api_version: text(&["apiVersion"]).to_owned(),
        kind: text(&["kind"]).to_owned(),
        namespace: namespace.map(str::to_owned),
        name,
    }
}

/// The namespace of an object.
#[derive(Clone, Copy, Debug)]
pub enum Namespace<'a> {
    /// Its own, if it names one: nothing is known of its kind.
    Own,
    /// Its own, or else this one.
    Or(&'a str),
    /// Objects of its kind are in none.
    None,
}

/// What an object is judged with.
#[derive(Clone, Copy, Debug)]
pub struct Court<'a> {
    /// The server.
    pub server: &'a Server,
    /// How requests are sent.
    pub manner: Manner,
    /// Where inputs leave objects for others of their name.
    pub shelf: &'a Shelf,
    /// Which request is sent of an object that may be there already; `None` is a create.
    pub updates: Option<&'a Updates>,
    /// The namespace of objects that name none.
    pub namespace: &'a str,
}

/// Old objects and what is done with them.
#[derive(Debug)]
pub struct Updates {
    /// The request.
    pub way: Way,
    /// The objects as they are now.
    pub olds: Olds,
    /// What is wanted for comparing.
    pub compares: Option<Compares>,
}

/// What of an object was there before it is sent.
#[derive(Debug, Default)]
pub struct Before {
    /// What an input of the same name before it left behind.
    pub left: Option<Left>,
    /// The object as it is in the cluster, if it was asked for already.
    pub coming: Option<Coming>,
}

/// Sends `object` and reads the answer.
pub fn judge(
    court: Court<'_>,
    route: &Route,
    object: Value,
    identity: Identity,
    before: Before,
    places: &dyn Places,
) -> Item {
    let (group, version) = identity.api_version.split_once('/').unwrap_or(("", &identity.api_version));
    if !route.versions.iter().any(|v| v == version) {
        return unserved(route, identity, places);
    }
    let collection = request::collection(group, version, &route.plural, identity.namespace.as_deref());
    let definition = format!("{}.{group}", route.plural);
    let version = version.to_owned();
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let prefix = object.str_at(&["metadata", "generateName"]).filter(|_| name.is_empty()).map(str::to_owned);
    let place = Place { definition: &definition, version: &version, collection: &collection, name: &name };
    let followed = before.left.is_some();
    let mut item = match court.updates {
        None if !followed => {
            answered(court.server.take(request::create(&collection, object, court.manner)), identity, places)
        }
        updates => {
            let identity_again = identity.clone();
            let compares = updates.and_then(|updates| updates.compares);
            let sent = compares.map(|_| object.clone());
            match update(court, place, &route.plural, object, before, &identity) {
                Ok(done) => {
                    let mut item = answered(done.response, identity, places);
                    item.action = done.action;
                    item.before = compares.and(done.before).map(Arc::unwrap_or_clone);
                    item.sent = sent;
                    if court.manner.table
                        && let Some(object) = &item.object
                    {
                        let objects = std::slice::from_ref(object);
                        item.table = court.server.table_of(&definition, &version, objects, court.manner.now);
                    }
                    item
                }
                Err(why) => why.item(identity_again, places),
            }
        }
    };
    if let Some(prefix) = prefix {
        forget_generated_name(&mut item, &prefix);
    }
    if let Some(result) = &mut item.object {
        // Who compares shows and hides for itself.
        let mut copy = court.updates.and_then(|updates| updates.compares).map(|_| result.clone());
        let shown = copy.as_mut().unwrap_or(result);
        forget_its_birth(shown, court.updates.is_some() || followed);
        item.scale = court.server.scale_of(&definition, &version, shown);
    }
    item
}

/// Why nothing is sent.
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

/// What an update would do to a CRD that is there already, on a server of its own; `None` for one that is not there.
pub fn judge_definition(court: Court<'_>, crd: &Value, identity: &Identity, places: &dyn Places) -> Option<Item> {
    let updates = court.updates?;
    let coming = updates.olds.ask(identity, "customresourcedefinitions");
    let wanted = Wanted { identity, namespace: court.namespace };
    let done = match coming.map_or_else(|| updates.olds.find(wanted), Coming::wait) {
        Found::Nothing => return None,
        Found::Object(old, spot) => {
            let server = Server::new(0).without_managed_fields();
            let place = Place {
                definition: "customresourcedefinitions.apiextensions.k8s.io",
                version: "v1",
                collection: request::DEFINITIONS,
                name: &identity.name,
            };
            let manner = Manner { dry_run: false, table: false, ..court.manner };
            server
                .seed_definition(&old, court.manner.now)
                .map_err(|why| Unsent::from(format!("the old CRD at {spot} cannot be a stored one: {why}")))
                .and_then(|()| Ok(update::send(&server, place, crd.clone(), &updates.way, manner)?))
        }
        found => Err(not_one(found)),
    };
    Some(match done {
        Ok(done) => {
            let mut item = answered(done.response, identity.clone(), places);
            item.action = done.action;
            item.before = updates.compares.and(done.before).map(Arc::unwrap_or_clone);
            item.sent = updates.compares.map(|_| crd.clone());
            item
        }
        Err(why) => why.item(identity.clone(), places),
    })
}

/// Why what was found is not one old object.
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

/// Puts the old object where the server finds it, and sends the new one.
fn update(
    court: Court<'_>,
    place: Place<'_>,
    plural: &str,
    object: Value,
    before: Before,
    identity: &Identity,
) -> Result<Sent, Unsent> {
    // The next input of this name is judged with what this one leaves behind.
    let manner = Manner { dry_run: false, table: false, ..court.manner };
    let way = court.updates.map_or_else(Way::default, |updates| updates.way.clone());
    let take = |place| {
        let gone = |why| format!("what the input of the same name before it left cannot be read again: {why}");
        court.shelf.get(place).map_err(gone)
    };
    let seed = |old: Value, of: &str| {
        let namespace = identity.namespace.as_deref().unwrap_or_default();
        let seeded = court.server.seed(place.definition, namespace, old);
        seeded.map_err(|why| format!("the old object{of} cannot be a stored one: {why}"))
    };
    match (before.left, court.updates) {
        (Some(Left::Stored(shelved)), _) => seed(take(shelved)?, "")?,
        (Some(Left::Sent(shelved)), _) => {
            update::send(court.server, place, in_namespace(take(shelved)?, identity), &way, manner)?;
        }
        (None, Some(updates)) if !place.name.is_empty() => {
            let coming = before.coming.or_else(|| updates.olds.ask(identity, plural));
            let wanted = Wanted { identity, namespace: court.namespace };
            match coming.map_or_else(|| updates.olds.find(wanted), Coming::wait) {
                Found::Nothing => {}
                Found::Object(old, spot) => seed(*old, &format!(" at {spot}"))?,
                found => return Err(not_one(found)),
            }
        }
        (None, _) => {}
    }
    Ok(update::send(court.server, place, in_namespace(object, identity), &way, manner)?)
}

/// The object with the namespace that kubectl writes into it before anything else; the last-applied annotation has it.
fn in_namespace(mut object: Value, identity: &Identity) -> Value {
    if let Some(namespace) = &identity.namespace
        && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        && metadata.get("namespace").is_none_or(|own| own.as_str() == Some(""))
    {
        metadata.insert("namespace".to_owned(), namespace.as_str().into());
    }
    object
}

/// What kubectl says before it sends anything.
fn unserved(route: &Route, identity: Identity, places: &dyn Places) -> Item {
    let mut item = Item::new(places.start(), Verdict::Rejected, "");
    item.answer = Some(Answer { code: 404, reason: "NotFound".to_owned(), message: "404 page not found".to_owned() });
    item.errors.push(Problem {
        kind: "NotFound".to_owned(),
        field: Some("apiVersion".to_owned()),
        message: format!(
            "no matches for kind \"{}\" in version \"{}\": its CRD serves {}",
            identity.kind,
            identity.api_version,
            if route.versions.is_empty() { "no version".to_owned() } else { route.versions.join(", ") }
        ),
        spot: Some(places.field("apiVersion")),
    });
    item.identity = identity;
    item
}

/// Reads an answer.
pub fn answered(response: Response, identity: Identity, places: &dyn Places) -> Item {
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
        .map(|path| Located { path: path.clone(), spot: Some(places.name(path)) })
        .collect();
    item.defaulted = response.trace.defaulted.into_iter().map(|d| (d.path, d.value)).collect();
    item.warnings = response.warnings.iter().map(|text| warning(text, places)).collect();
    if !accepted {
        item.errors = errors(&response.trace.errors, &message, &reason, &item.pruned, places);
    }
    if accepted {
        take_result(&mut item, body);
    }
    item.answer = Some(Answer { code: response.code, reason, message });
    item
}

/// The object, and its Table if one was asked for.
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

fn errors(found: &[FieldError], message: &str, reason: &str, pruned: &[Located], places: &dyn Places) -> Vec<Problem> {
    if !found.is_empty() {
        return found.iter().map(|error| field_problem(error, places)).collect();
    }
    // Strict decoding: one message for all unknown fields; here each has its place.
    if message.contains("strict decoding error: ") && !pruned.is_empty() {
        return pruned
            .iter()
            .map(|p| Problem {
                kind: reason.to_owned(),
                field: Some(p.path.clone()),
                message: format!("unknown field \"{}\"", p.path),
                spot: p.spot.clone(),
            })
            .collect();
    }
    let path = told_by_go(message);
    let spot = path.as_deref().map_or_else(|| places.start(), |path| places.field(path));
    vec![Problem { kind: reason.to_owned(), field: path, message: message.to_owned(), spot: Some(spot) }]
}

fn field_problem(error: &FieldError, places: &dyn Places) -> Problem {
    let path = if error.field == "<nil>" { told_in_words(&error.detail) } else { Some(error.field.as_str()) };
    Problem {
        kind: error.kind.reason().to_owned(),
        field: Some(error.field.clone()),
        message: error.to_string(),
        spot: Some(path.map_or_else(|| places.start(), |path| places.field(path))),
    }
}

/// The path that an error without one names in its text: `"spec.o" must validate …`, `Checked value … in spec.i`.
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

/// A warning of the server, with its place if it names a field.
fn warning(text: &str, places: &dyn Places) -> Problem {
    let unknown = text.strip_prefix("unknown field \"").and_then(|rest| rest.strip_suffix('"'));
    let known = || text.split_once(": ").map(|(path, _)| path).filter(|p| !p.contains(' '));
    let (path, spot) = match (unknown, known()) {
        (Some(path), _) => (Some(path), places.name(path)),
        (None, Some(path)) => (Some(path), places.field(path)),
        (None, None) => (None, places.start()),
    };
    let field = path.map(str::to_owned);
    Problem { kind: "Warning".to_owned(), field, message: text.to_owned(), spot: Some(spot) }
}

/// Takes out what differs from run to run: what the server gives an object at its birth.
fn forget_its_birth(object: &mut Value, stored: bool) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in ["creationTimestamp", "managedFields", "uid"] {
            metadata.remove(key);
        }
        if stored {
            metadata.remove("resourceVersion");
        }
    }
}

/// A generated name differs from run to run, too: it is shown as its prefix and a `*`.
fn forget_generated_name(item: &mut Item, prefix: &str) {
    let shown = item.identity.name.clone();
    if let Some(answer) = &mut item.answer {
        hide_name(&mut answer.message, prefix);
    }
    for problem in item.errors.iter_mut().chain(&mut item.warnings) {
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

/// Puts a `*` for the characters that the server put behind `prefix`.
fn hide_name(text: &mut String, prefix: &str) {
    const RANDOM: usize = 5;
    // The server cuts a long prefix to make room.
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

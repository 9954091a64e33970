//! `scale`: the Scale of objects, and what `kubectl scale` would do to them. Nothing is written anywhere but in a server of
//! our own.

use super::Exit;
use super::args;
use super::failure::{Failure, told};
use super::selection::{self, Selection};
use super::source::{self, Source, definition_name, problem};
use super::terminal;
use crate::cluster::Resource;
use crate::kubectl::FieldValidation;
use crate::kubectl::request::{self, Manner};
use crate::kubectl::update::without_books;
use crate::output::difference::{self, Sides};
use crate::output::report::json as report_json;
use crate::output::{Cell, Column, Look, columns};
use crate::release::Release;
use crate::server::{Response, ResponseBody, Server};
use crate::value::group_version::api_version;
use crate::value::{Map, Value, json, object};
use std::io::{self, Write};

/// Runs the command.
pub fn run(args: &args::Scale, color: args::Color) -> io::Result<Exit> {
    let mut out = terminal::Stream::stdout(color);
    let mut failures = Vec::new();
    let done = scale(args, &mut failures);
    let (release, changes) = done.unwrap_or_else(|failure| {
        failures.push(failure);
        (args.kubernetes.kubernetes_version, Vec::new())
    });
    let text = match args.output {
        Some(args::TableOrJson::Json) => report(&changes, release),
        None | Some(args::TableOrJson::Table) => shown(&changes, out.look()),
    };
    out.write.write_all(text.as_bytes())?;
    out.write.flush()?;
    let said: Vec<Failure> = changes.iter().filter_map(Change::refusal).collect();
    let rejected = if said.is_empty() { Exit::Fine } else { Exit::Rejected };
    eprint!("{}", told(&said).0);
    let (text, exit) = told(&failures);
    eprint!("{text}");
    Ok(exit.max(rejected))
}

/// What would become of one object.
struct Change {
    resource: Resource,
    namespace: String,
    name: String,
    /// The Scale and the object, as they are.
    before: Option<Value>,
    object: Value,
    /// The Scale and the object, as they would be, or the server's refusal.
    after: Result<(Value, Value), Box<Response>>,
}

/// The release that was simulated, and what would become of each object.
type Scaled = (Option<Release>, Vec<Change>);

fn scale(args: &args::Scale, failures: &mut Vec<Failure>) -> Result<Scaled, Failure> {
    let namespace = source::namespace(&args.cluster);
    let names = match selection::read(&args.words, false, |_| None).map_err(Failure::message)? {
        Selection::Names(names) => names,
        Selection::Types(_) => return Err(problem("name the objects to scale", "kubectl crdx scale TYPE/NAME").into()),
    };
    let source = Source::open(args.files(&args.reading.options()), args.kubernetes, &args.cluster, failures)?;
    let release = source.release(args.kubernetes);
    let now = terminal::now();
    let manner = Manner { level: FieldValidation::Strict, dry_run: false, table: false, now };
    let mut changes = Vec::new();
    for (word, name) in names {
        let resource = source.resource(&word)?;
        let place = Some(namespace.as_str()).filter(|_| resource.namespaced);
        let found = match source.get(&resource, place, &name).map_err(Failure::from) {
            Ok(found) => found,
            Err(failure) if failure.is_not_found() => {
                failures.push(failure);
                continue;
            }
            Err(failure) => return Err(failure),
        };
        // A server of its own: what happens to one object is of no concern to the next.
        let server = Server::new(release, 0);
        let definition = definition_name(&resource);
        let Some(crd) = source.definition(&resource)? else {
            let help = "kubectl scale --dry-run=server tells";
            failures.push(problem(&format!("{definition} is not a custom resource"), help).into());
            continue;
        };
        server
            .seed_definition(&crd, now)
            .and_then(|()| server.seed(&definition, &namespace, found))
            .map_err(|why| Failure::message(format!("{definition} {name:?} cannot be read: {why}")))?;
        changes.push(change(&server, resource, &namespace, name, args.replicas, manner));
    }
    Ok((Some(release), changes))
}

fn change(server: &Server, resource: Resource, namespace: &str, name: String, replicas: i32, manner: Manner) -> Change {
    let path = resource.object_path(Some(namespace).filter(|_| resource.namespaced), &name);
    let read = |path: &str| json_of(&server.handle(&request::read(path, manner)));
    let before = read(&format!("{path}/scale"));
    let object = read(&path).unwrap_or_default();
    let response = server.handle(&request::scale(&path, Value::Int(i64::from(replicas)), None, manner));
    let after = match json_of(&response) {
        Some(scale) => Ok((scale, read(&path).unwrap_or_default())),
        None => Err(Box::new(response)),
    };
    let namespace = if resource.namespaced { namespace.to_owned() } else { String::new() };
    Change { resource, namespace, name, before, object, after }
}

/// What a good answer holds.
fn json_of(response: &Response) -> Option<Value> {
    match &response.body {
        ResponseBody::Json(body) if response.code == 200 => Some((**body).clone()),
        _ => None,
    }
}

impl Change {
    /// Why the server would not do it.
    fn refusal(&self) -> Option<Failure> {
        let response = self.after.as_ref().err()?;
        let mut failure = match &response.body {
            ResponseBody::Json(status) => Failure::refused(status),
            // What the server answers where it serves nothing, and what kubectl makes of it.
            ResponseBody::Text(_) => {
                let message = "the server could not find the requested resource";
                Failure::refused(&object([("kind", "Status"), ("reason", "NotFound"), ("message", message)]))
            }
        };
        if let (Failure::Error(error), 404) = (&mut failure, response.code) {
            error.help = Some(format!("its CRD has no scale subresource in {}", self.resource.version));
        }
        Some(failure)
    }

    fn diff(&self, color: bool) -> Option<String> {
        let (_, after) = self.after.as_ref().ok()?;
        let (before, after) = (without_books(self.object.clone()), without_books(after.clone()));
        let Resource { group, version, kind, .. } = &self.resource;
        let name = format!("{group}.{version}.{kind}.{}.{}", self.namespace, self.name);
        let sides =
            Sides { name: &name, before: Some(&before), after: &after, sent: &after, pruned: &[], defaulted: &[] };
        difference::unified(&sides, color)
    }
}

/// The columns of the table.
const COLUMNS: &[Column] = &[
    Column::text("NAME"),
    Column::always("DESIRED"),
    Column::always("AVAILABLE"),
    Column::text("SELECTOR"),
    Column::always("WOULD BE"),
];

/// For a person: a table of the Scales, then the diffs.
fn shown(changes: &[Change], look: Look) -> String {
    let mut rows = Vec::new();
    for change in changes {
        let number = |scale: Option<&Value>, path: &[&str]| {
            scale.map_or_else(|| "<none>".to_owned(), |s| s.at(path).and_then(Value::as_int).unwrap_or(0).to_string())
        };
        let before = change.before.as_ref();
        let after = change.after.as_ref().ok().map(|(scale, _)| scale);
        let (kind, group) = (change.resource.kind.to_lowercase(), &change.resource.group);
        let selector = before.and_then(|s| s.str_at(&["status", "selector"])).unwrap_or("<none>");
        rows.push(vec![
            Cell::from(format!("{kind}.{group}/{}", change.name)),
            Cell::from(number(before, &["spec", "replicas"])),
            Cell::from(number(before, &["status", "replicas"])),
            Cell::from(selector),
            Cell::from(after.map_or_else(|| "rejected".to_owned(), |_| number(after, &["spec", "replicas"]))),
        ]);
    }
    let mut text = columns::table(COLUMNS, look, &rows);
    for change in changes {
        text.extend(change.diff(look.color));
    }
    text
}

/// For a program (docs/output.md).
fn report(changes: &[Change], release: Option<Release>) -> String {
    let item = |change: &Change| {
        let Change { resource, namespace, name, before, .. } = change;
        let mut item = Map::new();
        let mut put = |key: &str, value: Value| item.insert(key.to_owned(), value);
        put("apiVersion", api_version(&resource.group, &resource.version).into());
        put("kind", resource.kind.as_str().into());
        put("name", name.as_str().into());
        if !namespace.is_empty() {
            put("namespace", namespace.as_str().into());
        }
        if let Some(before) = before {
            put("scale", before.clone());
        }
        let diff = change.diff(false);
        put("differs", Value::Bool(diff.is_some()));
        if let Some(diff) = diff {
            put("diff", diff.into());
        }
        match &change.after {
            Ok((scale, object)) => {
                put("verdict", "accepted".into());
                put("wouldBe", scale.clone());
                put("result", without_books(object.clone()));
            }
            Err(response) => {
                put("verdict", "rejected".into());
                let said = match &response.body {
                    ResponseBody::Json(status) => status.str_at(&["message"]).unwrap_or_default(),
                    ResponseBody::Text(text) => text.trim(),
                };
                put("answer", object([("code", Value::Int(response.code.into())), ("message", said.into())]));
            }
        }
        Value::Object(item)
    };
    let report = object([
        ("apiVersion", Value::from("crdx/v1")),
        ("items", changes.iter().map(item).collect::<Vec<_>>().into()),
        ("kind", "ScaleReport".into()),
        ("kubernetesVersions", report_json::releases(release)),
    ]);
    json::to_string(&report) + "\n"
}

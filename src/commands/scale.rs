//! `scale`: shows the Scale of objects and the effect of `kubectl scale`. Writes go to a simulated server only.

pub mod args;
mod targets;

use super::error::{Error, summarize};
use super::source::{self, FileArguments, ObjectSource, definition_name, problem};
use super::terminal::{self, Content};
use crate::commands::exit::Exit;
use crate::commands::flags;
use crdx_cluster::Resource;
use crdx_engine::documents::InputEntry;
use crdx_engine::kubectl::FieldValidation;
use crdx_engine::kubectl::request::{self, RequestOptions};
use crdx_engine::kubectl::send::Sender as _;
use crdx_engine::kubectl::written_metadata::without_written_metadata;
use crdx_engine::report::admission::Webhook;
use crdx_engine::report::{ObjectReport, SourceLocation, Verdict};
use crdx_engine::simulation::admission::Admission;
use crdx_input::required::{Required, Sources};
use crdx_output::difference::{self, Sides};
use crdx_output::printable::{complain, complain_all};
use crdx_output::report::admission::members as admission_members;
use crdx_output::report::json as report_json;
use crdx_output::{Cell, Column, TableStyle, bounded_table};
use crdx_runner::simulation::admission;
use crdx_runner::simulation::live::Live;
use crdx_server::policies::findings::Findings;
use crdx_server::server::{Request, Response, ResponseBody, Server};
use crdx_value::group_version::api_version;
use crdx_value::release::Release;
use crdx_value::{Map, Value, json, object};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use targets::ScaleTarget;

/// Runs the command.
pub fn run(args: &args::Scale, color: flags::Color) -> Result<Exit, Error> {
    let is_text = matches!(args.output, None | Some(flags::TableOrJson::Table));
    let mut out = terminal::Stream::stdout(color, Content::json_if(!is_text));
    let mut failures = Vec::new();
    let done = scale(args, &mut failures);
    let (release, changes) = done.unwrap_or_else(|failure| {
        failures.push(failure);
        (args.kubernetes.kubernetes_version, Vec::new())
    });
    let text = match args.output {
        Some(flags::TableOrJson::Json) => report(&changes, release),
        None | Some(flags::TableOrJson::Table) => shown(&changes, out.look()),
    };
    out.write.write_all(text.as_bytes())?;
    out.write.flush()?;
    for undecided in
        changes.iter().filter_map(|change| change.admission.as_ref()).flat_map(|admission| &admission.undecided)
    {
        if !undecided.decides {
            complain!("note: {}: it was not evaluated; {}", undecided.message, undecided.help);
        }
    }
    let mut webhooks: BTreeMap<&Webhook, usize> = BTreeMap::new();
    for webhook in
        changes.iter().filter_map(|change| change.admission.as_ref()).flat_map(|admission| &admission.webhooks)
    {
        *webhooks.entry(webhook).or_default() += 1;
    }
    for (webhook, count) in webhooks {
        complain!("note: {}", webhook.note(count).message);
    }
    failures.extend(changes.iter().filter_map(|change| change.unknown.clone()).map(Error::Cluster));
    let refusals: Vec<Error> = changes.iter().filter_map(ScaleChange::refusal).collect();
    let rejected = if refusals.is_empty() { Exit::Accepted } else { Exit::Rejected };
    complain_all(&summarize(&refusals).0);
    let (text, exit) = summarize(&failures);
    complain_all(&text);
    Ok(exit.max(rejected))
}

/// The result for one object.
struct ScaleChange {
    resource: Resource,
    namespace: String,
    name: String,
    /// The existing Scale and object.
    before: Option<Value>,
    object: Value,
    /// The Scale and object after scaling, or the reason why they do not change.
    after: Result<(Value, Value), ScaleRefusal>,
    /// The findings of policies that have not been reported.
    findings: Option<Box<Findings>>,
    /// The effects of policies.
    admission: Option<Box<crdx_engine::report::Admission>>,
    /// The reason why the outcome is unknown, and a suggestion.
    unknown: Option<crdx_cluster::Error>,
}

/// The reason why an object is not scaled.
enum ScaleRefusal {
    Server(Box<Response>),
    /// kubectl sends nothing, because the object does not meet a condition of the command line.
    Precondition(String),
}

/// The simulated release and the results.
type Scaled = (Option<Release>, Vec<ScaleChange>);

fn scale(args: &args::Scale, failures: &mut Vec<Error>) -> Result<Scaled, Error> {
    let namespace = source::namespace(&args.cluster);
    let selection = targets::selection(args)?;
    let source = ObjectSource::open(
        FileArguments::new(&args.files, &args.reading.options()),
        args.kubernetes,
        &args.cluster,
        failures,
    )?;
    let release = source.release(args.kubernetes);
    let now = terminal::now();
    let request_options = RequestOptions { level: FieldValidation::Strict, dry_run: false, table: false, now };
    let admission = policies(args, &source, release, &namespace, failures);
    let mut changes = Vec::new();
    for target in targets::targets(args, &source, selection, &namespace, failures)? {
        let ScaleTarget { resource, namespace, name, object } = target;
        let is_versioned = object.at(&["metadata", "resourceVersion"]).is_some();
        // Each object has a separate server, so that requests do not affect one another.
        let server = Server::builder(release, 0);
        let server = match &admission {
            Some(admission) => admission.server(server, now, &namespace),
            None => server.build(),
        };
        let definition = definition_name(&resource);
        let Some(crd) = source.definition(&resource)? else {
            let help = "ask the server with kubectl scale --dry-run=server";
            failures.push(problem(&format!("{definition} is not a custom resource"), help).into());
            continue;
        };
        server
            .seed_definition(&crd, now)
            .and_then(|()| server.seed(&definition, &namespace, object))
            .map_err(|error| Error::input(format!("{definition} {name:?} cannot be read: {error}")))?;
        let cluster = admission.as_ref().map(Admission::cluster);
        let send = |request| match &cluster {
            Some(cluster) => cluster.send(&server, request),
            None => server.handle(&request),
        };
        let mut change = change(&send, resource, &namespace, name, args.replicas, request_options);
        if let Some(message) = change.precondition(args, is_versioned) {
            change.after = Err(ScaleRefusal::Precondition(message));
            change.findings = None;
        }
        if let (Some(admission), Some(findings)) = (&admission, change.findings.take()) {
            change.admit(admission, *findings);
        }
        changes.push(change);
    }
    Ok((Some(release), changes))
}

/// Returns the policies that admit the change.
fn policies(
    args: &args::Scale,
    source: &ObjectSource,
    release: Release,
    namespace: &str,
    failures: &mut Vec<Error>,
) -> Option<Admission> {
    let options = args.policies.options();
    let live = Arc::new(Live::new(args.cluster.target()));
    let input = args.reading.options();
    let live = (matches!(source, ObjectSource::Live(_)) && !options.skips_cluster).then_some(&live);
    let objects = live.map(Live::objects);
    let reading = admission::Reading { options: &options, input: input.clone(), live, objects, namespace };
    let crds = Sources::open(&args.files.crds, input, Required::Definition, "--crds").filter_map(|entry| match entry {
        InputEntry::Document(document) if document.is_definition() => Some(document.value),
        _ => None,
    });
    let mut notes = Vec::new();
    // Read the CRDs again only if there are policies.
    let definitions = if options.paths.is_empty() { Vec::new() } else { crds.collect() };
    let mut show = |item: ObjectReport| {
        let mut push = |location: &SourceLocation, what: &str| {
            let message = format!("{location}: {what}");
            failures.push(Error::Cluster(crdx_cluster::Error {
                message,
                help: item.help.clone(),
                ..crdx_cluster::Error::default()
            }));
        };
        if item.errors.is_empty() {
            push(&item.location, &item.reason);
        }
        for error in &item.errors {
            push(error.location.as_ref().unwrap_or(&item.location), &error.message);
        }
    };
    let objects = reading.read_in_use(&definitions, &mut show, &mut notes);
    let now = terminal::now();
    let admission = admission::standalone(&objects, &reading, release, definitions, now, &mut show, &mut notes);
    for note in notes {
        complain!("note: {}", note.message);
    }
    admission
}

fn change(
    send: &dyn Fn(Request) -> Response,
    resource: Resource,
    namespace: &str,
    name: String,
    replicas: i32,
    request_options: RequestOptions,
) -> ScaleChange {
    let path = resource.object_path(Some(namespace).filter(|_| resource.namespaced), &name);
    let read = |path: &str| json_of(&send(request::read(path, request_options)));
    let before = read(&format!("{path}/scale"));
    let object = read(&path).unwrap_or_default();
    let mut response = send(request::scale(&path, Value::Int(i64::from(replicas)), None, request_options));
    let findings = response.trace.policies.take();
    let after = match json_of(&response) {
        Some(scale) => Ok((scale, read(&path).unwrap_or_default())),
        None => Err(ScaleRefusal::Server(Box::new(response))),
    };
    let namespace = if resource.namespaced { namespace.to_owned() } else { String::new() };
    ScaleChange { resource, namespace, name, before, object, after, findings, admission: None, unknown: None }
}

/// Returns the object of a successful response.
fn json_of(response: &Response) -> Option<Value> {
    match &response.body {
        ResponseBody::Json(body) if response.code == 200 => Some((**body).clone()),
        _ => None,
    }
}

impl ScaleChange {
    /// Adds the findings of policies.
    fn admit(&mut self, admission: &Admission, findings: Findings) {
        let verdict = if self.after.is_ok() { Verdict::Accepted } else { Verdict::Rejected };
        let mut item = ObjectReport::new(SourceLocation::default(), verdict, "");
        admission.report(&mut item, findings);
        if item.verdict == Verdict::CannotTell {
            self.unknown =
                Some(crdx_cluster::Error { message: item.reason, help: item.help, ..crdx_cluster::Error::default() });
        }
        self.admission = item.admission;
    }

    /// Returns kubectl's message if the object does not meet the conditions of the command line
    /// (`ScalePrecondition.validate`).
    fn precondition(&self, args: &args::Scale, is_versioned: bool) -> Option<String> {
        let scale = self.before.as_ref()?;
        let replicas = scale.at(&["spec", "replicas"]).and_then(Value::as_int).unwrap_or(0);
        if args.current_replicas >= 0 && replicas != i64::from(args.current_replicas) {
            return Some(format!("Expected replicas to be {}, was {replicas}", args.current_replicas));
        }
        // The simulated server gives a version to an object without one.
        let version = scale.str_at(&["metadata", "resourceVersion"]).filter(|_| is_versioned).unwrap_or_default();
        let expected = args.resource_version().filter(|expected| *expected != version)?;
        Some(format!("Expected resource version to be {expected}, was {version}"))
    }

    /// Returns the verdict in reports.
    fn verdict(&self) -> Verdict {
        match (&self.unknown, &self.after) {
            (Some(_), _) => Verdict::CannotTell,
            (None, Ok(_)) => Verdict::Accepted,
            (None, Err(_)) => Verdict::Rejected,
        }
    }

    /// Returns the error if the server would reject the request.
    fn refusal(&self) -> Option<Error> {
        if self.unknown.is_some() {
            return None;
        }
        let response = match self.after.as_ref().err()? {
            ScaleRefusal::Server(response) => response,
            ScaleRefusal::Precondition(message) => return Some(Error::usage(message)),
        };
        let mut failure = match &response.body {
            ResponseBody::Json(status) => Error::refused(status),
            // The server's response for a resource that it does not serve; kubectl replaces the message.
            ResponseBody::Text(_) => {
                let message = "the server could not find the requested resource";
                Error::refused(&object([("kind", "Status"), ("reason", "NotFound"), ("message", message)]))
            }
        };
        if let (Error::Cluster(error), 404) = (&mut failure, response.code) {
            error.help = Some(format!("its CRD has no scale subresource in {}", self.resource.version));
        }
        Some(failure)
    }

    fn diff(&self, color: bool) -> Option<String> {
        let (_, after) = self.after.as_ref().ok().filter(|_| self.unknown.is_none())?;
        let (before, after) = (without_written_metadata(self.object.clone()), without_written_metadata(after.clone()));
        let Resource { group, version, kind, .. } = &self.resource;
        let name = format!("{group}.{version}.{kind}.{}.{}", self.namespace, self.name);
        let sides = Sides {
            name: &name,
            before: Some(&before),
            after: &after,
            sent: &after,
            pruned: &[],
            defaulted: &[],
            admission: None,
        };
        difference::unified(&sides, color)
    }
}

const COLUMNS: &[Column] = &[
    Column::text("NAME"),
    Column::always("DESIRED"),
    Column::always("AVAILABLE"),
    Column::text("SELECTOR"),
    Column::always("WOULD BE"),
];

/// Formats a table of the Scales, then the diffs.
fn shown(changes: &[ScaleChange], look: TableStyle) -> String {
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
            Cell::from(match change.verdict() {
                Verdict::Accepted => number(after, &["spec", "replicas"]),
                verdict => verdict.text().to_owned(),
            }),
        ]);
    }
    let mut text = bounded_table::table(COLUMNS, look, &rows);
    for change in changes {
        text.extend(change.diff(look.color));
    }
    text
}

/// Formats the JSON report (docs/output.md).
fn report(changes: &[ScaleChange], release: Option<Release>) -> String {
    let item = |change: &ScaleChange| {
        let ScaleChange { resource, namespace, name, before, .. } = change;
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
        put("verdict", change.verdict().as_str().into());
        match &change.after {
            _ if change.unknown.is_some() => {
                let unknown = change.unknown.as_ref();
                put("reason", unknown.map_or("", |error| &error.message).into());
                put("help", unknown.and_then(|error| error.help.as_deref()).unwrap_or_default().into());
            }
            Ok((scale, object)) => {
                put("wouldBe", scale.clone());
                put("result", without_written_metadata(object.clone()));
            }
            Err(ScaleRefusal::Precondition(message)) => {
                put("reason", message.as_str().into());
            }
            Err(ScaleRefusal::Server(response)) => {
                let message = match &response.body {
                    ResponseBody::Json(status) => status.str_at(&["message"]).unwrap_or_default(),
                    ResponseBody::Text(text) => text.trim(),
                };
                put("answer", object([("code", Value::Int(response.code.into())), ("message", message.into())]));
            }
        }
        item.extend(change.admission.as_ref().map(|effects| admission_members(effects)).unwrap_or_default());
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

//! `get`: live objects with their printer columns, as `kubectl get` prints them; the rows are computed here.

use super::Exit;
use super::args::{self, FieldValidation, Format};
use super::request::{self, Manner};
use super::terminal;
use crate::api::{ResponseBody, Server};
use crate::cluster::{self, Connection, Error, Query, Resource};
use crate::output::table::{TableText, View};
use crate::text::{json, yaml};
use crate::value::{Value, object};
use std::io::Write;

/// Runs the command.
pub fn run(args: &args::Get, color: args::Color) -> Exit {
    let out = terminal::Stream::stdout(color);
    let mut write = out.write;
    match get(args, out.color) {
        Ok(got) => {
            let written = write.write_all(got.text.as_bytes()).and_then(|()| write.flush());
            if let Some(message) = got.message {
                eprintln!("{message}");
            }
            written.map_or(Exit::CannotTell, |()| got.exit)
        }
        Err(error) => {
            eprintln!("error: {}", error.message);
            if let Some(help) = error.help {
                eprintln!("help: {help}");
            }
            Exit::CannotTell
        }
    }
}

/// What is printed.
#[derive(Default)]
struct Got {
    text: String,
    /// What is said beside it.
    message: Option<String>,
    exit: Exit,
}

fn get(args: &args::Get, color: bool) -> Result<Got, Error> {
    if args.cluster.offline {
        return Err(problem("get reads a live cluster, and --offline forbids it", "leave out --offline"));
    }
    let target = args.cluster.target();
    let cluster = Connection::open(&target)?;
    let Some(resource) = &cluster.resource(&args.resource)? else {
        let message = format!("the cluster has no resource {:?}", args.resource);
        return Err(problem(&message, "kubectl api-resources lists what it has"));
    };
    let namespace = args.cluster.namespace.clone().or_else(|| cluster::namespace(&target));
    let namespace = namespace.unwrap_or_else(|| "default".to_owned());
    let place = Some(namespace.as_str()).filter(|_| resource.namespaced && !args.all_namespaces);
    let found = objects(&cluster, resource, place, &args.names)?;
    let mut got = Got { text: String::new(), message: found.missing, exit: found.exit };
    if found.objects.is_empty() && args.names.is_empty() && !matches!(args.output, Some(Format::Json | Format::Yaml)) {
        got.message = Some(match place {
            Some(namespace) => format!("No resources found in {namespace} namespace."),
            None => "No resources found".to_owned(),
        });
        return Ok(got);
    }
    let one = args.names.len() == 1;
    got.text = match args.output {
        Some(Format::Json) if !found.objects.is_empty() || args.names.is_empty() => {
            json::write::kubectl(&whole(found.objects, one))
        }
        Some(Format::Yaml) if !found.objects.is_empty() || args.names.is_empty() => {
            yaml::write::to_string(&whole(found.objects, one))
        }
        Some(Format::Json | Format::Yaml) => String::new(),
        Some(Format::Name) => names(resource, &found.objects),
        None | Some(Format::Wide) => {
            let view =
                View { wide: args.output.is_some(), namespace: resource.namespaced && args.all_namespaces, color };
            table(&cluster, resource, &found.objects, view)?
        }
    };
    Ok(got)
}

/// Live objects, and what was not there.
#[derive(Default)]
struct Found {
    objects: Vec<Value>,
    missing: Option<String>,
    exit: Exit,
}

fn objects(
    cluster: &Connection,
    resource: &Resource,
    namespace: Option<&str>,
    names: &[String],
) -> Result<Found, Error> {
    let mut found = Found::default();
    if names.is_empty() {
        for page in cluster.pages(&resource.path(namespace), Query::default(), cluster::JSON) {
            found.objects.extend(page?.take_items());
        }
        // Items of a list of custom resources say what they are; those of built-in kinds do not.
        return Ok(found);
    }
    if namespace.is_none() && resource.namespaced {
        return Err(problem(
            "a resource cannot be retrieved by name across all namespaces",
            "leave out -A or the name",
        ));
    }
    let mut missing = Vec::new();
    for name in names {
        match cluster.get(&resource.object_path(namespace, name), "application/json")? {
            Some(object) => found.objects.push(object),
            None => missing.push(format!(
                "Error from server (NotFound): {}.{} \"{name}\" not found",
                resource.plural, resource.group
            )),
        }
    }
    if !missing.is_empty() {
        found.exit = Exit::Rejected;
        found.missing = Some(missing.join("\n"));
    }
    Ok(found)
}

/// The rows, computed by a server of our own that has the cluster's CRD.
fn table(cluster: &Connection, resource: &Resource, objects: &[Value], view: View) -> Result<String, Error> {
    let name = format!("{}.{}", resource.plural, resource.group);
    let Some(mut crd) = cluster.definition(&name)? else {
        let message = format!("{name} is not a custom resource");
        return Err(problem(&message, "kubectl get prints it"));
    };
    request::forget_its_past(&mut crd);
    let (server, now) = (Server::new(0), terminal::now());
    let manner = Manner { level: FieldValidation::Ignore, dry_run: false, table: false, now };
    let answer = server.handle(&request::create(request::DEFINITIONS, crd, manner));
    let Some(table) = server.table_of(&name, &resource.version, objects, now) else {
        let said = match &answer.body {
            ResponseBody::Json(status) => status.str_at(&["message"]).unwrap_or_default().to_owned(),
            ResponseBody::Text(text) => text.trim().to_owned(),
        };
        return Err(problem(&format!("the cluster's CRD {name} cannot be used: {said}"), "-o yaml needs no CRD"));
    };
    let mut text = TableText::new(view);
    text.add(&table, &[], &[]);
    Ok(text.finish())
}

/// One object by name, or a List, without managedFields as kubectl prints them.
fn whole(mut objects: Vec<Value>, one: bool) -> Value {
    for object in &mut objects {
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
    }
    if one && let Some(only) = objects.pop() {
        return only;
    }
    object([
        ("apiVersion", Value::from("v1")),
        ("items", objects.into()),
        ("kind", "List".into()),
        ("metadata", object([("resourceVersion", "")])),
    ])
}

fn names(resource: &Resource, objects: &[Value]) -> String {
    let kind = resource.kind.to_lowercase();
    let line = |object: &Value| {
        format!("{kind}.{}/{}\n", resource.group, object.str_at(&["metadata", "name"]).unwrap_or_default())
    };
    objects.iter().map(line).collect()
}

fn problem(message: &str, help: &str) -> Error {
    Error { message: message.to_owned(), help: Some(help.to_owned()), ..Error::default() }
}

//! What a server begins with: files, as if they were applied, or a cluster's CRDs and objects, as they are stored there.

use crate::cli::args;
use crate::cli::progress::Progress;
use crate::cli::terminal;
use crate::cluster::{self, Connection, Error, Query, Resource, Target};
use crate::crd;
use crate::input::required::{Required, Sources};
use crate::input::{Entry, Note};
use crate::kubectl::FieldValidation;
use crate::kubectl::request::{self, Manner};
use crate::lint::convert;
use crate::server::{Response, ResponseBody, Server, Timestamp};
use crate::simulation::builtin;
use crate::simulation::object::Object;
use crate::value::Value;
use std::collections::HashMap;

/// Reads the files and applies what they hold, CRDs first. `Err` lists all that could not be read or was refused.
pub fn files(server: &Server, args: &args::Serve, now: Timestamp) -> Result<(), Vec<String>> {
    if args.load.is_empty() {
        return Ok(());
    }
    let (mut crds, mut objects, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    let progress = Progress::new(true);
    for entry in progress.count(Sources::open(&args.load, args.recursive, Required::Object, "--load")) {
        match entry {
            Entry::Problem(note) | Entry::Warning(note @ Note { position: None, .. }) => {
                problems.push(note.text());
            }
            Entry::Warning(note) => {
                progress.suspend(|| eprintln!("warning: {}: {}", note.source, note.message));
            }
            Entry::Document(document) => {
                let object = Object { document, warnings: Vec::new() };
                if object.is_definition() { crds.push(object) } else { objects.push(object) }
            }
        }
    }
    progress.clear();
    let manner = Manner { level: FieldValidation::Strict, dry_run: false, table: false, now };
    for crd in crds {
        let place = place(&crd);
        if let Err(problem) =
            definition(crd.document.value).and_then(|crd| apply(server, request::DEFINITIONS, crd, manner))
        {
            problems.push(format!("{place}: {problem}"));
        }
    }
    let plurals = plurals(server, manner);
    for object in objects {
        let place = place(&object);
        let Ok((group, version, kind)) = object.kind() else {
            problems.push(format!("{place}: an object says its apiVersion and kind"));
            continue;
        };
        let Some((plural, namespaced)) = plurals.get(&(group.clone(), kind.clone())) else {
            if builtin::owns(&group) {
                eprintln!("warning: {place}: {kind} is built into Kubernetes and not served here: left out");
            } else {
                problems.push(format!("{place}: no CRD defines {kind} of {group}: load it, too"));
            }
            continue;
        };
        let own = object.value().str_at(&["metadata", "namespace"]).filter(|ns| !ns.is_empty());
        let namespace = own.or(args.cluster.namespace.as_deref()).unwrap_or("default").to_owned();
        let path = request::collection(&group, &version, plural, namespaced.then_some(namespace.as_str()));
        if let Err(problem) = apply(server, &path, object.document.value, manner) {
            problems.push(format!("{place}: {problem}"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn place(object: &Object) -> String {
    format!("{}:{}", object.document.source, object.document.position())
}

/// A CRD as v1: one of v1beta1 is converted, for no server takes it any more.
fn definition(crd: Value) -> Result<Value, String> {
    if crd.str_at(&["apiVersion"]) != Some("apiextensions.k8s.io/v1beta1") {
        return Ok(crd);
    }
    Ok(convert::convert(&crd::decode(&crd)?.crd).crd)
}

/// Creates an object, or applies it where there is one already.
fn apply(server: &Server, collection: &str, mut object: Value, manner: Manner) -> Result<(), String> {
    request::forget_identity(&mut object);
    let response = server.handle(&request::create(collection, object.clone(), manner));
    if response.code != 409 {
        return judged(&response);
    }
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let path = request::object(collection, &name);
    let query = "fieldManager=kubectl-create&force=true";
    let apply =
        request::write(crate::server::Method::Patch, &path, "application/apply-patch+yaml", query, object, manner);
    judged(&server.handle(&apply))
}

fn judged(response: &Response) -> Result<(), String> {
    if response.code < 300 {
        return Ok(());
    }
    Err(match &response.body {
        ResponseBody::Json(status) => status.str_at(&["message"]).unwrap_or_default().to_owned(),
        ResponseBody::Text(text) => text.trim().to_owned(),
    })
}

/// What serves which kind: by group and kind the plural, and whether its objects are in namespaces.
fn plurals(server: &Server, manner: Manner) -> HashMap<(String, String), (String, bool)> {
    let list = server.handle(&request::read(request::DEFINITIONS, manner));
    let ResponseBody::Json(list) = &list.body else { return HashMap::new() };
    let crds = list.get("items").and_then(Value::as_array).unwrap_or_default();
    let of = |crd: &Value| {
        let text = |path: &[&str]| crd.str_at(path).unwrap_or_default().to_owned();
        let namespaced = crd.str_at(&["spec", "scope"]) == Some("Namespaced");
        ((text(&["spec", "group"]), text(&["spec", "names", "kind"])), (text(&["spec", "names", "plural"]), namespaced))
    };
    crds.iter().map(of).collect()
}

/// Copies a cluster's CRDs and their objects. What may not be read is told and left out.
pub fn cluster(server: &Server, target: &Target, now: Timestamp) -> Result<(), String> {
    let cluster = Connection::open(target, terminal::warn).map_err(|e| e.text())?;
    let mut crds = Vec::new();
    each(&cluster, request::DEFINITIONS, |mut crd| {
        // Items of a typed list do not say what they are.
        if let Some(members) = crd.as_object_mut() {
            members.insert("apiVersion".to_owned(), "apiextensions.k8s.io/v1".into());
            members.insert("kind".to_owned(), "CustomResourceDefinition".into());
        }
        crds.push(crd);
    })
    .map_err(|e| e.text())?;
    for crd in &crds {
        server.seed_definition(crd, now)?;
    }
    let mut objects = 0;
    for crd in &crds {
        let Some(resource) = readable(crd) else { continue };
        let name = format!("{}.{}", resource.plural, resource.group);
        let listed = each(&cluster, &resource.path(None), |object| {
            let namespace = object.str_at(&["metadata", "namespace"]).unwrap_or_default().to_owned();
            match server.seed(&name, &namespace, object) {
                Ok(()) => objects += 1,
                Err(problem) => eprintln!("warning: an object of {name} is left out: {problem}"),
            }
        });
        match listed {
            Err(error) if error.unreachable => return Err(error.text()),
            Err(error) => eprintln!("warning: the objects of {name} are left out: {}", error.message),
            Ok(()) => {}
        }
    }
    eprintln!("{} CRDs and {objects} objects were read from the cluster", crds.len());
    Ok(())
}

/// Hands on every object of a list.
fn each(cluster: &Connection, path: &str, mut take: impl FnMut(Value)) -> Result<(), Error> {
    let mut pages = cluster.pages(path, Query::default(), cluster::JSON);
    for page in pages.by_ref() {
        page?.take_items().into_iter().for_each(&mut take);
    }
    if pages.is_torn() {
        eprintln!("warning: {path} changed while it was read: objects that came or went meanwhile may be missing");
    }
    Ok(())
}

/// Where a CRD's objects can be read: in the version they are stored in, or the first that is served.
fn readable(crd: &Value) -> Option<Resource> {
    let versions = crd.at(&["spec", "versions"])?.as_array()?;
    let is = |version: &Value, what: &str| version.get(what).and_then(Value::as_bool) == Some(true);
    let served = || versions.iter().filter(|v| is(v, "served"));
    let version = served().find(|v| is(v, "storage")).or_else(|| served().next())?;
    Some(Resource {
        group: crd.str_at(&["spec", "group"])?.to_owned(),
        version: version.str_at(&["name"])?.to_owned(),
        plural: crd.str_at(&["spec", "names", "plural"])?.to_owned(),
        ..Resource::default()
    })
}

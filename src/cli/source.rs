//! Where objects are read from: a cluster, or files that are put into a server of our own. Both answer the same questions.

mod files;

pub use files::Files;

use crate::cli::args;
use crate::cli::failure::Failure;
use crate::cluster::{self, Connection, Error, JSON, Query, Resource};
use crate::value::Value;
use std::sync::Arc;

/// A source of objects.
pub enum Source {
    /// A cluster.
    Live(Box<Connection>),
    /// Files.
    Files(Box<Files>),
}

impl Source {
    /// The files at `filenames` and `crds` if there are any, or else the cluster. What of files cannot be read is told at once.
    pub fn open(
        filenames: &[String],
        crds: &[String],
        recursive: bool,
        cluster: &args::Cluster,
        failures: &mut Vec<Failure>,
    ) -> Result<Self, Error> {
        if filenames.is_empty() {
            return Self::live(cluster);
        }
        let mut tell = |text: String| {
            eprintln!("{text}");
            failures.push(Failure::Told);
        };
        Ok(Self::Files(Box::new(Files::read(filenames, crds, recursive, &namespace(cluster), &mut tell)?)))
    }

    /// Opens the cluster.
    pub fn live(cluster: &args::Cluster) -> Result<Self, Error> {
        if cluster.offline {
            return Err(problem(
                "live objects are wanted, and --offline forbids to ask for them",
                "give objects with -f",
            ));
        }
        Ok(Self::Live(Box::new(Connection::open(&cluster.target())?)))
    }

    /// All that is served.
    pub fn resources(&self) -> Result<Arc<Vec<Resource>>, Error> {
        match self {
            Self::Live(connection) => connection.resources(),
            Self::Files(files) => Ok(files.resources()),
        }
    }

    /// The resource that `word` means; `Err` in kubectl's words when there is none.
    pub fn resource(&self, word: &str) -> Result<Resource, Error> {
        let found = match self {
            Self::Live(connection) => connection.resource(word)?,
            Self::Files(files) => cluster::find(&files.resources(), word).cloned(),
        };
        let name = word.split('.').next().unwrap_or_default();
        let missing =
            || Error { message: format!("the server doesn't have a resource type \"{name}\""), ..Error::default() };
        found.ok_or_else(missing)
    }

    /// The CRD behind a resource; `None` when another kind of server serves it.
    pub fn definition(&self, resource: &Resource) -> Result<Option<Value>, Error> {
        let name = definition_name(resource);
        match self {
            Self::Live(connection) => connection.definition(&name),
            Self::Files(files) => files.definition(&name),
        }
    }

    /// Hands on the pages of a list, and gives its revision.
    pub fn list<E: From<Error>>(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        query: &Query,
        mut each: impl FnMut(Vec<Value>) -> Result<(), E>,
    ) -> Result<String, E> {
        let path = resource.path(namespace);
        let told = |error| E::from(of_list(error, resource, query));
        match self {
            Self::Live(connection) => {
                let mut revision = String::new();
                for page in connection.pages(&path, query.clone(), JSON) {
                    let mut page = page.map_err(told)?;
                    page.resource_version().clone_into(&mut revision);
                    each(typed(page.take_items(), resource))?;
                }
                Ok(revision)
            }
            Self::Files(files) => {
                each(files.list(&query.of(&path, &[])).map_err(told)?)?;
                Ok(String::new())
            }
        }
    }

    /// One object; `None` when it is not there.
    pub fn get(&self, resource: &Resource, namespace: Option<&str>, name: &str) -> Result<Option<Value>, Error> {
        let path = resource.object_path(namespace, name);
        match self {
            Self::Live(connection) => connection.get(&path, JSON),
            Self::Files(files) => files.get(&path),
        }
    }
}

/// What the CRD of a resource is called.
pub fn definition_name(resource: &Resource) -> String {
    format!("{}.{}", resource.plural, resource.group)
}

/// The namespace that is meant when none is named in an object.
pub fn namespace(cluster: &args::Cluster) -> String {
    let named = cluster.namespace.clone().or_else(|| cluster::namespace(&cluster.target()));
    named.unwrap_or_else(|| "default".to_owned())
}

/// A problem and what can be done about it.
pub fn problem(message: &str, help: &str) -> Error {
    Error { message: message.to_owned(), help: Some(help.to_owned()), ..Error::default() }
}

/// Items of a list of custom resources say what they are; those of built-in kinds do not.
fn typed(mut items: Vec<Value>, resource: &Resource) -> Vec<Value> {
    for members in items.iter_mut().filter_map(Value::as_object_mut) {
        if members.contains_key("kind") {
            continue;
        }
        let group = &resource.group;
        let version = if group.is_empty() { resource.version.clone() } else { format!("{group}/{}", resource.version) };
        members.insert("apiVersion".to_owned(), version.into());
        members.insert("kind".to_owned(), resource.kind.as_str().into());
    }
    items
}

/// kubectl says which list was refused (`EnhanceListError`).
fn of_list(mut error: Error, resource: &Resource, query: &Query) -> Error {
    if let Some(status) = error.status.as_mut().filter(|s| matches!(s.reason.as_str(), "BadRequest" | "NotFound")) {
        let subject = format!("{}/{}, Resource={}", resource.group, resource.version, resource.plural);
        let text = |selector: &Option<String>| selector.clone().unwrap_or_default();
        let (labels, fields) = (text(&query.labels), text(&query.fields));
        let message = &status.message;
        status.message = if labels.is_empty() && fields.is_empty() {
            format!("Unable to list {subject:?}: {message}")
        } else {
            format!(
                "Unable to find {subject:?} that match label selector {labels:?}, field selector {fields:?}: {message}"
            )
        };
    }
    error
}

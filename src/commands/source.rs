//! The source of objects: a cluster, or files loaded into a simulated server. Both have the same interface.

mod files;

pub use files::{FileArguments, Files, Named};

use crate::commands::error::Error;
use crate::commands::flags;
use crate::commands::terminal;
use crdx_cluster::{Connection, JSON, Pages, Query, Resource, Simulated, Status};
use crdx_engine::kubectl::request::encoded;
use crdx_engine::simulation::object_store::TEMP_FILE_HELP;
use crdx_input::InputOptions;
use crdx_output::printable::complain;
use crdx_types as builtin;
use crdx_value::Value;
use crdx_value::group_version::api_version;
use crdx_value::release::Release;
use crdx_value::sort::sort_by_key;
use crdx_value::suggest;
use std::cmp::Reverse;
use std::io;
use std::sync::Arc;

/// A source of objects.
pub enum ObjectSource {
    /// A cluster.
    Live(Box<Connection>),
    Files(Box<Files>),
}

impl ObjectSource {
    /// Opens the given files if there are any, otherwise the cluster. Problems with files are reported immediately.
    pub fn open(
        given: FileArguments<'_>,
        kubernetes: flags::KubernetesVersion,
        cluster: &flags::ClusterArgs,
        failures: &mut Vec<Error>,
    ) -> Result<Self, crdx_cluster::Error> {
        if given.has_objects() { Self::files(given, kubernetes, cluster, failures) } else { Self::live(cluster) }
    }

    /// Opens the CRDs of files if there are any, otherwise the cluster.
    pub fn of_definitions(
        crds: &[String],
        kubernetes: flags::KubernetesVersion,
        cluster: &flags::ClusterArgs,
        failures: &mut Vec<Error>,
    ) -> Result<Self, crdx_cluster::Error> {
        if crds.is_empty() {
            return Self::live(cluster);
        }
        let options = InputOptions::default();
        let given = FileArguments { filenames: &[], kustomizations: &[], crds, options: &options };
        Self::files(given, kubernetes, cluster, failures)
    }

    fn files(
        given: FileArguments<'_>,
        kubernetes: flags::KubernetesVersion,
        cluster: &flags::ClusterArgs,
        failures: &mut Vec<Error>,
    ) -> Result<Self, crdx_cluster::Error> {
        let mut report = |text: String| {
            complain!("{text}");
            failures.push(Error::Reported);
        };
        let release = kubernetes.kubernetes_version.unwrap_or(Release::NEWEST);
        let files = Files::read(given, release, &namespace(cluster), &mut report)?;
        flags::report_notes(given.options);
        Ok(Self::Files(Box::new(files)))
    }

    /// Opens the cluster.
    pub fn live(cluster: &flags::ClusterArgs) -> Result<Self, crdx_cluster::Error> {
        if cluster.is_offline() {
            return Err(problem("live objects are needed, but --offline forbids reading them", "give objects with -f"));
        }
        Ok(Self::Live(Box::new(Connection::open(&cluster.target(), terminal::warn)?)))
    }

    /// Returns the release to simulate: the requested one, or that of the source. Prints a note about the choice to
    /// standard error.
    pub fn release(&self, requested: flags::KubernetesVersion) -> Release {
        match (requested.kubernetes_version, self) {
            (Some(release), _) => release,
            (None, Self::Files(_)) => Release::NEWEST,
            (None, Self::Live(connection)) => {
                let Simulated { release, note } = crdx_cluster::simulated(Ok(connection));
                if let Some(note) = note {
                    complain!("note: {note}");
                }
                release
            }
        }
    }

    /// Returns all served resources.
    pub fn resources(&self) -> Result<Arc<Vec<Resource>>, crdx_cluster::Error> {
        match self {
            Self::Live(connection) => connection.resources(),
            Self::Files(files) => Ok(files.resources()),
        }
    }

    /// Returns the resource that `word` names.
    ///
    /// # Errors
    /// Returns kubectl's message if there is none.
    pub fn resource(&self, word: &str) -> Result<Resource, crdx_cluster::Error> {
        let found = match self {
            Self::Live(connection) => connection.resource(word)?,
            Self::Files(files) => match crdx_cluster::find(&files.resources(), word).cloned() {
                None => crdx_cluster::find(&built_in(Release::NEWEST), word).cloned(),
                found => found,
            },
        };
        let missing = || {
            let (name, group) = word.split_once('.').unwrap_or((word, ""));
            let group = if group.is_empty() { String::new() } else { format!(" in group \"{group}\"") };
            let message = format!("the server doesn't have a resource type \"{name}\"{group}");
            crdx_cluster::Error { message, help: self.similar(word), ..crdx_cluster::Error::default() }
        };
        found.ok_or_else(missing)
    }

    /// Returns a suggestion of a resource whose name is similar to `word`.
    fn similar(&self, word: &str) -> Option<String> {
        let resources = self.resources().ok()?;
        let names = resources.iter().flat_map(|resource| {
            let whole = (word.contains('.')).then(|| resource.qualified());
            let parts = [&resource.plural, &resource.singular].into_iter().chain(&resource.short_names).cloned();
            whole.into_iter().chain(parts.filter(|_| !word.contains('.')))
        });
        let names: Vec<String> = names.collect();
        suggest::closest(word, names.iter().map(String::as_str)).map(suggest::did_you_mean)
    }

    /// Returns the CRD of a resource; `None` if it is not a custom resource.
    pub fn definition(&self, resource: &Resource) -> Result<Option<Value>, crdx_cluster::Error> {
        let name = definition_name(resource);
        match self {
            Self::Live(connection) => connection.definition(&name),
            Self::Files(files) => files.definition(&name),
        }
    }

    /// Reads a list.
    pub fn list<'a>(&'a self, resource: &'a Resource, namespace: Option<&'a str>, query: &'a Query) -> Listing<'a> {
        let pages = match self {
            Self::Live(connection) => Listed::Live(connection.pages(&resource.path(namespace), query.clone(), JSON)),
            Self::Files(files) => Listed::Files(files.list(resource, namespace, query)),
        };
        Listing { resource, query, pages, revision: String::new() }
    }

    /// Returns one object or its subresource; an error if it does not exist.
    pub fn get(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        subresource: Option<&str>,
    ) -> Result<Value, crdx_cluster::Error> {
        let mut path = resource.object_path(namespace, name);
        if let Some(subresource) = subresource {
            path.extend(["/", &encoded(subresource)]);
        }
        match self {
            Self::Live(connection) => connection.object(&path).map_err(|error| {
                let error = unserved(error, &format!(" (get {} {name})", resource.qualified()));
                let namespace = namespace.filter(|_| resource.namespaced && error.code == Some(404));
                namespace.and_then(|namespace| missing(connection, namespace)).unwrap_or(error)
            }),
            Self::Files(files) => files.get(resource, namespace, name, subresource),
        }
    }
}

/// Returns the error that a namespace does not exist, which kubectl reports instead of a missing object.
fn missing(connection: &Connection, namespace: &str) -> Option<crdx_cluster::Error> {
    let named = Some(namespace).filter(|namespace| !matches!(*namespace, "" | "default"))?;
    let error = connection.object(&Resource::namespaces().object_path(None, named)).err()?;
    Some(unserved(error, "")).filter(|error| error.code == Some(404))
}

/// The pages of a list, read on demand.
pub struct Listing<'a> {
    resource: &'a Resource,
    query: &'a Query,
    pages: Listed<'a>,
    revision: String,
}

enum Listed<'a> {
    Live(Pages<'a>),
    Files(files::Pages<'a>),
}

impl Listing<'_> {
    /// Returns the resourceVersion of the pages read so far, at which a watch may start.
    pub fn revision(self) -> String {
        self.revision
    }
}

impl Iterator for Listing<'_> {
    type Item = Result<Vec<Value>, crdx_cluster::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let page = match &mut self.pages {
            Listed::Live(pages) => pages.next()?.map(|mut page| {
                page.resource_version().clone_into(&mut self.revision);
                typed(page.take_items(), self.resource)
            }),
            Listed::Files(pages) => pages.next()?,
        };
        let suffix = || format!(" (get {})", self.resource.qualified());
        Some(page.map_err(|error| of_list(unserved(error, &suffix()), self.resource, self.query)))
    }
}

/// Returns the kind built into Kubernetes whose name or plural is similar to a word.
pub fn similar_built_in(word: &str) -> Option<String> {
    let known = built_in(Release::NEWEST);
    let name = word.split('.').next().unwrap_or(word);
    let kinds = known.iter().map(|resource| resource.kind.as_str());
    let plurals = known.iter().map(|resource| resource.plural.as_str());
    suggest::closest(name, kinds.chain(plurals)).map(str::to_owned)
}

/// Returns the resources that are built into a release of Kubernetes, the preferred versions first.
pub fn built_in(release: Release) -> Vec<Resource> {
    let resources = builtin::resources::resources(release.minor().number().into());
    let texts = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let resource = |r: builtin::resources::ApiResource| Resource {
        group: r.group.to_owned(),
        version: r.version.to_owned(),
        plural: r.plural.to_owned(),
        singular: r.singular.to_owned(),
        kind: r.kind.to_owned(),
        short_names: texts(&r.short_names),
        namespaced: r.namespaced,
        ..Resource::default()
    };
    let mut all: Vec<Resource> = resources.map(resource).collect();
    let number = |version: &str| version.strip_prefix('v').and_then(|number| number.parse::<u32>().ok());
    sort_by_key(&mut all, |resource| Reverse(number(&resource.version)));
    all
}

/// Returns the name of the CRD of a resource.
pub fn definition_name(resource: &Resource) -> String {
    format!("{}.{}", resource.plural, resource.group)
}

/// Returns the default namespace of objects.
pub fn namespace(cluster: &flags::ClusterArgs) -> String {
    crdx_cluster::namespace_or_default(cluster.namespace.as_deref(), &cluster.target())
}

/// Creates an error with a suggestion.
pub fn problem(message: &str, help: &str) -> crdx_cluster::Error {
    crdx_cluster::Error { message: message.to_owned(), help: Some(help.to_owned()), ..crdx_cluster::Error::default() }
}

/// Creates the error for a temporary file that cannot be written or read.
pub fn temp_file_problem(error: &io::Error) -> crdx_cluster::Error {
    problem(&error.to_string(), TEMP_FILE_HELP)
}

/// Sets apiVersion and kind of items; lists of built-in kinds omit them.
fn typed(mut items: Vec<Value>, resource: &Resource) -> Vec<Value> {
    for members in items.iter_mut().filter_map(Value::as_object_mut) {
        if members.contains_key("kind") {
            continue;
        }
        members.insert("apiVersion".to_owned(), api_version(&resource.group, &resource.version).into());
        members.insert("kind".to_owned(), resource.kind.as_str().into());
    }
    items
}

/// Replaces the message of a 404 that is not a `Status`, as kubectl does: the server does not serve the path.
pub fn unserved(mut error: crdx_cluster::Error, suffix: &str) -> crdx_cluster::Error {
    if error.code == Some(404) && error.status.is_none() {
        let message = format!("the server could not find the requested resource{suffix}");
        error.status = Some(Status { reason: "NotFound".to_owned(), message });
    }
    error
}

/// Adds the resource to the message of a failed list, as kubectl does (`EnhanceListError`).
fn of_list(mut error: crdx_cluster::Error, resource: &Resource, query: &Query) -> crdx_cluster::Error {
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

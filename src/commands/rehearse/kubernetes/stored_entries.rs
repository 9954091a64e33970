//! Everything that a cluster stores, as documents: the CRDs first, because the other objects depend on them.

use crate::commands::rehearse::stored::{self, CLUSTER};
use crdx_cluster::{Connection, JSON, Pages, Query, Resource};
use crdx_engine::documents::{InputEntry, Note, Stop};
use crdx_engine::report::{ObjectReport, SourceLocation};
use crdx_types::table::table;
use crdx_value::{Value, group_version};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The group of CRDs.
const DEFINITIONS: &str = "apiextensions.k8s.io";

/// The documents of all resources that can be listed and written.
pub struct StoredEntries<'a> {
    connection: &'a Connection,
    resources: std::vec::IntoIter<Resource>,
    /// The groups and plural names that CRDs define. Other resources outside of the built-in groups are those of aggregated servers,
    /// which another program validates.
    defined: BTreeSet<(String, String)>,
    /// The resource that is read.
    current: Option<(Resource, Pages<'a>)>,
    page: std::vec::IntoIter<Value>,
}

impl<'a> StoredEntries<'a> {
    /// Reads the resources.
    ///
    /// # Errors
    /// The cluster does not answer.
    pub fn new(connection: &'a Connection) -> Result<Self, crdx_cluster::Error> {
        let mut seen = BTreeSet::new();
        let all = connection.resources()?;
        let is_written = |resource: &&Resource| ["list", "create", "update"].iter().all(|verb| resource.allows(verb));
        let is_first = |resource: &&Resource| seen.insert((resource.group.clone(), resource.plural.clone()));
        let stored = all.iter().filter(is_written).filter(|resource| !is_event(resource)).filter(is_first);
        let (definitions, others): (Vec<Resource>, Vec<Resource>) =
            stored.cloned().partition(|resource| resource.group == DEFINITIONS);
        let resources: Vec<Resource> = definitions.into_iter().chain(others).collect();
        let (resources, page) = (resources.into_iter(), Vec::new().into_iter());
        Ok(Self { connection, resources, defined: BTreeSet::new(), current: None, page })
    }
}

impl StoredEntries<'_> {
    /// Returns true if the API server validates the objects of a resource.
    fn serves(&self, resource: &Resource) -> bool {
        let is_built_in = resource.group.is_empty() || table().has_group(&resource.group);
        is_built_in || self.defined.contains(&(resource.group.clone(), resource.plural.clone()))
    }
}

/// Events are not kept, and no manifest has them.
fn is_event(resource: &Resource) -> bool {
    resource.kind == "Event" && matches!(resource.group.as_str(), "" | "events.k8s.io")
}

impl Iterator for StoredEntries<'_> {
    type Item = InputEntry;

    fn next(&mut self) -> Option<InputEntry> {
        loop {
            if let (Some(object), Some((resource, _))) = (self.page.next(), &self.current) {
                if resource.group == DEFINITIONS {
                    let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
                    self.defined.insert((text(&["spec", "group"]), text(&["spec", "names", "plural"])));
                }
                return Some(document(object, resource));
            }
            match self.current.as_mut().and_then(|(_, pages)| pages.next()) {
                Some(Ok(mut page)) => self.page = page.take_items().into_iter(),
                Some(Err(error)) => return Some(problem(error.message, error.help)),
                None => {
                    let resource = self.resources.next()?;
                    if !self.serves(&resource) {
                        continue;
                    }
                    let pages = self.connection.pages(&resource.path(None), Query::default(), JSON);
                    self.current = Some((resource, pages));
                }
            }
        }
    }
}

/// Returns the document of an object. Items of lists have no type.
fn document(mut object: Value, resource: &Resource) -> InputEntry {
    if let Some(members) = object.as_object_mut() {
        let api_version = group_version::api_version(&resource.group, &resource.version);
        members.insert("apiVersion".to_owned(), api_version.into());
        members.insert("kind".to_owned(), resource.kind.as_str().into());
    }
    InputEntry::Document(stored::document(object))
}

fn problem(message: String, hint: Option<String>) -> InputEntry {
    let source = CLUSTER.into();
    let (position, chunk, refusal) = (None, None, None);
    InputEntry::Problem(Note { source, position, message, hint, chunk, stop: Stop::Never, is_joined: false, refusal })
}

/// Replaces the locations in the text of a document by the cluster.
pub fn locate(item: &mut ObjectReport) {
    item.location = SourceLocation::source(&Arc::from(CLUSTER));
    for problem in item.errors.iter_mut().chain(&mut item.hidden).chain(&mut item.warnings) {
        problem.location = None;
    }
    for field in &mut item.pruned {
        field.location = None;
    }
}

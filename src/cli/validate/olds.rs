//! The objects as they are now: from files, or live from the cluster. Each waits here for the new object of its kind,
//! namespace and name.

use super::judge::Places as _;
use super::object::Object;
use crate::cluster::{self, Connection, Resource};
use crate::input::{Document, Entry};
use crate::output::excerpt::Spot;
use crate::output::report::{Identity, Item};
use crate::value::Value;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Where old objects come from.
#[derive(Debug, Default)]
pub struct Olds {
    given: Mutex<Given>,
    live: Option<Live>,
}

/// By group, kind and name; several namespaces may have the name.
type Given = HashMap<(String, String, String), Vec<Old>>;

#[derive(Debug)]
struct Old {
    document: Document,
    namespace: String,
    used: bool,
}

/// What is known of an object as it is now.
#[derive(Debug)]
pub enum Found {
    /// It is not there, or another input of its name took its old object before.
    Nothing,
    /// This.
    Object(Box<Value>, Spot),
    /// Two of them were given.
    Two(Spot, Spot),
    /// The cluster did not tell.
    Error(cluster::Error),
}

/// Old objects that were not asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// How many.
    pub count: usize,
    /// The first of them.
    pub first: Spot,
}

impl Left {
    /// What a person is told.
    pub fn words(&self) -> String {
        match self.count {
            1 => format!("the old object at {} has no new one", self.first),
            n => format!("{n} old objects have no new one, the first of them at {}", self.first),
        }
    }
}

/// Which object is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What the new object calls itself.
    pub identity: &'a Identity,
    /// The plural name of its kind.
    pub plural: &'a str,
    /// The namespace of objects that name none.
    pub namespace: &'a str,
}

impl Olds {
    /// No old objects in files; with `live` the cluster is asked for them.
    pub fn new(live: Option<cluster::Target>) -> Self {
        Self { given: Mutex::default(), live: live.map(|target| Live { target, open: Mutex::default() }) }
    }

    /// Takes in old objects; what cannot be one is shown.
    pub fn take_in(&mut self, entries: impl Iterator<Item = Entry>, show: &mut dyn FnMut(Item)) {
        let given = self.given.get_mut().unwrap_or_else(PoisonError::into_inner);
        for entry in entries {
            let document = match entry {
                Entry::Document(document) => document,
                Entry::Problem(note) => {
                    show(super::object::problem(note));
                    continue;
                }
                Entry::Warning(note) if note.position.is_none() => {
                    show(super::object::problem(note));
                    continue;
                }
                Entry::Warning(_) => continue,
            };
            let object = Object { document, warnings: Vec::new() };
            match object.kind() {
                Err(item) => show(*item),
                Ok((group, _, kind)) => {
                    let text = |key: &str| object.value().str_at(&["metadata", key]).unwrap_or_default().to_owned();
                    let (name, namespace) = (text("name"), text("namespace"));
                    let old = Old { document: object.document, namespace, used: false };
                    given.entry((group, kind, name)).or_default().push(old);
                }
            }
        }
    }

    /// The old object for a new one; it is given once.
    pub fn find(&self, wanted: Wanted<'_>) -> Found {
        let identity = wanted.identity;
        {
            let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (identity.group().to_owned(), identity.kind.clone(), identity.name.clone());
            let olds = given.get_mut(&key).map(Vec::as_mut_slice).unwrap_or_default();
            let fits = |old: &&mut Old| match &identity.namespace {
                None => true,
                Some(namespace) if old.namespace.is_empty() => namespace == wanted.namespace,
                Some(namespace) => old.namespace == *namespace,
            };
            let mut fitting = olds.iter_mut().filter(fits);
            match (fitting.next(), fitting.next()) {
                (Some(first), Some(second)) => {
                    (first.used, second.used) = (true, true);
                    fitting.for_each(|old| old.used = true);
                    return Found::Two(spot(&first.document), spot(&second.document));
                }
                (Some(old), None) if old.used => return Found::Nothing,
                (Some(old), None) => {
                    old.used = true;
                    let spot = spot(&old.document);
                    return Found::Object(Box::new(std::mem::take(&mut old.document.value)), spot);
                }
                (None, _) => {}
            }
        }
        self.live.as_ref().map_or(Found::Nothing, |live| live.find(wanted))
    }

    /// What nobody asked for.
    pub fn left(&self) -> Option<Left> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let unused: Vec<&Old> = given.values().flatten().filter(|old| !old.used).collect();
        let place = |old: &&&Old| (old.document.source.clone(), old.document.chunk.start.line, old.document.item);
        let first = unused.iter().min_by_key(place)?;
        Some(Left { count: unused.len(), first: spot(&first.document) })
    }
}

fn spot(document: &Document) -> Spot {
    Object { document: document.clone(), warnings: Vec::new() }.finder().start()
}

/// The cluster, asked for each object once.
struct Live {
    target: cluster::Target,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    connection: Option<Result<Connection, cluster::Error>>,
    /// Paths that were asked for.
    asked: std::collections::HashSet<String>,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("target", &self.target).finish_non_exhaustive()
    }
}

impl Live {
    fn find(&self, wanted: Wanted<'_>) -> Found {
        let identity = wanted.identity;
        let (group, version) = identity.api_version.split_once('/').unwrap_or(("", &identity.api_version));
        let resource = Resource {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: wanted.plural.to_owned(),
            namespaced: identity.namespace.is_some(),
            ..Resource::default()
        };
        let path = resource.object_path(identity.namespace.as_deref(), &identity.name);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.asked.insert(path.clone()) {
            return Found::Nothing;
        }
        let found = match open.connection.get_or_insert_with(|| Connection::open(&self.target)) {
            Ok(connection) => connection.get(&path, "application/json"),
            Err(error) => Err(error.clone()),
        };
        match found {
            Ok(Some(object)) => Found::Object(Box::new(object), Spot::source(&"the cluster".into())),
            Ok(None) => Found::Nothing,
            Err(error) => {
                // Asking on would only wait again.
                if error.unreachable {
                    open.connection = Some(Err(error.clone()));
                }
                Found::Error(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::documents;

    fn olds(text: &str) -> Olds {
        let mut olds = Olds::new(None);
        olds.take_in(documents("old.yaml", text).into_iter(), &mut |item| panic!("{item:?}"));
        olds
    }

    fn find(olds: &Olds, namespace: Option<&str>, name: &str) -> Found {
        let identity = Identity {
            api_version: "g/v2".to_owned(),
            kind: "K".to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        };
        olds.find(Wanted { identity: &identity, plural: "ks", namespace: "default" })
    }

    #[test]
    fn an_old_object_is_found_by_kind_namespace_and_name() {
        let olds = olds(
            "{apiVersion: g/v1, kind: K, metadata: {name: a}}\n---\n{apiVersion: g/v1, kind: K, metadata: {name: a, namespace: other}}\n---\n{apiVersion: h/v1, kind: K, metadata: {name: b}}\n",
        );
        assert!(matches!(find(&olds, Some("default"), "b"), Found::Nothing));
        assert!(matches!(find(&olds, Some("default"), "a"), Found::Object(_, spot) if spot.line == 1));
        // It is given once: what comes next finds it in the store.
        assert!(matches!(find(&olds, Some("default"), "a"), Found::Nothing));
        assert_eq!(olds.left().map(|left| (left.count, left.first.line)), Some((2, 3)));
    }

    #[test]
    fn two_old_objects_for_one_are_named() {
        let olds = olds(
            "{apiVersion: g/v1, kind: K, metadata: {name: a}}\n---\n{apiVersion: g/v2, kind: K, metadata: {name: a, namespace: default}}\n",
        );
        let Found::Two(first, second) = find(&olds, Some("default"), "a") else { panic!() };
        assert_eq!((first.to_string(), second.to_string()), ("old.yaml:1".to_owned(), "old.yaml:3".to_owned()));
        assert_eq!(olds.left(), None);
    }
}

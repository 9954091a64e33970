//! The objects as they are now: from files, or live from the cluster. Each waits here for the new object of its kind,
//! namespace and name.

use super::judge::Places as _;
use super::live::Live;
use super::object::Object;
use crate::cluster::{self, Asked};
use crate::input::{Document, Entry};
use crate::output::excerpt::Spot;
use crate::output::report::{Identity, Item};
use crate::value::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Where old objects come from.
#[derive(Debug)]
pub enum Olds {
    /// Files, and nothing else is there.
    Given(Mutex<Given>),
    /// The cluster.
    Live(Arc<Live>),
}

/// By group, kind and name; several namespaces may have the name.
pub type Given = HashMap<(String, String, String), Vec<Old>>;

/// An object in a file.
#[derive(Debug)]
pub struct Old {
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
    /// The namespace of objects that name none.
    pub namespace: &'a str,
}

/// An object that the cluster was asked for.
#[derive(Debug)]
pub struct Coming(Result<Option<Asked>, cluster::Error>);

impl Coming {
    /// Waits for it.
    pub fn wait(self) -> Found {
        match self.0.and_then(|asked| asked.map_or(Ok(None), Asked::wait)) {
            Ok(Some(object)) => Found::Object(Box::new(object), Spot::source(&"the cluster".into())),
            Ok(None) => Found::Nothing,
            Err(error) => Found::Error(error),
        }
    }
}

impl Olds {
    /// The old objects in files; what cannot be one is shown.
    pub fn given(entries: impl Iterator<Item = Entry>, show: &mut dyn FnMut(Item)) -> Self {
        let mut given = Given::default();
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
        Self::Given(Mutex::new(given))
    }

    /// Asks the cluster for the old object of a new one; `None` where files say what is there.
    pub fn ask(&self, identity: &Identity, plural: &str) -> Option<Coming> {
        match self {
            Self::Given(_) => None,
            Self::Live(live) => Some(Coming(live.ask(identity, plural))),
        }
    }

    /// The old object for a new one in the files; it is given once.
    pub fn find(&self, wanted: Wanted<'_>) -> Found {
        let Self::Given(given) = self else { return Found::Nothing };
        let identity = wanted.identity;
        let mut given = given.lock().unwrap_or_else(PoisonError::into_inner);
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
                Found::Two(spot(&first.document), spot(&second.document))
            }
            (Some(old), None) if !old.used => {
                old.used = true;
                let spot = spot(&old.document);
                Found::Object(Box::new(std::mem::take(&mut old.document.value)), spot)
            }
            _ => Found::Nothing,
        }
    }

    /// What of the files nobody asked for.
    pub fn left(&self) -> Option<Left> {
        let Self::Given(given) = self else { return None };
        let given = given.lock().unwrap_or_else(PoisonError::into_inner);
        let unused: Vec<&Old> = given.values().flatten().filter(|old| !old.used).collect();
        let place = |old: &&&Old| (old.document.source.clone(), old.document.chunk.start.line, old.document.item);
        let first = unused.iter().min_by_key(place)?;
        Some(Left { count: unused.len(), first: spot(&first.document) })
    }
}

fn spot(document: &Document) -> Spot {
    Object { document: document.clone(), warnings: Vec::new() }.finder().start()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::documents;

    fn olds(text: &str) -> Olds {
        Olds::given(documents("old.yaml", text).into_iter(), &mut |item| panic!("{item:?}"))
    }

    fn find(olds: &Olds, namespace: Option<&str>, name: &str) -> Found {
        let identity = Identity {
            api_version: "g/v2".to_owned(),
            kind: "K".to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        };
        olds.find(Wanted { identity: &identity, namespace: "default" })
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

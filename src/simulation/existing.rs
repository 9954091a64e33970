//! Finds existing objects in files or in the cluster, by the kind, namespace and name of the new object.

use super::identity::{FieldLocator as _, Namespace, identity};
use super::live::Live;
use super::object;
use crate::cluster::{self, PendingResponse};
use crate::input::Entry;
use crate::input::temp_store::{StoredAt, TempStore};
use crate::output::excerpt::SourceLocation;
use crate::output::report::{Identity, Item, Verdict};
use crate::value::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The source of existing objects.
#[derive(Debug)]
pub enum ExistingObjects {
    /// Files; no objects are read from the cluster.
    Files(Mutex<FileObjects>),
    /// The cluster.
    Live(Arc<Live>),
}

/// Existing objects from files. Only their positions are in memory, because there may be many.
#[derive(Clone, Debug, Default)]
pub struct FileObjects {
    /// By group, kind and name. Objects in several namespaces may have the same name.
    existing: HashMap<(String, String, String), Vec<Old>>,
    temp_store: Arc<TempStore>,
}

/// An existing object from a file.
#[derive(Clone, Debug)]
struct Old {
    stored_at: StoredAt,
    location: SourceLocation,
    /// The index among all objects.
    number: usize,
    namespace: String,
    used: bool,
}

/// The result of a lookup.
#[derive(Debug)]
pub enum Found {
    /// No object, or an earlier input with the same name already used it.
    Nothing,
    /// The object and its source location.
    Object(Box<Value>, SourceLocation),
    /// Several matching objects were given.
    Two(SourceLocation, SourceLocation),
    /// The cluster did not respond, or the file cannot be read again.
    Error(cluster::Error),
}

/// Existing objects from files that were not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedObjects {
    /// The number of objects.
    pub count: usize,
    /// The location of the first one.
    pub first: SourceLocation,
}

impl UnusedObjects {
    /// Returns a note about the objects.
    pub fn text(&self) -> String {
        match self.count {
            1 => format!("no new object corresponds to the old object at {}", self.first),
            n => format!("no new objects correspond to {n} old objects, the first of them at {}", self.first),
        }
    }
}

/// The object to look up.
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'a> {
    /// The identity of the new object.
    pub identity: &'a Identity,
    /// The default namespace of objects.
    pub namespace: &'a str,
}

/// An object that was requested from the cluster once for all simulated releases.
#[derive(Clone, Debug)]
pub struct PendingObject(Arc<Mutex<State>>);

/// A response that is pending or has arrived.
#[derive(Debug)]
enum State {
    PendingResponse(Option<PendingResponse>),
    Answered(Result<Option<Value>, cluster::Error>),
}

impl PendingObject {
    fn new(response: Result<Option<PendingResponse>, cluster::Error>) -> Self {
        let state = match response {
            Ok(response) => State::PendingResponse(response),
            Err(error) => State::Answered(Err(error)),
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Waits for the response.
    pub fn wait(self) -> Found {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::PendingResponse(response) = &mut *state {
            *state = State::Answered(response.take().map_or(Ok(None), PendingResponse::wait));
        }
        let last = Arc::strong_count(&self.0) == 1;
        let answer = match &mut *state {
            State::Answered(answer) if last => std::mem::replace(answer, Ok(None)),
            State::Answered(answer) => answer.clone(),
            State::PendingResponse(_) => Ok(None),
        };
        match answer {
            Ok(Some(object)) => Found::Object(Box::new(object), SourceLocation::source(&"the cluster".into())),
            Ok(None) => Found::Nothing,
            Err(error) => Found::Error(error),
        }
    }
}

impl ExistingObjects {
    /// Reads existing objects from files and passes problems to `show`.
    pub fn given(entries: impl Iterator<Item = Entry>, show: &mut dyn FnMut(Item)) -> Self {
        let mut given = FileObjects::default();
        for (number, entry) in entries.enumerate() {
            let Some((mut object, (group, _, kind))) = object::read_with_kind(entry, show) else { continue };
            match given.temp_store.put(object.value()) {
                Ok(stored_at) => {
                    let text = |key: &str| object.value().str_at(&["metadata", key]).unwrap_or_default().to_owned();
                    let (name, namespace) = (text("name"), text("namespace"));
                    let old = Old { stored_at, location: object.finder().start(), number, namespace, used: false };
                    given.existing.entry((group, kind, name)).or_default().push(old);
                }
                Err(error) => {
                    let identity = identity(object.value(), Namespace::Own);
                    let reason = format!("the old object cannot be kept in a temporary file: {error}");
                    show(object.item(identity, Verdict::CannotTell, reason));
                }
            }
        }
        Self::Files(Mutex::new(given))
    }

    /// Returns the same existing objects for another server, with none of them used.
    pub fn again(&self) -> Self {
        match self {
            Self::Files(given) => Self::Files(Mutex::new(given.lock().unwrap_or_else(PoisonError::into_inner).clone())),
            Self::Live(live) => Self::Live(Arc::clone(live)),
        }
    }

    /// Requests the existing object from the cluster; `None` if existing objects come from files.
    pub fn ask(&self, identity: &Identity, plural: &str) -> Option<PendingObject> {
        match self {
            Self::Files(_) => None,
            Self::Live(live) => Some(PendingObject::new(live.ask(identity, plural))),
        }
    }

    /// Returns the existing object for a new one. Each is returned once.
    pub fn find(&self, wanted: Lookup<'_>) -> Found {
        let Self::Files(given) = self else { return Found::Nothing };
        let identity = wanted.identity;
        let mut given = given.lock().unwrap_or_else(PoisonError::into_inner);
        let FileObjects { existing, temp_store } = &mut *given;
        let key = (identity.group().to_owned(), identity.kind.clone(), identity.name.clone());
        let existing = existing.get_mut(&key).map(Vec::as_mut_slice).unwrap_or_default();
        let fits = |old: &&mut Old| match &identity.namespace {
            None => true,
            Some(namespace) if old.namespace.is_empty() => namespace == wanted.namespace,
            Some(namespace) => old.namespace == *namespace,
        };
        let mut fitting = existing.iter_mut().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(first), Some(second)) => {
                (first.used, second.used) = (true, true);
                fitting.for_each(|old| old.used = true);
                Found::Two(first.location.clone(), second.location.clone())
            }
            (Some(old), None) if !old.used => {
                old.used = true;
                match temp_store.get(old.stored_at) {
                    Ok(object) => Found::Object(Box::new(object), old.location.clone()),
                    Err(error) => {
                        let message = format!("the old object at {} cannot be read again: {error}", old.location);
                        Found::Error(cluster::Error { message, ..cluster::Error::default() })
                    }
                }
            }
            _ => Found::Nothing,
        }
    }

    /// Returns the existing objects from files that were not used.
    pub fn left(&self) -> Option<UnusedObjects> {
        let Self::Files(given) = self else { return None };
        let given = given.lock().unwrap_or_else(PoisonError::into_inner);
        let unused: Vec<&Old> = given.existing.values().flatten().filter(|old| !old.used).collect();
        let first = unused.iter().min_by_key(|old| old.number)?;
        Some(UnusedObjects { count: unused.len(), first: first.location.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::documents;

    fn existing(text: &str) -> ExistingObjects {
        ExistingObjects::given(documents("old.yaml", text).into_iter(), &mut |item| panic!("{item:?}"))
    }

    fn find(existing: &ExistingObjects, namespace: Option<&str>, name: &str) -> Found {
        let identity = Identity {
            api_version: "g/v2".to_owned(),
            kind: "K".to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        };
        existing.find(Lookup { identity: &identity, namespace: "default" })
    }

    #[test]
    fn an_old_object_is_found_by_kind_namespace_and_name() {
        let existing = existing(
            "{apiVersion: g/v1, kind: K, metadata: {name: a}}\n---\n{apiVersion: g/v1, kind: K, metadata: {name: a, namespace: other}}\n---\n{apiVersion: h/v1, kind: K, metadata: {name: b}}\n",
        );
        assert!(matches!(find(&existing, Some("default"), "b"), Found::Nothing));
        assert!(matches!(find(&existing, Some("default"), "a"), Found::Object(_, location) if location.line == 1));
        // Each object is returned once: a later input finds it in the store.
        assert!(matches!(find(&existing, Some("default"), "a"), Found::Nothing));
        assert_eq!(existing.left().map(|left| (left.count, left.first.line)), Some((2, 3)));
    }

    #[test]
    fn two_old_objects_for_one_are_named() {
        let existing = existing(
            "{apiVersion: g/v1, kind: K, metadata: {name: a}}\n---\n{apiVersion: g/v2, kind: K, metadata: {name: a, namespace: default}}\n",
        );
        let Found::Two(first, second) = find(&existing, Some("default"), "a") else { panic!() };
        assert_eq!((first.to_string(), second.to_string()), ("old.yaml:1".to_owned(), "old.yaml:3".to_owned()));
        assert_eq!(existing.left(), None);
    }
}

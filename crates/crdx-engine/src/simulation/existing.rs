//! Finds existing objects in files or in the cluster, by the kind, namespace and name of the new object.

pub(super) mod manifest;
mod pending;

use super::known_cluster::given::GivenObjects;
use super::name_hash::{NameHash, NameHasher};
use super::object_store::{ObjectStore, StoredAt, TEMP_FILE_HELP};
use super::stored_location;
use crate::cluster::{self, Cluster};
use crate::documents::InputEntry;
use crate::report::{Identity, ObjectReport, SourceLocation, Verdict};
use crate::simulation::identity::{FieldLocator as _, Namespace, identity};
use crate::simulation::object;
use crdx_types::resources;
use crdx_value::Value;
use crdx_value::lock;
pub use pending::PendingObject;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex};

/// The source of existing objects.
#[derive(Debug)]
pub enum ExistingObjects {
    /// No object exists.
    None,
    /// Files; no objects are read from the cluster.
    Files(Mutex<FileObjects>),
    /// The cluster.
    Cluster(Arc<dyn Cluster>),
}

/// Existing objects from files. Only their positions are in memory, because there may be many.
#[derive(Clone, Debug)]
pub struct FileObjects {
    hasher: NameHasher,
    /// By the group that stores the objects, kind and name.
    existing: HashMap<NameHash, Namesakes>,
    /// The names that objects of rendered directories have updated, with the directory.
    found: HashSet<NameHash>,
    store: Arc<dyn ObjectStore>,
}

/// The objects with the same name, which may be in several namespaces.
#[derive(Clone, Debug)]
enum Namesakes {
    One(Old),
    Several(Vec<Old>),
}

impl Namesakes {
    fn all(&self) -> &[Old] {
        match self {
            Self::One(old) => std::slice::from_ref(old),
            Self::Several(all) => all,
        }
    }

    fn all_mut(&mut self) -> &mut [Old] {
        match self {
            Self::One(old) => std::slice::from_mut(old),
            Self::Several(all) => all,
        }
    }

    fn push(&mut self, old: Old) {
        match self {
            Self::One(first) => *self = Self::Several(vec![*first, old]),
            Self::Several(all) => all.push(old),
        }
    }
}

/// An existing object from a file.
#[derive(Clone, Copy, Debug)]
struct Old {
    /// The position of the [`StoredObject`], in the order of the files.
    stored_at: StoredAt,
    used: bool,
    /// True if the answers to other objects may depend on it.
    is_given: bool,
}

/// An existing object with its location.
struct StoredObject {
    location: SourceLocation,
    object: Value,
}

impl StoredObject {
    fn into_value(self) -> Value {
        Value::Array(vec![stored_location::to_value(&self.location), self.object])
    }

    fn from_value(value: Value) -> Option<Self> {
        let Value::Array(parts) = value else { return None };
        let [location, object] = <[Value; 2]>::try_from(parts).ok()?;
        Some(Self { location: stored_location::from_value(&location)?, object })
    }

    fn read(store: &dyn ObjectStore, at: StoredAt) -> io::Result<Self> {
        Self::from_value(store.get(at)?).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }

    /// Returns true if this is the existing object for the new one.
    fn fits(&self, wanted: Lookup<'_>) -> bool {
        let own = self.object.str_at(&["metadata", "namespace"]).unwrap_or_default();
        match &wanted.identity.namespace {
            None => true,
            Some(namespace) if own.is_empty() => namespace == wanted.namespace,
            Some(namespace) => own == namespace,
        }
    }
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
    /// The directory that was rendered on its own, if the new object is from one. Each directory may update an existing object.
    pub root: Option<&'a str>,
}

impl ExistingObjects {
    /// Keeps the existing objects of files in a store, and passes problems to `show`. Those on which the answers to other
    /// objects depend are added to `others`; `namespace` is the default namespace.
    pub fn from_files(
        entries: impl Iterator<Item = InputEntry>,
        store: Arc<dyn ObjectStore>,
        (others, namespace): (&mut GivenObjects, &str),
        show: &mut dyn FnMut(ObjectReport),
    ) -> Self {
        let mut given =
            FileObjects { hasher: NameHasher::default(), existing: HashMap::new(), found: HashSet::new(), store };
        for entry in entries {
            let Some((mut object, (group, _, kind))) = object::read_with_kind(entry, show) else { continue };
            let name = object.value().str_at(&["metadata", "name"]).unwrap_or_default();
            let name = given.hasher.hash((resources::stored_group(&group, &kind), kind.as_str(), name));
            let is_given = others.add(object.value(), namespace);
            let location = object.finder().start();
            let stored = StoredObject { location, object: object.take_value() }.into_value();
            match given.store.put(&stored) {
                Ok(stored_at) => {
                    let old = Old { stored_at, used: false, is_given };
                    given.existing.entry(name).and_modify(|all| all.push(old)).or_insert(Namesakes::One(old));
                }
                Err(error) => {
                    let value = StoredObject::from_value(stored).map(|stored| stored.object).unwrap_or_default();
                    let identity = identity(&value, Namespace::Own);
                    let reason = format!("the old object cannot be kept in a temporary file: {}", error.kind());
                    let mut item = object.item(identity, Verdict::CannotTell, reason);
                    item.help = Some(TEMP_FILE_HELP.to_owned());
                    show(item);
                }
            }
        }
        Self::Files(Mutex::new(given))
    }

    /// Returns the same existing objects for another server, with none of them used.
    pub fn again(&self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Files(given) => Self::Files(Mutex::new(lock::lock(given).clone())),
            Self::Cluster(cluster) => Self::Cluster(Arc::clone(cluster)),
        }
    }

    /// Returns the cluster, if existing objects are read from it.
    pub fn cluster(&self) -> Option<&Arc<dyn Cluster>> {
        match self {
            Self::None | Self::Files(_) => None,
            Self::Cluster(cluster) => Some(cluster),
        }
    }

    /// Returns the existing object in the cluster, which is not requested yet; `None` if existing objects are not
    /// read from it.
    pub fn pending(&self, identity: &Identity, plural: &str) -> Option<PendingObject> {
        self.cluster().map(|cluster| PendingObject::new(cluster, identity, plural))
    }

    /// Reads the existing object for a new one: from files, or from the cluster, where `pending` is that object if it is
    /// already located.
    pub fn read(&self, pending: Option<PendingObject>, wanted: Lookup<'_>, plural: &str) -> Found {
        let pending = pending.or_else(|| self.pending(wanted.identity, plural));
        pending.map_or_else(|| self.find(wanted), PendingObject::wait)
    }

    /// Returns the existing object from files for a new one. Each is returned once for every rendered directory, and once for all
    /// other inputs.
    fn find(&self, wanted: Lookup<'_>) -> Found {
        let Self::Files(given) = self else { return Found::Nothing };
        let identity = wanted.identity;
        let mut given = lock::lock(given);
        let FileObjects { hasher, existing, found, store } = &mut *given;
        if existing.is_empty() {
            return Found::Nothing;
        }
        let group = resources::stored_group(identity.group(), &identity.kind);
        let name = hasher.hash((group, identity.kind.as_str(), identity.name.as_str()));
        let Some(namesakes) = existing.get_mut(&name) else { return Found::Nothing };
        let key = wanted.root.map(|root| hasher.hash((root, name, identity.namespace.as_deref())));
        let is_used = key.map(|key| !found.insert(key));
        match find_among(namesakes.all_mut(), &**store, wanted, is_used) {
            Ok(found) => found,
            Err(error) => {
                let message = format!("the old object cannot be read again from its temporary file: {}", error.kind());
                let help = Some(TEMP_FILE_HELP.to_owned());
                Found::Error(cluster::Error { message, help, ..cluster::Error::default() })
            }
        }
    }

    /// Returns true if files give the existing objects.
    pub(super) fn is_given(&self) -> bool {
        matches!(self, Self::Files(_))
    }

    /// Returns the existing objects from files that were not used.
    pub fn left(&self) -> Option<UnusedObjects> {
        let Self::Files(given) = self else { return None };
        let given = lock::lock(given);
        let is_unused = |old: &&Old| !old.used && !old.is_given;
        let unused = || given.existing.values().flat_map(Namesakes::all).filter(is_unused).map(|old| old.stored_at);
        let first = StoredObject::read(&*given.store, unused().min()?).map(|stored| stored.location);
        Some(UnusedObjects { count: unused().count(), first: first.unwrap_or_default() })
    }
}

/// Returns the existing object for a new one among those with its name. `is_used` is true if the rendered directory of the new
/// object has updated it; `None` if the new object is of another input.
fn find_among(
    namesakes: &mut [Old],
    store: &dyn ObjectStore,
    wanted: Lookup<'_>,
    is_used: Option<bool>,
) -> io::Result<Found> {
    if let [Old { used, .. }] = namesakes
        && is_used.unwrap_or(*used)
    {
        return Ok(Found::Nothing);
    }
    let mut fitting = Vec::new();
    for old in namesakes {
        let stored = StoredObject::read(store, old.stored_at)?;
        if stored.fits(wanted) {
            let used = std::mem::replace(&mut old.used, true);
            fitting.push((is_used.unwrap_or(used), stored));
        }
    }
    let mut fitting = fitting.into_iter();
    Ok(match (fitting.next(), fitting.next()) {
        (Some((_, first)), Some((_, second))) => Found::Two(first.location, second.location),
        (Some((false, StoredObject { location, object })), None) => Found::Object(Box::new(object), location),
        _ => Found::Nothing,
    })
}

#[cfg(test)]
mod tests {
    use super::super::object_store::MemoryStore;
    use super::*;
    use crate::documents;

    fn existing(text: &str) -> ExistingObjects {
        let entries = documents::read("old.yaml", text).into_iter();
        let mut given = GivenObjects::default();
        let store = Arc::new(MemoryStore::default());
        ExistingObjects::from_files(entries, store, (&mut given, "default"), &mut |item| panic!("{item:?}"))
    }

    fn find(existing: &ExistingObjects, namespace: Option<&str>, name: &str) -> Found {
        let identity = Identity {
            api_version: "g/v2".to_owned(),
            kind: "K".to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        };
        existing.find(Lookup { identity: &identity, namespace: "default", root: None })
    }

    #[test]
    fn every_rendered_directory_finds_an_old_object_once() {
        let existing = existing("{apiVersion: g/v1, kind: K, metadata: {name: a}}\n");
        let identity = Identity {
            api_version: "g/v1".to_owned(),
            kind: "K".to_owned(),
            name: "a".to_owned(),
            ..Identity::default()
        };
        let find = |root| existing.find(Lookup { identity: &identity, namespace: "default", root });
        for root in [Some("a"), Some("b"), None] {
            assert_eq!(matches!(find(root), Found::Object(..)), root.is_some(), "{root:?}");
            assert!(matches!(find(root), Found::Nothing), "{root:?}");
        }
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
    fn an_object_on_which_others_depend_needs_no_new_object() {
        assert_eq!(existing("{apiVersion: v1, kind: Namespace, metadata: {name: a}}").left(), None);
        assert!(existing("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}").left().is_some());
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

//! What objects made for an old CRD will suffer from a new one.
//!
//! [`compare`](self::compare) compares two schemas of one version; here is what stands around them. A change is *softened*
//! when ratcheting lets an update pass as long as a value stays as it is: the server drops what a schema says about a node
//! that equals its old self. Items of atomic lists and of sets have no old self, so there the whole list must stay.
//! Duplicates in sets and maps are another matter: who has any may have others.

mod compare;

use crate::crd::Spec;
use crate::schema::Schema;
use std::sync::Arc;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A version is gone or no longer served.
    VersionRemoved,
    /// Group, names or scope are others.
    Renamed,
    /// A field is gone, or everything that is not named.
    Removed,
    /// Another type.
    Type,
    /// A field must be there.
    Required,
    /// Some values of an enum are gone, or there is an enum now.
    Enum,
    /// Any other limit is narrower.
    Tightened,
    /// Another default, or none.
    Default,
    /// A list or map is merged otherwise, or must be free of duplicates.
    ListType,
    /// A subresource is gone or new.
    Subresource,
}

impl Kind {
    /// The word everybody reads.
    pub fn word(self) -> &'static str {
        match self {
            Self::VersionRemoved => "versionRemoved",
            Self::Renamed => "renamed",
            Self::Removed => "removed",
            Self::Type => "type",
            Self::Required => "required",
            Self::Enum => "enum",
            Self::Tightened => "tightened",
            Self::Default => "default",
            Self::ListType => "listType",
            Self::Subresource => "subresource",
        }
    }
}

/// What happens to an object that is there and does not fit, when it is updated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Softened {
    /// The update is refused, or the change takes effect at once.
    No,
    /// The update passes while the value at this path stays as it is.
    While(String),
    /// The update passes, whatever it changes.
    Always,
}

impl Softened {
    /// What a person reads.
    pub fn words(&self) -> String {
        match self {
            Self::No => "ratcheting does not soften this".to_owned(),
            Self::While(path) => format!("objects that break it may still be updated while {path} stays as it is"),
            Self::Always => "objects that break it may still be updated".to_owned(),
        }
    }
}

/// One change that can hurt.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The values it is about: `spec.list[*]`; or a field of the CRD.
    pub path: String,
    /// What was done.
    pub kind: Kind,
    /// In words.
    pub detail: String,
    /// Whether ratcheting helps.
    pub softened: Softened,
    /// The versions in which it happens; none: the CRD as a whole.
    pub versions: Vec<String>,
    /// Where it is written in the new CRD, or would be.
    pub place: String,
}

impl Change {
    fn of_crd(kind: Kind, path: &str, detail: String) -> Self {
        let (path, place) = (path.to_owned(), path.to_owned());
        Self { path, kind, detail, softened: Softened::No, versions: Vec::new(), place }
    }
}

/// The changes from `old` to `new` that can hurt: those of the CRD, then those of its schemas by path.
pub fn changes(old: &Spec, new: &Spec) -> Vec<Change> {
    let mut found = whole(old, new);
    let mut compared: Vec<(&Arc<Schema>, &Arc<Schema>, String)> = Vec::new();
    let mut inner: Vec<Change> = Vec::new();
    for (index, version) in new.versions.iter().enumerate() {
        let name = &version.name;
        if old.version(name).is_none() {
            continue;
        }
        subresources(old, new, name, index, &mut found);
        let (Some(before), Some(after)) = (old.schema(name), new.schema(name)) else { continue };
        if let Some((.., first)) = compared.iter().find(|(b, a, _)| *b == before && *a == after) {
            for change in inner.iter_mut().filter(|change| change.versions.first() == Some(first)) {
                change.versions.push(name.clone());
            }
            continue;
        }
        compared.push((before, after, name.clone()));
        let prefix = format!("spec.versions[{index}].schema.openAPIV3Schema");
        let keeps = |spec: &Spec| spec.preserves_unknown_fields();
        let changes = compare::compare(before, after, (keeps(old), keeps(new)), &prefix);
        inner.extend(changes.into_iter().map(|change| Change { versions: vec![name.clone()], ..change }));
    }
    found.append(&mut inner);
    found
}

fn whole(old: &Spec, new: &Spec) -> Vec<Change> {
    let mut found = Vec::new();
    for version in &old.versions {
        let name = &version.name;
        match new.version(name) {
            None => {
                let detail = format!("version {name} is removed");
                found.push(Change::of_crd(Kind::VersionRemoved, "spec.versions", detail));
            }
            Some(now) if version.served && !now.served => {
                let index = new.versions.iter().position(|v| v.name == *name).unwrap_or(0);
                let path = format!("spec.versions[{index}].served");
                found.push(Change::of_crd(Kind::VersionRemoved, &path, format!("version {name} is no longer served")));
            }
            Some(_) => {}
        }
    }
    for (path, before, after) in [
        ("spec.group", &old.group, &new.group),
        ("spec.scope", &old.scope, &new.scope),
        ("spec.names.plural", &old.names.plural, &new.names.plural),
        ("spec.names.kind", &old.names.kind, &new.names.kind),
        ("spec.names.listKind", &old.names.list_kind, &new.names.list_kind),
    ] {
        if before != after {
            found.push(Change::of_crd(Kind::Renamed, path, format!("was {before}, is {after}")));
        }
    }
    for name in &old.names.short_names {
        if !new.names.short_names.contains(name) {
            let detail = format!("the short name {name} is gone");
            found.push(Change::of_crd(Kind::Renamed, "spec.names.shortNames", detail));
        }
    }
    found
}

fn subresources(old: &Spec, new: &Spec, version: &str, index: usize, found: &mut Vec<Change>) {
    let of = |spec: &Spec| {
        let there = spec.subresources(version);
        (there.is_some_and(|s| s.status), there.is_some_and(|s| s.scale.is_some()))
    };
    let (before, after) = (of(old), of(new));
    let path = format!("spec.versions[{index}].subresources");
    let mut tell = |detail: &str| {
        let change = Change::of_crd(Kind::Subresource, &path, detail.to_owned());
        found.push(Change { versions: vec![version.to_owned()], ..change });
    };
    match (before.0, after.0) {
        (true, false) => tell("the status subresource is gone: writes to /status are not found"),
        (false, true) => tell("status is a subresource now: writes of the object leave it as it is"),
        _ => {}
    }
    if before.1 && !after.1 {
        tell("the scale subresource is gone");
    }
}

#[cfg(test)]
mod tests;

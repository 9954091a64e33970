//! Finds changes of a CRD that may break existing objects.
//!
//! [`mod@compare`] compares two schemas of one version; this module compares everything else. Ratcheting may tolerate a
//! change: the server drops errors about a node that equals its old value. Items of atomic lists and sets are not
//! correlated, so there the whole list must stay unchanged. Duplicates in sets and maps are an exception: an object
//! with duplicates may get other duplicates.

mod compare;
pub mod evidence;

use crdx_server::crd::Spec;
use crdx_server::schema::Schema;
use std::sync::Arc;

/// The kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// A version was removed or is no longer served.
    VersionRemoved,
    /// Group, names or scope changed.
    Renamed,
    /// A field was removed, or all fields that are not declared.
    Removed,
    /// The type changed.
    Type,
    /// A field became required.
    Required,
    /// Values were removed from an enum, or an enum was added.
    Enum,
    /// Another limit became narrower.
    Tightened,
    /// A default changed or was removed.
    Default,
    /// A list or map is merged differently, or must now be free of duplicates.
    ListType,
    /// A subresource was added or removed.
    Subresource,
}

impl ChangeKind {
    /// Returns the name of the kind in reports.
    pub fn as_str(self) -> &'static str {
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

/// The result of an update of an existing object that is now invalid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ratcheting {
    /// The update is rejected, or the change takes effect at once.
    No,
    /// The update is accepted if the value at this path stays unchanged.
    While(String),
    /// The update is accepted with any change.
    Always,
}

impl Ratcheting {
    /// Returns the text in reports.
    pub fn text(&self) -> String {
        match self {
            Self::No => "ratcheting does not apply".to_owned(),
            Self::While(path) => format!("existing objects that violate it can be updated while {path} is unchanged"),
            Self::Always => "existing objects that violate it can be updated".to_owned(),
        }
    }
}

/// A change that may break existing objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BreakingChange {
    /// The affected values, for example `spec.list[*]`, or a field of the CRD.
    pub path: String,
    /// The kind of change.
    pub kind: ChangeKind,
    /// A description.
    pub detail: String,
    /// The result of ratcheting.
    pub ratcheting: Ratcheting,
    /// The affected versions; empty if the CRD as a whole is affected.
    pub versions: Vec<String>,
    /// The path of the changed field in the new CRD, from which it may be missing.
    pub crd_field: String,
}

impl BreakingChange {
    fn of_crd(kind: ChangeKind, path: &str, detail: String) -> Self {
        let (path, crd_field) = (path.to_owned(), path.to_owned());
        Self { path, kind, detail, ratcheting: Ratcheting::No, versions: Vec::new(), crd_field }
    }
}

/// Returns the changes from `old` to `new` that may break existing objects: first the changes of the CRD, then those of
/// its schemas by path.
pub fn changes(old: &Spec, new: &Spec) -> Vec<BreakingChange> {
    let mut found = whole(old, new);
    let mut compared: Vec<(&Arc<Schema>, &Arc<Schema>, String)> = Vec::new();
    let mut inner: Vec<BreakingChange> = Vec::new();
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
        inner.extend(changes.into_iter().map(|change| BreakingChange { versions: vec![name.clone()], ..change }));
    }
    found.append(&mut inner);
    found
}

fn whole(old: &Spec, new: &Spec) -> Vec<BreakingChange> {
    let mut found = Vec::new();
    for version in &old.versions {
        let name = &version.name;
        match new.version(name) {
            None => {
                let detail = format!("version {name} is removed");
                found.push(BreakingChange::of_crd(ChangeKind::VersionRemoved, "spec.versions", detail));
            }
            Some(now) if version.served && !now.served => {
                let index = new.versions.iter().position(|v| v.name == *name).unwrap_or(0);
                let path = format!("spec.versions[{index}].served");
                found.push(BreakingChange::of_crd(
                    ChangeKind::VersionRemoved,
                    &path,
                    format!("version {name} is no longer served"),
                ));
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
            found.push(BreakingChange::of_crd(ChangeKind::Renamed, path, format!("was {before}, is {after}")));
        }
    }
    for name in &old.names.short_names {
        if !new.names.short_names.contains(name) {
            let detail = format!("the short name {name} is removed");
            found.push(BreakingChange::of_crd(ChangeKind::Renamed, "spec.names.shortNames", detail));
        }
    }
    found
}

fn subresources(old: &Spec, new: &Spec, version: &str, index: usize, found: &mut Vec<BreakingChange>) {
    let of = |spec: &Spec| {
        let there = spec.subresources(version);
        (there.is_some_and(|s| s.status), there.is_some_and(|s| s.scale.is_some()))
    };
    let (before, after) = (of(old), of(new));
    let path = format!("spec.versions[{index}].subresources");
    let mut report = |detail: &str| {
        let change = BreakingChange::of_crd(ChangeKind::Subresource, &path, detail.to_owned());
        found.push(BreakingChange { versions: vec![version.to_owned()], ..change });
    };
    match (before.0, after.0) {
        (true, false) => report("the status subresource is removed: writes to /status are not found"),
        (false, true) => report("status is a subresource now: writes of the object leave it as it is"),
        _ => {}
    }
    if before.1 && !after.1 {
        report("the scale subresource is removed");
    }
}

#[cfg(test)]
mod tests;

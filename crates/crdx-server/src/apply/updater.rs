//! Computes ownership after an update or an apply (`structured-merge-diff/merge/update.go`).

use super::{
    path::{Path, equal},
    set::Set,
    typed::{
        self,
        compare::Comparison,
        errors_text,
        field_set::field_set,
        reconcile::reconcile,
        remove::remove,
        validate::{Validation, validate},
    },
};
use crdx_types::merge::Type;
use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::release::Release;
use std::collections::BTreeMap;

/// The fields that a manager owns.
#[derive(Clone, Debug, PartialEq)]
pub struct Owner {
    /// The fields.
    pub set: Set,
    /// The `apiVersion` in which the fields are named.
    pub api_version: String,
    /// True if the manager owns the fields by apply.
    pub applied: bool,
}

/// Owners by manager identifier.
pub(crate) type Owners = BTreeMap<String, Owner>;

/// A field that another manager owns with a different value.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The identifier of the other manager.
    pub manager: String,
    /// The path of the field.
    pub path: Path,
}

/// The reason why an apply failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// Other managers own fields that the apply sets to different values.
    Conflicts(Vec<Conflict>),
    /// A value does not match its type, with the message.
    Error(GoError),
}

/// The versions of a resource.
pub trait Versions {
    /// The merge type of a version, given as `apiVersion`; `None` for an unknown version.
    fn type_of(&self, api_version: &str) -> Option<&Type>;
    /// Converts the object to another version.
    ///
    /// # Errors
    /// Returns the message if the object cannot be converted.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, GoError>;
    /// The reason why an object cannot be converted to the internal type of its kind.
    fn unconvertible(&self, _object: &Value) -> Option<String> {
        None
    }
    /// The fields of a version that writers of this resource or subresource never own.
    fn ignored(&self, api_version: &str) -> Option<&Set>;
}

impl<V: Versions + ?Sized> Versions for &V {
    fn type_of(&self, api_version: &str) -> Option<&Type> {
        (**self).type_of(api_version)
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, GoError> {
        (**self).convert(object, api_version)
    }

    fn unconvertible(&self, object: &Value) -> Option<String> {
        (**self).unconvertible(object)
    }

    fn ignored(&self, api_version: &str) -> Option<&Set> {
        (**self).ignored(api_version)
    }
}

/// An object at a version, with its merge type.
#[derive(Clone)]
struct Typed<'a> {
    value: Value,
    ty: &'a Type,
}

impl Typed<'_> {
    fn fields(&self) -> Set {
        field_set(self.ty, &self.value)
    }
    fn without(&self, set: &Set) -> Self {
        Self { value: remove(self.ty, &self.value, set), ty: self.ty }
    }
    fn compare(&self, new: &Self) -> Result<Comparison, Failure> {
        typed::compare::compare(self.ty, &self.value, &new.value)
            .map_err(|e| Failure::Error(format!("failed to compare objects: {}", errors_text(&e)).into()))
    }
}

/// Computes ownership across the versions of one resource.
pub(crate) struct Updater<'a> {
    /// The versions of the resource.
    pub versions: &'a dyn Versions,
    /// The release of the server.
    pub release: Release,
}

impl<'a> Updater<'a> {
    /// Converts the object to a version; `None` if the version has no type. The converted object must match its type
    /// even if only the apiVersion differs, because conversion does not prune.
    fn in_version(&self, object: &Value, api_version: &str) -> Result<Option<Typed<'a>>, GoError> {
        if object.get("apiVersion").and_then(Value::as_str) == Some(api_version) {
            return Ok(self.versions.type_of(api_version).map(|ty| Typed { value: object.clone(), ty }));
        }
        let value = self.versions.convert(object, api_version)?;
        let Some(ty) = self.versions.type_of(api_version) else { return Ok(None) };
        let errors = validate(ty, &value, Validation::new(self.release, false));
        if errors.is_empty() { Ok(Some(Typed { value, ty })) } else { Err(errors_text(&errors).into()) }
    }

    /// The owners after a create, update or patch of `live` into `new`, both in `version`.
    pub fn update(
        &self,
        live: &Value,
        new: &Value,
        version: &str,
        owners: Owners,
        manager: &str,
    ) -> Result<Owners, Failure> {
        let owners = self.reconciled(live, owners)?;
        let (mut owners, compare) = self.shift(live, new, version, owners, manager, true)?;
        let before = owners.get(manager).map(|o| o.set.clone()).unwrap_or_default();
        let mut set = before.difference(&compare.removed);
        set.extend(compare.modified);
        set.extend(compare.added);
        if let Some(ignored) = self.versions.ignored(version) {
            set = set.recursive_difference(ignored);
        }
        if set.is_empty() {
            owners.remove(manager);
        } else {
            owners.insert(manager.to_owned(), Owner { set, api_version: version.to_owned(), applied: false });
        }
        Ok(owners)
    }

    /// The object and owners after an apply of `config` to `live`, both in `version`; the object is `None` if nothing
    /// changes.
    pub fn apply(
        &self,
        live: &Value,
        config: &Value,
        version: &str,
        owners: Owners,
        manager: &str,
        force: bool,
    ) -> Result<(Option<Value>, Owners), Failure> {
        let mut owners = self.reconciled(live, owners)?;
        let missing = || Failure::Error(format!("no corresponding type for {version}").into());
        let ty = self.versions.type_of(version).ok_or_else(missing)?;
        let merged = typed::merge::merge(ty, live, config)
            .map_err(|e| Failure::Error(format!("failed to merge config: {}", errors_text(&e)).into()))?;
        let mut set = field_set(ty, config);
        if let Some(ignored) = self.versions.ignored(version) {
            set = set.recursive_difference(ignored);
        }
        let owner = Owner { set, api_version: version.to_owned(), applied: true };
        let last = owners.insert(manager.to_owned(), owner);
        let new = match last.filter(|l| !l.set.is_empty()) {
            Some(last) => self
                .prune(Typed { value: merged, ty }, &owners, version, &last)
                .map_err(|e| Failure::Error(format!("failed to prune fields: {e}").into()))?,
            None => merged,
        };
        let (owners, _) = self.shift(live, &new, version, owners, manager, force)?;
        Ok(((!equal(live, &new)).then_some(new), owners))
    }

    /// Removes changed fields from all other owners. Without `force`, changed fields owned by others are conflicts.
    fn shift(
        &self,
        old: &Value,
        new: &Value,
        version: &str,
        mut owners: Owners,
        manager: &str,
        force: bool,
    ) -> Result<(Owners, Comparison), Failure> {
        let missing = || Failure::Error(format!("no corresponding type for {version}").into());
        let ty = self.versions.type_of(version).ok_or_else(missing)?;
        let current = typed::compare::compare(ty, old, new)
            .map_err(|e| Failure::Error(format!("failed to compare objects: {}", errors_text(&e)).into()))?;
        let names: Vec<String> = owners.keys().filter(|name| *name != manager).cloned().collect();
        if names.is_empty() {
            owners.retain(|_, owner| !owner.set.is_empty());
            return Ok((owners, current));
        }
        let filter = |comparison: Comparison, version: &str| match self.versions.ignored(version) {
            Some(ignored) => comparison.without(ignored),
            None => comparison,
        };
        let mut seen = BTreeMap::from([(version.to_owned(), filter(current.clone(), version))]);
        let mut conflicts = Vec::new();
        let mut taken = Vec::new();
        for name in names {
            let Some(owner) = owners.get(&name) else { continue };
            let at = owner.api_version.clone();
            if !seen.contains_key(&at) {
                let seen_in = |object: &Value, which: &str| {
                    self.in_version(object, &at)
                        .map_err(|e| Failure::Error(format!("failed to convert {which} object: {e}").into()))
                };
                let (Some(old), Some(new)) = (seen_in(old, "old")?, seen_in(new, "new")?) else {
                    owners.remove(&name);
                    continue;
                };
                seen.insert(at.clone(), filter(old.compare(&new)?, &at));
            }
            let Some(compare) = seen.get(&at) else { continue };
            let changed = owner.set.intersection(&compare.modified.union(&compare.added));
            conflicts.extend(changed.paths().into_iter().map(|path| Conflict { manager: name.clone(), path }));
            let rest = owner.set.clone().difference(&changed).difference(&compare.removed);
            taken.push((name, rest));
        }
        if !force && !conflicts.is_empty() {
            return Err(Failure::Conflicts(conflicts));
        }
        for (name, rest) in taken {
            if let Some(owner) = owners.get_mut(&name) {
                owner.set = rest;
            }
        }
        owners.retain(|_, owner| !owner.set.is_empty());
        Ok((owners, current))
    }

    /// Removes the fields that the manager applied previously and that no manager owns now.
    fn prune(&self, merged: Typed<'a>, owners: &Owners, version: &str, last: &Owner) -> Result<Value, GoError> {
        let at_last = self
            .in_version(&merged.value, &last.api_version)
            .map_err(|e| format!("failed to convert merged object to last applied version: {e}"))?;
        let Some(at_last) = at_last else { return Ok(merged.value) };
        let pruned = at_last.without(&last.set.clone().with_named_fields(Some(at_last.ty)));
        let pruned = self
            .add_back_owned(at_last.clone(), pruned, &last.api_version, owners)
            .map_err(|e| format!("failed add back owned items: {e}"))?;
        let pruned = self
            .add_back_dangling(&at_last, &pruned, last)
            .map_err(|e| format!("failed add back dangling items: {e}"))?;
        Ok(self.in_version(&pruned.value, version)?.map_or(pruned.value, |typed| typed.value))
    }

    fn add_back_owned(
        &self,
        merged: Typed<'a>,
        pruned: Typed<'a>,
        first: &str,
        owners: &Owners,
    ) -> Result<Typed<'a>, GoError> {
        let mut by_version: BTreeMap<&str, Set> = BTreeMap::new();
        for owner in owners.values() {
            by_version.entry(&owner.api_version).or_default().extend(owner.set.clone());
        }
        let (mut merged, mut pruned) = (merged, pruned);
        let first = by_version.remove_entry(first);
        for (version, owned) in first.into_iter().chain(by_version) {
            let seen_in = |object: &Value, which: &str| {
                self.in_version(object, version)
                    .map_err(|e| format!("failed to convert {which} object at version {version}: {e}"))
            };
            let (Some(m), Some(p)) = (seen_in(&merged.value, "merged")?, seen_in(&pruned.value, "pruned")?) else {
                continue;
            };
            let named = |set: Set| set.with_named_fields(Some(m.ty));
            let unclaimed = named(m.fields()).difference(&named(p.fields()).union(&named(owned)));
            pruned = m.without(&unclaimed);
            merged = m;
        }
        Ok(pruned)
    }

    /// Restores removed fields that the manager did not own.
    fn add_back_dangling(&self, merged: &Typed<'a>, pruned: &Typed<'a>, last: &Owner) -> Result<Typed<'a>, GoError> {
        let pruned = self
            .in_version(&pruned.value, &last.api_version)
            .map_err(|e| format!("failed to convert pruned object to last applied version: {e}"))?;
        let Some(pruned) = pruned else { return Ok(merged.clone()) };
        let named = |set: Set| set.with_named_fields(Some(merged.ty));
        let gone = named(merged.fields()).difference(&named(pruned.fields()));
        Ok(merged.without(&gone.intersection(&named(last.set.clone()))))
    }

    /// Adapts the owners' sets to a changed schema. Converting the object is slow, so it is done once per version.
    fn reconciled(&self, live: &Value, owners: Owners) -> Result<Owners, Failure> {
        let mut seen: BTreeMap<String, Option<&Type>> = BTreeMap::new();
        let mut out = Owners::new();
        for (name, mut owner) in owners {
            let ty = if let Some(ty) = seen.get(&owner.api_version) {
                *ty
            } else {
                let ty = self.in_version(live, &owner.api_version).map_err(Failure::Error)?.map(|typed| typed.ty);
                seen.insert(owner.api_version.clone(), ty);
                ty
            };
            let Some(ty) = ty else { continue };
            if let Some(set) = reconcile(&owner.set, ty) {
                owner.set = set;
            }
            out.insert(name, owner);
        }
        Ok(out)
    }
}

//! The names that the CRDs of a server have, by group. No other CRD of the group may have them.

use super::{CustomResourceDefinition, Names};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The accepted names of all CRDs. It changes with each CRD, because looking through all others for each of them would take
/// time that grows with the square of their number.
#[derive(Debug, Default)]
pub struct NamesInUse {
    groups: HashMap<String, GroupNames>,
}

/// The accepted names of the CRDs of a group.
#[derive(Debug, Default)]
struct GroupNames {
    /// The number of times that each plural, singular and short name is accepted.
    resources: HashMap<String, usize>,
    /// The number of times that each kind and list kind is accepted.
    kinds: HashMap<String, usize>,
    /// The accepted names by CRD.
    accepted: HashMap<String, Names>,
    /// The CRDs whose names are not all accepted.
    waiting: BTreeSet<String>,
}

fn resources(names: &Names) -> impl Iterator<Item = &str> {
    [&names.plural, &names.singular].into_iter().chain(&names.short_names).map(String::as_str)
}

fn kinds(names: &Names) -> impl Iterator<Item = &str> {
    [&names.kind, &names.list_kind].into_iter().map(String::as_str)
}

fn add<'n>(counts: &mut HashMap<String, usize>, names: impl Iterator<Item = &'n str>) {
    for name in names {
        *counts.entry(name.to_owned()).or_default() += 1;
    }
}

fn remove<'n>(counts: &mut HashMap<String, usize>, names: impl Iterator<Item = &'n str>) {
    for name in names {
        if let Some(count) = counts.get_mut(name) {
            *count -= 1;
            if *count == 0 {
                counts.remove(name);
            }
        }
    }
}

impl NamesInUse {
    /// Adds the accepted names of a CRD, or replaces them.
    pub fn set(&mut self, crd: &CustomResourceDefinition) {
        let group = self.groups.entry(crd.spec.group.clone()).or_default();
        let (name, names) = (crd.name(), &crd.status.accepted_names);
        if crd.is_true("NamesAccepted") {
            group.waiting.remove(name);
        } else {
            group.waiting.insert(name.to_owned());
        }
        if group.accepted.get(name) == Some(names) {
            return;
        }
        if let Some(before) = group.accepted.insert(name.to_owned(), names.clone()) {
            group.release(&before);
        }
        add(&mut group.resources, resources(names));
        add(&mut group.kinds, kinds(names));
    }

    /// Removes the names of a CRD.
    pub fn remove(&mut self, name: &str, group: &str) {
        let Some(found) = self.groups.get_mut(group) else { return };
        found.waiting.remove(name);
        if let Some(before) = found.accepted.remove(name) {
            found.release(&before);
        }
        if found.accepted.is_empty() {
            self.groups.remove(group);
        }
    }

    /// The CRDs of a group whose names are not all accepted, sorted by name.
    pub fn waiting(&self, group: &str) -> impl Iterator<Item = &str> {
        self.groups.get(group).into_iter().flat_map(|group| &group.waiting).map(String::as_str)
    }

    /// The names that a CRD with this name and group must not have.
    pub(super) fn of_others(&self, name: &str, group: &str) -> NamesOfOthers<'_> {
        let group = self.groups.get(group);
        let own = group.and_then(|group| group.accepted.get(name));
        let (mut own_resources, mut own_kinds) = (HashMap::new(), HashMap::new());
        if let Some(own) = own {
            add(&mut own_resources, resources(own));
            add(&mut own_kinds, kinds(own));
        }
        NamesOfOthers { group, own_resources, own_kinds }
    }
}

/// The names of all CRDs of a group but one, whose earlier names may still be counted.
#[derive(Debug)]
pub(super) struct NamesOfOthers<'a> {
    group: Option<&'a GroupNames>,
    own_resources: HashMap<String, usize>,
    own_kinds: HashMap<String, usize>,
}

impl NamesOfOthers<'_> {
    /// Returns true if one of them has a name as plural, singular or short name.
    pub(super) fn has_resource(&self, name: &str) -> bool {
        self.group.is_some_and(|group| group.resources.get(name) > self.own_resources.get(name))
    }

    /// Returns true if one of them has a name as kind or list kind.
    pub(super) fn has_kind(&self, name: &str) -> bool {
        self.group.is_some_and(|group| group.kinds.get(name) > self.own_kinds.get(name))
    }
}

impl GroupNames {
    fn release(&mut self, names: &Names) {
        remove(&mut self.resources, resources(names));
        remove(&mut self.kinds, kinds(names));
    }
}

/// Returns true if `after` lacks a name that `before` has, which another CRD may be waiting for.
pub fn releases(before: &Names, after: &Names) -> bool {
    let kept: HashSet<&str> = resources(after).collect();
    let kept_kinds: HashSet<&str> = kinds(after).collect();
    resources(before).any(|name| !name.is_empty() && !kept.contains(name))
        || kinds(before).any(|name| !name.is_empty() && !kept_kinds.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crd(name: &str, short_names: &[&str]) -> CustomResourceDefinition {
        let mut crd = CustomResourceDefinition::default();
        crd.spec.group = "example.com".to_owned();
        crd.metadata.insert("name".to_owned(), format!("{name}.example.com").into());
        let short_names = short_names.iter().map(ToString::to_string).collect();
        crd.status.accepted_names = Names { plural: name.to_owned(), short_names, ..Names::default() };
        crd
    }

    #[test]
    fn a_name_is_in_use_until_no_crd_has_it() {
        let mut names = NamesInUse::default();
        names.set(&crd("foos", &["f"]));
        names.set(&crd("bars", &["f"]));
        let has = |names: &NamesInUse, name: &str| names.of_others("", "example.com").has_resource(name);
        assert!(has(&names, "foos") && has(&names, "f") && !has(&names, "x"));
        assert!(!names.of_others("", "x.com").has_resource("f"));
        names.set(&crd("foos", &[]));
        assert!(has(&names, "f"));
        names.remove("bars.example.com", "example.com");
        assert!(!has(&names, "f") && !has(&names, "bars") && has(&names, "foos"));
        assert!(names.waiting("example.com").eq(["foos.example.com"]));
        names.remove("foos.example.com", "example.com");
        assert!(names.groups.is_empty());
    }

    #[test]
    fn the_names_of_a_crd_do_not_conflict_with_its_earlier_ones() {
        let mut names = NamesInUse::default();
        names.set(&crd("foos", &["f"]));
        let others = names.of_others("foos.example.com", "example.com");
        assert!(!others.has_resource("foos") && !others.has_resource("f"));
        names.set(&crd("bars", &["f"]));
        assert!(names.of_others("foos.example.com", "example.com").has_resource("f"));
    }

    #[test]
    fn only_a_name_that_is_given_up_is_released() {
        let names = |short_names: &[&str]| crd("foos", short_names).status.accepted_names;
        assert!(releases(&names(&["a", "b"]), &names(&["b"])));
        assert!(!releases(&names(&["b"]), &names(&["a", "b"])));
        assert!(!releases(&Names::default(), &names(&[])));
    }
}

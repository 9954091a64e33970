//! The parts of a repository that are for clusters of their own.

use super::layout::{Layout, PlacedReference};
use super::references::ReferenceKind;
use super::{outermost, parent, shown};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A target of the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The name; a target without one is called by its first path.
    pub name: Option<String>,
    pub paths: Vec<PathBuf>,
    pub namespace: Option<String>,
}

impl Environment {
    fn new(paths: Vec<PathBuf>) -> Self {
        Self { name: None, paths, namespace: None }
    }
}

/// Returns the targets of a repository; none if it is for one cluster.
pub fn environments(layout: &Layout) -> Vec<Environment> {
    let several = |targets: Vec<Environment>| if targets.len() > 1 { targets } else { Vec::new() };
    let of_flux = of_flux(layout);
    if !of_flux.is_empty() {
        return several(of_flux);
    }
    let of_argo = several(of_argo(layout));
    if of_argo.is_empty() { several(of_overlays(layout)) } else { of_argo }
}

/// A cluster of Flux: the directory that has its first Kustomizations, and the directories that they lead to.
#[derive(Debug, Default)]
struct Cluster<'a> {
    members: Vec<&'a PlacedReference>,
    paths: BTreeSet<PathBuf>,
    /// The paths, and the directories that kustomizations in them are built from.
    covered: BTreeSet<PathBuf>,
}

/// Returns a target for each directory with Kustomizations that none of another directory leads to.
fn of_flux(layout: &Layout) -> Vec<Environment> {
    let all: Vec<&PlacedReference> =
        layout.references.iter().filter(|one| one.reference.kind == ReferenceKind::FluxKustomization).collect();
    let entries = outermost(all.iter().map(|one| entry(one)).collect());
    let mut clusters: BTreeMap<&Path, Cluster<'_>> = BTreeMap::new();
    for one in &all {
        let own = entry(one);
        if let Some(directory) = entries.iter().find(|directory| own.starts_with(directory)) {
            clusters.entry(directory).or_default().members.push(one);
        }
    }
    for (directory, cluster) in &mut clusters {
        cluster.add_reached(directory, layout, &all);
    }
    let is_reached = |directory: &Path| {
        let others = clusters.iter().filter(|(other, _)| **other != directory);
        others.flat_map(|(_, cluster)| &cluster.covered).any(|path| directory.starts_with(path))
    };
    let roots = clusters.iter().filter(|(directory, _)| !is_reached(directory));
    let target = |(directory, cluster): (&&Path, &Cluster<'_>)| {
        let existing = cluster.paths.iter().filter(|path| layout.has(path)).cloned().collect();
        let mut paths = outermost(existing);
        // The target has the name of its first path.
        paths.sort_by_key(|path| !directory.starts_with(path));
        Environment::new(paths)
    };
    roots.map(target).collect()
}

/// Returns the directory by which Flux finds a Kustomization: its path if that has its own file, as of the Kustomization that
/// `flux bootstrap` writes.
fn entry(one: &PlacedReference) -> PathBuf {
    let own = one.reference.paths.iter().find(|path| one.file.starts_with(path));
    own.cloned().unwrap_or_else(|| parent(&one.file))
}

impl Cluster<'_> {
    /// Adds the directories that its Kustomizations lead to, and those of the Kustomizations in these directories.
    fn add_reached(&mut self, directory: &Path, layout: &Layout, all: &[&PlacedReference]) {
        let mut next: Vec<PathBuf> = self.members.iter().flat_map(|one| one.reference.paths.clone()).collect();
        next.push(directory.to_owned());
        while let Some(path) = next.pop() {
            let inside = layout.kustomizations.keys().filter(|own| own.starts_with(&path));
            let mut covered: BTreeSet<PathBuf> = inside.flat_map(|own| layout.built_from(own)).collect();
            covered.insert(path.clone());
            if self.paths.insert(path) {
                let is_covered = |one: &&&PlacedReference| covered.iter().any(|own| one.file.starts_with(own));
                next.extend(all.iter().filter(is_covered).flat_map(|one| one.reference.paths.clone()));
            }
            self.covered.extend(covered);
        }
    }
}

/// Returns a target for each directory of an application, with its namespace.
fn of_argo(layout: &Layout) -> Vec<Environment> {
    let mut targets: Vec<Environment> = Vec::new();
    for PlacedReference { reference, .. } in &layout.references {
        let is_pattern = match reference.kind {
            ReferenceKind::Application => false,
            ReferenceKind::ApplicationSet => true,
            _ => continue,
        };
        // An application for the applications is no target: they would be in two.
        let has_applications =
            |path: &Path| layout.references.iter().any(|one| one.file.starts_with(path) && is_of_argo(one));
        let is_target = |path: &&PathBuf| {
            is_pattern && path.to_string_lossy().contains('*') || layout.has(path) && !has_applications(path)
        };
        for path in reference.paths.iter().filter(is_target) {
            let target = Environment { namespace: reference.namespace.clone(), ..Environment::new(vec![path.clone()]) };
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
    }
    with_names(&targets)
}

fn is_of_argo(one: &PlacedReference) -> bool {
    matches!(one.reference.kind, ReferenceKind::Application | ReferenceKind::ApplicationSet)
}

/// Names the targets of one directory by their namespaces.
fn with_names(targets: &[Environment]) -> Vec<Environment> {
    let is_repeated = |target: &Environment| targets.iter().filter(|other| other.paths == target.paths).count() > 1;
    let named = |target: &Environment| {
        let path = target.paths.first().map(|path| shown(path)).unwrap_or_default();
        let namespace = target.namespace.as_deref().unwrap_or("default");
        let name = is_repeated(target).then(|| format!("{path} in {namespace}"));
        Environment { name, ..target.clone() }
    };
    targets.iter().map(named).collect()
}

/// Returns a target for each overlay that shares a base with another one.
fn of_overlays(layout: &Layout) -> Vec<Environment> {
    let roots: Vec<(PathBuf, BTreeSet<PathBuf>)> =
        layout.roots().into_iter().map(|root| (root.clone(), layout.bases(&root))).collect();
    let shares = |(root, parts): &&(PathBuf, BTreeSet<PathBuf>)| {
        roots.iter().any(|(other, own)| other != root && !own.is_disjoint(parts))
    };
    roots.iter().filter(shares).map(|(root, _)| Environment::new(vec![root.clone()])).collect()
}

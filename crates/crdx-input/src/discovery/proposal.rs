//! The settings that would validate a repository.

use super::environments::{Environment, environments};
use super::layout::{DefinitionFile, Layout};
use super::{outermost, parent, shown};
use crdx_text::yaml;
use crdx_value::{Map, Value, object};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The first lines of the file.
const HEAD: &str = concat!(
    "# Written by `kubectl crdx discover`: what `kubectl crdx validate` reads without a path. Edit it as you need.\n",
    "# yaml-language-server: $schema=",
    env!("CARGO_PKG_REPOSITORY"),
    "/raw/main/docs/schemas/crdx.json\n"
);

/// The settings.
#[derive(Debug)]
pub struct Proposal {
    crds: Vec<PathBuf>,
    ignore: Vec<&'static str>,
    paths: Vec<PathBuf>,
    targets: Vec<Environment>,
}

impl Proposal {
    /// Derives the settings from the layout.
    pub fn new(layout: &Layout) -> Self {
        let ignore = layout.left_out.iter().copied().collect();
        Self { crds: definitions(&layout.definitions), ignore, paths: paths(layout), targets: environments(layout) }
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let list = |paths: &[PathBuf]| Value::from(paths.iter().map(|path| shown(path).into()).collect::<Vec<_>>());
        let mut text = HEAD.to_owned();
        let mut add = |key: &str, value: Value| text.push_str(&yaml::write::to_string(&object([(key, value)])));
        if !self.crds.is_empty() {
            add("crds", list(&self.crds));
        }
        if !self.ignore.is_empty() {
            add("ignore", self.ignore.iter().map(|pattern| (*pattern).into()).collect::<Vec<Value>>().into());
        }
        add("offline", true.into());
        add("paths", list(&self.paths));
        add("recursive", true.into());
        if !self.targets.is_empty() {
            add("targets", self.targets.iter().map(target).collect::<Vec<_>>().into());
        }
        text
    }
}

fn target(environment: &Environment) -> Value {
    let mut paths: Vec<Value> = environment.paths.iter().map(|path| shown(path).into()).collect();
    let (Some(first), 1, None, None) = (paths.first(), paths.len(), &environment.name, &environment.namespace) else {
        let mut members = Map::new();
        members.extend(environment.name.clone().map(|name| ("name".to_owned(), name.into())));
        members.extend(environment.namespace.clone().map(|name| ("namespace".to_owned(), name.into())));
        let one = paths.pop().filter(|_| paths.is_empty());
        members.insert("paths".to_owned(), one.unwrap_or_else(|| all_paths(environment)));
        return members.into();
    };
    first.clone()
}

fn all_paths(environment: &Environment) -> Value {
    environment.paths.iter().map(|path| shown(path).into()).collect::<Vec<Value>>().into()
}

/// Returns the top-level directories with something to validate; the root, if it has files or is a chart itself.
fn paths(layout: &Layout) -> Vec<PathBuf> {
    let directories = layout
        .manifests
        .keys()
        .chain(layout.charts.keys())
        .chain(layout.kustomizations.keys())
        .cloned()
        .chain(layout.definitions.iter().map(|file| parent(&file.path)));
    let top = |path: PathBuf| path.iter().take(1).collect::<PathBuf>();
    let all: BTreeSet<PathBuf> = directories.map(top).collect();
    if all.contains(Path::new("")) || all.is_empty() { vec![PathBuf::new()] } else { all.into_iter().collect() }
}

/// Returns directories and files that define each CRD once: the directory of a generator such as controller-gen first, then
/// those called `crds` or `crd`. A file that also has other objects is no source of CRDs.
fn definitions(files: &[DefinitionFile]) -> Vec<PathBuf> {
    let mut directories: BTreeMap<(usize, PathBuf), Vec<&DefinitionFile>> = BTreeMap::new();
    for file in files {
        let directory = parent(&file.path);
        directories.entry((preference(&directory), directory)).or_default().push(file);
    }
    let (mut names, mut chosen): (BTreeSet<&str>, Vec<PathBuf>) = Default::default();
    for ((_, directory), own) in directories {
        if chosen.iter().any(|above| directory.starts_with(above)) {
            continue;
        }
        // A directory is read with its subdirectories.
        let below: Vec<&DefinitionFile> = files.iter().filter(|file| file.path.starts_with(&directory)).collect();
        let is_source = !directory.as_os_str().is_empty() && below.iter().all(|file| !file.is_mixed);
        if is_source && are_new(&below, &names) {
            names.extend(names_of(&below));
            chosen.push(directory);
            continue;
        }
        for file in own {
            if are_new(&[file], &names) {
                names.extend(names_of(&[file]));
                chosen.push(file.path.clone());
            }
        }
    }
    outermost(chosen)
}

fn names_of<'a>(files: &[&'a DefinitionFile]) -> Vec<&'a str> {
    files.iter().flat_map(|file| &file.definitions).map(|definition| definition.name.as_str()).collect()
}

/// Returns true if files define each CRD once, and none of those that are known.
fn are_new(files: &[&DefinitionFile], known: &BTreeSet<&str>) -> bool {
    let mut seen = BTreeSet::new();
    names_of(files).into_iter().all(|name| !known.contains(name) && seen.insert(name))
}

/// Ranks the directories that may have the same CRDs.
fn preference(directory: &Path) -> usize {
    let name = directory.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    match &*name {
        _ if directory.ends_with("crd/bases") => 0,
        "crds" | "crd" => 1,
        _ => 2,
    }
}

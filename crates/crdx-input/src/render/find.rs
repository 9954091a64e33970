//! Finds the directories that are rendered, and the files that belong to them.

use super::flux::FluxKustomization;
use super::kustomization::Kustomization;
use super::lexical::normal;
use super::release::HelmRelease;
use crate::content::{NoObject, no_object};
use crate::kustomize;
use crdx_files::open::read_small;
use crdx_text::yaml;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest file that is read to find out what it is, in bytes.
const LARGEST: u64 = 4 << 20;

/// The directories of a chart whose files Helm reads.
const OF_CHART: [&str; 3] = ["charts", "crds", "templates"];

/// The program that renders a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RenderProgram {
    /// A Helm chart.
    Chart,
    Kustomization,
}

/// A directory that is rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderTarget {
    pub directory: PathBuf,
    /// The program.
    pub kind: RenderProgram,
    /// A file with values that the chart has for tests.
    pub values: Option<PathBuf>,
    /// The release of Flux that a chart is rendered for.
    pub release: Option<Arc<HelmRelease>>,
    /// The object of Flux that says how the directory is built.
    pub flux: Option<Arc<FluxKustomization>>,
    /// True if several objects of Flux build the directory.
    pub is_shared: bool,
}

impl RenderTarget {
    /// A directory that is rendered as it is.
    pub fn new(directory: PathBuf, kind: RenderProgram) -> Self {
        Self { directory, kind, values: None, release: None, flux: None, is_shared: false }
    }

    /// A chart that is rendered with its own values.
    pub fn of_chart(chart: PathBuf) -> Self {
        Self::new(chart, RenderProgram::Chart)
    }
}

/// A directory with a chart or a kustomization, which its files belong to.
#[derive(Clone, Debug, Default)]
pub struct Root {
    directory: PathBuf,
    is_chart: bool,
    /// True for a library chart, which is only rendered as a part of others.
    is_library: bool,
    kustomization: Option<Kustomization>,
}

impl Root {
    /// Reads a directory; `None` if it has neither a chart nor a kustomization.
    pub fn of(directory: &Path) -> Option<Self> {
        let mut root = Self { directory: directory.to_owned(), ..Self::default() };
        let chart = directory.join("Chart.yaml");
        root.is_chart = chart.is_file();
        root.is_library = root.is_chart && read(&chart).is_some_and(|value| value.str_at(&["type"]) == Some("library"));
        if let Some(file) = kustomize::file(directory) {
            let value = read(&file);
            // Flux has objects of the same name. What cannot be read is for kustomize to report.
            let is_own = |value| no_object(&file.to_string_lossy(), value) == Some(NoObject::Kustomize);
            if value.as_ref().is_none_or(is_own) {
                root.kustomization = Some(value.as_ref().map(Kustomization::new).unwrap_or_default());
            }
        }
        (root.is_chart || root.kustomization.is_some()).then_some(root)
    }

    /// Returns the programs that render it. A library chart and a component, which are parts of others, are rendered only if they
    /// were named: the program then says why it cannot.
    pub fn kinds(&self, named: bool) -> impl Iterator<Item = RenderProgram> {
        let chart = self.is_chart && (named || !self.is_library);
        let kustomization = self.kustomization.as_ref().is_some_and(|own| named || !own.is_component);
        chart.then_some(RenderProgram::Chart).into_iter().chain(kustomization.then_some(RenderProgram::Kustomization))
    }

    /// Returns what is rendered. A chart with values for tests, `ci/*-values.yaml`, is rendered with each of them, as chart-testing
    /// does, unless other values are given.
    pub fn targets(&self, named: bool, has_values: bool) -> Vec<RenderTarget> {
        let target = |kind, values| RenderTarget { values, ..RenderTarget::new(self.directory.clone(), kind) };
        let targets = self.kinds(named).flat_map(|kind| {
            let tested = if kind == RenderProgram::Chart && !has_values { self.test_values() } else { Vec::new() };
            if tested.is_empty() {
                return vec![target(kind, None)];
            }
            tested.into_iter().map(|file| target(kind, Some(file))).collect()
        });
        targets.collect()
    }

    fn test_values(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.directory.join("ci")).into_iter().flatten().filter_map(Result::ok);
        let is_values = |path: &PathBuf| path.to_string_lossy().ends_with("-values.yaml") && path.is_file();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_values).collect();
        found.sort();
        found
    }

    /// Returns true if the program reads all of a subdirectory, which has no other charts and objects.
    pub fn owns(&self, subdirectory: &Path) -> bool {
        let name = subdirectory.strip_prefix(&self.directory).ok();
        self.is_chart && name.is_some_and(|name| OF_CHART.iter().any(|own| name == Path::new(own)))
    }

    /// Returns true for a file with objects that is not rendered, such as an example.
    pub(crate) fn leaves_out(&self, file: &Path) -> bool {
        let Ok(relative) = file.strip_prefix(&self.directory) else { return false };
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        let is_named = self.kustomization.as_ref().is_some_and(|own| own.names(&parts.join("/")));
        !is_named && has_objects(file)
    }
}

fn read(file: &Path) -> Option<crdx_value::Value> {
    yaml::read(&read_small(file, LARGEST).ok()?).ok()
}

/// Returns true if a file looks like one with objects, which is not decoded.
fn has_objects(file: &Path) -> bool {
    let text = read_small(file, LARGEST).unwrap_or_default();
    let file = file.to_string_lossy();
    let is_own = ["Chart.yaml", "kustomization.yaml", "kustomization.yml"].iter().any(|own| file.ends_with(own));
    let lines = || text.split(|byte| *byte == b'\n');
    let has = |yaml: &str, json: &str| {
        lines().any(|line| line.starts_with(yaml.as_bytes()) || line.trim_ascii_start().starts_with(json.as_bytes()))
    };
    !is_own && has("apiVersion:", "\"apiVersion\"") && has("kind:", "\"kind\"")
}

/// Returns the directories with the files of a target: its own, and those that a kustomization is built from.
pub fn directories(target: &RenderTarget) -> BTreeSet<PathBuf> {
    directories_and_files(target).0
}

/// Returns the files in the directories of a target, and others that its kustomizations name.
pub fn files(target: &RenderTarget) -> BTreeSet<PathBuf> {
    let (directories, mut files) = directories_and_files(target);
    let entries = directories.iter().filter_map(|directory| fs::read_dir(directory).ok()).flatten().flatten();
    files.extend(entries.map(|entry| entry.path()));
    files.retain(|path| path.is_file());
    files
}

/// Returns the directories of a target, and the other paths that its kustomizations name.
fn directories_and_files(target: &RenderTarget) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
    let mut directories = BTreeSet::from([target.directory.clone()]);
    let mut files = BTreeSet::new();
    let mut next = match target.kind {
        RenderProgram::Chart => Vec::new(),
        RenderProgram::Kustomization => vec![target.directory.clone()],
    };
    while let Some(directory) = next.pop() {
        for resource in resources(&directory) {
            if !resource.is_dir() {
                files.insert(resource);
            } else if directories.insert(resource.clone()) {
                next.push(resource);
            }
        }
    }
    (directories, files)
}

/// Returns directories, and the files and directories that their kustomizations name, and those that the kustomizations in these
/// directories name.
pub fn named_by(directories: Vec<PathBuf>) -> BTreeSet<PathBuf> {
    let mut found: BTreeSet<PathBuf> = directories.iter().cloned().collect();
    let mut next = directories;
    while let Some(directory) = next.pop() {
        let own = kustomize::file(&directory).and_then(|file| read(&file)).map(|value| Kustomization::new(&value));
        for name in own.iter().flat_map(Kustomization::paths) {
            let path = normal(&directory.join(name));
            let is_new = path.exists() && found.insert(path.clone());
            if is_new && path.is_dir() {
                next.push(path);
            }
        }
    }
    found
}

/// Returns the paths that the kustomization in a directory is built from.
fn resources(directory: &Path) -> BTreeSet<PathBuf> {
    let value = kustomize::file(directory).and_then(|file| read(&file));
    let named = value.map(|value| Kustomization::new(&value).resources).unwrap_or_default();
    named.iter().map(|name| normal(&directory.join(name))).collect()
}

/// Returns true if a chart depends on charts and has no directory with them.
pub(crate) fn lacks_dependencies(chart: &Path) -> bool {
    let dependencies = read(&chart.join("Chart.yaml")).and_then(|value| value.get("dependencies").cloned());
    let has_some = dependencies.as_ref().and_then(crdx_value::Value::as_array).is_some_and(|list| !list.is_empty());
    has_some && !chart.join("charts").is_dir()
}

/// Returns the files that kustomizations use as patches and other inputs, without those that one of them has as a resource.
pub(crate) fn inputs(kustomizations: impl Iterator<Item = PathBuf>) -> BTreeSet<PathBuf> {
    let (mut inputs, mut resources) = (BTreeSet::new(), BTreeSet::new());
    for file in kustomizations {
        let Some(value) = read(&file) else { continue };
        if no_object(&file.to_string_lossy(), &value) != Some(NoObject::Kustomize) {
            continue;
        }
        let (own, directory) = (Kustomization::new(&value), file.parent().unwrap_or(Path::new("")));
        inputs.extend(own.inputs().map(|name| normal(&directory.join(name))));
        resources.extend(own.resources.iter().map(|name| normal(&directory.join(name))));
    }
    inputs.retain(|path| !resources.contains(path));
    inputs
}

/// Returns the kustomizations that others of `directories` are built from, directly or through more of them. Those of a cycle
/// are not among them: kustomize reports the cycle.
pub fn parts(directories: &[PathBuf]) -> BTreeSet<PathBuf> {
    let all: BTreeMap<PathBuf, BTreeSet<PathBuf>> =
        directories.iter().map(|directory| (normal(directory), resources(directory))).collect();
    let named: BTreeSet<&PathBuf> = all.values().flatten().collect();
    let mut next: Vec<&PathBuf> = all.keys().filter(|directory| !named.contains(directory)).collect();
    let mut reached = BTreeSet::new();
    while let Some(directory) = next.pop() {
        for part in all.get(directory).into_iter().flatten().filter(|part| all.contains_key(*part)) {
            if reached.insert(part) {
                next.push(part);
            }
        }
    }
    directories.iter().filter(|directory| reached.contains(&normal(directory))).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn write(base: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = base.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn charts_and_kustomizations_are_roots() {
        let dir = tempfile::tempdir().unwrap();
        write(
            dir.path(),
            &[
                ("chart/Chart.yaml", "name: a\n"),
                ("library/Chart.yaml", "name: a\ntype: library\n"),
                ("yaml/kustomization.yaml", "resources: []\n"),
                ("yml/kustomization.yml", "resources: []\n"),
                ("plain/Kustomization", "resources: []\n"),
                ("broken/kustomization.yaml", "a: [\n"),
                ("component/kustomization.yaml", "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n"),
                ("flux/kustomization.yaml", "kind: Kustomization\napiVersion: kustomize.toolkit.fluxcd.io/v1\n"),
                ("none/a.yaml", "a: 1\n"),
            ],
        );
        let kinds = |name: &str| Root::of(&dir.path().join(name)).map(|root| root.kinds(false).collect::<Vec<_>>());
        assert_eq!(kinds("chart"), Some(vec![RenderProgram::Chart]));
        for name in ["yaml", "yml", "plain", "broken"] {
            assert_eq!(kinds(name), Some(vec![RenderProgram::Kustomization]), "{name}");
        }
        assert_eq!((kinds("library"), kinds("component")), (Some(Vec::new()), Some(Vec::new())));
        assert_eq!((kinds("flux"), kinds("none")), (None, None));
        let library = Root::of(&dir.path().join("library")).unwrap();
        assert_eq!(library.kinds(true).collect::<Vec<_>>(), [RenderProgram::Chart]);
    }

    #[test]
    fn files_that_are_not_rendered_are_found() {
        let object = "apiVersion: v1\nkind: ConfigMap\n";
        let dir = tempfile::tempdir().unwrap();
        write(
            dir.path(),
            &[
                ("k/kustomization.yaml", "resources: [deep/a.yaml]\npatches: [{path: p.yaml}]\n"),
                ("k/deep/a.yaml", object),
                ("k/p.yaml", object),
                ("k/example.yaml", object),
                ("k/example.json", "{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"ConfigMap\"}"),
                ("k/values.yaml", "a: 1\n"),
                ("c/Chart.yaml", "apiVersion: v2\nkind: x\n"),
                ("c/values.yaml", "a: 1\n"),
                ("c/example.yaml", object),
            ],
        );
        let left_out = |directory: &str, file: &str| {
            Root::of(&dir.path().join(directory)).unwrap().leaves_out(&dir.path().join(directory).join(file))
        };
        assert!(left_out("k", "example.yaml") && left_out("k", "example.json") && left_out("c", "example.yaml"));
        let others = [("k", "deep/a.yaml"), ("k", "p.yaml"), ("k", "values.yaml"), ("c", "values.yaml")];
        assert!(!others.iter().any(|(directory, file)| left_out(directory, file)));
        assert!(!left_out("c", "Chart.yaml") && !left_out("k", "kustomization.yaml"));
    }

    #[test]
    fn bases_are_parts_of_their_overlays() {
        let dir = tempfile::tempdir().unwrap();
        write(
            dir.path(),
            &[
                ("base/kustomization.yaml", "resources: []\n"),
                ("dev/kustomization.yaml", "resources: [../base]\n"),
                ("prod/kustomization.yaml", "resources: [../dev/./]\n"),
                ("alone/kustomization.yaml", "resources: [../none]\n"),
                ("x/kustomization.yaml", "resources: [../y]\n"),
                ("y/kustomization.yaml", "resources: [../x]\n"),
            ],
        );
        let path = |name: &&str| dir.path().join(name);
        let all: Vec<PathBuf> = ["alone", "base", "dev", "prod", "x", "y"].iter().map(path).collect();
        assert_eq!(parts(&all), ["base", "dev"].iter().map(path).collect());
    }
}

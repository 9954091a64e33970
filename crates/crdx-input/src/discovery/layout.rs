//! The layout of a repository: its charts and kustomizations, and what each file is.

use super::contents::{Contents, Definition, GroupKind, LARGEST};
use super::references::{Reference, ReferenceKind};
use super::{Finding, FindingKind, UnresolvedKind, parent, shown};
use crate::catalog::Catalog;
use crate::content::{NoObject, no_object};
use crate::kustomize;
use crate::render::kustomization::Kustomization;
use crate::render::normal;
use crdx_files::open::read_small;
use crdx_text::yaml;
use crdx_value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// The endings of files that may have objects.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// An object that refers to directories.
#[derive(Debug)]
pub struct PlacedReference {
    /// The file with the object.
    pub file: PathBuf,
    pub line: usize,
    pub reference: Reference,
}

/// A file with CRDs.
#[derive(Debug)]
pub struct DefinitionFile {
    pub path: PathBuf,
    pub definitions: Vec<Definition>,
    /// True if it also has other objects.
    pub is_mixed: bool,
}

/// The layout. All paths are relative to the root.
#[derive(Debug, Default)]
pub struct Layout {
    root: PathBuf,
    /// The directories of charts; true for library charts.
    pub charts: BTreeMap<PathBuf, bool>,
    /// The kustomizations by directory.
    pub kustomizations: BTreeMap<PathBuf, Kustomization>,
    /// Files that a kustomization uses, and that are no resources of another one.
    inputs: BTreeSet<PathBuf>,
    pub definitions: Vec<DefinitionFile>,
    pub references: Vec<PlacedReference>,
    /// The numbers of objects by directory.
    pub manifests: BTreeMap<PathBuf, usize>,
    /// Whether a directory has a `PROJECT` of kubebuilder.
    projects: BTreeSet<PathBuf>,
    suites: BTreeSet<PathBuf>,
    /// Files by what they are and their directory.
    others: BTreeMap<(FindingKind, PathBuf), usize>,
    kinds: BTreeMap<GroupKind, usize>,
    /// Patterns of directories that are left out.
    pub left_out: BTreeSet<&'static str>,
    pub unreadable: Vec<(PathBuf, io::Error)>,
}

impl Layout {
    /// Finds the charts and kustomizations among the files of a repository.
    pub fn new(root: &Path, files: &[PathBuf]) -> Self {
        let mut layout = Self { root: root.to_owned(), ..Self::default() };
        for path in files {
            if layout.is_left_out(path) {
                continue;
            }
            let directory = parent(path);
            if path.ends_with("Chart.yaml") {
                let is_library = layout.value(path).is_some_and(|chart| chart.str_at(&["type"]) == Some("library"));
                layout.charts.insert(directory, is_library);
            } else if path.ends_with("PROJECT") {
                layout.projects.insert(directory);
            } else if kustomize::file(&root.join(&directory)).is_some_and(|file| file == root.join(path))
                && let Some(value) = layout.value(path)
                && no_object(&path.to_string_lossy(), &value) == Some(NoObject::Kustomize)
            {
                layout.kustomizations.insert(directory, Kustomization::new(&value));
            }
        }
        let all = |names: &dyn Fn(&Kustomization) -> Vec<PathBuf>| -> BTreeSet<PathBuf> {
            let joined = |(directory, own): (&PathBuf, &Kustomization)| {
                names(own).into_iter().map(|name| normal(&directory.join(name))).collect::<Vec<_>>()
            };
            layout.kustomizations.iter().flat_map(joined).collect()
        };
        let resources = all(&|own| own.resources.iter().map(PathBuf::from).collect());
        let mut inputs = all(&|own| own.inputs().map(PathBuf::from).collect());
        inputs.retain(|path| !resources.contains(path));
        layout.inputs = inputs;
        layout
    }

    /// Returns true for a file of tests of Go packages, or of packages that Go vendors.
    fn is_left_out(&mut self, path: &Path) -> bool {
        let is_vendor = |directory: &Path| directory.ends_with("vendor") && self.has(&directory.join("modules.txt"));
        let pattern = |directory: &Path| match () {
            () if directory.ends_with("testdata") => Some("testdata/"),
            () if is_vendor(directory) => Some("vendor/"),
            () => None,
        };
        let found = path.ancestors().skip(1).find_map(pattern);
        self.left_out.extend(found.filter(|_| has_ending(path)));
        found.is_some()
    }

    fn value(&self, path: &Path) -> Option<Value> {
        yaml::read(&read_small(&self.root.join(path), LARGEST).ok()?).ok()
    }

    /// Returns the chart that a file belongs to: the outermost one.
    fn chart_of(&self, path: &Path) -> Option<&PathBuf> {
        self.charts.keys().find(|chart| path.starts_with(chart))
    }

    /// Adds a file.
    pub fn add(&mut self, path: &Path) {
        if self.is_left_out(path)
            || self.is_helm_file(path)
            || self.kustomizations.contains_key(&parent(path)) && is_kustomization(path)
        {
            return;
        }
        if !has_ending(path) {
            return;
        }
        if self.inputs.contains(path) {
            return self.count(FindingKind::Patch, path);
        }
        if is_suite(path) {
            self.suites.insert(path.to_owned());
            return;
        }
        match Contents::read(&self.root.join(path)) {
            Ok(contents) => self.add_contents(path, contents),
            Err(error) => self.unreadable.push((self.root.join(path), error)),
        }
    }

    /// Returns true for a file that Helm alone reads, which is counted.
    fn is_helm_file(&mut self, path: &Path) -> bool {
        let Some(chart) = self.chart_of(path) else { return false };
        let inside: Vec<String> =
            path.strip_prefix(chart).unwrap_or(path).iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let parts: Vec<&str> = inside.iter().map(String::as_str).collect();
        let is_values =
            |name: &str| name.starts_with("values") && has_ending(Path::new(name)) && !name.contains(".schema.");
        let has_chart = path.file_name().is_some_and(|name| name == "Chart.yaml" || name == "Chart.lock");
        match parts.as_slice() {
            _ if has_chart => {}
            ["charts", ..] => {}
            ["templates", ..] => self.count(FindingKind::Template, path),
            [name] if is_values(name) => self.count(FindingKind::Values, path),
            ["ci", name] if name.ends_with("-values.yaml") => self.count(FindingKind::Values, path),
            _ => return false,
        }
        true
    }

    fn count(&mut self, kind: FindingKind, file: &Path) {
        *self.others.entry((kind, parent(file))).or_default() += 1;
    }

    fn add_contents(&mut self, path: &Path, contents: Contents) {
        if contents.is_encrypted {
            self.count(FindingKind::Encrypted, path);
        }
        if contents.is_template {
            return self.count(FindingKind::Template, path);
        }
        if contents.objects > 0 {
            *self.manifests.entry(parent(path)).or_default() += contents.objects;
        }
        if !contents.definitions.is_empty() {
            let is_mixed = contents.objects > 0;
            self.definitions.push(DefinitionFile {
                path: path.to_owned(),
                definitions: contents.definitions,
                is_mixed,
            });
        }
        for (kind, count) in contents.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        let placed = |(line, reference)| PlacedReference { file: path.to_owned(), line, reference };
        self.references.extend(contents.references.into_iter().map(placed));
    }

    /// Returns true if there is nothing for Kubernetes.
    pub fn is_empty(&self) -> bool {
        self.manifests.is_empty()
            && self.definitions.is_empty()
            && self.charts.is_empty()
            && self.kustomizations.is_empty()
            && self.others.is_empty()
    }

    /// Returns true if a path of the repository exists.
    pub fn has(&self, path: &Path) -> bool {
        self.root.join(path).exists()
    }

    /// Returns the directories that the kustomization in a directory is built from, directly or through more of them.
    pub fn built_from(&self, directory: &Path) -> BTreeSet<PathBuf> {
        self.closure(directory, &|_| true)
    }

    /// Returns the bases of the kustomization in a directory, without its components and what these are built from.
    pub fn bases(&self, directory: &Path) -> BTreeSet<PathBuf> {
        self.closure(directory, &|own| !own.is_component)
    }

    fn closure(&self, directory: &Path, counts: &dyn Fn(&Kustomization) -> bool) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut next = vec![directory.to_owned()];
        while let Some(directory) = next.pop() {
            for part in self.parts(&directory) {
                if self.kustomizations.get(&part).is_some_and(counts) && found.insert(part.clone()) {
                    next.push(part);
                }
            }
        }
        found
    }

    /// Returns the kustomizations that the one in a directory names.
    fn parts(&self, directory: &Path) -> Vec<PathBuf> {
        let named = self.kustomizations.get(directory).map(|own| own.resources.as_slice()).unwrap_or_default();
        let paths = named.iter().map(|name| normal(&directory.join(name)));
        paths.filter(|path| self.kustomizations.contains_key(path)).collect()
    }

    /// Returns the kustomizations that are rendered on their own: no other one is built from them, and they are no components.
    pub fn roots(&self) -> Vec<PathBuf> {
        let parts: BTreeSet<PathBuf> = self.kustomizations.keys().flat_map(|directory| self.parts(directory)).collect();
        let is_root = |(directory, own): &(&PathBuf, &Kustomization)| !own.is_component && !parts.contains(*directory);
        self.kustomizations.iter().filter(is_root).map(|(directory, _)| directory.clone()).collect()
    }

    /// Returns the kinds without a CRD, the most frequent ones first.
    pub fn unresolved(&self) -> Vec<UnresolvedKind> {
        let defined: BTreeSet<&GroupKind> =
            self.definitions.iter().flat_map(|file| &file.definitions).map(|definition| &definition.defines).collect();
        let unresolved = self.kinds.iter().filter(|(kind, _)| !defined.contains(kind));
        let catalog = Catalog::own().unwrap_or_default();
        let projects = |group: &str| catalog.of_group(group).into_iter().map(str::to_owned).collect();
        let mut all: Vec<UnresolvedKind> = unresolved
            .map(|((group, kind), objects)| UnresolvedKind {
                group: group.clone(),
                kind: kind.clone(),
                projects: projects(group),
                objects: *objects,
            })
            .collect();
        all.sort_by(|a, b| b.objects.cmp(&a.objects).then_with(|| a.cmp(b)));
        all
    }

    /// Returns the findings in their order.
    pub fn into_findings(self) -> Vec<Finding> {
        let mut found = Vec::new();
        let finding = |kind, path: &Path| Finding { path: shown(path), ..Finding::new(kind) };
        found.extend(self.references.iter().map(|placed| self.of_reference(placed)));
        found.extend(self.projects.iter().map(|path| finding(FindingKind::Kubebuilder, path)));
        let roots = self.roots();
        for (directory, own) in &self.kustomizations {
            let kind = match own.is_component {
                true => FindingKind::Component,
                false if roots.contains(directory) => FindingKind::Kustomization,
                false => FindingKind::Base,
            };
            let uses = self.parts(directory).iter().map(|path| shown(path)).collect();
            let is_missing = |name: &&String| !self.has(&normal(&directory.join(name)));
            let needs = own.resources.iter().filter(is_missing).cloned().collect();
            found.push(Finding { uses, needs, ..finding(kind, directory) });
        }
        let is_part = |chart: &Path| chart.ancestors().skip(1).any(|above| self.charts.contains_key(above));
        for (directory, is_library) in self.charts.iter().filter(|(chart, _)| !is_part(chart)) {
            let kind = if *is_library { FindingKind::LibraryChart } else { FindingKind::Chart };
            let lacks = crate::render::find::lacks_dependencies(&self.root.join(directory));
            let needs = if lacks { vec!["helm dependency build".to_owned()] } else { Vec::new() };
            found.push(Finding { needs, ..finding(kind, directory) });
        }
        let mut definitions: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for file in &self.definitions {
            *definitions.entry(parent(&file.path)).or_default() += file.definitions.len();
        }
        let counted = |kind, path: &Path, count| Finding { count: Some(count), ..finding(kind, path) };
        found.extend(definitions.iter().map(|(path, count)| counted(FindingKind::Definitions, path, *count)));
        found.extend(self.suites.iter().map(|path| finding(FindingKind::Suite, path)));
        found.extend(self.manifests.iter().map(|(path, count)| counted(FindingKind::Manifests, path, *count)));
        found.extend(self.others.iter().map(|((kind, path), count)| counted(*kind, path, *count)));
        found.sort();
        found
    }

    fn of_reference(&self, placed: &PlacedReference) -> Finding {
        let PlacedReference { file, line, reference } = placed;
        let kind = match reference.kind {
            ReferenceKind::FluxKustomization => FindingKind::FluxKustomization,
            ReferenceKind::HelmRelease => FindingKind::HelmRelease,
            ReferenceKind::Application => FindingKind::Application,
            ReferenceKind::ApplicationSet => FindingKind::ApplicationSet,
        };
        let is_here = |path: &&PathBuf| self.has(path) || path.to_string_lossy().contains('*');
        let (here, elsewhere): (Vec<_>, Vec<_>) = reference.paths.iter().partition(is_here);
        let needs = elsewhere.into_iter().map(|path| format!("{} (not in this repository)", shown(path)));
        Finding {
            path: shown(file),
            line: Some(*line),
            name: Some(reference.name.clone()),
            uses: here.into_iter().map(|path| shown(path)).collect(),
            needs: needs.chain(reference.needs.iter().cloned()).collect(),
            ..Finding::new(kind)
        }
    }
}

fn has_ending(path: &Path) -> bool {
    path.extension().and_then(|end| end.to_str()).is_some_and(|end| ENDINGS.contains(&end))
}

fn is_kustomization(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("kustomization"))
}

fn is_suite(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.ends_with(".testsuite.yaml") || name.ends_with(".testsuite.yml")
}

//! Objects of Flux and Argo CD, which refer to directories of the repository.

use crate::render::normal;
use crdx_value::{Value, group_version};
use std::path::{Component, Path, PathBuf};

/// The depth of generators in matrix and merge generators of an `ApplicationSet`, which allows three.
const MAX_DEPTH: usize = 4;

/// The kind of an object that refers to directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    FluxKustomization,
    HelmRelease,
    Application,
    ApplicationSet,
}

/// An object that refers to directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub kind: ReferenceKind,
    pub name: String,
    /// Directories of the repository, or patterns of them for an `ApplicationSet`, relative to its root.
    pub paths: Vec<PathBuf>,
    /// Charts and artifacts that are not in the repository.
    pub needs: Vec<String>,
    /// The namespace that objects without one get.
    pub namespace: Option<String>,
}

impl Reference {
    /// Reads an object; `None` if it is another one.
    pub fn of(object: &Value) -> Option<Self> {
        let text = |path: &[&str]| object.str_at(path);
        let group = group_version::group(text(&["apiVersion"])?);
        let mut reference = match (group, text(&["kind"])?) {
            ("kustomize.toolkit.fluxcd.io", "Kustomization") => of_flux(object),
            ("helm.toolkit.fluxcd.io", "HelmRelease") => of_release(object),
            ("argoproj.io", "Application") => {
                let spec = object.get("spec")?;
                Self { namespace: destination(spec), ..of_sources(spec, ReferenceKind::Application) }
            }
            ("argoproj.io", "ApplicationSet") => of_set(object),
            _ => return None,
        };
        text(&["metadata", "name"]).unwrap_or_default().clone_into(&mut reference.name);
        Some(reference)
    }

    fn new(kind: ReferenceKind) -> Self {
        Self { kind, name: String::new(), paths: Vec::new(), needs: Vec::new(), namespace: None }
    }
}

fn of_flux(object: &Value) -> Reference {
    let text = |path: &[&str]| object.str_at(path);
    let mut reference = Reference::new(ReferenceKind::FluxKustomization);
    if text(&["spec", "sourceRef", "kind"]).is_none_or(|kind| kind == "GitRepository") {
        reference.paths.extend(directory(text(&["spec", "path"]).unwrap_or_default()));
    } else {
        reference.needs.extend(text(&["spec", "sourceRef", "name"]).map(str::to_owned));
    }
    reference.namespace = text(&["spec", "targetNamespace"]).map(str::to_owned);
    reference
}

fn of_release(object: &Value) -> Reference {
    let chart = |member: &str| object.str_at(&["spec", "chart", "spec", member]);
    let mut reference = Reference::new(ReferenceKind::HelmRelease);
    let is_here = object.str_at(&["spec", "chart", "spec", "sourceRef", "kind"]) == Some("GitRepository");
    if let Some(name) = chart("chart") {
        if is_here {
            reference.paths.extend(directory(name));
        } else {
            let version = chart("version").map_or_else(String::new, |version| format!(" {version}"));
            reference.needs.push(format!("chart {name}{version}"));
        }
    } else if let Some(name) = object.str_at(&["spec", "chartRef", "name"]) {
        reference.needs.push(format!("chart {name}"));
    }
    reference.namespace = ["targetNamespace", "storageNamespace"]
        .iter()
        .find_map(|member| object.str_at(&["spec", member]))
        .map(str::to_owned);
    reference
}

/// The sources of a `spec` of an application: directories, and charts of repositories of charts.
fn of_sources(spec: &Value, kind: ReferenceKind) -> Reference {
    let mut reference = Reference::new(kind);
    let several = spec.get("sources").and_then(Value::as_array).unwrap_or_default();
    for source in spec.get("source").into_iter().chain(several) {
        if let Some(chart) = source.str_at(&["chart"]) {
            reference.needs.push(format!("chart {chart}"));
        } else if let Some(path) = source.str_at(&["path"]) {
            reference.paths.extend(directory(path));
        }
    }
    reference
}

fn destination(spec: &Value) -> Option<String> {
    spec.str_at(&["destination", "namespace"]).filter(|name| !name.contains("{{")).map(str::to_owned)
}

fn of_set(object: &Value) -> Reference {
    let mut reference = Reference::new(ReferenceKind::ApplicationSet);
    let Some(spec) = object.get("spec") else { return reference };
    let generators = spec.get("generators").and_then(Value::as_array).unwrap_or_default();
    let mut directories = Vec::new();
    for generator in generators {
        add_directories(generator, 0, &mut directories);
    }
    if let Some(template) = object.at(&["spec", "template", "spec"]) {
        let of_template = of_sources(template, ReferenceKind::ApplicationSet);
        reference.needs.extend(of_template.needs);
        let fixed = of_template.paths.into_iter().filter(|path| !path.to_string_lossy().contains("{{"));
        reference.paths.extend(fixed);
        reference.namespace = destination(template);
    }
    // The template uses the directories, unless its path is fixed.
    if reference.paths.is_empty() {
        reference.paths = directories;
    }
    reference
}

/// Adds the patterns of the directories that a generator finds in a Git repository.
fn add_directories(generator: &Value, depth: usize, found: &mut Vec<PathBuf>) {
    let list = |path: &[&str]| generator.at(path).and_then(Value::as_array).unwrap_or_default();
    for entry in list(&["git", "directories"]) {
        let excludes = entry.get("exclude").and_then(Value::as_bool) == Some(true);
        found.extend(entry.str_at(&["path"]).filter(|_| !excludes).and_then(directory));
    }
    if depth < MAX_DEPTH {
        for nested in [["matrix", "generators"], ["merge", "generators"]].iter().flat_map(|path| list(path)) {
            add_directories(nested, depth + 1, found);
        }
    }
}

/// Returns a path relative to the root of the repository; `None` if it leads out of it, or is the root, which is often that of
/// another repository.
fn directory(text: &str) -> Option<PathBuf> {
    let path = normal(Path::new(text.trim_start_matches('/')));
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_below && !path.as_os_str().is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    /// The paths, what is needed, and the namespace.
    fn found(text: &str) -> (Vec<String>, Vec<String>, Option<String>) {
        let reference = Reference::of(&yaml::read(text.as_bytes()).unwrap()).unwrap();
        let paths = reference.paths.iter().map(|path| path.display().to_string()).collect();
        (paths, reference.needs, reference.namespace)
    }

    fn of_spec(api: &str, kind: &str, spec: &str) -> (Vec<String>, Vec<String>, Option<String>) {
        found(&format!("{{apiVersion: {api}, kind: {kind}, metadata: {{name: a}}, spec: {spec}}}"))
    }

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn flux_refers_to_directories_and_charts() {
        let flux = |spec: &str| of_spec("kustomize.toolkit.fluxcd.io/v1", "Kustomization", spec);
        assert_eq!(flux("{path: ./apps/a, targetNamespace: x}"), (strings(&["apps/a"]), vec![], Some("x".to_owned())));
        assert_eq!(flux("{path: ../a}"), (vec![], vec![], None), "it leads out of the repository");
        assert_eq!(flux("{path: ./}"), (vec![], vec![], None));
        let elsewhere = flux("{path: a, sourceRef: {kind: OCIRepository, name: oci}}");
        assert_eq!(elsewhere, (vec![], strings(&["oci"]), None));
        let release = |spec: &str| of_spec("helm.toolkit.fluxcd.io/v2", "HelmRelease", spec);
        let here = release("{chart: {spec: {chart: ./charts/a, sourceRef: {kind: GitRepository, name: x}}}}");
        assert_eq!(here, (strings(&["charts/a"]), vec![], None));
        let other =
            release("{chart: {spec: {chart: redis, version: '1', sourceRef: {kind: HelmRepository, name: x}}}}");
        assert_eq!(other, (vec![], strings(&["chart redis 1"]), None));
    }

    #[test]
    fn argo_refers_to_sources_and_patterns() {
        let application = |spec: &str| of_spec("argoproj.io/v1alpha1", "Application", spec);
        let one = application("{source: {path: apps/a}, destination: {namespace: team}}");
        assert_eq!(one, (strings(&["apps/a"]), vec![], Some("team".to_owned())));
        let several = application("{sources: [{path: a}, {chart: redis}]}");
        assert_eq!(several, (strings(&["a"]), strings(&["chart redis"]), None));
        let set = |spec: &str| of_spec("argoproj.io/v1alpha1", "ApplicationSet", spec);
        let directories = "{git: {directories: [{path: apps/*}, {path: apps/old, exclude: true}]}}";
        let template = "template: {spec: {source: {path: '{{path}}'}, destination: {namespace: '{{path.basename}}'}}}";
        let found = set(&format!("{{generators: [{{matrix: {{generators: [{directories}]}}}}], {template}}}"));
        assert_eq!(found, (strings(&["apps/*"]), vec![], None));
        let fixed = set("{generators: [{list: {}}], template: {spec: {source: {path: guestbook}}}}");
        assert_eq!(fixed.0, ["guestbook"]);
    }

    #[test]
    fn other_objects_refer_to_nothing() {
        let other = yaml::read(b"{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization}").unwrap();
        assert_eq!(Reference::of(&other), None);
    }
}

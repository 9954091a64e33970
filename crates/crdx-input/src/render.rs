//! `--render`: directories with charts and kustomizations are rendered by Helm and kustomize, and findings about the rendered
//! objects are mapped back to the files from which they were made.
//!
//! [`find`] finds the directories, [`program`] runs the programs, and [`chart`] and [`overlay`] map locations.

mod chart;
mod copy;
pub(crate) mod find;
pub(crate) mod flux;
mod flux_changes;
mod flux_object;
mod json_patch;
pub(crate) mod kustomization;
mod lexical;
mod lines;
mod output;
mod overlay;
mod place;
mod program;
pub(crate) mod release;
mod report;
mod repository_path;
mod repository_url;
mod staging;
pub(crate) mod substitution;
mod values;
mod version_range;

use chart::Templates;
use crdx_engine::documents::Document;
use crdx_engine::report::SourceLocation;
use crdx_engine::simulation::object_store::TEMP_FILE_HELP;
use crdx_value::lock;
use crdx_value::release::Release;
use find::{RenderProgram, RenderTarget};
use flux::{FluxKustomization, FluxKustomizations};
pub use lexical::normal;
use output::Output;
use overlay::Overlay;
pub use program::RenderError;
use program::{Invocation, argument};
use release::{HelmRelease, LeftOutRelease, Releases};
use repository_url::RepositoryUrls;
use staging::Staged;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// The number of directories and files that a note names.
const NAMED: usize = 3;

/// Renders directories, and maps locations in what was rendered. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Renderer {
    settings: RenderSettings,
    state: Arc<Mutex<State>>,
    /// The URLs of this repository, when they were read.
    urls: Arc<OnceLock<RepositoryUrls>>,
}

/// The properties of the cluster that charts can use.
#[derive(Clone, Debug, Default)]
pub struct RenderSettings {
    pub namespace: Option<String>,
    /// The Kubernetes version, if one is given.
    pub release: Option<Release>,
    pub values: ChartValues,
    /// The API versions that the cluster serves besides those of its version.
    pub api_versions: Vec<String>,
    /// True to let kustomize inflate charts.
    pub enable_helm: bool,
    /// The variables of `postBuild` that are given.
    pub substitute: BTreeMap<String, String>,
    /// The URLs of this repository, if they are given.
    pub repository_urls: Vec<String>,
    /// The restriction of files for kustomize, in its words.
    pub load_restrictor: Option<&'static str>,
}

/// Values for charts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChartValues {
    /// The files with values; later ones take precedence.
    pub files: Vec<String>,
    /// Single values, `KEY=VALUE`.
    pub set: Vec<String>,
}

/// The object that a location is about.
#[derive(Clone, Copy, Debug)]
pub struct RenderedObject<'a> {
    pub kind: &'a str,
    pub name: &'a str,
    pub namespace: Option<&'a str>,
    /// The field, if the location is that of one.
    pub field: Option<&'a str>,
}

#[derive(Debug, Default)]
struct State {
    /// The rendered directories, by the names of the sources.
    rendered: BTreeMap<Arc<str>, Rendered>,
    /// The source files of the directory that was used last, by the name of its source.
    sources: Option<(Arc<str>, RenderSources)>,
    /// Files with objects that no program reads.
    left_out: Vec<String>,
    /// The objects of Flux that say how directories are built.
    flux: FluxKustomizations,
    /// The releases of Flux that are not rendered, with the reasons.
    releases_left_out: Vec<String>,
    /// The releases of Flux among the objects so far.
    releases: Releases,
}

#[derive(Debug)]
struct Rendered {
    target: RenderTarget,
    output: Arc<Output>,
}

/// The source files of a directory.
#[derive(Debug)]
enum RenderSources {
    Chart(Templates),
    Kustomization(Box<Overlay>),
    /// A release of a packed chart, to whose location all findings belong.
    Release(SourceLocation),
}

impl Renderer {
    /// Renders with these settings.
    pub fn new(settings: RenderSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    fn repository_urls(&self) -> &RepositoryUrls {
        let read = || RepositoryUrls::new(&self.settings.repository_urls, &env::current_dir().unwrap_or_default());
        self.urls.get_or_init(read)
    }

    /// Renders a directory, and returns the text. It is rendered only once.
    ///
    /// # Errors
    /// No program for it is installed, or the program fails.
    pub fn render(&self, target: &RenderTarget) -> Result<Box<dyn Read + Send>, RenderError> {
        if let Some(doubt) = target.flux.as_ref().and_then(|flux| flux.doubt.clone()) {
            return Err(doubt.into());
        }
        let name = target.name();
        let mut state = lock::lock(&self.state);
        let known = state.rendered.get(&name).filter(|rendered| rendered.target == *target);
        let output = if let Some(rendered) = known {
            Arc::clone(&rendered.output)
        } else {
            let staged = Staged::new(target)?;
            let output = program::run(&invocations(target, &staged, &self.settings));
            Arc::new(output.map_err(|error| error.with_paths(|text| staged.with_originals(text)))?)
        };
        let reader = Box::new(output.reader());
        state.rendered.insert(name, Rendered { target: target.clone(), output });
        Ok(reader)
    }

    /// Reads the `Kustomization` objects of Flux among files, which say how directories are built.
    pub fn read_flux(&self, files: &BTreeSet<PathBuf>) {
        let found = FluxKustomizations::read(files, self.repository_urls(), &self.settings.substitute);
        lock::lock(&self.state).flux.extend(found);
    }

    /// Returns what is rendered of a directory: it is built once for each of the objects of Flux that differ.
    pub(crate) fn builds(&self, target: &RenderTarget) -> Vec<RenderTarget> {
        let state = lock::lock(&self.state);
        let found = match (target.kind, &target.flux) {
            (RenderProgram::Kustomization, None) => state.flux.of(&target.directory),
            _ => &[],
        };
        if found.is_empty() {
            return vec![target.clone()];
        }
        let is_shared = found.len() > 1;
        found.iter().map(|flux| RenderTarget { flux: Some(Arc::clone(flux)), is_shared, ..target.clone() }).collect()
    }

    /// Returns the objects of Flux that say how the files of a directory without a kustomization are built.
    pub(crate) fn builds_of_file(&self, file: &Path) -> Vec<Arc<FluxKustomization>> {
        let state = lock::lock(&self.state);
        file.parent().map(|directory| state.flux.of(directory).to_vec()).unwrap_or_default()
    }

    /// Returns true if values are given, so that those which a chart has for tests are not used.
    pub fn has_values(&self) -> bool {
        !self.settings.values.files.is_empty()
    }

    /// Returns true if a source is a directory that was rendered.
    pub fn has(&self, source: &str) -> bool {
        lock::lock(&self.state).rendered.contains_key(source)
    }

    /// Adds a file with objects that no program reads.
    pub fn leave_out(&self, file: &Path) {
        lock::lock(&self.state).left_out.push(file.display().to_string());
    }

    /// Remembers an object if it is a release of Flux or a source of charts.
    pub(crate) fn add_object(&self, document: &Document) {
        // A release that a release makes could go on for ever.
        if document.source.starts_with(release::PREFIX) {
            return;
        }
        let default = self.settings.namespace.as_deref().unwrap_or_default();
        lock::lock(&self.state).releases.add(document, default);
    }

    /// Returns what is rendered for the releases so far, and what is not. The lock that applies in `directory` has the charts that were
    /// fetched.
    pub(crate) fn take_releases(&self, directory: Option<&Path>) -> (Vec<RenderTarget>, Vec<LeftOutRelease>) {
        let releases = std::mem::take(&mut lock::lock(&self.state).releases);
        let (charts, mut left_out) = releases.charts(self.repository_urls(), directory);
        let map = |location: &SourceLocation, name: &str, namespace: Option<&str>| {
            self.map(location, &RenderedObject { kind: "HelmRelease", name, namespace, field: None })
        };
        for release in &mut left_out {
            release.map(map);
        }
        lock::lock(&self.state).releases_left_out.extend(left_out.iter().map(|release| release.summary.clone()));
        let target =
            |(chart, release)| RenderTarget { release: Some(Arc::new(release)), ..RenderTarget::of_chart(chart) };
        (charts.into_iter().map(target).collect(), left_out)
    }

    /// Returns the location in a source file for one in what was rendered; `None` for any other location.
    pub fn map(&self, location: &SourceLocation, subject: &RenderedObject<'_>) -> Option<SourceLocation> {
        let mapped = self.map_once(location, subject)?;
        // A release may be rendered itself.
        let release = RenderedObject { kind: "HelmRelease", field: None, ..*subject };
        Some(self.map_once(&mapped, &release).unwrap_or(mapped))
    }

    fn map_once(&self, location: &SourceLocation, subject: &RenderedObject<'_>) -> Option<SourceLocation> {
        let mut state = lock::lock(&self.state);
        let State { rendered, sources, .. } = &mut *state;
        let (name, Rendered { target, output }) = rendered.get_key_value(&location.source)?;
        // A file can be called like a directory only after it replaced the directory.
        let current = sources.take_if(|(current, _)| current == name);
        let (_, sources) = sources.insert(current.unwrap_or_else(|| (Arc::clone(name), RenderSources::of(target))));
        Some(match sources {
            RenderSources::Chart(templates) => templates.map(location, output),
            RenderSources::Kustomization(overlay) => overlay.map(location, subject, output),
            RenderSources::Release(release) => release.clone(),
        })
    }

    /// Returns the notes for the end of a run: what was rendered, and what was not.
    pub fn notes(&self) -> Vec<(&'static str, String)> {
        let state = lock::lock(&self.state);
        let mut notes = Vec::new();
        let names: Vec<&str> = state.rendered.keys().map(|name| &**name).collect();
        if !names.is_empty() {
            let directories = if names.len() == 1 { "directory was" } else { "directories were" };
            notes.push(("rendered", format!("{} {directories} rendered: {}", names.len(), named(&names))));
        }
        let files: Vec<&str> = state.left_out.iter().map(String::as_str).collect();
        if !files.is_empty() {
            let (count, names) = (files.len(), named(&files));
            let what = if count == 1 { "file with objects is" } else { "files with objects are" };
            let message = format!(
                "{count} {what} in rendered directories, but not part of what was rendered, and not read: {names}"
            );
            notes.push(("notRendered", message));
        }
        if !state.releases_left_out.is_empty() {
            let releases: Vec<&str> = state.releases_left_out.iter().map(String::as_str).collect();
            let (count, names) = (releases.len(), named(&releases));
            let what = if count == 1 { "HelmRelease" } else { "HelmReleases" };
            notes.push(("releasesNotRendered", format!("the charts of {count} {what} are not rendered: {names}")));
        }
        notes
    }
}

/// Joins the first names.
fn named(names: &[&str]) -> String {
    let first = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

impl RenderSources {
    fn of(target: &RenderTarget) -> Self {
        if let Some(release) = target.release.as_ref().filter(|release| release.is_packed) {
            return Self::Release(release.location.clone());
        }
        match target.kind {
            RenderProgram::Chart => Self::Chart(Templates::new(&target.directory)),
            RenderProgram::Kustomization => Self::Kustomization(Box::new(Overlay::new(&target.directory))),
        }
    }
}

impl RenderTarget {
    /// The name of the source: the directory, with the values of a chart for tests.
    pub fn name(&self) -> Arc<str> {
        let directory = self.directory.display();
        if let Some(HelmRelease { name, namespace, location, .. }) = self.release.as_deref() {
            return format!("{}{namespace}/{name} ({}:{})", release::PREFIX, location.source, location.line).into();
        }
        if let Some(flux) = self.flux.as_deref().filter(|_| self.is_shared) {
            return format!("{directory} (Kustomization {})", flux.name).into();
        }
        let values = self.values.as_deref().and_then(Path::file_name);
        values.map_or_else(|| directory.to_string(), |file| format!("{directory} ({})", file.to_string_lossy())).into()
    }

    /// Suggests what to do after an error.
    pub fn hint(&self, error: &RenderError) -> String {
        let directory = argument(&self.directory);
        match (error, self.kind) {
            (RenderError::NotInstalled(_), RenderProgram::Chart) => {
                "install Helm to use --render: https://helm.sh/docs/intro/install".to_owned()
            }
            (RenderError::NotInstalled(_), RenderProgram::Kustomization) => {
                "install one of them to use --render".to_owned()
            }
            (RenderError::Failed { .. }, RenderProgram::Chart) if find::lacks_dependencies(&self.directory) => {
                format!("download the charts that it depends on: helm dependency build {directory}")
            }
            (RenderError::Store(_), _) => TEMP_FILE_HELP.to_owned(),
            (RenderError::Flux(doubt), _) => doubt.hint(),
            (RenderError::Values(_), _) => "correct valuesFiles of the HelmRelease".to_owned(),
            _ => format!("correct {directory}, or leave it out with --ignore; other inputs are validated"),
        }
    }
}

/// Returns the programs that can render a directory, the first choice first.
fn invocations(target: &RenderTarget, staged: &Staged, settings: &RenderSettings) -> Vec<Invocation> {
    let directory = argument(&staged.path);
    let invocation = |program, arguments: &[&str]| Invocation {
        program,
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
    };
    match target.kind {
        RenderProgram::Kustomization => {
            let mut options = Vec::new();
            if settings.enable_helm {
                options.push("--enable-helm");
            }
            options.extend(settings.load_restrictor.into_iter().flat_map(|name| ["--load-restrictor", name]));
            let arguments = |command| [&[command, directory.as_str()], options.as_slice()].concat();
            vec![invocation("kustomize", &arguments("build")), invocation("kubectl", &arguments("kustomize"))]
        }
        RenderProgram::Chart => {
            let release = target.release.as_deref();
            let mut helm = invocation("helm", &["template"]);
            helm.arguments.extend(release.map(|release| release.name.clone()));
            helm.arguments.extend([directory, "--include-crds".to_owned()]);
            let mut add = |flag: &str, values: Vec<String>| {
                helm.arguments.extend(values.into_iter().flat_map(|value| [flag.to_owned(), value]));
            };
            let version = settings.release.map(|release| format!("{}.0", release.minor()));
            let namespace = release.map(|release| release.namespace.to_string()).or_else(|| settings.namespace.clone());
            add("--namespace", namespace.into_iter().collect());
            add("--kube-version", version.into_iter().collect());
            add("--api-versions", settings.api_versions.clone());
            // A release has its own values.
            let common = if release.is_none() { settings.values.clone() } else { ChartValues::default() };
            let files = common.files.iter().map(Path::new).chain(target.values.as_deref()).chain(staged.values());
            add("--values", files.map(argument).collect());
            add("--set", common.set);
            vec![helm]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_arguments_are_known() {
        let commands = |directory: &str, kind, settings: &RenderSettings| {
            let target = RenderTarget::new(directory.into(), kind);
            invocations(&target, &Staged::new(&target).unwrap(), settings)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        let none = RenderSettings::default();
        assert_eq!(commands("a", RenderProgram::Kustomization, &none), ["kustomize build a", "kubectl kustomize a"]);
        assert_eq!(commands("-a", RenderProgram::Chart, &none), ["helm template ./-a --include-crds"], "no flag");
        let settings = RenderSettings {
            namespace: Some("n".to_owned()),
            release: Some(Release::NEWEST),
            ..RenderSettings::default()
        };
        let version = format!("--kube-version {}.0", Release::NEWEST);
        let expected = format!("helm template a --include-crds --namespace n {version}");
        assert_eq!(commands("a", RenderProgram::Chart, &settings), [expected]);
        let all = RenderSettings {
            values: ChartValues { files: vec!["-v.yaml".to_owned()], set: vec!["a.b=1".to_owned()] },
            api_versions: vec!["example.com/v1".to_owned()],
            enable_helm: true,
            load_restrictor: Some("LoadRestrictionsNone"),
            ..RenderSettings::default()
        };
        let expected = "helm template a --include-crds --api-versions example.com/v1 --values ./-v.yaml --set a.b=1";
        assert_eq!(commands("a", RenderProgram::Chart, &all), [expected]);
        let expected = "kustomize build a --enable-helm --load-restrictor LoadRestrictionsNone";
        assert_eq!(commands("a", RenderProgram::Kustomization, &all)[0], expected);
    }

    #[test]
    fn only_rendered_locations_are_mapped() {
        let location = SourceLocation::line(&"a.yaml".into(), 3);
        let subject = RenderedObject { kind: "A", name: "a", namespace: None, field: None };
        assert_eq!(Renderer::default().map(&location, &subject), None);
        assert_eq!(Renderer::default().notes(), []);
    }
}

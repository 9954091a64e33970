//! A `HelmRelease` of Flux, which says with which values a chart is rendered. The chart is in this repository, or was fetched.

use super::lexical::normal;
use crate::remote::Remote;
use crdx_engine::documents::Document;
use crdx_engine::report::SourceLocation;
use crdx_files::project;
use crdx_value::{Map, Value, group_version};
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

const HELM: &str = "helm.toolkit.fluxcd.io";
const SOURCES: &str = "source.toolkit.fluxcd.io";

/// The start of the names of sources that are rendered for releases.
pub const PREFIX: &str = "HelmRelease ";

/// A release to render.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelmRelease {
    /// The name that the chart sees.
    pub name: String,
    /// The namespace that the chart sees.
    pub namespace: String,
    pub values: Value,
    /// The location of the object.
    pub location: SourceLocation,
    /// True if the chart is a file, whose templates no finding can be in.
    pub is_packed: bool,
}

/// The releases of an input, and the sources of their charts.
#[derive(Debug, Default)]
pub struct Releases {
    releases: Vec<(HelmRelease, Result<ChartSource, NotRendered>)>,
    /// The URLs of repositories of charts and of artifacts, by namespace and name.
    repositories: BTreeMap<(String, String), Repository>,
}

/// The place of the chart of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ChartSource {
    /// A path in this repository.
    Here(PathBuf),
    /// A chart and its version in the repository with this namespace and name.
    Chart { repository: (String, String), chart: String, version: String },
    /// The artifact of the `OCIRepository` with this namespace and name.
    Artifact((String, String)),
}

/// A source of charts.
#[derive(Clone, Debug)]
enum Repository {
    /// A `HelmRepository`.
    Charts(String),
    /// An `OCIRepository`.
    Artifact(String),
}

impl Releases {
    /// Adds an object if it is a release or a source of charts.
    pub fn add(&mut self, document: &Document) {
        let object = &document.value;
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
        let key = (text(&["metadata", "namespace"]).to_owned(), text(&["metadata", "name"]).to_owned());
        match (group_version::group(text(&["apiVersion"])), text(&["kind"])) {
            (HELM, "HelmRelease") => self.releases.push(release(document, key)),
            (SOURCES, "HelmRepository") => {
                self.repositories.insert(key, Repository::Charts(text(&["spec", "url"]).to_owned()));
            }
            (SOURCES, "OCIRepository") => {
                let url = text(&["spec", "url"]);
                let reference = match (text(&["spec", "ref", "digest"]), text(&["spec", "ref", "tag"])) {
                    ("", tag) => format!("{url}:{tag}"),
                    (digest, _) => format!("{url}@{digest}"),
                };
                self.repositories.insert(key, Repository::Artifact(reference));
            }
            _ => {}
        }
    }

    /// Returns the charts of the releases, and why others are not rendered. The lock that applies in `directory` has the charts that
    /// were fetched.
    pub fn charts(self, directory: Option<&Path>) -> (Vec<(PathBuf, HelmRelease)>, Vec<String>) {
        let (mut charts, mut left_out) = (Vec::new(), Vec::new());
        for (release, source) in self.releases {
            let chart = source.and_then(|source| match source {
                ChartSource::Here(path) => here(&path),
                ChartSource::Chart { repository, chart, version } => {
                    fetched(&url(self.repositories.get(&repository), &chart, &version)?, directory)
                }
                ChartSource::Artifact(repository) => match self.repositories.get(&repository) {
                    Some(Repository::Artifact(reference)) => fetched(reference, directory),
                    _ => Err(NotRendered::NoSource),
                },
            });
            match chart {
                Ok(chart) => {
                    let release = HelmRelease { is_packed: chart.is_file(), ..release };
                    charts.push((chart, release));
                }
                Err(reason) => left_out.push(format!("{}/{} ({reason})", release.namespace, release.name)),
            }
        }
        (charts, left_out)
    }
}

/// The reason why a release is not rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum NotRendered {
    #[error("the source of its chart is not in this input")]
    NoSource,
    #[error("some of its values are in other objects")]
    ValuesFrom,
    #[error("it has postRenderers")]
    PostRenderers,
    #[error("its chart {0} has no fixed version")]
    NoFixedVersion(String),
    #[error("{0} is no chart of this repository")]
    NotHere(String),
    #[error("its chart is not here: kubectl crdx fetch --charts {0}")]
    NotFetched(String),
}

/// Reads a release, and where its chart is; otherwise why it is not rendered.
fn release(document: &Document, (own, name): (String, String)) -> (HelmRelease, Result<ChartSource, NotRendered>) {
    let object = &document.value;
    let text = |path: &[&str]| object.str_at(path).filter(|text| !text.is_empty());
    let namespace = text(&["spec", "targetNamespace"]).unwrap_or(if own.is_empty() { "default" } else { &own });
    let namespace = namespace.to_owned();
    // The name that the controller gives the release.
    let release_name = match (text(&["spec", "releaseName"]), text(&["spec", "targetNamespace"])) {
        (Some(name), _) => name.to_owned(),
        (None, Some(target)) => format!("{target}-{name}"),
        (None, None) => name,
    };
    let release = HelmRelease {
        name: release_name,
        namespace,
        values: object.at(&["spec", "values"]).cloned().unwrap_or_else(|| Value::Object(Map::new())),
        location: SourceLocation::line(&document.source, document.chunk.start.line),
        is_packed: false,
    };
    (release, chart(object, &own))
}

/// Returns where the chart of a release is; otherwise why it is not rendered.
fn chart(object: &Value, own: &str) -> Result<ChartSource, NotRendered> {
    let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
    let has =
        |member: &str| object.at(&["spec", member]).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    if has("valuesFrom") {
        return Err(NotRendered::ValuesFrom);
    }
    if has("postRenderers") {
        return Err(NotRendered::PostRenderers);
    }
    let in_namespace = |namespace: String| if namespace.is_empty() { own.to_owned() } else { namespace };
    if text(&["spec", "chartRef", "kind"]) == "OCIRepository" {
        let namespace = in_namespace(text(&["spec", "chartRef", "namespace"]));
        return Ok(ChartSource::Artifact((namespace, text(&["spec", "chartRef", "name"]))));
    }
    let of_chart = |path: &[&str]| text(&[&["spec", "chart", "spec"], path].concat());
    match of_chart(&["sourceRef", "kind"]).as_str() {
        "GitRepository" => Ok(ChartSource::Here(PathBuf::from(of_chart(&["chart"])))),
        "HelmRepository" => {
            let namespace = in_namespace(of_chart(&["sourceRef", "namespace"]));
            let repository = (namespace, of_chart(&["sourceRef", "name"]));
            Ok(ChartSource::Chart { repository, chart: of_chart(&["chart"]), version: of_chart(&["version"]) })
        }
        _ => Err(NotRendered::NoSource),
    }
}

/// Returns the URL of a chart of a repository, as `fetch` takes it.
fn url(repository: Option<&Repository>, chart: &str, version: &str) -> Result<String, NotRendered> {
    let Some(Repository::Charts(url)) = repository else { return Err(NotRendered::NoSource) };
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let core = core.strip_prefix('v').unwrap_or(core);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_fixed = core.split('.').count() == 3 && core.split('.').all(is_number) && !version.contains([' ', '|', ',']);
    if !is_fixed {
        return Err(NotRendered::NoFixedVersion(chart.to_owned()));
    }
    let url = url.trim_end_matches('/');
    Ok(if url.starts_with("oci://") {
        format!("{url}/{chart}:{version}")
    } else {
        format!("helm+{url}/{chart}@{version}")
    })
}

/// Returns the chart at a path of this repository, relative to the working directory.
fn here(path: &Path) -> Result<PathBuf, NotRendered> {
    let working_directory = env::current_dir().unwrap_or_default();
    let levels = project::levels_to_root(&working_directory);
    let inside = normal(path);
    let is_inside = !inside.is_absolute() && !inside.starts_with("..");
    let chart = normal(&PathBuf::from("../".repeat(levels)).join(inside));
    if is_inside && chart.join("Chart.yaml").is_file() {
        Ok(chart)
    } else {
        Err(NotRendered::NotHere(path.display().to_string()))
    }
}

/// Returns the file of a chart that was fetched.
fn fetched(url: &str, directory: Option<&Path>) -> Result<PathBuf, NotRendered> {
    let missing = || NotRendered::NotFetched(url.to_owned());
    let remote = Remote::find(url, directory).map_err(|_| missing())?;
    remote.read().map_err(|_| missing())?;
    Ok(remote.path().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Value {
        crdx_text::yaml::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn the_chart_of_a_release_has_a_source() {
        let chart = |spec: &str| super::chart(&object(&format!("spec: {spec}\n")), "flux");
        let here = "{chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: a}}}}";
        assert_eq!(chart(here), Ok(ChartSource::Here("./charts/web".into())));
        let repository = "{chart: {spec: {chart: web, version: 1.2.3, sourceRef: {kind: HelmRepository, name: a}}}}";
        let expected = ChartSource::Chart {
            repository: ("flux".to_owned(), "a".to_owned()),
            chart: "web".to_owned(),
            version: "1.2.3".to_owned(),
        };
        assert_eq!(chart(repository), Ok(expected));
        let artifact = ChartSource::Artifact(("x".to_owned(), "a".to_owned()));
        assert_eq!(chart("{chartRef: {kind: OCIRepository, name: a, namespace: x}}"), Ok(artifact));
        assert!(chart("{valuesFrom: [{kind: Secret, name: a}]}").is_err());
        assert!(chart("{postRenderers: [{kustomize: {}}]}").is_err());
        assert_eq!(chart("{}"), Err(NotRendered::NoSource));
    }

    #[test]
    fn a_chart_needs_a_fixed_version() {
        let url = |repository: &str, version: &str| {
            super::url(Some(&Repository::Charts(repository.to_owned())), "web", version)
        };
        assert_eq!(url("https://h/charts/", "1.2.3"), Ok("helm+https://h/charts/web@1.2.3".to_owned()));
        assert_eq!(url("oci://h/charts", "v1.2.3-rc.1"), Ok("oci://h/charts/web:v1.2.3-rc.1".to_owned()));
        let pre_release = Ok("helm+https://h/web@1.2.3-next.1".to_owned());
        assert_eq!(url("https://h", "1.2.3-next.1"), pre_release);
        for range in ["", "1.x", ">=1.0.0", "1.2", "1.2.x", "*", "^1.2.3"] {
            assert_eq!(url("https://h", range), Err(NotRendered::NoFixedVersion("web".to_owned())), "{range}");
        }
        assert_eq!(super::url(None, "web", "1.2.3"), Err(NotRendered::NoSource));
    }
}

//! A `HelmRelease` of Flux, which says with which values a chart is rendered. The chart is in this repository, or was fetched.

mod by_name;
mod chart_source;
mod left_out;

use super::repository_url::RepositoryUrls;
use super::values::{self, ValuesError};
use by_name::{ByName, NameError};
use chart_source::{ArtifactVersion, ChartSource, Repository};
use crdx_engine::documents::Document;
use crdx_engine::report::SourceLocation;
use crdx_files::digest::sha256;
use crdx_value::{Value, group_version};
pub use left_out::{LeftOutRelease, NotRendered};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const HELM: &str = "helm.toolkit.fluxcd.io";
const SOURCES: &str = "source.toolkit.fluxcd.io";

/// The start of the names of sources that are rendered for releases.
pub const PREFIX: &str = "HelmRelease ";

/// The longest name of a release of Helm.
const LONGEST_NAME: usize = 53;

/// The number of characters of the hash that the controller adds to a shortened name.
const HASH: usize = 12;

/// A release to render.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelmRelease {
    /// The name that the chart sees.
    pub name: String,
    /// The namespace that the chart sees.
    pub namespace: Arc<str>,
    pub values: Value,
    /// The files with values that replace the `values.yaml` of the chart; none to keep it.
    pub values_files: ValuesFiles,
    /// The location of the object.
    pub location: SourceLocation,
    /// True if the chart is a file, whose templates no finding can be in.
    pub is_packed: bool,
}

/// Files with the default values of a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValuesFiles {
    /// Paths in the chart, or in the repository that has it.
    pub names: Vec<String>,
    /// True if some of them may be missing.
    pub may_be_missing: bool,
}

/// A release among the objects.
#[derive(Debug)]
struct ReleaseObject {
    document: Document,
    namespace: String,
}

/// The releases of an input, and the objects that they refer to.
#[derive(Debug, Default)]
pub struct Releases {
    releases: Vec<ReleaseObject>,
    repositories: ByName<Repository>,
    /// The `spec` of each `HelmChart`.
    charts: ByName<Value>,
    /// The data of each `ConfigMap`.
    config_maps: ByName<Value>,
    /// The size of all `ConfigMap`s in bytes.
    size: usize,
}

/// The limit for the size of the `ConfigMap`s that are kept, in bytes.
const KEPT: usize = 16 << 20;

impl Releases {
    /// Adds an object if it is a release or one that releases refer to. `default` is the namespace of objects without one.
    pub fn add(&mut self, document: &Document, default: &str) {
        let object = &document.value;
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
        let default = document.namespace.as_deref().unwrap_or(default);
        let namespace = Some(text(&["metadata", "namespace"])).filter(|own| !own.is_empty()).unwrap_or(default);
        let (root, name) = (document.root(), text(&["metadata", "name"]));
        match (group_version::group(text(&["apiVersion"])), text(&["kind"])) {
            (HELM, "HelmRelease") => {
                self.releases.push(ReleaseObject { document: document.clone(), namespace: namespace.to_owned() });
            }
            (SOURCES, "HelmRepository") => {
                let repository = Repository::Charts(text(&["spec", "url"]).to_owned());
                self.repositories.add(root, namespace, name, repository);
            }
            (SOURCES, "GitRepository") => {
                self.repositories.add(root, namespace, name, Repository::Git(text(&["spec", "url"]).to_owned()));
            }
            (SOURCES, "OCIRepository") => {
                let version = ArtifactVersion::of(object);
                let repository = Repository::Artifact { url: text(&["spec", "url"]).to_owned(), version };
                self.repositories.add(root, namespace, name, repository);
            }
            (SOURCES, "HelmChart") => {
                self.charts.add(root, namespace, name, object.get("spec").cloned().unwrap_or_default());
            }
            ("", "ConfigMap") => {
                self.size += document.chunk.text.len();
                let data = object.get("data").filter(|_| self.size <= KEPT).cloned();
                if let Some(data) = data {
                    self.config_maps.add(root, namespace, name, data);
                }
            }
            _ => {}
        }
    }

    /// Returns the charts of the releases, and why others are not rendered. `urls` are those of this repository; the lock that
    /// applies in `directory` has the charts that were fetched.
    pub fn charts(
        self,
        urls: &RepositoryUrls,
        directory: Option<&Path>,
    ) -> (Vec<(PathBuf, HelmRelease)>, Vec<LeftOutRelease>) {
        let (mut charts, mut left_out) = (Vec::new(), Vec::new());
        for release in &self.releases {
            match self.chart(release, urls, directory) {
                Ok(chart) => charts.push(chart),
                Err(reason) => left_out.push(LeftOutRelease::new(&release.document, &reason)),
            }
        }
        (charts, left_out)
    }

    fn chart(
        &self,
        release: &ReleaseObject,
        urls: &RepositoryUrls,
        directory: Option<&Path>,
    ) -> Result<(PathBuf, HelmRelease), NotRendered> {
        let object = &release.document.value;
        let spec = object.get("spec").cloned().unwrap_or_default();
        if spec.get("postRenderers").and_then(Value::as_array).is_some_and(|list| !list.is_empty()) {
            return Err(NotRendered::PostRenderers);
        }
        let root = release.document.root();
        let (source, chart) = self.source(&spec, root, &release.namespace)?;
        let repository = |namespace: &str, name: &str| self.repositories.find(root, namespace, name);
        let chart_path = source.find(repository, urls, directory)?;
        let data = |name: &str| {
            let unknown = |error: NameError| match error {
                NameError::Missing(_) => ValuesError::Elsewhere(format!("ConfigMap {name}")),
                NameError::Several(name) => ValuesError::Several(name),
            };
            self.config_maps.find(root, &release.namespace, name).map_err(unknown)
        };
        let text = |path: &[&str]| object.str_at(path).filter(|text| !text.is_empty());
        let target = text(&["spec", "targetNamespace"]);
        let own = Some(release.namespace.as_str()).filter(|own| !own.is_empty()).unwrap_or("default");
        let name = text(&["metadata", "name"]).unwrap_or_default();
        let release = HelmRelease {
            name: release_name(text(&["spec", "releaseName"]), target, name),
            namespace: target.unwrap_or(own).into(),
            values: values::values(&spec, data)?,
            values_files: chart.map(values_files).unwrap_or_default(),
            location: SourceLocation::line(&release.document.source, release.document.chunk.start.line),
            is_packed: chart_path.is_file(),
        };
        Ok((chart_path, release))
    }

    /// Returns where the chart of a release is, and the object that describes it.
    fn source<'a>(
        &'a self,
        spec: &'a Value,
        root: Option<&Arc<str>>,
        namespace: &str,
    ) -> Result<(ChartSource, Option<&'a Value>), NotRendered> {
        let reference = |member: &str| spec.str_at(&["chartRef", member]).filter(|text| !text.is_empty());
        let in_namespace = reference("namespace").unwrap_or(namespace);
        let name = reference("name").unwrap_or_default();
        match reference("kind") {
            Some("OCIRepository") => Ok((ChartSource::Artifact((in_namespace.to_owned(), name.to_owned())), None)),
            Some("HelmChart") => {
                let chart = self.charts.find(root, in_namespace, name).map_err(NotRendered::Chart)?;
                Ok((ChartSource::of_chart(chart, in_namespace)?, Some(chart)))
            }
            _ => {
                let chart = spec.at(&["chart", "spec"]).ok_or(NotRendered::UnknownSource)?;
                Ok((ChartSource::of_chart(chart, namespace)?, Some(chart)))
            }
        }
    }
}

fn values_files(chart: &Value) -> ValuesFiles {
    let names = chart.get("valuesFiles").and_then(Value::as_array).unwrap_or_default();
    ValuesFiles {
        names: names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        may_be_missing: chart.get("ignoreMissingValuesFiles").and_then(Value::as_bool) == Some(true),
    }
}

/// Returns the name that the controller gives the release (`GetReleaseName` and `ShortenName` of helm-controller).
fn release_name(given: Option<&str>, target: Option<&str>, name: &str) -> String {
    let full = match (given, target) {
        (Some(given), _) => given.to_owned(),
        (None, Some(target)) => format!("{target}-{name}"),
        (None, None) => name.to_owned(),
    };
    if full.len() <= LONGEST_NAME {
        return full;
    }
    let hash: String = sha256(full.as_bytes()).chars().take(HASH).collect();
    let start = full.get(..LONGEST_NAME - HASH - 1).unwrap_or(&full);
    format!("{start}-{hash}")
}

#[cfg(test)]
mod tests;
